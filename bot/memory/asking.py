"""What the bot's answer ends in asking of the person, as a statement of theirs.

Invariant: pure, linear. Only one plain question about the person is read; an offer, a suggestion, a supposition, or
several questions ask nothing that a yes makes a fact.
"""

import re
from dataclasses import dataclass

from bot.memory.claims import SELF, read_claims
from bot.memory.clauses import is_supposed

LONGEST_ASKED = 120
"""Characters."""
LOOKED_AT = 400

_SENTENCE = re.compile(r"[^。！!？?\n；;]+[。！!？?；;]*")
_SO = r"对不对|是不是|对吗|对吧|对么|对不|对嘛|是吗|是吧|是么|没错吧|没错吗|正确吗|准确吗|属实吗"
_TAG = re.compile(
    r"[,，\s]*(?:"
    r"(?:我|我们|小店|这边)?(?:这?样|这么)?(?:没有?|应该没|不会)?(?:说|记|理解|听|弄|搞|写|填|看|登记)(?:得|的|的是)?(?:对|没错|错)"
    r"(?:了)?(?:吗|吧|么)|"
    rf"(?:这|那|我)?(?:个|样|么|边)?(?:的)?(?:信息|说法|资料|记录|地址|号码)?(?:都|还|也|应该)?(?:是)?(?:{_SO})"
    r"|(?:还)?(?:是)?(?:这样|这个|这么回事|这些|它)(?:的)?(?:没错|对)?(?:吗|吧|么)"
    r"|(?:您|你)?(?:现在|目前|都)?还(?:是)?(?:在|有)?(?:用|住|这样|这么|准确|有效|适用|没变|不变|没改|算数|一样)(?:着|的)?(?:吗|吧|么|呢)"
    r"|(?:现在|有|都)?(?:没|没有|有没有)(?:什么)?(?:变|变化|变动|改|改动|换)(?:过|的)?(?:吗|吧|么)?"
    r"|(?<=[,，])是(?:您|你)(?:本人)?(?:吗|吧|么)|没问题(?:吗|吧|么)|可以确认吗|确定吗"
    r"|吗|么|吧|呢|嘛)[\s?？~～。]*$"
)
_ASKS = re.compile(r"[?？][\s~～]*$|[吗么吧][\s~～。]*$")
_SAID_BY_PERSON = (
    r"(?:我(?:这边)?(?:记得|记着|看到|看|查到|见))?(?:您|你)(?:好像|应该)?(?:之前|以前|上次|上回|刚才|刚刚|前面|早前|曾经?|好像|有)*"
    r"(?:跟我|和我|跟我们|给我们|在这里|这里)?(?:说|提到|提|讲|告诉我|留|填|登记|写|备注|反馈|预留|注明)(?:了|过|的是|的|我)?(?:是)?(?:说)?"
    r"|(?:之前|以前|上次|上回|刚才|刚刚)(?:听)?(?:您|你)(?:说|提到|提|讲|告诉我|留|填|登记|写|备注)(?:了|过|的是|的|我)?(?:是)?"
    r"|(?:给|替|为|帮)(?:您|你)(?:这边)?(?:登记|记录|记|备注|写|填|留|标注)(?:下来)?(?:的是|的|了|为|成)"
    r"|(?:我|我们|我这边|这边|这里)?(?:给|替|为|帮)?(?:您|你)?(?:这边|这里)?(?:登记|记录|记|备注|留存|保存|存)(?:下来)?的(?:信息|资料)?(?:是|为)"
)
_LEAD = re.compile(
    r"^(?:(?P<theirs>" + _SAID_BY_PERSON + r")"
    r"|(?:好的?呢?|嗯+|哦+|那么?|所以|也就是说|这么说|看来|请问|抱歉|不好意思|对了|明白了?|收到|了解|顺便(?:问一下)?"
    r"|(?:我)?(?:想|需要|再|这边)*(?:跟您|和您|向您|跟你|和你|与您)?(?:再)?(?:确认|核对|核实)(?:一下|下|一遍|个信息)?"
    r"|我(?:这边|们)?(?:没|没有)?(?:记得|记着|记错的话|记错|记录的是|看到|查到|理解的是)(?:的话)?"
    r"|(?:我|我们)?(?:这边|这里)?(?:的)?(?:系统|记录|资料|档案|后台|页面|会员信息)(?:里|上|中|这边)?(?:写|显示|记录|登记|留|记|查到)?(?:着|的)?(?:是)?"
    r"|(?:我|我们)?(?:这边|这里)(?:系统)?(?:显示|记录|登记|查到|看到)(?:的)?(?:是)?"
    r"|之前|麻烦|如果没记错的话|如果没记错)[,，:：、\s]*)(?:[,，:：、\s])*(?=.)"
)
_OPEN = re.compile(
    r"什么|啥|哪(?!怕)|多少|多[大高重长久远]|几(?!乎)|怎么|怎样|如何|谁|何时|为什么|为何"
    r"|还是(?!这|那|原|老|之前)|或者|要不要|需不需要|能不能|可不可以|想不想|有没有|会不会|好不好|行不行"
)
_STILL = re.compile(
    r"(?P<before>^|[您你]|现在|目前|这次|平时|一般|依然|今天|今年|以后|[,，]"
    r"|(?:鞋|尺|号|邮|条|车牌|会员|手机|电话|码)[码号]|口味|颜色|号码|码数|大小|地址|电话|手机|邮箱|微信|称呼|昵称|名字|生日|职业"
    r"|工作|单位|公司|预算|体重|身高|腰围|抬头|发票|收件人|收货人|联系人|联系方式|时间|快递|方式|早餐|午餐|晚餐|咖啡|奶茶|要求|备注"
    r"|住|住在|住的|穿|穿的|用|用的|喝|喝的|吃|吃的|开|开的|在|寄|寄到|送|送到|收货|的)还是(?!没|有没)"
)
"""「鞋码还是42吗」, no choice of two."""
_ENDS_ASKING = re.compile(r"[吗吧么][\s?？~～。]*$|对不对|是不是")
_OFFERS = re.compile(
    r"需要(?:我|帮|为|给|人工)|要我|(?:我们?|这边|小店|本店|店里|客服|咱们)(?!的)(?:这边)?(?:可以|能|会|来|先|再|就"
    r"|帮|给|为|替|把|安排|推荐|有|是|在)|帮[您你]|给[您你](?!的)|为[您你](?!的)|替[您你]|推荐|建议|试试|试一[下试]"
    r"|考虑|看看|要不(?!要)|不如|介意|愿意|方便|可以[吗么]|行[吗么]|好[吗么]|好吧|怎么样"
    r"|想(?:要)?(?:了解|看|试|买)|感兴趣|请[您你]|记住|转人工|麻烦[您你]"
)
_AGREED = re.compile(
    r"[,，\s]*(?:这样)?(?:可以|行|好|没问题|成|ok|可不可以|行不行|好不好|对|对不对|没错|是)(?:的)?(?:吗|么|吧|嘛)?[\s?？~～。]*$",
    re.IGNORECASE,
)
_FOR = r"(?:(?:给|帮|替|为)(?:您|你))"
_NOTE = r"(?:登记|记录|记下来?|记|备注上?|备注|填写|填|标注|录入|保存|存|留)"
_RECORDS = (
    re.compile(
        rf"^(?:我|我们|我这边|这边)?(?:就|先|还是)?(?:按照?|以|用)(?P<v>[^,，]{{1,24}}?)(?:来)?{_FOR}?(?:来)?{_NOTE}(?:了|好|下"
        rf"|一下|哦|的)*$"
    ),
    re.compile(
        rf"^(?:我|我们|我这边|这边)?(?:就|先)?{_FOR}?(?:先)?{_NOTE}(?:了|成|为|的|是|上|下|一下"
        rf"|[:：])*(?P<v>[^,，]{{1,30}}?)(?:了|哦|啦)?$"
    ),
    re.compile(
        rf"^(?:(?:您|你)的?)?(?P<n>[^,，您你]{{1,6}}?)(?:我|我们|我这边|这边)?{_FOR}?(?:就|先)?(?:登记|记|备注|写|填)(?:成|为|作"
        rf"|的是)(?:了)?(?P<v>[^,，]{{1,30}}?)(?:了|哦|啦)?$"
    ),
    re.compile(
        rf"^(?:我|我们|我这边|这边)?(?:就|先)?{_FOR}?(?:把|将)?(?:您的|你的)?(?P<n>收货地址|地址|电话|手机号|尺码|鞋码|口味|称呼|收件人|抬头|备注|生日|邮箱)"
        rf"{_FOR}?(?:{_NOTE}|改|更新|写)(?:了|成|为|的|是|上|[:：])*(?P<v>[^,，]{{1,30}}?)(?:了|哦|啦)?$"
    ),
)
"""What the bot would write down of the person."""
_WANTED = re.compile(
    r"^(?:要不要|需不需要|用不用|需要|要|是否需要|是否)(?:我|我们|这边)?(?=(?:给|帮|替|为|把|将|按)[^,，]{0,12}(?:登记|记|备注|改|更新|写|标注)(?:成|为|上))"
)
_CALLS = re.compile(
    r"^(?:以后|今后|往后|之后|这边|我们?)*(?:就|都|可以)*(?:叫|称呼|喊)(?:您|你)(?:为|作|做)?(?P<v>[^,，]{1,10}?)(?:了|啦|哦)?$"
)
_SIZE = re.compile(r"(?:[2-9]?x{0,4}[sml]|[0-9]{2,3}(?:\.5)?)码?|均码|[大中小]码", re.IGNORECASE)
_OF_THEIRS = re.compile(
    r"^(?:(?:收货|收件|配送|送货|公司|家里?|单位|联系|手机|电话|邮|会员|发票|鞋|尺|车牌|预约|预订|生日|开票|取货|上门|配送)+"
    r"[^,，]{0,6}(?:是|写|填|:|：|在|为)|收件人|收货人|联系人|抬头|备注|口味|忌口|称呼|昵称)"
)
_KEPT_WAYS = re.compile(r"^(?:还是|仍然|仍旧|依旧|依然|照旧|一直|平时|一般)")
_NOT_LASTING = re.compile(
    r"满意|咨询|退货|换货|退款|付款|支付了|下单|点的|下的单|签收|这份|那份|这单|那单|问题|帮助|需要(?!戴|补)|(?:是|给|帮)[他她]|想(?:要)?(?:问|咨询|退|换|查|买|了解)|"
    r"这[个款样件条张里部首本场次道]|那[个款样件条张里]|链接|页面|刚才|图片|消息|明白|清楚|收到|听到|看到|在吗|听懂|说的|问的"
)
"""Of these a yes says nothing that lasts."""
_PERSON = re.compile(r"[您你](?!们)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One plain question of the bot's about the person."""

    text: str
    """Without what leads to it."""
    stated: str
    """What a yes says, in the person's own words; "" where it asks for a value or a choice."""
    is_record: bool = False
    """It asks whether something may be written down so: then 「可以」 says yes."""


_NOTHING = Asked(text="", stated="")


def asked_in(answer: str) -> Asked:
    """What an answer of the bot's ends in asking; empty for nothing."""
    sentences = [each.strip() for each in _SENTENCE.findall(answer[-LOOKED_AT:]) if each.strip()]
    questions = [each for each in sentences[-3:] if _ASKS.search(each)]
    if len(questions) != 1 or questions[0] not in sentences[-2:] or len(questions[0]) > LONGEST_ASKED:
        return _NOTHING
    text, is_theirs = _without_lead(questions[0])
    if record := _recorded(text):
        return Asked(text=text, stated=record, is_record=True)
    if _OFFERS.search(text) or is_supposed(text):
        return _NOTHING
    return Asked(text=text, stated=_stated(text, is_theirs=is_theirs))


def in_their_words(stated: str, *, is_theirs: bool = False) -> str:
    """As the person would say it; "" where it isn't about them."""
    stated = re.sub(r"(?<=[0-9a-zA-Z])[这那]个$", "", stated)
    said = re.sub(r"[您你](?!们)(?:本人)?", "我", stated)
    if not stated or _NOT_LASTING.search(said):
        return ""
    if said != stated:
        return said
    if is_theirs or _KEPT_WAYS.search(stated):
        return said if said.startswith(("我", "俺")) or _OF_THEIRS.search(said) else f"我{said}"
    return said if _OF_THEIRS.search(said) or read_claims(said).claims else ""


def without_tag(text: str) -> str:
    """A question without what makes it one."""
    for _ in range(2):
        text = _TAG.sub("", text).strip(" ?？。，,~～!！")
    return text


def _without_lead(text: str) -> tuple[str, bool]:
    """And whether the lead says that it is the person's."""
    is_theirs = False
    while found := _LEAD.match(text):
        is_theirs = is_theirs or bool(found["theirs"])
        text = text[found.end() :]
    return text, is_theirs


def _stated(text: str, *, is_theirs: bool) -> str:
    bare = without_tag(text).replace("是不是", "是")
    if _ENDS_ASKING.search(text):
        bare = _STILL.sub(lambda found: f"{found['before']}还\x00", bare)
    if _OPEN.search(bare.replace("有没有变", "").replace("什么都", "")):
        return ""
    return in_their_words(bare.replace("\x00", "是"), is_theirs=is_theirs)


def _recorded(text: str) -> str:
    """「按42码给您登记，可以吗」, 「要不要给您记成不吃辣」, 「以后叫您小周，好吗」: what it says of the person."""
    if is_supposed(text):
        return ""
    whole = text.strip(" ?？。，,~～")
    bare = _AGREED.sub("", text).strip(" ?？。，,~～")
    if bare == whole and (wanted := _WANTED.match(text)) is not None:
        bare = without_tag(text[wanted.end() :])
    if bare == whole or _OPEN.search(bare):
        return ""
    if found := _CALLS.match(bare):
        return f"叫我{found['v']}"
    for pattern in _RECORDS:
        if (found := pattern.match(bare)) is not None:
            return _noted(found["v"].strip(), found.groupdict().get("n") or "")
    return ""


def _noted(value: str, name: str) -> str:
    if not value or _NOT_LASTING.search(value):
        return ""
    if name:
        return f"我的{name}是{value}"
    if _PERSON.search(value):
        return in_their_words(value)
    if _SIZE.fullmatch(value):
        return f"我穿{value}"
    reading = read_claims(value)
    is_said = bool(reading.claims) or any(clause.stances for clause in reading.clauses)
    is_own = all(clause.owner == SELF for clause in reading.clauses)
    return value if is_said and is_own else f"我登记的是{value}"
