"""An order to forget, in plain words, and what is to be forgotten.

Invariant: pure; an order speaks to the bot of what the person told it. Who forgot something themselves (「忘记带伞了」「忘记密码
怎么办」), who asks whether the bot forgot, and who warns it not to, orders nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.conversation.text import clean
from bot.memory.clauses import forgot_to_tell

LONGEST = 100
"""Characters: who wants something forgotten is brief."""

_MAY_BE = re.compile(
    r"忘|[别甭]|不[要用必想希算许准需]|无需|没必要|禁止|勿|消|剔|拿掉|除|删|清|抹|去掉|移除|销毁|撤|收回|擦|划掉|作废|当我?没|forget",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:请|麻烦|拜托|劳驾|帮我|帮忙|给我|你|您|那你?|那就|就|算了|唉|哎|嗯|好|对了|顺便|另外|还有|以后|现在|我(?:想|要|希望)(?:你|您|让你|请你)?"
    r"|我(?=不想|不希望|收回|撤回)|(?:我?)?(?:要求|申请)|从(?:你的?)?(?:记忆|记录|脑子|大脑)(?:里|中)?|在(?:你的?)?(?:记忆|记录)(?:里|中)|想|立刻|马上|赶紧|请?求你)[,，\s]*)+"
)
_MAY_YOU = re.compile(
    r"^(?:请问)?(?:你|您)?(?:能不能|能否|能|可不可以|可以|可否)(?:不可以)?(?:请|麻烦)?(?:你|您)?(?P<rest>.+?)(?:吗|么|不|嘛)?$"
)
"""「能不能把我的地址忘了」: a request in the form of a question."""
_TAIL = re.compile(
    r"(?:[,，\s]*(?:好吗|好不好|行吗|行不行|可以吗|可以不|可否|谢谢你?|多谢|感谢|拜托了?|麻烦(?:了|你了)|辛苦了?)|[。.!！~～\s]"
    r"|[,，][吧哈呗])+$"
)
_FORGET = r"(?:忘记掉?|忘掉|忘了|忘却|遗忘|忘干净|忘光|忘个?一干二净|忘)"
_NOT_KEEP = (
    r"(?:别|不要|不用|不必|不许|不准|不需要|无需|没必要|禁止|请?勿|甭|不想让?(?:你|您)|不希望(?:你|您))(?:再|给我|帮我|替我|一直|老|还|继续)*"
    r"(?:记(?:住|着|得|下来|下|录|在心上|了)?(?![恨仇账错混者挂性])|保存|储存|存(?:着|下来?|了)?(?![款钱])|保存下来|保留|留着|留存|留下|留(?!言)|知道)(?:了)?"
)
_DELETE = (
    r"(?:删除掉?|删掉|删了|删去|删干净|删|清除掉?|清掉|清了|清空|清理掉?|清干净|抹掉|抹去|抹除|抹了|擦掉|擦除|划掉|去掉|去除|移除|销毁|消除|消掉|剔除|拿掉|除掉|清零|清洗掉?"
    r"|撤回|撤销|收回|取消(?=.{0,10}记))"
)
_FULLY = (
    r"(?:都|全都|全部|全|统统|通通|一并|一起|也|给我|帮我|替我|彻底|完全|直接|赶紧|马上|立刻"
    r"|从[^,，]{0,6}里|从[^,，]{0,8}(?:中|删))*"
)
_NOT_SPEAK = r"(?:别|不要|不许|不准|少)(?:再|给我|跟我|对我)+(?:提|说)(?:起|到)?"
_FIRST = re.compile(
    rf"(?P<fully>{_FULLY})(?:(?P<forget>{_FORGET})|(?P<keep>{_NOT_KEEP})|(?P<delete>{_DELETE})"
    rf"|(?P<unsaid>当我?没(?:说|讲|提)过?)|(?P<unspoken>{_NOT_SPEAK}))"
    r"(?P<what>.+)",
    re.DOTALL,
)
_SOFTLY = r"(?:一下)?(?:就[行好]了?)?[吧啦呗]?"
_TAKEN = re.compile(
    rf"(?:把|将)(?P<what>.+?)(?P<fully>{_FULLY})(?:(?P<forget>{_FORGET})|(?P<delete>{_DELETE}))(?P<end>[了掉]?{_SOFTLY})",
    re.DOTALL,
)
_LAST = re.compile(
    rf"(?P<what>.+?)[,，\s]*(?:请?(?:你|您))?(?:请|就|还是|可以|帮我|给我|先|那就)*(?P<fully>{_FULLY})(?:"
    rf"{_FORGET}(?:[掉了]?(?:一下)?(?:就[行好]了?)?[吧啦呗]|[掉了]?就[行好]了?|[掉了]?一下|掉)"
    rf"|忘(?:掉|记掉|干净|光)|(?:请|麻烦|可以)(?:你|您)?{_FORGET}了?"
    rf"|(?:我(?=不想|不希望))?(?P<keep>{_NOT_KEEP})(?:就[行好])?[了吧啦哈]*"
    r"|当(?:作|做|我)?没(?:说|讲|提|聊|听)过?(?:这些?|这事)?[了吧]?|不算数?[了吧]?|作废[了吧]?"
    rf"|(?P<unspoken>{_NOT_SPEAK})[了吧]?|(?P<delete>{_DELETE})(?P<end>[了掉]?{_SOFTLY})|(?P<done>忘了|忘记了?))",
    re.DOTALL,
)
_BARE = re.compile(
    rf"(?:请|麻烦|拜托|就|你|您|还是|帮我|给我|那|什么|啥|一概|一律|一点)*(?P<fully>{_FULLY})"
    rf"(?:{_FORGET}[掉了]?[吧啦呗]|忘掉|{_NOT_KEEP}[了吧啦]*|{_DELETE}[了掉]?(?:一下)?[吧啦呗]?)"
)
"""A clause that says what to do, of what was named before it."""

_TIME = (
    r"[今昨前]天|今早|昨晚|今晚|[上这本]个?(?:周|星期|礼拜|月|次)|周[一二三四五六日天末]|星期|礼拜"
    r"|[0-9一二三四五六七八九十两几]+(?:个月|天|周|小时|分钟|号|日|年)[前以]?|去年|早上|上午|中午|下午|晚上|最近"
)
_TOLD = re.compile(
    r"说|讲|聊|谈|提[到过起的]|告诉|对话|话题|那段话|这段话|(?<![他她它们])的话|记忆|记得|记住|记的|记下|关于|有关|相关"
    r"|第[0-9０-９一二三四五六七八九十]{1,4}[条件项]|[这那][件个条段]?(?:事|些|句|条|段|号码|单号|地址|个)|刚才|刚刚|方才|刚那|上一?[句条]|最后一?[句条]|一切|所有|我$|备忘"
    rf"|^我(?!们)[^的]{{0,20}}(?:的事|这件事|那件事|这事)|{_TIME}"
)
"""Of what was told, or is remembered."""
_OWN = re.compile(r"我(?!们)|咱|本人")
_CODE = re.compile(r"(?=[A-Za-z_-]*[0-9])[A-Za-z0-9][A-Za-z0-9_-]{4,}")
_ALL = re.compile(r"^(?:一切|所有|全部|全|都|我)(?:的?(?:事情?|东西|内容|信息|一切))?[吧了]?$")
_OF_HOUSE = re.compile(
    r"订单(?!号)|账号|帐号|账户|购物车|评[论价]|帖子|好友|会员|积分|优惠券|文件|照片|图片|视频|申请|预约|浏览|收藏|足迹|收货|群|网页|缓存|软件|app|空格|行$"
    r"|文档|表格|代码|邮件|短信|商品|(?:方法|办法|功能|命令|按钮|步骤|教程)$",
    re.IGNORECASE,
)
"""What is deleted in a shop."""
_OF_ONESELF = re.compile(
    r"密码|口令|账号|帐号|验证码|钥匙|身份证|手机(?!号)|雨伞|带(?!的)|拿|关(?!于)|付|还款|吃药|签到|打卡|取(?!向)|买(?!的)|预约|交|发(?!票)|寄|收(?!入)|锁"
)
"""What people forget themselves."""
_OF_A_THING = re.compile(r"(?:的|这[件个]?|那[件个]?)(?:事情?|事儿|话|内容|信息|消息)[吧了]?$")
_OPENS_THING = re.compile(
    rf"我|咱|俺|本人|你|您|关于|有关|对|[那这]|所有|全部|一切|任何|之前|以前|刚|方才|最|第|前面|上[面次一个]|[0-9A-Za-z#＃]|{_TIME}"
)
"""With what else a bare 「忘记…」 goes on may be what somebody forgot to do."""
_ENDS_DONE = re.compile(r"了$")
_ASKS = re.compile(
    r"怎么|怎样|如何|咋|为什么|为啥|是不是|有没有|会不会|能不能|能否|可不可以|要不要|[吗么]$|[?？]|多久|还能"
)
_ASKS_WITHIN = re.compile(r"什么|啥|哪|谁|几[点个号]|多少|多[大高重]")
_QUOTING = re.compile(r"[“「『\"]|如果|要是|假如|假设|比如|例如|他说|她说|有人说")
_NOT_A_THING = re.compile(
    r"(?:[他她它]|[他她]们|大家|老板|同事|客户|对方|我|你|您|人|不|没|别|也|会|能|想|老|总|又|就|才|要|不[用必许能该准])$"
    r"|^(?:先|可|请|你|您|千万|一定)*(?:别|不要|不能|不许|不准|勿|没|不会|怕|担心)|千万|记得|^(?:他|她|它|他们|她们|人家|大家)的话$"
)
_MENTAL = re.compile(r"烦恼|过去|不愉快|不开心|伤心|时间|自己|前任|仇恨|悲伤|一切烦|压力|烦心|难过|痛苦")
"""What people wish away, and nobody told the bot."""
_PLEASE = re.compile(r"[,，\s]*(?:请|麻烦|拜托|就|(?<=[的事，])你|您)+$")
_VOID = re.compile(r"(?<=.)(?:已经|已|就|都)?(?:作废|不算数?|失效)了?$")
_CLAUSES = re.compile(r"[,，。;；!！\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetOrder:
    what: str
    """In the person's own words."""
    is_certain: bool = True
    """False: it may be talk (「忘掉他吧」), where nothing is remembered of it."""
    is_asking: bool = False
    """A request in the form of a question (「能忘掉我的地址吗」)."""


def forget_order(text: str) -> ForgetOrder | None:
    """What is to be forgotten. None: the text orders nothing of the kind."""
    if len(text) > LONGEST or _MAY_BE.search(text) is None:
        return None
    said = clean(text)
    is_question = said.endswith(("?", "？"))
    said = _TAIL.sub("", said.rstrip("?？ "))
    clauses = [clause.strip() for clause in _CLAUSES.split(said) if clause.strip()]
    if (may := _MAY_YOU.fullmatch(said)) is not None and len(clauses) == 1:
        order = _of_clause(may["rest"])
        return _perhaps(order)
    if is_question and not _TAIL.search(clean(text).rstrip("?？ ")):
        return None
    if len(clauses) < 2:
        return _of_clause(said)
    if _QUOTING.search(said) or any(_ASKS.search(clause) for clause in clauses):
        return None
    return _of_clauses(clauses)


def order_beside_another(text: str) -> ForgetOrder | None:
    """Beside 「记住…」 also 「忘记紫色」 is an order, unless people forget such things themselves."""
    order = forget_order(text)
    is_bare = order is None and not _OF_ONESELF.search(text) and not text.rstrip(" 。.!！").endswith("了")
    return forget_order(text.rstrip(" 。.!！") + "吧") if is_bare else order


def begins_forgetting(text: str) -> bool:
    """Whether a text longer than `LONGEST` begins with an order to forget, or as one that doesn't end."""
    first = _CLAUSES.split(text[: LONGEST + 1].strip(), 1)[0]
    if len(first) > LONGEST - 1:
        lead = _LEAD.match(first)
        body = first[lead.end() :] if lead else first
        is_begun = re.match(rf"{_FULLY}(?:{_FORGET}|{_NOT_KEEP}|{_DELETE})", body) is not None
        return is_begun and not forgot_to_tell(first) and not _ASKS.search(first)
    order = forget_order(first)
    return order is not None and order.is_certain


def _of_clauses(clauses: Sequence[str]) -> ForgetOrder | None:
    """The last order; a bare one (「…，忘了吧」) is for what stands before it."""
    for number in range(len(clauses) - 1, -1, -1):
        clause = clauses[number]
        bare = _BARE.fullmatch(clause)
        if bare and bare["fully"] and not number and len(clauses) > 1:
            return _of_clause(clauses[1] + clause)
        if number and bare:
            named = (
                _of_clause(before + clause) for before in ("，".join(clauses[:number]), clauses[number - 1])
            )
            return next((order for order in named if order is not None), None)
        if (order := _of_clause(clause)) is not None:
            return order
    return None


def _of_clause(said: str) -> ForgetOrder | None:
    if _ASKS.search(said):
        return None
    lead = _LEAD.match(said)
    body = said[lead.end() :] if lead else said
    speaks_to_bot = bool(lead and re.search(r"[你您]", lead[0]))
    is_polite = bool(lead and re.search(r"请|麻烦|拜托|劳驾|帮|希望|我要|想", lead[0]))
    if (taken := _TAKEN.fullmatch(body)) is not None:
        is_reproach = speaks_to_bot and not is_polite and not taken["end"].endswith(tuple("吧啦呗"))
        is_done = taken["forget"] in ("忘了", "忘记", "忘") and taken["end"] in ("", "了")
        if is_reproach and is_done:
            return None
        return _told(taken["what"], taken["fully"], is_delete=taken["delete"] is not None, is_order=True)
    if (first := _FIRST.fullmatch(body)) is not None:
        return _first(first, speaks_to_bot=speaks_to_bot, is_polite=is_polite)
    if (last := _LAST.fullmatch(said)) is not None and not _NOT_A_THING.search(last["what"]):
        if last["done"] is not None and not _TOLD.search(last["what"]):
            return None
        order = _told(last["what"], last["fully"], is_delete=last["delete"] is not None, is_order=True)
        return _perhaps(order) if _may_tell(last) and not is_polite else order
    return None


def _may_tell(found: re.Match[str]) -> bool:
    """「我的评论删了」 may tell what happened, 「昨天说的忘了」 of its speaker, 「别再提这事」 asks for silence."""
    is_done = found["delete"] is not None and found[0].endswith("了") and not found["fully"]
    return is_done or found["done"] is not None or found["unspoken"] is not None


def _perhaps(order: ForgetOrder | None) -> ForgetOrder | None:
    return None if order is None else replace(order, is_certain=False, is_asking=True)


def _first(found: re.Match[str], *, speaks_to_bot: bool, is_polite: bool) -> ForgetOrder | None:
    what = found["what"]
    if not what.strip("吧啦呗了掉"):
        is_all = bool(found["fully"]) and found["forget"] is not None and what.endswith(("吧", "啦", "呗"))
        return ForgetOrder(what="全部") if is_all else None
    if found["forget"] is not None and (tells := forgot_to_tell(found["forget"] + what)):
        of_told = _told(what, "", is_delete=False, is_order=True)
        return _perhaps(of_told) if tells < len(found[0]) and _OF_A_THING.search(what) else None
    says_so = is_polite or what.endswith(("吧", "啦", "呗"))
    if found["forget"] is not None:
        says_so = says_so or found["forget"] not in ("忘了", "忘记", "忘")
        if not says_so and (
            _ENDS_DONE.search(what)
            or _OF_ONESELF.search(what)
            or _ASKS_WITHIN.search(what)
            or (speaks_to_bot and found["forget"] == "忘了")
        ):
            return None
    elif _ASKS_WITHIN.search(what) and found["delete"] is not None:
        return None
    is_delete = found["delete"] is not None
    order = _told(what, found["fully"], is_delete=is_delete, is_order=says_so or found["forget"] is None)
    may_tell = found["unspoken"] is not None or (
        found["forget"] is not None and not says_so and _may_be_own(found)
    )
    return _perhaps(order) if may_tell else order


def _may_be_own(found: re.Match[str]) -> bool:
    """「忘了我的生日」「忘记写我的地址」: the speaker may have."""
    what = found["what"]
    return found["forget"] == "忘了" or what.startswith("了") or not _OPENS_THING.match(what)


def _told(what: str, fully: str, *, is_delete: bool, is_order: bool) -> ForgetOrder | None:
    """`what`, where it may be something the person told. `is_order`: the form leaves no doubt that somebody is to forget."""
    what = _VOID.sub("", _PLEASE.sub("", what.strip(" ：:，,").removeprefix("了")))
    if not what:
        return None
    is_told = _TOLD.search(what) is not None or _CODE.search(what) is not None or _ALL.match(what) is not None
    is_certain = is_told or _OWN.search(what) is not None
    if is_delete and _OF_HOUSE.search(what):
        return None
    if not is_certain and (not is_order or _MENTAL.search(what) or (is_delete and _ASKS_WITHIN.search(what))):
        return None
    is_whole = re.search(r"都|全|统统|通通", fully) is not None
    return ForgetOrder(what=f"{what}，全部" if is_whole else what, is_certain=is_certain)
