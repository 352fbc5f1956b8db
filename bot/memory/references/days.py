"""The days people tell their orders by: 昨天买的, 上周三下的单.

Invariant: pure; a day is its words in one form, so 大前天 is not 前天, and 上个星期三 is 上周三.
"""

import re

_NUMERAL = "[0-9一二两三四五六七八九十半几]"
_DAYS = re.compile(
    rf"今天|昨[天晚]|大前[天年]|前[天晚]|上上?个?(?:周|星期|礼拜)[一二三四五六日天末]?|(?:周|星期|礼拜)[一二三四五六日天末]"
    rf"|上个?月[初底中]?|月[初底中]|{_NUMERAL}{{1,3}}个?(?:多)?(?:天|周|星期|礼拜|月|年|小时)(?:之|以)?前|{_NUMERAL}{{1,3}}[月号日]"
    r"|双十一|双十二|双11|双12|618|国庆|春节|中秋|元旦|五一|端午|清明|早上|上午|中午|下午|晚上"
)


def days_in(text: str) -> tuple[str, ...]:
    """Each word for a day, in its one form."""
    return tuple(_form(found.group()) for found in _DAYS.finditer(text))


def without_days(text: str) -> str:
    """Blanks in their place, of the same length."""
    return _DAYS.sub(lambda found: " " * len(found.group()), text)


def _form(word: str) -> str:
    short = re.sub("星期|礼拜", "周", word.replace("个", "")).replace("以前", "前").replace("之前", "前")
    return short.replace("周天", "周日")
