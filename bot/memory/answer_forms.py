"""The form of the answer that a question asks for, and which memories hold one: 「单号是多少」 wants a code, 「几点」 a time.

Invariant: pure, by the words alone; a form is evidence beside words and vectors, never a ground to leave a memory out.
"""

import re
from collections.abc import Mapping
from enum import StrEnum


class Form(StrEnum):
    """Those that show by their characters. Amounts and refusals (「别放什么」) are left out: nearly every memory has a
    number, and 「别」 asks for advice as often as for what was told."""

    CODE = "code"
    WHEN = "when"
    WHERE = "where"


_NUMERAL = r"[0-9零一二两三四五六七八九十]"

_ASKED: Mapping[Form, re.Pattern[str]] = {
    Form.CODE: re.compile(
        r"[编单账卡会电座车牌机序手尾型班][号码]|号码|密码|口令|验证码|uid|(?<!几)号是|哪个号|(?<![几尺多])号$|[流片]号"
        r"|(?<![尺鞋衣么穿多大几])码$",
        re.IGNORECASE,
    ),
    Form.WHEN: re.compile(
        r"什么时[候间]|几[点号月]|哪一?[天年月日]|何时|多久|到期|时间|周几|(?:星期|礼拜)几"
    ),
    Form.WHERE: re.compile(r"哪[儿里边]|地址|什么地方|何处|哪个(?:城市|区|小区|地方|教室)|[往到送住寄]哪"),
}
_TOLD: Mapping[Form, re.Pattern[str]] = {
    Form.CODE: re.compile(r"(?=[a-z0-9\-]*[0-9])[a-z0-9\-]{4,}", re.IGNORECASE),
    Form.WHEN: re.compile(
        rf"[0-9]{{1,4}}[年月日号点]|{_NUMERAL}[月号日点]|周[一二三四五六日天末]|星期|礼拜|[上下中]午|[早晚]上"
    ),
    Form.WHERE: re.compile(r"[路街巷号楼栋室区市县镇村城店园苑座]|地址|住|寄|送到|在"),
}


def forms_asked(question: str) -> frozenset[Form]:
    """Those that an answer has to have."""
    return frozenset(form for form, asks in _ASKED.items() if asks.search(question))


def has_form(memory: str, form: Form) -> bool:
    return _TOLD[form].search(memory) is not None
