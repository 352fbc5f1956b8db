"""Read a number as people write one: 1,299.50, 三百多, 3万5, 两百五, 十几, 几十万, 壹仟玖佰, 10~15k.

Invariant: pure and total: what is no number is None. Linear in the length of the run.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

_Token: TypeAlias = tuple[str, Decimal]

_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {
    character: value for value, character in enumerate("零壹贰叁肆伍陆柒捌玖")
}
_OTHER_DIGITS = {"〇": 0, "两": 2, "俩": 2, "貳": 2, "參": 3, "陸": 6}
_PLACES = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1_000, "仟": 1_000, "k": 1_000, "K": 1_000}
_GREAT = {"万": 10_000, "萬": 10_000, "w": 10_000, "W": 10_000, "亿": 100_000_000, "億": 100_000_000}
_SOME = frozenset("几数")
_MORE = frozenset("多来余")
_LITERAL = (
    r"[0-9]{1,3}(?:[,，][0-9]{3}){1,5}\.[0-9]{1,6}(?![0-9])|[0-9]{1,3}(?:,[0-9]{3}){1,5}(?![0-9])"
    r"|[0-9]{1,18}(?:[.。][0-9]{1,6})?"
)
"""A Chinese comma parts thousands only where decimals follow: 300，200块 are two numbers."""
HAN = "零〇一二两俩三四五六七八九十百千万亿壹贰貳叁參肆伍陆陸柒捌玖拾佰仟萬億"

NUMBER = (
    rf"(?:(?:{_LITERAL})|[{HAN}几数]{{1,24}})"
    rf"(?:\s?[{HAN}几数](?![a-zA-Z])|个(?=[万亿])|(?:(?<=[{HAN}])[0-9]{{1,4}})|[wWkK](?![a-zA-Z])|[多来余](?=[万亿{HAN}]|[^0-9a-zA-Z]|$)"
    rf"|点(?=[{HAN}]{{1,6}}[万亿])){{0,16}}"
)
"""The expression of a run that may be a number; `read` decides."""
_TOKEN = re.compile(rf"({_LITERAL})|([{HAN}几数多来余点kKwW])|(个|\s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number, or a span of numbers where it was said vaguely."""

    low: Decimal
    high: Decimal | None = None
    """三百多 is 300 to 400, 两三百 is 200 to 300. None: said exactly."""
    is_elided: bool = False
    """The last place was left out: 3万5, 两百五, 一千二. Only money and counts are said so."""
    unit: Decimal = Decimal(1)
    """万, 亿, k and the like at its end: in 十八至三十万 the first number shares it."""


def read(run: str) -> Number | None:
    """The number a run stands for."""
    reader = _Reader()
    place = 0
    while place < len(run):
        token = _TOKEN.match(run, place)
        if token is None or not reader.take(token):
            return None
        place = token.end()
    return reader.number()


class _Reader:
    """Adds up a number from left to right."""

    def __init__(self) -> None:
        self.total = Decimal(0)
        """Of the groups that 万 or 亿 have closed."""
        self.section = Decimal(0)
        """Of the places up to 千 since then."""
        self.digit: Decimal | None = None
        """The digit or literal whose place is not known yet."""
        self.spread = Decimal(0)
        """How much more it may be, in units of the digit."""
        self.last_place = Decimal(1)
        """Of the last multiplier: what an elided digit is a tenth of."""
        self.grain = Decimal(1)
        """The least place that was said: 万 of 15万, 千 of 1.2万."""
        self.span: Decimal | None = None
        self.unit = Decimal(1)
        self.after_zero = False
        self.is_literal = False
        self.literals = 0
        self.point: str | None = None
        self.is_done = False
        """多 has been said: only 万 and 亿 may follow."""
        self.is_headless = False
        """It began with 百, 千, 万: a number only as 百来, 千多."""

    def take(self, token: re.Match[str]) -> bool:
        literal, character, _ = token.groups()
        if self.is_done and (literal or character not in _GREAT):
            return False
        if literal:
            return self._literal(literal)
        if not character:
            return True
        value = _DIGITS.get(character, _OTHER_DIGITS.get(character))
        if value is not None:
            return self._digit(value)
        if character in _SOME:
            return self._some()
        if character in _MORE:
            return self._more()
        if character in _PLACES:
            return self._place(Decimal(_PLACES[character]))
        if character == "点":
            self.point = ""
            return self.digit is not None or self.section > 0
        return self._great(Decimal(_GREAT[character]))

    def _literal(self, text: str) -> bool:
        if self.digit is not None or (self.section and not self.is_literal and self.last_place < 10):
            return False
        self.literals += 1
        self.is_literal = True
        self.digit = Decimal(re.sub("[,，]", "", text).replace("。", "."))
        return self.literals <= 4

    def _digit(self, value: int) -> bool:
        if self.point is not None:
            self.point += str(value)
            return True
        if value == 0 and self.digit is None:
            self.after_zero = True
            return True
        if self.digit is not None:
            # 两三百, 十七八: the second of two neighbours is the upper end.
            if self.is_literal or self.spread or not self.digit < value <= self.digit + 2:
                return False
            self.spread = value - self.digit
            return True
        self.digit = Decimal(value)
        self.is_literal = False
        return True

    def _some(self) -> bool:
        if self.digit is not None:
            return False
        self.digit, self.spread, self.is_literal = Decimal(1), Decimal(9), False
        if self.last_place == 10 or self.section:
            # 十几, 三十几: from the ten on.
            self.digit, self.spread = Decimal(0), self.last_place
            self.last_place = Decimal(1)
        return True

    def _more(self) -> bool:
        """三百多 by the last place that was said; 二十来 likewise."""
        if self.spread or self.span is not None:
            return False
        if self.digit is not None:
            place = _least_place(self.digit)
            self.spread = place if place >= 10 else Decimal(0)
            if self.digit < 10 or place < 10:
                self.span = place
        elif self.section or self.total:
            self.span = self.grain
        else:
            return False
        self.is_done = True
        return True

    def _place(self, place: Decimal) -> bool:
        if self.point is not None:
            return False
        digit = self.digit
        if digit is None:
            if self.section and self.last_place >= 10 and not self.after_zero:
                # 百万 after a section: 三千万 goes through _great; 三百千 is nothing.
                return False
            digit = Decimal(1)
            self.is_headless = self.is_headless or (place > 10 and not self.section)
        self.section += digit * place
        if self.spread:
            self.span = self.spread * place
        self._close(place)
        self.unit = place
        return True

    def _great(self, great: Decimal) -> bool:
        if self.point is not None:
            self._close_point()
        group = self.section + (self.digit or 0)
        if self.spread and self.span is None:
            self.span = self.spread
        if group:
            if great > 10_000:
                group, self.total = group + self.total, Decimal(0)
            self.total += group * great
        elif self.total:
            self.total *= great
        else:
            self.total, self.is_headless = great, True
        self.span = self.span * great if self.span is not None else None
        self.unit = great if group else self.unit * great
        self.section = Decimal(0)
        self._close(great)
        return True

    def _close(self, place: Decimal) -> None:
        decimals = -int((self.digit or Decimal(0)).as_tuple().exponent)
        self.grain = place / 10 ** max(decimals, 0)
        self.digit, self.spread, self.last_place, self.after_zero = None, Decimal(0), place, False

    def _close_point(self) -> None:
        whole = self.section + (self.digit or 0)
        self.digit, self.section = Decimal(f"{int(whole)}.{self.point or 0}"), Decimal(0)
        self.point = None

    def number(self) -> Number | None:
        if self.point is not None or (self.is_headless and not self.is_done):
            return None
        if self.digit is None:
            if not (self.section or self.total or self.after_zero):
                return None
            return self._made(self.section + self.total, elided=False)
        digit = self.digit
        is_single = digit == int(digit) and 0 < digit < 10
        tenth = self.last_place / 10
        elided = is_single and tenth >= 10 and not self.after_zero and not self.spread
        if elided:
            digit *= tenth
        if self.spread:
            self.span = self.spread
        if not elided:
            self.unit = Decimal(1)
        return self._made(self.section + self.total + digit, elided=elided)

    def _made(self, low: Decimal, *, elided: bool) -> Number:
        high = low + self.span if self.span else None
        return Number(low=low, high=high, is_elided=elided, unit=self.unit)


def _least_place(value: Decimal) -> Decimal:
    """100 of 300, 10 of 150, 1 of 12."""
    place = Decimal(1)
    whole = value
    while whole == int(whole) and whole and int(whole) % 10 == 0:
        whole /= 10
        place *= 10
    return place
