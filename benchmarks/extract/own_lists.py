"""Our own lists, written by somebody who hadn't seen the code: times, places of times, entities, noise.

Invariant: read as they are, a line at a time; `#` begins a comment; nothing here is tuned by them.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.extract.time_gold import ZONE
from benchmarks.report import Figure, at_least
from bot.memory.entities import Entity, EntityType, extract
from bot.memory.judge import RuleJudge, is_worth_judging
from bot.memory.time_zh import Kind, Window, find_times, window_of
from bot.rules.trivial import classify

REFERENCE = datetime(2026, 3, 4, 4, tzinfo=UTC)
"""When what has no time of its own is said: a Wednesday noon."""
GOAL_SPANS = 0.85
LEAST_TOLERANCE = timedelta(seconds=1)
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}

Misses = list[str]


def rows(path: Path) -> list[list[str]]:
    """The columns of each line that is no comment. Raises FileNotFoundError."""
    lines = path.read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]


def times(path: Path, misses: Misses) -> Figure:
    """Lines: expression, reference, start, end, note, tolerance (`10m`; "" for none)."""
    listed = rows(path)
    right = 0
    for expression, reference, start, end, *rest in listed:
        found = window_of(expression, _moment(reference))
        tolerance = _tolerance(rest[1] if len(rest) > 1 else "")
        if _is_right(found, start, end, tolerance):
            right += 1
        else:
            misses.append(f"时间 {expression} @ {reference}: {found} ≠ {start} … {end} {rest}")
    share = right / len(listed)
    goal, holds = at_least(share, 1.0)
    return Figure(
        measure="时间窗口，自己的清单",
        value=round(share, 4),
        unit="",
        goal=goal,
        holds=holds,
        includes=f"{len(listed)} 条",
    )


def _is_right(found: Window | None, start: str, end: str, tolerance: timedelta) -> bool:
    """Without a start and an end listed: there is no window."""
    if not _is_moment(start) and not _is_moment(end):
        return found is None
    if found is None:
        return False
    return all(
        not _is_moment(listed) or abs(edge - _moment(listed)) <= tolerance
        for edge, listed in ((found.start, start), (found.end, end))
    )


def _is_moment(text: str) -> bool:
    return bool(re.match(r"[0-9]{4}-", text))


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text.strip())
    return moment if moment.tzinfo else moment.replace(tzinfo=ZONE)


def _tolerance(text: str) -> timedelta:
    text = text.strip()
    if not text:
        return LEAST_TOLERANCE
    return timedelta(seconds=float(text[:-1]) * _UNITS[text[-1]])


def spans(path: Path, misses: Misses) -> Figure:
    """Lines: a sentence, and its expressions between `|`. Counted by their words: a sentence holds each once."""
    right = found = there = 0
    for sentence, *rest in rows(path):
        listed = Counter(filter(None, rest[0].split("|") if rest else ()))
        ours = Counter(each.text for each in find_times(sentence, REFERENCE) if _is_marked(each.kind, listed))
        right += (ours & listed).total()
        found += ours.total()
        there += listed.total()
        if ours != listed:
            misses.append(f"时间位置 {sentence}: {sorted(ours)} ≠ {sorted(listed)}")
    f1 = 2 * right / (found + there)
    goal, holds = at_least(f1, GOAL_SPANS)
    return Figure(
        measure="时间在句中的位置 F1，自己的清单", value=round(f1, 4), unit="", goal=goal, holds=holds
    )


def _is_marked(kind: Kind, listed: Counter[str]) -> bool:
    """A session (上次) is listed as a time in some lists, in others not: it neither gains nor costs."""
    return kind is not Kind.SESSION or any(word.startswith("上") for word in listed)


def entities(path: Path, misses: Misses) -> list[Figure]:
    """Lines: a message, and its entities as `type=value;…`: the value as written, of a sum `written→number`. Reported,
    by type."""
    right, found, there = Counter[str](), Counter[str](), Counter[str]()
    for message, *rest in rows(path):
        listed = Counter(_listed(rest[0] if rest else ""))
        ours = Counter((each.type.value, _as_listed(each)) for each in extract(message, REFERENCE))
        for pair, count in (listed & ours).items():
            right[pair[0]] += count
        for pair, count in ours.items():
            found[pair[0]] += count
        for pair, count in listed.items():
            there[pair[0]] += count
        if listed != ours:
            misses.append(
                f"实体 {message}: 多 {sorted((ours - listed).elements())} 少 {sorted((listed - ours).elements())}"
            )
    figures = [_f1("实体 F1（类型与原文都对），自己的清单", right.total(), found.total(), there.total())]
    figures += [_f1(f"　其中 {kind}", right[kind], found[kind], there[kind]) for kind in sorted(there)]
    return figures


def _listed(text: str) -> Iterable[tuple[str, str]]:
    for piece in filter(None, re.split(r"[;；]", text)):
        kind, _, value = piece.partition("=")
        yield kind.strip(), _bare(value)


def _as_listed(entity: Entity) -> str:
    if entity.type is not EntityType.AMOUNT:
        return _bare(entity.value)
    return _bare(f"{entity.value}→{entity.normalised.partition(' ')[2]}")


def _bare(value: str) -> str:
    return re.sub(r"\s", "", value).casefold()


def _f1(measure: str, right: int, found: int, there: int) -> Figure:
    value = 2 * right / (found + there) if found + there else 1.0
    return Figure(
        measure=measure, value=round(value, 4), unit="", includes=f"列出 {there}，找到 {found}，对 {right}"
    )


def noise(path: Path, misses: Misses) -> list[Figure]:
    """Lines that mean nothing, as they are or as JSON strings. A line the trivial filter takes becomes no
    turn; of the others the judge's own filter and the rules are asked."""
    messages = [json.loads(text) if re.fullmatch('".*"', text) else text for text, *_ in rows(path)]
    stored, judged, answered = 0, 0, 0
    for message in messages:
        if classify(message, is_open=False, is_group=False) is not None:
            continue
        kept = asyncio.run(RuleJudge().judge(message, REFERENCE, is_group=False)).keep
        named = bool(extract(message, REFERENCE))
        worth = is_worth_judging(message)
        stored, judged, answered = stored + (kept or named), judged + worth, answered + 1
        misses.append(f"噪声 {message!r}: 存 {kept} 实体 {named} 判断 {worth}")
    return [
        _none("噪声：存下的", stored, len(messages)),
        _none("噪声：为判断记忆问了模型", judged, len(messages)),
        _none("噪声：为回答问了模型", answered, len(messages)),
    ]


def _none(measure: str, count: int, of: int) -> Figure:
    return Figure(measure=measure, value=count, unit="条", goal="0", holds=count == 0, includes=f"共 {of} 条")


def p99_ms(texts: Sequence[str]) -> Figure:
    """The processor time of all entities of a message, times included."""
    import time

    for text in texts:
        extract(text, REFERENCE)
    taken: list[float] = []
    for text in texts:
        find_times.cache_clear()
        begun = time.thread_time()
        extract(text, REFERENCE)
        taken.append((time.thread_time() - begun) * 1000)
    value = sorted(taken)[int(len(taken) * 0.99)]
    return Figure(
        measure="提取一条消息 p99，自己的清单",
        value=round(value, 3),
        unit="毫秒",
        goal="≤ 5",
        holds=value <= 5,
        includes=f"{len(texts)} 条",
    )
