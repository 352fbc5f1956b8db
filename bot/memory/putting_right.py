"""Another value in the place of the one that was asked about: 「43」 to 「我的鞋码是42」.

Invariant: pure, linear; the rest of the statement stays as it was asked. What is doubtful puts nothing right.
"""

import re

from bot.conversation.text import content
from bot.memory.claims import read_claims
from bot.memory.claims.dates import times_in
from bot.memory.normalise import normalise
from bot.memory.statements import sort_of

CORRECTION_LEAD = re.compile(
    r"^(?:现在|其实|应该|我的?|实际上?|正确的|早就|已经|都|目前|最近|去年|新的?|号码|是|改成|换成|改为|改到|改|换到|换|叫做?|穿"
    r"|住到|住|在|变成|为|搬到|搬去|搬|要|姓|写|用|填|寄到|寄|送到|送|开|喝|吃|做|当|约在|约的是|约|了|:|：|,|，)+"
)
TAIL = re.compile(r"(?:才对|了|啦|啊|哦|呢|的|吧|哈|呀|噢|喔|哈|上班|工作|这边|那边)+$")
ENDED = re.compile(r"(?:才对|着|了|啦|啊|哦|呢|的|吧|哈|呀|噢|喔)+$")
DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
DOUBT = re.compile(r"吧$|可能|好像|大概|也许|应该是|不确定|不清楚|忘了|算是|不一定|看情况|随便")
ECHOED = 8
"""Characters of a yes that repeats the question's word: 「有」 to 「您有猫吗」."""
LONGEST_VALUE = 30
_WITH_UNIT = re.compile(r"(?P<n>[0-9a-z.]+|[一二两三四五六七八九十半]+|[大中小])(?P<unit>[^\W\d_a-z]{1,2})")
_CODE = re.compile(
    r"[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼]?(?=[A-Za-z@._*\-]*[0-9])[0-9A-Za-z@._*\-]{5,40}"
)
_OF_KIND = re.compile(r"(?:是)?(?P<value>[^\W\d_]{1,6})的")
_NO_KIND = re.compile(r"好的|对的|行的|可以的|会的|有的|没的|是的|嗯|能的|要的|真的|谢谢|喜欢|爱")
_VERBS = re.compile(
    r"(?:现在|其实|早就?|已经|都|目前|最近|我|改|换|搬)*(?P<verb>叫做?|姓|住在|住|在|穿|是|用|开|喝|吃|写|寄到|寄|送到|送|做|当|属|去|学|养|放|要|喜欢)"
    r"(?P<value>.{1,24})"
)
COURTESY = re.compile(
    r"(?:谢谢[你您]?|多谢|感谢|辛苦[你您]?了?|麻烦[你您]?了?|哈+|嘿+|哦|噢|呢|啦|呀|啊|的|了|吧(?!$)|没错|记得?真?(?:清楚|准|好)|厉害|真棒"
    r"|真细心|[你您]|还|都|居然|不用(?:改|换|变|动)|没(?:变|换|改)过?|不变|一样|还是(?:这个|那个|它|原来的?)|就按?这个(?:来)?|照旧|可以|好)*"
)
NO = re.compile(
    r"^(?:嗯+|哦|啊)?(?:不是(?:的|啊|哦|呢|这个|这样|了)*|不对(?:的|啊|哦|了)*|不+|错了?|错啦|没有(?:啊|的|哦)?|没|否"
    r"|no|nope|不正确|不准确?|记错了?|[你您]?(?:们)?(?:说|记|搞|弄|写|填)错了?|并不是|并没有|早就?不是了?|已经不是了?|有误|不一样)+$"
)
_ENDS_IN = re.compile(
    r"(?:叫|姓|属|要|是|用|喝|吃|开|穿|住在|在|去|读|做|养|主玩|主打|玩|弹|练|追|粉|坐|看|听|学)(?:的是)?(?P<old>[\u4e00-\u9fffA-Za-z0-9]{1,8})$"
)


def corrected(asked: str, said: str) -> str:
    """The question's statement with the value that the person puts right; "" where that says itself what is so, or
    nothing."""
    value = TAIL.sub("", CORRECTION_LEAD.sub("", said.strip())).strip()
    if not value or len(value) > LONGEST_VALUE or DOUBT.search(said) or COURTESY.fullmatch(content(said)):
        return ""
    if sort_of(said) is not None and re.match(r"我|俺|本人", said):
        return ""
    if _puts_nothing_right(asked, value):
        return ""
    asked = re.sub(r"还(?=[是在住用穿喝吃叫写寄送开养做要])|仍然?|依然|一直", "", asked)
    return (
        by_claim(asked, value)
        or by_form(asked, said)
        or by_verb(asked, said)
        or by_kind(asked, said)
        or _by_link(asked, value)
    )


def _puts_nothing_right(asked: str, value: str) -> bool:
    """It denies, or says what the question said: 「我吃辣」 to 「您不吃辣吧」 names no other value."""
    if re.match(r"[不没别]", value):
        return True
    form, whole = normalise(value), normalise(asked)
    return re.search(rf"(?<![0-9a-z.]){re.escape(form)}(?![0-9a-z.])", whole) is not None


_LETTERED = re.compile(r"[2-9]?x{0,4}[sml]", re.IGNORECASE)
_SIZED = re.compile(r"(?:[2-9]?x{0,4}[sml]|均|加?[大中小]|[0-9]{2,3}(?:\.5)?)(?:码|号)?半?", re.IGNORECASE)


def by_claim(asked: str, value: str) -> str:
    """In the place of what the question claims, or has a stance to, or ends in."""
    if len(normalise(asked)) != len(asked):
        return ""
    reading = read_claims(asked)
    named = [claim.value for claim in reading.claims]
    named += [stance.object for clause in reading.clauses for stance in clause.stances]
    if (found := _ENDS_IN.search(asked)) is not None:
        named.append(_PLACED.sub("", found["old"], count=1))
    for each in named:
        place = normalise(asked).find(each)
        if not each or place < 0:
            continue
        old = asked[place : place + len(each)]
        if (DIGITS.search(old) and not DIGITS.search(value)) or (
            _LETTERED.fullmatch(old) and not _SIZED.fullmatch(value)
        ):
            continue
        if (number := DIGITS.fullmatch(value)) and DIGITS.search(old):
            return asked[:place] + DIGITS.sub(number.group(), old, count=1) + asked[place + len(old) :]
        end = place + len(old)
        unit = asked[end : end + 1]
        return asked[:place] + value + asked[end + (value.endswith((unit, f"{unit}半")) if unit else 0) :]
    return ""


def by_form(asked: str, said: str) -> str:
    """In the place of the one with its form: a time, or a number with its unit."""
    value = TAIL.sub("", CORRECTION_LEAD.sub("", said.strip())).strip()
    times = times_in(asked)
    if times_in(value) == [value] and len(times) == 1 and len(value) > 1:
        return asked.replace(times[0], value, 1) if times[0] != value else ""
    if _CODE.fullmatch(value) and len(codes := _CODE.findall(asked)) == 1 and codes[0] != value:
        return asked.replace(codes[0], value, 1)
    form = normalise(value)
    if (found := _WITH_UNIT.fullmatch(form)) is None or len(normalise(asked)) != len(asked):
        return ""
    for other in _WITH_UNIT.finditer(normalise(asked)):
        if other["unit"].startswith(found["unit"]) and other["n"] != found["n"]:
            end = other.end("n") + len(found["unit"])
            return f"{asked[: other.start()]}{value}{asked[end:]}"
    return ""


def by_verb(asked: str, said: str) -> str:
    """Behind the verb that both have: 「叫毛豆」 to 「我的狗叫豆豆」; or, of what was changed, behind the last one."""
    said = ENDED.sub("", said.strip())
    if (found := _VERBS.fullmatch(said)) is not None and (place := asked.rfind(found["verb"])) >= 0:
        value = found["value"]
        old = asked[place + len(found["verb"]) :]
        if old and value not in asked and not NO.match(value) and "是" not in value:
            return f"{asked[:place]}{found['verb']}{value}"
    return ""


def by_kind(asked: str, said: str) -> str:
    """「联通的」 to 「我家宽带是电信的」."""
    found = _OF_KIND.fullmatch(content(said))
    place = asked.rfind("是")
    if found is None or place < 0 or not asked.endswith("的") or _NO_KIND.search(content(said)):
        return ""
    old = asked[place + 1 : -1]
    is_other = (
        0 < len(old) <= ECHOED and found["value"] not in asked and not re.search(r"不|没", found["value"])
    )
    return f"{asked[: place + 1]}{found['value']}的" if is_other else ""


def _by_link(asked: str, value: str) -> str:
    before, link, old = asked.rpartition("是")
    if not link or (DIGITS.search(old) and not DIGITS.search(value)):
        return ""
    found = _PLACED.match(old)
    verb = found.group() if found else ""
    return f"{before}是{verb}{value}"


_PLACED = re.compile(r"^(?:住在|在|住)(?=[^的]{2})")
"""「不是，在无锡」 to 「我是在苏州」: the verb stays."""
