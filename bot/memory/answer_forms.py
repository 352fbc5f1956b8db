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
_TOLD: Mapping[Form, tuple[tuple[str, ...], str]] = {
    Form.CODE: ((), r"(?=[a-z0-9\-]*[0-9])[a-z0-9\-]{4,}"),
    Form.WHEN: (
        (
            *(f"{number}{unit}" for number in "零一二两三四五六七八九十" for unit in "月号日点"),
            *(f"周{day}" for day in "一二三四五六日天末"),
            *("星期", "礼拜", "上午", "下午", "中午", "早上", "晚上"),
        ),
        r"[0-9][年月日号点]",
    ),
    Form.WHERE: (("地址", "送到", *"路街巷号楼栋室区市县镇村城店园苑座住寄在"), ""),
}
"""Words, and a pattern of what is none."""


def forms_asked(question: str) -> frozenset[Form]:
    """Those that an answer has to have."""
    return frozenset(form for form, asks in _ASKED.items() if asks.search(question))


def told_form(form: Form) -> tuple[tuple[str, ...], str]:
    """What tells of an answer of this form in a memory: any of the words, or what the pattern finds. "": none."""
    return _TOLD[form]
