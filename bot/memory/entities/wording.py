"""Find what a message is about (投诉, 退款, 物流…) and how its writer feels, by words.

Invariant: pure. A feeling is told only beside a complaint or something urgent: elsewhere it is small talk.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TypeAlias

_Words: TypeAlias = tuple[dict[str, str], re.Pattern[str]]

COMPLAINT = "投诉"
_URGENT = re.compile(
    r"紧急|急用|急需|加急|立刻|马上|尽快|赶紧|赶快|火速|十万火急|急急|急死|很急|好急|着急|等着用|来不及|今天必须|今天之内|速度处理|快点|速回|在线等|urgent|asap"
)
_DENIED = re.compile(r"(?:不是|不想|不打算|不用|无需|不需要|并非|没打算|没想)(?:要|来|想)?$")
_DENIED_BY_NAME = {
    COMPLAINT: re.compile(
        r"(?:不|没|没有|不会|不再|别|不必|没必要|不至于|不准备|不愿意?)(?:真的|再|去|来|要|想|打算|准备){0,2}$"
    ),
    "质量问题": re.compile(r"(?:没|没有|不|未|不会|并无)(?:有|发现|出现|任何|什么|太|怎么|再){0,2}$"),
    **dict.fromkeys(
        ("退款", "退货", "换货", "取消订单", "维修"),
        re.compile(r"我们?(?:先|就|暂时|现在|也|可以){0,2}不(?:再|用)?$"),
    ),
}
"""「没漏水」 is none, but 「没退款」 is: the money has not come."""
_UNFELT = re.compile(r"(?:不|没|别|不太|没有|不要|不用|不是很?|莫)$")


def find_issues(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, name): each name once, at its first word."""
    yield from _found(text.casefold(), _table("issues.txt"), _DENIED)


def find_emotions(text: str) -> Iterator[tuple[int, int, str]]:
    """As `find_issues`; whether they count is the caller's to ask of `is_urgent` and the issues."""
    yield from _found(text.casefold(), _table("emotions.txt"), _UNFELT)


def is_urgent(text: str) -> bool:
    """Its writer wants it done now."""
    return bool(_URGENT.search(text.casefold()))


def may_show_feeling(text: str) -> bool:
    """A complaint, or urgent: elsewhere a feeling is nobody's business."""
    return is_urgent(text) or any(name == COMPLAINT for _, _, name in find_issues(text))


def _found(text: str, words: _Words, denied: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    names, pattern = words
    seen: set[str] = set()
    for found in pattern.finditer(text):
        name = names[found.group()]
        before = text[max(0, found.start() - 6) : found.start()]
        by_name = _DENIED_BY_NAME.get(name)
        if name not in seen and not denied.search(before) and not (by_name and by_name.search(before)):
            seen.add(name)
            yield found.start(), found.end(), name


@cache
def _table(file: str) -> _Words:
    names: dict[str, str] = {}
    for line in files("bot.memory.entities").joinpath(file).read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, words = line.split(";")
            for word in words.split():
                names.setdefault(word, name)
    longest_first = sorted(names, key=len, reverse=True)
    return names, re.compile("|".join(map(re.escape, longest_first)))
