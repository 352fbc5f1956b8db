"""Chinese times: windows against two public lists, places in running text, and the time it takes.

    python -m benchmarks.extract.time_zh [--shared FOLDER] [--misses]

Two peers (extra `bench`) answer in the same run. What counts as right: `time_gold.py`. Lengths and repetitions
have no window and are counted apart: there only the kind is asked for. Exact places count: start and end.

Invariant: the lists are read in place and tune nothing here.
"""

import argparse
import csv
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from benchmarks.extract.time_gold import (
    ZONE,
    Answer,
    Item,
    Sentence,
    is_right,
    jionlp_items,
    recognizers_items,
    recognizers_sentences,
)
from benchmarks.extract.time_peers import Peer, peers
from benchmarks.report import Figure, at_least, publish
from bot.memory.time_zh import Kind, find_times, window_of

SHARED = Path(os.environ.get("JIDE_SHARED") or Path(__file__).resolve().parents[3] / "shared")
OWN = Path(__file__).resolve().parents[2] / "tests" / "data" / "time_spans.tsv"
"""Sentences: text, reference (ISO), and its expressions between `|`, in order."""
GOAL_WINDOWS = 0.85
GOAL_SPANS = 0.85
GOAL_P99_MS = 2.0
_ROUNDS = 3

Answers = Callable[[Item], list[Answer]]
Spans = Callable[[str, datetime], frozenset[tuple[int, int]]]


def our_answers(item: Item) -> list[Answer]:
    """As both lists mean it: what was left out is of the running year, week or day (「晚上8点」 is still to come)."""
    window = window_of(item.text, item.reference, is_ahead=True)
    return [(window.start, window.end)] if window else []


def our_latest(item: Item) -> list[Answer]:
    """As recall reads it: of what was left out, the latest."""
    window = window_of(item.text, item.reference)
    return [(window.start, window.end)] if window else []


def our_spans(text: str, reference: datetime) -> frozenset[tuple[int, int]]:
    return frozenset(
        (span.start, span.end) for span in find_times(text, reference) if span.kind is not Kind.SESSION
    )


def right_share(items: Sequence[Item], answers: Answers) -> float:
    """Share of the items that denote a window, answered by one of their values."""
    windows = [item for item in items if item.kind == "window"]
    return sum(any(is_right(item, one) for one in answers(item)) for item in windows) / len(windows)


def kind_share(items: Sequence[Item], kind: str) -> float:
    """Share of the lengths or repetitions that are known for such."""
    some = [item for item in items if item.kind == kind]
    return sum(
        any(span.kind == kind for span in find_times(item.text, item.reference)) for item in some
    ) / len(some)


def f1(sentences: Sequence[Sentence], spans: Spans) -> float:
    """Of exact places."""
    right = found = listed = 0
    for sentence in sentences:
        ours = spans(sentence.text, sentence.reference)
        right += len(ours & sentence.spans)
        found += len(ours)
        listed += len(sentence.spans)
    return 2 * right / (found + listed)


def own_sentences(path: Path = OWN) -> list[Sentence]:
    """Our own list, if it is there."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            _own_sentence(row)
            for row in csv.reader(file, delimiter="\t")
            if row and not row[0].startswith("#")
        ]


def _own_sentence(row: list[str]) -> Sentence:
    text, reference, listed = row[0], datetime.fromisoformat(row[1]), row[2] if len(row) > 2 else ""
    spans: set[tuple[int, int]] = set()
    place = 0
    for words in filter(None, listed.split("|")):
        place = text.index(words, place)
        spans.add((place, place + len(words)))
        place += len(words)
    return Sentence(
        text=text,
        reference=reference if reference.tzinfo else reference.replace(tzinfo=ZONE),
        spans=frozenset(spans),
    )


def measure(
    folder: Path = SHARED / "benchdata" / "time_zh", *, others: Sequence[Peer] | None = None
) -> list[Figure]:
    """All figures."""
    others = peers() if others is None else others
    lists = {"JioNLP": jionlp_items(folder), "Recognizers-Text": recognizers_items(folder)}
    figures = [
        _figure(
            f"time windows, {name}",
            right_share(items, our_answers),
            GOAL_WINDOWS,
            {peer.name: right_share(items, peer.answers) for peer in others},
            len(items),
        )
        for name, items in lists.items()
    ]
    for name, items in lists.items():
        figures.append(
            Figure(
                measure=f"time windows read as recall does, {name}",
                value=right_share(items, our_latest),
                unit="share",
            )
        )
        figures += [
            Figure(
                measure=f"time {kind}s known for such, {name}", value=kind_share(items, kind), unit="share"
            )
            for kind in ("duration", "recurrence")
        ]
    for name, sentences in {
        "Recognizers-Text": recognizers_sentences(folder),
        "own": own_sentences(),
    }.items():
        if sentences:
            theirs = {peer.name: f1(sentences, peer.spans) for peer in others}
            figures.append(
                _figure(
                    f"time spans, {name}", f1(sentences, our_spans), GOAL_SPANS, theirs, len(sentences), "F1"
                )
            )
    return [*figures, _latency(recognizers_sentences(folder), others)]


def _figure(
    measure: str, value: float, goal: float, peer: dict[str, float], count: int, unit: str = "share"
) -> Figure:
    words, holds = at_least(value, goal)
    return Figure(
        measure=measure,
        value=value,
        unit=unit,
        goal=words,
        holds=holds,
        peer=peer,
        includes=f"{count} items in the list",
    )


def _latency(sentences: Sequence[Sentence], others: Sequence[Peer]) -> Figure:
    p99 = _p99_ms(sentences, our_spans)
    theirs = {peer.name: _p99_ms(sentences, peer.spans) for peer in others}
    return Figure(
        measure="time, one message, p99",
        value=p99,
        unit="ms",
        goal=f"≤ {GOAL_P99_MS:g}",
        holds=p99 <= GOAL_P99_MS,
        peer=theirs,
    )


def _p99_ms(sentences: Sequence[Sentence], spans: Spans) -> float:
    spans(sentences[0].text, sentences[0].reference)
    taken: list[float] = []
    for sentence in [*sentences] * _ROUNDS:
        find_times.cache_clear()
        start = time.thread_time()
        spans(sentence.text, sentence.reference)
        taken.append((time.thread_time() - start) * 1000)
    return statistics.quantiles(taken, n=100)[98]


def misses(folder: Path = SHARED / "benchdata" / "time_zh") -> list[str]:
    """The window items not answered, one a line."""
    return [
        f"{item.text}\t{item.reference:%F %T}\t{our_answers(item)}"
        for item in [*jionlp_items(folder), *recognizers_items(folder)]
        if item.kind == "window" and not any(is_right(item, one) for one in our_answers(item))
    ]


def main() -> int:
    """Print the figures; exit code 1 where a goal isn't held."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    folder: Path = options.shared / "benchdata" / "time_zh"
    if options.misses:
        print("\n".join(misses(folder)))
        return 0
    return publish("time_zh", measure(folder), keeps=False)


if __name__ == "__main__":
    sys.exit(main())
