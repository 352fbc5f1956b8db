"""The person's 「对」 to a question of the bot's makes a fact of it, and nothing else the bot says does.

Invariant: what was kept is read back from the store; kept means that the open memories hold every part the list names.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.memory.talks import Talks, embedder_of_house, open_talks
from benchmarks.report import Figure, at_least
from bot.memory.confirming import asked_of
from bot.memory.normalise import normalise

GOAL_KEPT = 0.9
OPENING = "想咨询一下"
"""Says nothing of the person: the bot's question answers it."""


async def measure(lists: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """The figures. Raises FileNotFoundError."""
    text = (lists / "confirmations.jsonl").read_text("utf-8")
    rows: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines() if line.strip()]
    kept = wrong = 0
    async with embedder_of_house() as embedder, open_talks(folder / "confirmations.db", embedder) as talks:
        for number, row in enumerate(rows):
            say(f"{number}/{len(rows)}")
            texts = await _kept(talks, f"k{number}", row)
            if row["keep"]:
                kept += _holds(texts, row["fact_should_hold"])
            else:
                wrong += _holds_asked(texts, row["bot"])
    wanted = sum(row["keep"] for row in rows)
    goal, holds = at_least(kept / wanted, GOAL_KEPT)
    includes = "真实的轮次、任务和 SQLite，规则判断（不接模型）"
    return [
        Figure(
            measure="确认：答“对”的成了记忆",
            value=kept / wanted,
            unit="",
            goal=goal,
            holds=holds,
            includes=f"{wanted} 问，含改口的；{includes}",
        ),
        Figure(
            measure="确认：不该记的记下了",
            value=wrong,
            unit="条",
            goal="0",
            holds=wrong == 0,
            includes=f"{len(rows) - wanted} 问；{includes}",
        ),
    ]


async def _kept(talks: Talks, name: str, row: dict[str, Any]) -> list[str]:
    account = await talks.arrive(name)
    await talks.say(account, OPENING, row["bot"])
    await talks.say(account, row["person"])
    return await talks.open_texts(account)


def _holds(texts: list[str], parts: list[str]) -> bool:
    held = " ".join(normalise(text).replace(" ", "") for text in texts)
    return all(normalise(part).replace(" ", "") in held for part in parts)


def _holds_asked(texts: list[str], bot: str) -> bool:
    """Any memory that is of the bot's words."""
    asked = asked_of(bot)
    words = {bot[at : at + 4] for at in range(len(bot) - 3)}
    return any(text == asked or any(word in text for word in words) for text in texts)
