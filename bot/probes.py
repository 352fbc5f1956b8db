"""The probes of the house: what each looks at, and when it calls that bad.

Invariant: each asks one thing, changes nothing anyone sees, and leaves waiting and failing to `Health`.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from bot.conversation.ports import Clock
from bot.health import Finding, Probe, Tallies, Verdict
from bot.renewal import Progress

FULL_BYTES = 1 << 20
"""Free space in which a group of commits may no longer fit."""
LOW_BYTES = 256 << 20
"""A forgetting rebuilds the file beside itself, and so does a backup."""
OLD_BACKLOG = timedelta(minutes=10)
"""A turn is consolidated within seconds: what is older waits for a model that is away, or is too much."""

OK = Finding(verdict=Verdict.OK)


class ModelState(Protocol):
    @property
    def is_resting(self) -> bool:
        """Its circuit is open: it is not asked for a while."""
        ...


class EmbedderState(Protocol):
    @property
    def is_away(self) -> bool:
        """It did not answer the last time."""
        ...


class RenewalState(Protocol):
    async def progress(self) -> Progress | None:
        """None: nothing is to be made anew. Raises StoreUnavailable."""
        ...


def database(tallies: Tallies) -> Probe:
    async def probe() -> Finding:
        await tallies.write()
        return OK

    return probe


def disk(folder: Path) -> Probe:
    async def probe() -> Finding:
        try:
            free = (await asyncio.to_thread(shutil.disk_usage, folder)).free
        except OSError as error:
            return Finding(
                verdict=Verdict.UNREADY,
                detail=f"数据文件夹打不开（{error.strerror}）",
                said="folder_closed",
                values={"reason": error.strerror},
            )
        detail, values = f"剩 {free >> 20} MB", {"free": _size(free)}
        if free < FULL_BYTES:
            return Finding(
                verdict=Verdict.UNREADY, detail=f"磁盘满了，{detail}", said="disk_full", values=values
            )
        verdict = Verdict.DEGRADED if free < LOW_BYTES else Verdict.OK
        return Finding(verdict=verdict, detail=detail, said="disk_left", values=values)

    return probe


def inbox(
    tallies: Tallies, clock: Clock, *, idle_seconds: Callable[[], float], stuck_seconds: float
) -> Probe:
    """Stuck: a message waits this long, and none was answered meanwhile. A long line alone is none."""

    async def probe() -> Finding:
        oldest = (await tallies.inbox()).oldest
        age = (clock.now() - oldest).total_seconds() if oldest is not None else 0.0
        if min(age, idle_seconds()) > stuck_seconds:
            return Finding(
                verdict=Verdict.UNREADY,
                detail=f"最早一条消息等了 {age:.0f} 秒，其间没有答过任何消息",
                said="inbox_stuck",
                values={"seconds": f"{age:.0f}"},
            )
        return OK

    return probe


def backlog(tallies: Tallies, clock: Clock) -> Probe:
    async def probe() -> Finding:
        jobs = await tallies.jobs()
        detail = f"{jobs.waiting} 轮对话待整理" if jobs.waiting else ""
        if jobs.oldest is not None and clock.now() - jobs.oldest > OLD_BACKLOG:
            minutes = (clock.now() - jobs.oldest) // timedelta(minutes=1)
            return Finding(
                verdict=Verdict.DEGRADED,
                detail=f"{detail}，最早的已等 {minutes} 分钟",
                said="backlog_old",
                values={"count": jobs.waiting, "minutes": minutes},
            )
        said = "backlog" if detail else ""
        return Finding(verdict=Verdict.OK, detail=detail, said=said, values={"count": jobs.waiting})

    return probe


def redis(ping: Callable[[], Awaitable[None]] | None) -> Probe:
    """`ping` raises StoreUnavailable."""

    async def probe() -> Finding:
        if ping is None:
            return Finding(verdict=Verdict.OFF, detail="没有配置，短期记忆在数据库里", said="redis_off")
        await ping()
        return OK

    return probe


def model(state: ModelState | None) -> Probe:
    async def probe() -> Finding:
        if state is None:
            return Finding(verdict=Verdict.OFF, detail="没有接入，只摘录", said="model_off")
        if state.is_resting:
            detail = "连续没有回答，暂停询问，先只摘录"
            return Finding(verdict=Verdict.DEGRADED, detail=detail, said="model_resting")
        return OK

    return probe


def embedder(state: EmbedderState | None) -> Probe:
    async def probe() -> Finding:
        if state is None:
            return Finding(verdict=Verdict.OFF, detail="没有向量模型，只用关键词", said="embedder_off")
        if state.is_away:
            detail = "上一次没有给出向量，先用关键词"
            return Finding(verdict=Verdict.DEGRADED, detail=detail, said="embedder_away")
        return OK

    return probe


def vectors(state: RenewalState) -> Probe:
    """Whoever's memories wait for vectors of the present model is found by words: less well, and not wrongly."""

    async def probe() -> Finding:
        progress = await state.progress()
        if progress is None:
            return OK
        return Finding(
            verdict=Verdict.DEGRADED,
            detail=f"换了向量模型，{progress.text}，没做完的先按关键词回忆",
            said="vectors_old",
            values={"facts": progress.renewal.facts_left, "passages": progress.renewal.passages_left},
        )

    return probe


def _size(size_bytes: int) -> str:
    return f"{size_bytes >> 30} GB" if size_bytes >= 10 << 30 else f"{size_bytes >> 20} MB"
