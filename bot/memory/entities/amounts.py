"""Find sums of money in a text: ¥299, 三百多块, 9块9, 两百五, 100-200元, 从8500到3万港元, 退我300.

Invariant: pure; a number is money by a currency beside it, by a place left out (3万5), or by a word before
it (花了, 退我, 预算). Scores, sizes, versions and counts have none of these.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from bot.memory.entities import currencies
from bot.memory.entities.numerals import HAN, NUMBER, Number, read

SAID, CUED, ELIDED = 1.0, 0.8, 0.7
"""How certain a sum is by what says that it is one: a currency, a word before it, the form alone."""
_MOST = 60
"""Numbers looked at in a message: more is a table."""
_LONGEST_BARE = 6
"""Digits of a number that no currency names: longer ones are ids. Below ten it counts things (收到1)."""

_NUMBER = re.compile(NUMBER)
_HAS_NUMBER = re.compile(rf"[0-9{HAN}几数]")
_DIGIT = r"[0-9一二两三四五六七八九]"
_MEASURE = (
    "个人名位次件条只双张台部本把套瓶盒袋斤克吨米里厘年月天日号时点分秒小岁度楼层栋室码寸英倍步字页章行种类款批份碗杯顿趟遍场口匹头棵座间家"
    "所辆艘架颗粒滴片户平亩元块毛角单周季代届折%％级期人枚串根支集回路线比"
)
_BEHIND = rf"(?![0-9{HAN}.:：/]|包(?!邮)|[{_MEASURE}])"
_SMALL = re.compile(
    rf"(?:又|零)?({_DIGIT})\s?(?:毛|角)(?:钱(?!包))?(?:({_DIGIT})(?:分(?:钱)?)?{_BEHIND})?"
    rf"|(?:又|零)?({_DIGIT})\s?(?:美|欧|澳|加)?分(?:钱)?(?![0-9钟])"
)
_AFTER_PIECE = re.compile(rf"({_DIGIT}{{1,2}}){_BEHIND}|({_DIGIT})(?=[一每/][^\W\d])")
_DIMES = re.compile(
    rf"(?:毛|(?<=[0-9])角|角(?=钱))(?:钱|({_DIGIT})分?{_BEHIND})?(?![衣巾病孩发笔豆线呢利绒毯形度色落恋洲函裤架铁星]|不拔)"
)
_CENTS = re.compile(r"分钱|美分|欧分")
_JOINT = re.compile(r"\s?(?:元|块)?钱?(?:\(含\))?\s?(?:-{1,2}|~{1,2}|至|到)\s?")
_INCLUDED = re.compile(r"\(含\)")
_CUES = (
    "花|付|退款?|赔|补|价格?|卖|优惠|便宜|减|满|收|转|转账|充值?|扣|欠|押金|[定订]金|[运邮]费|费用?|预算|[工月年底]?[资薪]|薪[资酬水]|给到|返现?"
    "|红包|余额|[金总]额|一共|总共|合计|共计|消费|开销|[奖佣]金|补贴|报销|借|贷款?|[房月]租|租金|打款|到账|券|补偿|赔偿|贵|差|涨|跌|降|砍|抹|省|赚|亏"
)
_CUE = re.compile(
    rf"(?:{_CUES})"
    r"(?:[了是我你您他她它们为:要给的约近才只就有到在过\s]|大概|大约|差不多|不到|将近|至少|最多|最少|起码|已经){0,4}$"
)
_ENDS = re.compile(
    r"$|[\s,，.。!?;；、~)…\]]|左右|上下|以[内下上]|[吧吗呢了啊的嘛哦就行可都还但减买到不是给退已吗卖够成现原券红返]|包邮|又|再|能|才|和|跟|也"
)
_PACKAGE_FREE = re.compile(r"\s?(?:元)?包邮")
_NO_SUM_BEFORE = re.compile(r"(?:[A-Za-z_/.#@第每哪这那]|[0-9A-Za-z]:|[0-9]\.)$")
_INSULT = re.compile(r"(?:是|个|真|这|那|俩|老|大)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """A sum of money, at its place in the text."""

    start: int
    end: int
    currency: str
    low: Decimal | None
    """None: only the currency was named."""
    high: Decimal | None
    certainty: float

    @property
    def normalised(self) -> str:
        """`CNY 300`, `EUR 3000-4000`, `USD`."""
        if self.low is None:
            return self.currency
        low = _plain(self.low)
        return f"{self.currency} {low}-{_plain(self.high)}" if self.high else f"{self.currency} {low}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figure:
    """A number and what stands around it."""

    start: int
    """With its currency."""
    end: int
    number: Number
    digits: int
    """Before the point; 0 where it wasn't written in digits."""
    currency: str | None


def find_sums(text: str, *, is_money: bool = False) -> list[Sum]:
    """Sums in a folded text, in order. `is_money`: all numbers in it are sums, as an answer to 「多少钱」 is."""
    if not is_money and not may_cost(text):
        return []
    if not _HAS_NUMBER.search(text):
        return _currencies_alone(text)
    figures = list(_figures(text))
    sums: list[Sum] = []
    place = 0
    while place < len(figures):
        figure = figures[place]
        following = figures[place + 1] if place + 1 < len(figures) else None
        both = _range(text, figure, following, is_money=is_money) if following else None
        found = both or _sum(text, figure, is_money=is_money)
        if found:
            sums.append(found)
        place += 2 if both else 1
    return sums or _currencies_alone(text)


def may_cost(text: str) -> bool:
    """Whether anything stands in it that makes a number a sum: beside most numbers people write, nothing does."""
    return _may_cost().search(text) is not None


@cache
def _may_cost() -> re.Pattern[str]:
    return re.compile(rf"[{currencies.marks()}毛角分百千万亿佰仟萬億邮]|{_CUES}", re.IGNORECASE)


def _figures(text: str) -> Iterator[_Figure]:
    place = 0
    for _ in range(_MOST):
        found = _NUMBER.search(text, place)
        if found is None:
            return
        figure = _figure(text, found, place)
        place = figure.end if figure else found.end()
        if figure:
            yield figure


def _figure(text: str, found: re.Match[str], earliest: int) -> _Figure | None:
    """`earliest`: where the figure before it ended."""
    start, end = found.span()
    run = found.group().rstrip()
    end = start + len(run)
    number = read(run)
    if number is None and run[-1:] == "一":
        # 两千八一个月: the last numeral begins the next word.
        end -= 1
        run = run[:-1]
        number = read(run)
    if number is None:
        return None
    before = currencies.before_number().search(text[max(earliest, start - 8) : start])
    currency = currencies.code_of(before[1]) if before else None
    first = start - len(before.group()) if before else start
    if before is None and _NO_SUM_BEFORE.search(text[max(0, start - 2) : start]):
        return None
    number, end, behind = _with_unit(text, end, number)
    if currency is None or currency == currencies.HOME:
        currency = behind or currency
    if currency is None:
        number, end, currency = _small_alone(text, end, number)
    return _Figure(
        start=first,
        end=end,
        number=number,
        digits=len(run.partition(".")[0]) if run.isascii() else 0,
        currency=currency,
    )


def _with_unit(text: str, end: int, number: Number) -> tuple[Number, int, str | None]:
    """The currency behind a number, and the 毛 and 分 behind that."""
    included = _INCLUDED.match(text, end)
    unit = currencies.after_number().match(text, included.end() if included else end)
    if unit is None:
        return number, end, None
    end = unit.end()
    currency = currencies.HOME if unit[1] else currencies.code_of((unit[2] or unit[3]).strip())
    if unit[1] and (named := currencies.after_number().match(text, end)) and (named[2] or named[3]):
        return number, named.end(), currencies.code_of(named[2] or named[3])
    if unit[3]:
        return number, end, currency
    small = _SMALL.match(text, end)
    if small:
        dimes, cents = small[1], small[2] or small[3]
        more = Decimal(_digit(dimes)) / 10 + Decimal(_digit(cents)) / 100
        return replace(number, low=number.low + more, is_elided=False), small.end(), currency
    piece = _AFTER_PIECE.match(text, end) if text[end - 1] == "块" and number.high is None else None
    if piece:
        more = Decimal("0." + "".join(str(_digit(each)) for each in piece[1] or piece[2]))
        return replace(number, low=number.low + more, is_elided=False), piece.end(), currency
    return number, end, currency


def _small_alone(text: str, end: int, number: Number) -> tuple[Number, int, str | None]:
    """五毛, 3角, 五分钱."""
    for pattern, parts in ((_DIMES, 10), (_CENTS, 100)):
        unit = pattern.match(text, end)
        if unit and number.low < 100:
            high = number.high / parts if number.high else None
            low = number.low / parts
            if pattern is _DIMES and unit[1]:
                low += Decimal(_digit(unit[1])) / 100
            currency = {"美分": "USD", "欧分": "EUR"}.get(unit.group(), currencies.HOME)
            return replace(number, low=low, high=high, is_elided=False), unit.end(), currency
    return number, end, None


def _range(text: str, first: _Figure, second: _Figure, *, is_money: bool) -> Sum | None:
    """Two figures with 到 between them that are the ends of one sum."""
    joint = _JOINT.fullmatch(text, first.end, second.start)
    if joint is None or first.number.high or second.number.high:
        return None
    low, high = _shared(first.number, second.number), second.number.low
    last = second.currency or first.currency
    bare = _sum(text, replace(first, end=second.end), is_money=is_money) if last is None else None
    if low >= high or (last is None and bare is None):
        return None
    return Sum(
        start=first.start,
        end=second.end,
        currency=last or currencies.HOME,
        low=low,
        high=high,
        certainty=SAID if last else CUED,
    )


def _shared(first: Number, second: Number) -> Decimal:
    """十八至三十万: the first number shares the second's unit, where it stays the lesser."""
    shared = first.low * second.unit
    return shared if shared < second.low else first.low


def _sum(text: str, figure: _Figure, *, is_money: bool) -> Sum | None:
    number = figure.number
    currency, certainty = figure.currency, SAID
    if currency is None:
        certainty = CUED if is_money else _certainty_alone(text, figure)
        currency = currencies.HOME
    if not certainty or (figure.currency and _is_one_piece(text, figure)):
        return None
    return Sum(
        start=figure.start,
        end=figure.end,
        currency=currency,
        low=number.low,
        high=number.high,
        certainty=certainty,
    )


def _certainty_alone(text: str, figure: _Figure) -> float:
    """Of a number without a currency."""
    before = text[max(0, figure.start - 10) : figure.start]
    if figure.digits > _LONGEST_BARE or (figure.number.low < 10 and figure.number.low % 1 == 0):
        return 0.0
    cued = bool(_CUE.search(before))
    if cued and _ENDS.match(text, figure.end):
        return CUED
    if _PACKAGE_FREE.match(text, figure.end):
        return CUED
    if not figure.number.is_elided or text[figure.end : figure.end + 1] in (*_MEASURE, *"十百千万亿"):
        return 0.0
    is_insult = text[figure.start : figure.end] == "二百五" and not cued
    return 0.0 if is_insult or (_INSULT.search(before) and text[figure.start] == "二") else ELIDED


def _is_one_piece(text: str, figure: _Figure) -> bool:
    """一块 is a price only where something says so: 一块去, 那一块."""
    if text[figure.start : figure.end] != "一块":
        return False
    return not _CUE.search(text[max(0, figure.start - 10) : figure.start])


def _currencies_alone(text: str) -> list[Sum]:
    """A message that is nothing but names of currencies: the answer to 「用什么付」."""
    if len(text) > 40 or not currencies.nothing_but_names().fullmatch(text):
        return []
    return [
        Sum(
            start=found.start(),
            end=found.end(),
            currency=currencies.code_of(found.group()),
            low=None,
            high=None,
            certainty=0.5,
        )
        for found in currencies.names().finditer(text)
    ]


def _digit(character: str | None) -> int:
    if not character:
        return 0
    return (
        int(character) if character.isascii() else "零一二三四五六七八九".index(character.replace("两", "二"))
    )


def _plain(number: Decimal | None) -> str:
    text = f"{number or Decimal(0):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
