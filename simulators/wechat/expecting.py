"""Expectations against what happened: each that fails is a 简体中文 sentence.

Invariant: pure; no sentence means that everything asked for was so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .accounting import Tally
from .people import Sight, Way
from .records import Delivery
from .script import ScenarioExpectation, SightExpectation, Step, StepExpectation
from .server import WeChatServer

WAYS = {Way.PASSIVE: "被动回复", Way.CUSTOMER_SERVICE: "客服消息", Way.FAULT: "故障提示"}
_NO_REPLY = (b"", b"success")
_TOLD_CHARACTERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    step: Step
    started_seconds: float
    """From the scenario's start."""
    delivery: Delivery | None
    """None: the step delivers nothing."""
    sights: tuple[Sight, ...]
    """What its person saw from its start until it was judged."""
    problems: tuple[str, ...] = ()

    def judged(self, sights: Sequence[Sight], problems: Sequence[str]) -> "StepResult":
        return replace(self, sights=tuple(sights), problems=(*self.problems, *problems))


def is_met(expect: StepExpectation, sights: Sequence[Sight]) -> bool:
    """Has all come that must come? What must not come is no matter here."""
    texts = [sight.shown for sight in sights]
    wanted = (*expect.contains, *([expect.answer] if expect.answer else []))
    if not all(any(part in text for text in texts) for part in wanted):
        return False
    if expect.shown and len(sights) < len(expect.shown):
        return False
    needs_any = expect.way is not None or expect.kind
    return bool(sights) or not needs_any


def check_step(result: StepResult, original: Delivery | None) -> list[str]:
    """`original`: what an `again` step repeated."""
    expect, sights = result.step.expect, result.sights
    texts = [sight.shown for sight in sights]
    told = _told(texts)
    problems: list[str] = []
    if expect.shown is not None and tuple(texts) != expect.shown:
        problems.append(f"应该看到{_told(expect.shown)}，看到的是{told}")
    problems += [
        f"应该看到含 “{part}” 的话，看到的是{told}"
        for part in (*expect.contains, *([expect.answer] if expect.answer else []))
        if not any(part in text for text in texts)
    ]
    problems += [
        f"不该看到含 “{part}” 的话：{_told([text])}"
        for part in expect.lacks
        for text in texts
        if part in text
    ]
    problems += _check_meant(expect, sights)
    problems += _check_delivery(expect, result.delivery, original)
    return problems


def _told(texts: Sequence[str]) -> str:
    """The report shows each whole; here its beginning does."""
    lines = (" ".join(text.split()) for text in texts)
    cut = (line if len(line) <= _TOLD_CHARACTERS else f"{line[:_TOLD_CHARACTERS]}…" for line in lines)
    return "、".join(f"“{line}”" for line in cut) or "什么也没有"


def _check_meant(expect: StepExpectation, sights: Sequence[Sight]) -> list[str]:
    """Way and kind, of the first thing seen that the expectation means."""
    wanted = (expect.answer, *expect.contains) if expect.answer else expect.contains
    meant = next((each for each in sights if all(part in each.shown for part in wanted[:1])), None)
    if wanted and meant is None:
        # That it never came has been told.
        return []
    problems: list[str] = []
    if expect.way is not None and (meant is None or meant.way is not expect.way):
        found = WAYS[meant.way] if meant else "什么也没有"
        problems.append(f"应该由{WAYS[expect.way]}送到，实际是{found}")
    if expect.kind and (meant is None or meant.kind != expect.kind):
        problems.append(f"应该是 {expect.kind}，实际是{f' {meant.kind}' if meant else '什么也没有'}")
    return problems


def _check_delivery(
    expect: StepExpectation, delivery: Delivery | None, original: Delivery | None
) -> list[str]:
    if delivery is None:
        return []
    problems: list[str] = []
    if expect.attempts is not None:
        least, most = expect.attempts
        if not least <= len(delivery.attempts) <= most:
            wanted = f"{least}" if least == most else f"{least} 到 {most}"
            problems.append(f"应该投递 {wanted} 次，实际 {len(delivery.attempts)} 次")
    if expect.same_bytes:
        bodies = {
            attempt.body
            for each in (original, delivery)
            if each is not None
            for attempt in each.attempts
            if attempt.status == 200 and attempt.body not in _NO_REPLY
        }
        if len(bodies) != 1:
            problems.append(f"每次投递应该得到同样的回复，实际有 {len(bodies)} 种")
    return problems


def check_scenario(
    expect: ScenarioExpectation, server: WeChatServer, openids: Mapping[str, str], counted: Tally
) -> tuple[str, ...]:
    problems: list[str] = []
    for name, wanted, found in (
        ("丢失", expect.lost, len(counted.lost)),
        ("重复", expect.double, len(counted.double)),
        ("故障提示", expect.faults, counted.faults),
    ):
        if wanted is not None and wanted != found:
            problems.append(f"{name}应该是 {wanted}，实际 {found}")
    errcodes = tuple(code for code in server.api.errcodes() if code)
    if expect.errcodes is not None and errcodes != expect.errcodes:
        problems.append(f"接口应该报错 {list(expect.errcodes)}，实际 {list(errcodes)}")
    for path, (least, most) in expect.calls.items():
        count = len(server.api.errcodes(path))
        if not least <= count <= most:
            problems.append(f"接口 {path} 应该被调用 {least} 到 {most} 次，实际 {count} 次")
    for name, sights in expect.people.items():
        problems += _check_person(name, sights, server.seen(openids[name]))
    return tuple(problems)


def _check_person(name: str, wanted: Sequence[SightExpectation], found: Sequence[Sight]) -> list[str]:
    problems = [
        f"{name}看到的第 {place} 句不对：“{sight.shown}”（{WAYS[sight.way]}）"
        for place, (each, sight) in enumerate(zip(wanted, found, strict=False), start=1)
        if not _is_as(each, sight)
    ]
    if len(wanted) != len(found):
        problems.append(f"{name}应该看到 {len(wanted)} 句，实际 {len(found)} 句")
    return problems


def _is_as(wanted: SightExpectation, sight: Sight) -> bool:
    return (
        wanted.contains in sight.shown
        and wanted.shown in (None, sight.shown)
        and wanted.way in (None, sight.way)
    )
