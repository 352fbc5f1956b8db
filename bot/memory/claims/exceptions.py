"""What is so for once: today's exception, one order, a weekend. It ends nothing that is so as a rule.

Invariant: pure; linear; over clauses in their form.
"""

import re
from functools import lru_cache

_LATELY = 256
"""Clauses: one is held against every memory of its person."""
_ONCE = re.compile(
    r"今[天晚早儿]|昨[天晚]|前天|明[天晚早]|刚才|这(?:一)?[次回顿单会趟餐杯]|这[几两]天|这[个]?(?:周|星期|礼拜)(?!起|开始)|上次|偶尔|有时|破例|暂时|临时|先(?=不|别)"
    r"|周末|节假日|放假|假期|过年|出差|这[几两]周|这阵子"
)
_LASTS = re.compile(
    r"以后|今后|从今|从此|再也|不再|戒|(?:今天|明天|昨天|这周)(?:起|开始)|辞|离职|分手|离婚|取消|注销|停机|卖|送人|退|搬|出院|拆|换"
)
_HABITS = re.compile(
    r"不(?:用|能|敢|想|宜|可以|方便|太能)?[吃喝跑练打睡抽骑坐]|没(?:能|有|法|办法)?[吃喝跑练去打看睡玩做抽用骑坐开]|[吃喝睡起跑坐骑打抽练]|醒|打车|地铁|公交|开车|走路|步行|懒觉"
)


_SHORTLY = re.compile(r"体检|感冒了|发烧|拉肚子|拔了?牙|生理期|例假|姨妈来|疫苗|上火|头孢")
_MAY_NOT = re.compile(r"不(?:能|敢|宜|可以|方便|让)|没(?:法|办法)|别|忌")
"""For what is soon over."""
_LATER = re.compile(r"现在|平时|一直|每[天周月年晚早]|已经|又能|好了|完了")


@lru_cache(_LATELY)
def is_for_once(clause: str, before: str = "") -> bool:
    """It tells an exception to a habit (「今天没跑步」), and doesn't say that it lasts. `before`: what its sentence said
    so far, whose time holds on (「今天胃疼，不能吃辣」)."""
    if not _HABITS.search(clause) or _LASTS.search(clause):
        return False
    if _ONCE.search(clause):
        return True
    if _LATER.search(clause):
        return False
    is_ill = _SHORTLY.search(f"{before},{clause}") is not None and _MAY_NOT.search(clause) is not None
    return is_ill or _ONCE.search(before) is not None
