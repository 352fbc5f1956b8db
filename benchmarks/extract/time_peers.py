"""Two other parsers of Chinese times, asked the same questions: Recognizers-Text and JioNLP.

Invariant: whatever a peer returns is compared in its favour (any of its values may be the right one), and what
it raises counts as no answer.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from importlib.metadata import version
from typing import Any

from benchmarks.extract.time_gold import FAR_FUTURE, FAR_PAST, ZONE, Answer, Item, fields_of

Spans = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A parser, by name and version."""

    name: str
    answers: Callable[[Item], list[Answer]]
    """The windows that an expression may mean."""
    spans: Callable[[str, datetime], Spans]
    """Where in a text times are said."""


def peers() -> list[Peer]:
    """Both. Raises ImportError where the extra `bench` isn't installed."""
    return [_jionlp(), _recognizers()]


def _jionlp() -> Peer:
    jionlp: Any = import_module("jionlp")

    def answers(item: Item) -> list[Answer]:
        try:
            found: Any = jionlp.parse_time(item.text, time_base=item.base)
        except Exception:  # noqa: BLE001 - it raises ten kinds of error on what it can't read
            return []
        times = found.get("time")
        return (
            [(_instant(times[0], FAR_PAST), _instant(times[1], FAR_FUTURE))]
            if isinstance(times, list) and isinstance(times[0], str)
            else []
        )

    def spans(text: str, reference: datetime) -> Spans:
        try:
            found: Any = jionlp.ner.extract_time(text, time_base=fields_of(reference))
        except Exception:  # noqa: BLE001
            return frozenset()
        return frozenset(tuple(one["offset"]) for one in found)

    return Peer(name=f"jionlp {version('jionlp')}", answers=answers, spans=spans)


def _instant(written: str, if_open: datetime) -> datetime:
    return if_open if "inf" in written else datetime.fromisoformat(written).replace(tzinfo=ZONE)


def _recognizers() -> Peer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library: Any = import_module("recognizers_date_time")

    def found(text: str, reference: datetime) -> list[Any]:
        try:
            return library.recognize_datetime(
                text, library.Culture.Chinese, reference=reference.replace(tzinfo=None)
            )
        except Exception:  # noqa: BLE001
            return []

    def answers(item: Item) -> list[Answer]:
        longest = max(found(item.text, item.reference), key=lambda one: one.end - one.start, default=None)
        values = ((longest.resolution or {}).get("values") or []) if longest else []
        return [answer for value in values if (answer := _answer(value, item.reference))]

    def spans(text: str, reference: datetime) -> Spans:
        return frozenset((one.start, one.end + 1) for one in found(text, reference))

    return Peer(
        name=f"recognizers-text {version('recognizers-text-date-time')}", answers=answers, spans=spans
    )


def _answer(value: dict[str, str], reference: datetime) -> Answer | None:
    if value.get("type") in ("duration", "set"):
        return None
    try:
        if "value" in value:
            start = _at(value["value"], reference)
            return start, start + _length(value.get("timex", ""), value["type"])
        start = _at(value["start"], reference) if "start" in value else FAR_PAST
        end = _at(value["end"], reference) if "end" in value else FAR_FUTURE
    except ValueError:
        return None
    return start, end


def _at(written: str, reference: datetime) -> datetime:
    full = f"{reference.date().isoformat()} {written}" if len(written) == 8 else written
    return datetime.fromisoformat(full).replace(tzinfo=ZONE)


def _length(timex: str, kind: str) -> timedelta:
    if kind == "date":
        return timedelta(days=1)
    colons = timex.count(":")
    return (timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1))[min(colons, 2)]
