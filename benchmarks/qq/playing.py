"""Members of groups who write and wait for the answer, and how long each waited.

Invariant: every message is answered by exactly one of the bot's, naming its asker, or the run ends.
"""

import asyncio
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.core.house import SAYINGS
from simulators.onebot import OneBotClient

PEOPLE = 200
GROUPS = 20
FIRST_USER, FIRST_GROUP = 20_000, 700_000
ANSWER_SECONDS = 60.0


class Unanswered(Exception):
    """A message got no answer, or one too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """One round."""

    messages: int
    seconds: float
    waits_ms: list[float] = field(default_factory=list[float])


class Members:
    """`PEOPLE` members of `GROUPS` groups, each asking once at a time."""

    def __init__(self, client: OneBotClient) -> None:
        self._client = client
        self._numbers = itertools.count()

    async def ask(self, count: int, at_once: int) -> Play:
        """`count` messages, `at_once` of them on their way at any time."""
        numbers = iter([next(self._numbers) for _ in range(count)])
        answers: dict[str, asyncio.Future[float]] = {}
        waits: list[float] = []
        reader = asyncio.create_task(self._read(answers))
        began = time.perf_counter()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await asyncio.gather(*(self._keep_asking(numbers, answers, waits) for _ in range(at_once)))
        except TimeoutError as error:
            raise Unanswered(f"{len(answers)} messages without an answer") from error
        finally:
            reader.cancel()
        return Play(messages=count, seconds=time.perf_counter() - began, waits_ms=waits)

    async def _keep_asking(
        self, numbers: Iterator[int], answers: dict[str, asyncio.Future[float]], waits: list[float]
    ) -> None:
        for number in numbers:
            user = FIRST_USER + number % PEOPLE
            words = SAYINGS[(number // PEOPLE) % len(SAYINGS)].format(number)
            answers[str(user)] = answered = asyncio.get_running_loop().create_future()
            began = time.perf_counter()
            await self._client.say_group(FIRST_GROUP + user % GROUPS, user, words)
            waits.append((await answered - began) * 1000)

    async def _read(self, answers: dict[str, asyncio.Future[float]]) -> None:
        while True:
            sent = await self._client.next_sent(ANSWER_SECONDS)
            answered = answers.pop(next(iter(sent.mentions), ""), None)
            if answered is None:
                raise Unanswered(f"an answer nobody waits for: {sent.text!r}")
            answered.set_result(time.perf_counter())
