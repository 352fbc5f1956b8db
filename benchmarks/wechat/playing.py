"""One cell played: the person asks, waits, says 「继续」 where told to, and what they saw is judged.

Invariant: judged by what the person saw, word for word: a sentence of the answer seen never is lost, seen twice
is double.
"""

import asyncio
import time
from dataclasses import dataclass

from benchmarks.wechat.cells import Cell, Situation, sentence_starts
from simulators.openai import OpenAiServer
from simulators.wechat import FAULT, Schedule, Seen, Way, WeChatServer

SECOND_AFTER_SECONDS = 2.0
OVERLAP_SECONDS = 1.0
FETCH_AFTER_SECONDS = 10.0
"""「约 10 秒后回复“继续”」."""
FETCHES = 8
PATIENCE_SECONDS = 70.0
"""For customer-service messages: beyond the slowest model and a restart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of a cell."""

    cell: Cell
    msg_id: str
    began_at: float
    ended_at: float
    attempts: int
    fetches: int
    ways: tuple[str, ...]
    """How what the person saw reached them, in order."""
    first_seen_seconds: float
    """From the question to the first thing seen that isn't the welcome."""
    answered_seconds: float
    """To the last sentence of the answer."""
    saw: tuple[str, ...]
    lost: int
    """Sentences, of both questions where there are two."""
    double: int
    faults: int
    runs: int
    """Of the handler, for the question's MsgId; a process killed in the middle counts anew."""
    is_same_again: bool
    """One more delivery, when all was over, got the bytes that had been decided."""


class Player:
    def __init__(self, server: WeChatServer, model: OpenAiServer) -> None:
        """`model`: its requests tell how often a question was run."""
        self._server = server
        self._model = model

    async def play(self, cell: Cell) -> Row:
        began_at = time.time()
        schedule = None
        if cell.situation is Situation.CONCURRENT:
            schedule = Schedule(overlap_after_seconds=OVERLAP_SECONDS)
        if cell.situation is Situation.FOLLOWING:
            await self._server.follow(cell.openid)
        asked_at = time.time()
        asking = asyncio.create_task(self._server.say(cell.openid, cell.asked, schedule=schedule))
        if cell.situation is Situation.SECOND:
            await asyncio.sleep(SECOND_AFTER_SECONDS)
            await self._server.say(cell.openid, cell.asked_second)
        seen = await asking
        fetches = await self._until_all_seen(cell)
        return self._judge(cell, seen, began_at, asked_at, fetches, await self._is_same_again(seen))

    async def _until_all_seen(self, cell: Cell) -> int:
        """Read on as a person would. Returns how often 「继续」 was said."""
        promised = not any(way is Way.PASSIVE for way in self._ways_of_answers(cell))
        if promised and cell.account.is_verified:
            await self._server.people.wait_until(lambda: not self._missing(cell), PATIENCE_SECONDS)
        fetches = 0
        while self._missing(cell) and fetches < FETCHES:
            await asyncio.sleep(FETCH_AFTER_SECONDS)
            if not self._missing(cell):
                break
            await self._server.say(cell.openid, "继续")
            fetches += 1
        return fetches

    def _ways_of_answers(self, cell: Cell) -> list[Way]:
        asked = cell.question[:6]
        return [
            sight.way
            for sight in self._server.seen(cell.openid)
            if asked in sight.shown or "继续" in sight.shown
        ]

    def _wanted(self, cell: Cell) -> list[str]:
        wanted = sentence_starts(cell.question)
        return wanted + (sentence_starts(cell.second) if cell.situation is Situation.SECOND else [])

    def _read(self, cell: Cell) -> str:
        """All that the person saw, as one text."""
        return "\n".join(sight.shown for sight in self._server.seen(cell.openid))

    def _missing(self, cell: Cell) -> list[str]:
        read = self._read(cell)
        return [start for start in self._wanted(cell) if start not in read]

    async def _is_same_again(self, seen: Seen) -> bool:
        assert seen.delivery is not None
        again = await self._server.again(seen.delivery)
        decided = next((each.body for each in seen.delivery.attempts if each.status == 200), None)
        return again.bodies == (decided,)

    def _judge(
        self, cell: Cell, seen: Seen, began_at: float, asked_at: float, fetches: int, is_same_again: bool
    ) -> Row:
        sights = [each for each in self._server.seen(cell.openid) if each.at >= asked_at]
        read = self._read(cell)
        last = sentence_starts(cell.question)[-1]
        answered = [each.at for each in sights if last in each.shown]
        delivery = seen.delivery
        return Row(
            cell=cell,
            msg_id=delivery.key if delivery else "",
            began_at=began_at,
            ended_at=time.time(),
            attempts=seen.attempts,
            fetches=fetches,
            ways=tuple(each.way.value for each in sights),
            first_seen_seconds=round(sights[0].at - asked_at, 2) if sights else 0.0,
            answered_seconds=round(answered[0] - asked_at, 2) if answered else 0.0,
            saw=tuple(each.shown for each in sights),
            lost=len(self._missing(cell)),
            double=sum(max(read.count(start) - 1, 0) for start in self._wanted(cell)),
            faults=sum(each.shown == FAULT for each in sights),
            runs=sum(request.question == cell.asked for request in self._model.requests),
            is_same_again=is_same_again,
        )
