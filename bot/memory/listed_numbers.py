"""The numbers of a list that somebody names: 「第3条」「第一条和第二条」「1、2」「第2到4条」.

Invariant: pure; what may be a date, a phone or a count (「两条」) names none.
"""

import re

from bot.memory.normalise import number_form

MOST = 50
LONGEST_BARE = 3
"""Digits of each of several that nothing says to be numbers of a list."""
_NUMERAL = re.compile(r"[零〇一二两三四五六七八九十百]+")
_CALLED = r"(?:第|编号|序号|#|no\.?)"
_UNIT = r"(?:条|号|个|件|项)"
_ONE = re.compile(
    rf"(?P<called>{_CALLED})?\s*(?P<first>[0-9]{{1,4}})(?:\s*(?P<unit>{_UNIT}))?"
    rf"(?:\s*[-~到至]\s*{_CALLED}?\s*(?P<last>[0-9]{{1,4}})(?:\s*(?P<last_unit>{_UNIT}))?)?"
)
_BETWEEN = re.compile(r"\s*(?:[,;和与跟及]|还有|以及)\s*|\s+|(?=第)")
_AROUND = re.compile(r"^(?:把|那|这)+|(?:的?(?:记忆|事情?|内容))?(?:[,\s]*(?:全部|全都|都))?[吧了]*[.!\s]*$")


def numbers_named(normal: str) -> tuple[int, ...]:
    """In ascending order; () for normalised words that name none, or something beside them."""
    text = _AROUND.sub("", normal)
    if re.search(_CALLED, text):
        text = _NUMERAL.sub(_in_digits, text)
    numbers: set[int] = set()
    is_listed, at = False, 0
    lengths: list[int] = []
    while (one := _ONE.match(text, at)) is not None:
        first, last = int(one["first"]), int(one["last"] or one["first"])
        is_called = one["called"] is not None or one["unit"] is not None or one["last_unit"] is not None
        if not first <= last < first + MOST or (one["last"] and not is_called) or len(numbers) > MOST:
            return ()
        is_listed = is_listed or is_called
        lengths.append(len(one["first"]))
        numbers.update(range(first, last + 1))
        at = one.end()
        if at == len(text):
            is_word = len(lengths) > 1 and not is_listed and max(lengths) > LONGEST_BARE
            return () if is_word else tuple(sorted(numbers))
        between = _BETWEEN.match(text, at)
        if between is None:
            return ()
        at = between.end()
    return ()


def _in_digits(found: re.Match[str]) -> str:
    return (number_form(f"{found[0]}条") or f"{found[0]}条").removesuffix("条")
