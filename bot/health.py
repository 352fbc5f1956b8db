"""Can the house do its work now, and how much of it waits?

Invariant: degraded is not dead. What has a substitute (Redis, embedder, model) or merely waits never makes
the house unready: a monitor that restarts an unready bot would only take away what still works. Findings
hold counts, states and names of models, never a text, a person or a secret.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.conversation.errors import TransientError

PROBE_SECONDS = 2.0
"""Each probe; they run side by side. Monitors commonly give a check five seconds."""


class Verdict(StrEnum):
    """What one finding means for the whole."""

    OK = "ok"
    OFF = "off"
    """Not configured: nothing is missing."""
    DEGRADED = "degraded"
    UNREADY = "unready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one probe found, in 简体中文 for the operator."""

    verdict: Verdict
    detail: str = ""
    said: str = ""
    """The name of the detail's sentence, for who says it in another language; "" is none."""
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    """What that sentence names."""

    @property
    def is_trouble(self) -> bool:
        return self.verdict in (Verdict.DEGRADED, Verdict.UNREADY)


Probe = Callable[[], Awaitable[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """All findings by name."""

    findings: Mapping[str, Finding]

    @property
    def status(self) -> str:
        """`ready`, `degraded` or `unready`: the worst of the findings."""
        verdicts = {finding.verdict for finding in self.findings.values()}
        if Verdict.UNREADY in verdicts:
            return "unready"
        return "degraded" if Verdict.DEGRADED in verdicts else "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxTally:
    oldest: datetime | None
    """When the oldest message that is still open was accepted."""
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTally:
    waiting: int
    oldest: datetime | None
    """When the oldest of the turns that wait was said."""
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorKind:
    """The vectors of one model."""

    model: str
    dimension: int
    vectors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTally:
    """Memory as SQL has it beside memory as the segments have it."""

    facts: int
    marked: int
    """Facts that SQL says have a vector."""
    lacking: int
    """Facts in view that wait for a vector."""
    kinds: tuple[VectorKind, ...]

    @property
    def vectors(self) -> int:
        return sum(kind.vectors for kind in self.kinds)

    @property
    def drift(self) -> int:
        """0, or the number of vectors too many or too few."""
        return abs(self.marked - self.vectors)


class Tallies(Protocol):
    """Counts over the stores. Each raises StoreUnavailable."""

    async def write(self) -> None:
        """Write something small and durable, to see whether that works."""
        ...

    async def inbox(self) -> InboxTally: ...

    async def jobs(self) -> JobTally: ...

    async def memory(self) -> MemoryTally: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A probe, and what it means when the probe itself fails."""

    probe: Probe
    is_vital: bool = False


class Health:
    """Runs the checks."""

    def __init__(self, checks: Mapping[str, Check], *, probe_seconds: float = PROBE_SECONDS) -> None:
        self._checks = checks
        self._probe_seconds = probe_seconds

    async def readiness(self) -> Readiness:
        """Answers within `probe_seconds`, and a moment."""
        found = await asyncio.gather(*map(self._finding, self._checks.values()))
        return Readiness(findings=dict(zip(self._checks, found, strict=True)))

    async def _finding(self, check: Check) -> Finding:
        worst = Verdict.UNREADY if check.is_vital else Verdict.DEGRADED
        try:
            async with asyncio.timeout(self._probe_seconds):
                return await check.probe()
        except TimeoutError:
            return Finding(
                verdict=worst,
                detail=f"{self._probe_seconds:g} 秒内没有回答",
                said="late",
                values={"seconds": f"{self._probe_seconds:g}"},
            )
        except TransientError as error:
            # Its kind alone: a driver's words may quote an address with a password.
            kind = type(error).__name__
            return Finding(
                verdict=worst, detail=f"没有回答（{kind}）", said="no_answer", values={"kind": kind}
            )
