"""Phones and sums of money: places and values against two public lists, and the time all entities take.

    python -m benchmarks.extract.entities_zh [--shared FOLDER] [--misses]

A phone counts by its exact place; a sum by its place, value and currency where the list gives them. The list of
expressions (jionlp's parser) has no sentence around them: each is read as the answer to 「多少钱」. Letters' case
aside, since one list holds its values in lower case.

Invariant: the lists are read in place; nothing of them is copied here.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.report import Figure, at_least, publish
from bot.memory.entities import EntityType, Sum, extract, find_sums, folded
from bot.memory.time_zh.finder import find_times

SHARED = Path(os.environ.get("JIDE_SHARED") or Path(__file__).resolve().parents[3] / "shared")
GOAL_F1 = 0.95
GOAL_P99_MS = 5.0
_REFERENCE = datetime(2026, 3, 1, 4, tzinfo=UTC)
_ROUNDS = 20
_CODES = {"元": "CNY", "港元": "HKD", "美元": "USD", "日元": "JPY", "新台币": "TWD", "泰铢": "THB"} | {
    "卢布": "RUB",
    "欧元": "EUR",
    "澳元": "AUD",
    "韩元": "KRW",
}
"""The list's names of currencies."""
_CENT = Decimal("0.01")


@dataclass(slots=True)
class Tally:
    """What was found of what there is."""

    right: int = 0
    found: int = 0
    there: int = 0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.found + self.there) if self.found + self.there else 1.0


Miss = Callable[[str, object, object], None]


def phones(folder: Path, miss: Miss) -> Tally:
    tally = Tally()
    for case in _read(folder / "recognizers_phone.json"):
        text = case["Input"]
        found = [
            each.value.lower()
            for each in extract(text, _REFERENCE)
            if each.type is EntityType.CONTACT_INFO and any(map(str.isdigit, each.value))
        ]
        _count(tally, text, found, [result["Text"].lower() for result in case["Results"]], miss)
    return tally


def currency(folder: Path, miss: Miss) -> Tally:
    """Place, value and currency, the value and the currency where the list has them."""
    tally = Tally()
    for case in _read(folder / "recognizers_currency.json"):
        text = case["Input"]
        wanted = [
            (
                result["Text"],
                _value(result["Resolution"].get("value")),
                result["Resolution"].get("isoCurrency"),
            )
            for result in case["Results"]
        ]
        found = [(piece, _value(each.low), each.currency) for piece, each in _sums(text)]
        known = {piece: code for piece, _, code in wanted}
        found = [(piece, low, code if known.get(piece, code) else None) for piece, low, code in found]
        _count(tally, text, found, wanted, miss)
    return tally


def money(folder: Path, miss: Miss) -> Tally:
    """Values of expressions, and places in sentences."""
    tally = Tally()
    cases = _read(folder / "jionlp_money.json")
    for text, gold in _cases(cases["test_money_parser"]):
        numbers = gold["num"] if isinstance(gold["num"], list) else [gold["num"]]
        wanted = (_CODES[gold["case"]], *(_value(number) for number in numbers))
        found = [
            (each.currency, *(_value(n) for n in (each.low, each.high) if n is not None))
            for _, each in _sums(text, is_money=True)
        ]
        _count(tally, text, found, [wanted], miss)
    for text, gold in _cases(cases["test_money_extractor"]):
        pieces = [piece for piece, _ in _sums(text)]
        _count(tally, text, pieces, [each["text"] for each in gold], miss)
    return tally


def milliseconds(folder: Path) -> list[float]:
    """Processor time of all entities of a message, times included, least first; every text of the lists."""
    texts = [
        case["Input"] for name in ("phone", "currency") for case in _read(folder / f"recognizers_{name}.json")
    ]
    texts += [text for part in _read(folder / "jionlp_money.json").values() for text, _ in _cases(part)]
    for text in texts:
        extract(text, _REFERENCE)
    taken: list[float] = []
    for _ in range(_ROUNDS):
        for text in texts:
            find_times.cache_clear()
            begun = time.thread_time()
            extract(text, _REFERENCE)
            taken.append((time.thread_time() - begun) * 1000)
    return sorted(taken)


def measures(folder: Path, miss: Miss | None = None) -> list[Figure]:
    """All figures. `folder`: the lists'."""
    silent: Miss = miss or (lambda text, found, wanted: None)
    figures: list[Figure] = []
    for name, tally in (("电话号码", phones), ("币种", currency), ("金额", money)):
        f1 = tally(folder, silent).f1
        goal, holds = at_least(f1, GOAL_F1)
        figures.append(Figure(measure=f"{name} F1", value=round(f1, 4), unit="", goal=goal, holds=holds))
    taken = milliseconds(folder)
    p99 = taken[int(len(taken) * 0.99)]
    figures.append(
        Figure(
            measure="提取一条消息的全部实体 p99",
            value=round(p99, 3),
            unit="毫秒",
            goal=f"≤ {GOAL_P99_MS:g}",
            holds=p99 <= GOAL_P99_MS,
            includes="含时间；不含模型",
        )
    )
    return figures


def _count(tally: Tally, text: str, found: Sequence[object], wanted: Sequence[object], miss: Miss) -> None:
    right = sum((Counter(found) & Counter(wanted)).values())
    tally.right += right
    tally.found += len(found)
    tally.there += len(wanted)
    if right != len(found) or right != len(wanted):
        miss(text, found, wanted)


def _sums(text: str, *, is_money: bool = False) -> Iterator[tuple[str, Sum]]:
    read = folded(text)
    for each in find_sums(read.text, is_money=is_money):
        yield read.piece(each.start, each.end), each


def _value(number: object) -> Decimal | None:
    return None if number is None else Decimal(str(number)).quantize(_CENT)


def _cases(part: Iterable[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    for group in part:
        yield from group["cases"]


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="电话、金额的提取，与公开数据对照")
    parser.add_argument("--shared", type=Path, default=SHARED, help="放 benchdata 的目录")
    parser.add_argument("--misses", action="store_true", help="列出没对上的")
    options = parser.parse_args(arguments)
    show: Miss | None = (lambda *each: print(*each, sep="\n    ")) if options.misses else None
    return publish("entities_zh", measures(options.shared / "benchdata" / "entities_zh", show))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
