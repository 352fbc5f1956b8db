"""The two public lists of Chinese times, as gold windows, and the rule by which an answer counts as right.

An edge is compared as finely as the list gives it. An edge on a day's boundary: the same day, where an end
given as a bare date may be the last day or the one behind it, since Recognizers-Text uses both (「从…十日到十二日」
ends 2016-01-12, 「2008年」 ends 2009-01-01). An edge with a time of day: to the second; the end of a range to the
minute (JioNLP ends 「9~12点半」 at 12:30:59 and 「到3点」 at 15:00:00). A point with a start only: the start, and no
longer than a day. An edge the list leaves open: open, or the reference itself. Where JioNLP gives the reference as a
day or month only, 「until now」 ends with that day or month. Any value listed is accepted.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

ZONE = timezone(timedelta(hours=8))
FAR_PAST = datetime(1, 1, 2, tzinfo=UTC)
FAR_FUTURE = datetime(9999, 12, 30, tzinfo=UTC)

Answer = tuple[datetime, datetime]
"""Aware, half-open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    at: datetime | None
    """None: open."""
    is_day: bool = False
    is_time_only: bool = False
    is_loose: bool = False
    """A bare date as an end: that day, or the one before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    start: Edge
    end: Edge | None
    """None: a point; only where it starts is listed."""
    is_range: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    text: str
    reference: datetime
    kind: str
    """window, duration or recurrence."""
    values: tuple[Value, ...]
    base: Any
    """The reference as JioNLP takes it: fields, of which some may be left out."""
    now_until: datetime
    """Where the second, day or month ends that the reference names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    text: str
    reference: datetime
    spans: frozenset[tuple[int, int]]


def is_right(item: Item, answer: Answer | None) -> bool:
    """Whether the answer is one of the listed values."""
    return answer is not None and any(_fits(value, answer, item) for value in item.values)


def _fits(value: Value, answer: Answer, item: Item) -> bool:
    start, end = (edge.astimezone(ZONE) for edge in answer)
    reference = item.reference
    if not _same_start(value.start, start, reference):
        return False
    if value.end is None:
        return end - start <= timedelta(days=1)
    tolerance = timedelta(seconds=60 if value.is_range else 1)
    ends = {end, item.now_until} if end == reference else {end}
    return any(_same_end(value.end, one, reference, tolerance) for one in ends)


def _same_start(edge: Edge, start: datetime, reference: datetime) -> bool:
    if edge.at is None:
        return start.astimezone(UTC) <= FAR_PAST or start == reference
    if edge.is_time_only:
        return start.time() == edge.at.time()
    if edge.is_day:
        return start.date() == edge.at.date()
    return abs(start - edge.at) <= timedelta(seconds=1)


def _same_end(edge: Edge, end: datetime, reference: datetime, tolerance: timedelta) -> bool:
    if edge.at is None:
        return end.astimezone(UTC) >= FAR_FUTURE or end == reference
    if edge.is_time_only:
        return end.time() == edge.at.time()
    if edge.is_day:
        last = (end - timedelta(seconds=1)).date()
        return last == edge.at.date() or (edge.is_loose and last == edge.at.date() - timedelta(days=1))
    return abs(end - edge.at) <= tolerance


def jionlp_items(folder: Path) -> list[Item]:
    """JioNLP's own tests of its parser (Apache-2.0)."""
    rows: list[Any] = json.loads((folder / "jionlp_time.json").read_text(encoding="utf-8"))
    return [_jionlp_item(row[0], row[1], row[-1]) for row in rows]


def _jionlp_item(text: str, base: Any, gold: dict[str, Any]) -> Item:
    kind = {"time_delta": "duration", "time_period": "recurrence"}.get(gold["type"], "window")
    values: tuple[Value, ...] = ()
    if kind == "window":
        start, end = (_jionlp_edge(written) for written in gold["time"])
        values = (Value(start=start, end=end, is_range=gold["type"] == "time_span"),)
    reference = base_of(base)
    given = fields_of(reference) if isinstance(base, int | float) or base is None else base
    return Item(
        text=text,
        reference=reference,
        kind=kind,
        values=values,
        base=given,
        now_until=_end_of_now(base, reference),
    )


def _end_of_now(base: Any, reference: datetime) -> datetime:
    named = len(base) if isinstance(base, list | dict) else len(_FIRST)
    if named == MONTH_NAMED:
        return reference.replace(year=reference.year + reference.month // 12, month=reference.month % 12 + 1)
    return reference + timedelta(days=1) if named == DAY_NAMED else reference


def _jionlp_edge(written: str) -> Edge:
    if "inf" in written:
        return Edge(at=None)
    instant = datetime.fromisoformat(written).replace(tzinfo=ZONE)
    return Edge(at=instant, is_day=written.endswith(("00:00:00", "23:59:59")))


MONTH_NAMED, DAY_NAMED = 2, 3
"""Fields of a reference that goes no further than the month, or the day."""
_FIRST = {"year": 2021, "month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}


def base_of(base: Any) -> datetime:
    """The reference of a JioNLP item: a timestamp, or fields of which the left-out ones are the first."""
    if isinstance(base, dict):
        base = [base.get(name, first) for name, first in _FIRST.items()]
    if isinstance(base, list):
        return datetime(*base, *list(_FIRST.values())[len(base) :], tzinfo=ZONE)
    return datetime.fromtimestamp(base or 0, ZONE)


def fields_of(reference: datetime) -> dict[str, int]:
    """The reference by its fields: JioNLP reads a timestamp in the zone of the machine."""
    local = reference.astimezone(ZONE)
    return {name: getattr(local, name) for name in _FIRST}


def recognizers_items(folder: Path) -> list[Item]:
    """Each expression of the Recognizers-Text specifications for Chinese (MIT)."""
    return [
        _recognizers_item(result, _reference(case)) for case in _cases(folder) for result in case["Results"]
    ]


def recognizers_sentences(folder: Path) -> list[Sentence]:
    """The same inputs, with the places of their expressions; those without one are part of it."""
    return [
        Sentence(
            text=case["Input"],
            reference=_reference(case),
            spans=frozenset(
                (result["Start"], result["Start"] + len(result["Text"])) for result in case["Results"]
            ),
        )
        for case in _cases(folder)
    ]


def _cases(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "recognizers_datetime.json").read_text(encoding="utf-8"))


def _reference(case: dict[str, Any]) -> datetime:
    written = (case.get("Context") or {}).get("ReferenceDateTime") or "2018-01-01T00:00:00"
    return datetime.fromisoformat(written).replace(tzinfo=ZONE)


def _recognizers_item(result: dict[str, Any], reference: datetime) -> Item:
    name = result["TypeName"].rpartition(".")[2]
    kind = {"duration": "duration", "set": "recurrence"}.get(name, "window")
    listed = (result.get("Resolution") or {}).get("values") or []
    values = tuple(recognizers_value(value) for value in listed) if kind == "window" else ()
    return Item(
        text=result["Text"],
        reference=reference,
        kind=kind,
        values=values,
        base=fields_of(reference),
        now_until=reference,
    )


def recognizers_value(value: dict[str, str]) -> Value:
    """One resolution, as the specifications and the library write it."""
    if "value" in value:
        point = _recognizers_edge(value["value"], is_end=False)
        is_day = value["type"] == "date"
        return Value(
            start=point,
            end=_recognizers_edge(value["value"], is_end=False) if is_day else None,
            is_range=False,
        )
    start = _recognizers_edge(value["start"], is_end=False) if "start" in value else Edge(at=None)
    end = _recognizers_edge(value["end"], is_end=True) if "end" in value else Edge(at=None)
    return Value(start=start, end=end)


def _recognizers_edge(written: str, *, is_end: bool) -> Edge:
    if len(written) <= 8:
        return Edge(
            at=datetime.fromisoformat(f"2000-01-01 {written}").replace(tzinfo=ZONE), is_time_only=True
        )
    instant = datetime.fromisoformat(written).replace(tzinfo=ZONE)
    is_day = len(written) == 10
    return Edge(at=instant, is_day=is_day, is_loose=is_day and is_end)
