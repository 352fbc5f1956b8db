"""Notes are taken where somebody began to, and nowhere else."""

import asyncio
from dataclasses import replace

from bot.conversation.errors import StoreUnavailable
from bot.conversation.ports import ChatLine
from bot.memory.query import Query
from bot.memory.trace import Trace
from bot.metrics import StageTimes
from bot.noting import Looked, Notes, note_looked, note_prompt, note_question, note_times, noted
from bot.pointing import Pointed
from tests.memory_fakes import SCOPE
from tests.unit.test_playground_weighing import question

POINTED = Pointed(query="谁", k=3)
QUERY = Query(text="谁", vector=None, talk=None)
TRACE = Trace(candidates=(), degraded=False)
PICTURE = "data:image/png;base64,AAAA"


class Tracing:
    def __init__(self) -> None:
        self.asked: list[Looked] = []
        self.is_away = False

    async def __call__(self, looked: Looked) -> Trace:
        self.asked.append(looked)
        if self.is_away:
            raise StoreUnavailable("away")
        return TRACE


async def answering(times: StageTimes) -> None:
    note_looked(SCOPE, QUERY, 3, POINTED, is_group=False)
    await note_question(POINTED, replace(question([1]), images=(PICTURE,)), times)
    note_prompt([ChatLine(role="user", text="谁", images=(PICTURE,))])
    note_times(times)


async def test_outside_nothing_is_kept_or_timed() -> None:
    tracing, times = Tracing(), StageTimes()
    notes = Notes(trace=tracing)
    with noted(notes):
        pass
    await answering(times)
    assert notes == Notes(trace=tracing) and tracing.asked == [] and times.milliseconds == {}


async def test_within_all_is_noted_without_pictures() -> None:
    tracing, times = Tracing(), StageTimes()
    notes = Notes(trace=tracing)
    with noted(notes):
        await answering(times)
    assert notes.traces == ((tracing.asked[0], TRACE),) and len(tracing.asked) == 1
    assert notes.pointed is POINTED and notes.times is times and "note" in times.milliseconds
    assert notes.question is not None and notes.question.images == () and notes.pictures == 1
    assert notes.prompt == (ChatLine(role="user", text="谁"),)


async def test_a_second_decision_takes_the_place_of_the_first() -> None:
    tracing = Tracing()
    notes = Notes(trace=tracing)
    with noted(notes):
        await answering(StageTimes())
        await answering(StageTimes())
    assert len(notes.traces) == 1


async def test_a_store_that_is_away_costs_the_trace_and_not_the_answer() -> None:
    tracing = Tracing()
    tracing.is_away = True
    notes = Notes(trace=tracing)
    with noted(notes):
        await answering(StageTimes())
    assert notes.traces == () and notes.question is not None


async def test_side_by_side_nobody_notes_another_s() -> None:
    tracing = Tracing()
    played, times = Notes(trace=tracing), StageTimes()

    async def play() -> None:
        with noted(played):
            await asyncio.sleep(0)
            note_times(times)

    async def be_real() -> None:
        await asyncio.sleep(0)
        note_prompt([ChatLine(role="user", text="私事")])

    await asyncio.gather(play(), be_real())
    assert played.times is times and played.prompt == ()
