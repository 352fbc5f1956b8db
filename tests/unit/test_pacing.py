"""A rush is served in order, and who waits for a model holds up nobody."""

import asyncio

import pytest

import bot.pacing
from bot.pacing import Pace
from tests.story_fakes import settle


async def hold(pace: Pace, name: str, began: list[str], gate: asyncio.Event) -> None:
    async with pace.place():
        began.append(name)
        await gate.wait()


async def test_first_come_first_served() -> None:
    pace, began, gate = Pace(2), [], asyncio.Event()
    people = [asyncio.create_task(hold(pace, name, began, gate)) for name in "甲乙丙丁"]
    await settle()
    assert began == ["甲", "乙"]
    gate.set()
    await asyncio.gather(*people)
    assert began == ["甲", "乙", "丙", "丁"]


async def test_a_place_given_away_is_another_ones_and_comes_back() -> None:
    pace, began, gate = Pace(1), [], asyncio.Event()
    answered = asyncio.Event()

    async def ask() -> None:
        async with pace.place() as place:
            began.append("问")
            async with place.given_away():
                await answered.wait()
            began.append("答")

    asking = asyncio.create_task(ask())
    other = asyncio.create_task(hold(pace, "别人", began, gate))
    await settle()
    assert began == ["问", "别人"]
    answered.set()
    await settle()
    assert began == ["问", "别人"], "the place is taken"
    gate.set()
    await asyncio.gather(asking, other)
    assert began == ["问", "别人", "答"]


async def test_who_is_cancelled_while_coming_back_leaves_no_place_too_many() -> None:
    pace, began, gate = Pace(1), [], asyncio.Event()
    answered = asyncio.Event()

    async def ask() -> None:
        async with pace.place() as place, place.given_away():
            await answered.wait()

    asking = asyncio.create_task(ask())
    holder = asyncio.create_task(hold(pace, "甲", began, gate))
    await settle()
    answered.set()
    await settle()
    asking.cancel()
    later = [asyncio.create_task(hold(pace, name, began, asyncio.Event())) for name in "乙丙"]
    gate.set()
    await asyncio.gather(asking, holder, return_exceptions=True)
    await settle()
    assert began == ["甲", "乙"]
    for task in later:
        task.cancel()
    await asyncio.gather(*later, return_exceptions=True)


async def test_calm_waits_for_a_free_place_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot.pacing, "CALM_SECONDS", 0.001)
    pace, gate = Pace(1), asyncio.Event()
    await pace.calm(60)
    holder = asyncio.create_task(hold(pace, "甲", [], gate))
    await settle()
    await pace.calm(0.003)
    assert not holder.done()
    calm = asyncio.create_task(pace.calm(60))
    gate.set()
    await asyncio.gather(holder, calm)
