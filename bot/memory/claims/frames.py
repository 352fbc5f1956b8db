"""Two clauses that are alike but for one value: 「我每周三练琴」 and 「我现在每周五练琴」, and changes named outright.

Invariant: pure; linear. Only a clause that says that something changed takes another's place here.
"""

import re

_DROPPED = re.compile(
    r"打算|计划|准备|想要?|要|今年|去年|这学期|下学期|这个?月|现在|目前|已经|如今|最近|以后|今后|从今|其实|应该|一般|平时|都|就|也|又|才|改(?:成|为"
    r"|到|在|用)?|换(?:成|到|了)?|变(?:成|为|了)|我们?|的|是|了|啦|吧|哦|呢|一?[个名位辆台双件]"
)
_STRONG = re.compile(r"改|换|变|不再|推迟|提前|延[后期到]|挪|调")
_SIDE_BY_SIDE = re.compile(
    r"有|养|买|去过|吃过|看过|玩过|喜欢|爱|会|能|想|要|学|认识|送|收到|拿|得|参加|喝|吃|对|需要|讨厌|怕"
)
"""Of these several hold side by side: another one is no change."""
_TIMED = re.compile(
    r"[0-9一二两三四五六七八九十]+[点号日月年周天岁次个块元斤公里分小杯瓶]|周[一二三四五六日天末1-7]|星期|[早中晚]上"
    r"|上午|下午|中午|每[天周月年]|[今明后]天|^[0-9.:]+$"
)
_ONLY_TIME = re.compile(
    r"(?:[今明后昨前上下这每]?个?(?:[天年月周晚]|周末|星期)|[年月周]底|[早中晚]上|[上下]午|[0-9]+[点月日号])+"
)
"""Two things may happen at one time."""
_PLATFORMS = frozenset({"微信", "手机", "支付宝", "抖音", "淘宝", "电脑", "公司", "学校"})
"""Much is told of each: two things said of one needn't be the same thing."""
_QUALIFIES = re.compile(
    r"公司|单位|家里|老家|学校|收货|左|右|大|小|备用|工作|私人|爸|妈|老婆|老公|儿|女|哥|姐|弟|妹|朋友|同事|上衣|裤"
    r"|鞋|早|中|晚|狗|猫"
)
LONGEST_PART = 14
"""Characters that differ: a value."""
LEAST_SHARED = 2
"""Characters that are alike: a verb with what it is about."""

_NAMED = re.compile(
    r"(?P<n>[\u4e00-\u9fffa-z]{2,10}?)(?:已经|又|都|临时|现在|要|得|就|也)?(?:改|换|变|推迟|延后|延期|延|提前|挪"
    r"|调整?|升级|升|涨|降|减|加|增加|增|更新|更改)(?:成|到|为|至|在)了?(?P<v>[^,.;!?]{1,30})"
)
_TO_ANOTHER = re.compile(
    r"^(?:我的?|我们)?(?P<n>[\u4e00-\u9fff]{2,5}?)(?:现在|已经)?(?:改|换)(?P<v>[^成到为至在了,.变掉过][^,.;!?]{1,8}?)了$"
)
_FROM = re.compile(
    r"(?:从|由|把|将)(?:原来的?)?(?P<a>[^,.;!?]{1,16}?)(?:的)?(?:改|换|调|搬|变|转|升|降|涨|推迟|提前"
    r"|挪|接|迁|移)[^,.;!?]{0,3}?(?:成|到|为|去|至|回|进)(?P<v>[^,.;!?]{1,30})"
)
_NOT_BUT = re.compile(
    r"不是(?P<a>[^,.;!?]{1,16}?)(?:了)?[,.;]?(?:而|应该|现在)?(?:是|改成|换成)(?P<v>[^,.;!?]{1,30})"
)
_SHARED_NAMES = frozenset(
    {"地址", "电话", "号码", "时间", "邮箱", "名字", "手机", "手机号", "尺码", "密码", "预算", "生日"}
)
"""Many things have one: the words before it tell whose."""
_OF_THE_WORLD = re.compile(r"价格|系统|版本|天气|气温|股价|油价|房价|利率|汇率|你们|平台|页面|活动")
_NAME_TAIL = re.compile(r"(?:我们?|那边|这边|现在|以后|也|就|都|已经|最近|后来|干脆|给|时间)+$")
_NAME_LEAD = re.compile(
    r"^(?:我们?|俺|本人|把|将|的|那个?|这个?|之前|以前|原来|上次|说的?|家|现在|最近|今天|刚刚|已经|帮我|麻烦)+"
)


def differs_in_value(new: str, old: str) -> bool:
    """Both are clauses in their form, of the same owner; `new` says a change."""
    a, b = _DROPPED.sub("", new), _DROPPED.sub("", old)
    if a == b:
        return False
    start = _shared(a, b)
    if start and a[start - 1] in "周期拜":
        # 「周三」 and 「周五」 differ as a whole.
        start -= 1
    end = _shared(a[start:][::-1], b[start:][::-1])
    mine, theirs = a[start : len(a) - end], b[start : len(b) - end]
    alike = a[:start] + (a[len(a) - end :] if end else "")
    if not mine or not theirs or max(len(mine), len(theirs)) > LONGEST_PART or len(alike) < LEAST_SHARED:
        return False
    if _ONLY_TIME.fullmatch(alike) or alike in _PLATFORMS:
        return False
    if _QUALIFIES.search(mine) or _QUALIFIES.search(theirs):
        return False
    is_timed = bool(_TIMED.search(mine) and _TIMED.search(theirs))
    is_strong = bool(_STRONG.search(new))
    if not (start or is_timed or (is_strong and mine in _after_change(new) and end > 1)):
        return False
    if _SIDE_BY_SIDE.search(alike) and not is_strong:
        return False
    return not end or is_strong or is_timed


def _after_change(new: str) -> str:
    """What comes after the word that says a change: the new value stands there."""
    found = list(_STRONG.finditer(new))
    return _DROPPED.sub("", new[found[-1].end() :]) if found else ""


def names_change(new: str, old: str) -> bool:
    """`new` says that what `old` tells of was changed: 「会议改到周五」, 「从联通换成电信」, 「不是12号是21号」."""
    for pattern in (_FROM, _NOT_BUT):
        found = pattern.search(new)
        if found is not None:
            value = _NAME_LEAD.sub("", found["a"])
            if len(value) > 1 and value in old and found["v"] not in old:
                return True
    found = _NAMED.search(new) or _TO_ANOTHER.search(new)
    if found is None:
        return False
    name = _NAME_TAIL.sub("", _NAME_LEAD.sub("", found["n"]))
    place = old.find(name) if len(name) > 1 else -1
    if place < 0 or found["v"] in old:
        return False
    # 「公司地址」 is not 「地址」.
    return name not in _SHARED_NAMES or not _NAME_LEAD.sub("", old[:place]) or old[place - 1] in ",的我"


def tells_change(clause: str) -> bool:
    """It names what was changed, and to what."""
    found = _NAMED.search(clause)
    return (
        found is not None and not _OF_THE_WORLD.search(found["n"]) and len(_NAME_LEAD.sub("", found["n"])) > 1
    )


def _shared(a: str, b: str) -> int:
    """How many characters both begin with."""
    count = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        count += 1
    return count
