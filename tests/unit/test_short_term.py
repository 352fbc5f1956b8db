"""When the cached window is trusted, when it is not, and how much of it fits."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.conversation.errors import StoreUnavailable
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.conversation.tokens import estimate_tokens
from bot.conversation.turn import Turn
from bot.memory.short_term import PAUSE_SECONDS, ShortTermMemory, within_budget
from bot.memory.summary import RecentTalk, Summary

LIMIT = 3
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def turn(number: int, question: str = "问", answer: str = "答") -> Turn:
    return Turn(id=number, question=question, answer=answer, at=NOW)


def scope_of(person: int = 1, *, account: int = 1, place: str = "", epoch: int = 0) -> Scope:
    return Scope(person=PersonId(person), account=AccountId(account), epoch=epoch, place=place)


class Turns:
    """The table of turns."""

    def __init__(self) -> None:
        self.rows: list[Turn] = []
        self.summaries: tuple[Summary, ...] = ()
        self.reads = 0

    async def recent(self, scope: Scope) -> RecentTalk:
        self.reads += 1
        turns = tuple(self.rows[-LIMIT:])
        condensed = frozenset(
            each.id for each in turns if self.summaries and each.id <= self.summaries[-1].to_turn
        )
        return RecentTalk(turns=turns, summaries=self.summaries, condensed=condensed)

    async def append(self, scope: Scope, turn: Turn) -> None: ...

    async def drop(self, scope: Scope, *, for_good: bool = False) -> None: ...


class Cache:
    """A cache that can be away, lose its windows, or hang."""

    def __init__(self) -> None:
        self.windows: dict[tuple[int, str, int], RecentTalk] = {}
        self.is_away = False
        self.calls = 0
        self.gate: asyncio.Event | None = None

    async def _answer(self) -> None:
        self.calls += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.is_away:
            raise StoreUnavailable("away")

    async def recent(self, scope: Scope) -> RecentTalk:
        await self._answer()
        return self.windows.get(_key(scope), RecentTalk())

    async def append(self, scope: Scope, turn: Turn) -> bool:
        await self._answer()
        window = self.windows.get(_key(scope))
        if window is None:
            return False
        self.windows[_key(scope)] = replace(window, turns=(*window.turns, turn)[-LIMIT:])
        return True

    async def refill(self, scope: Scope, talk: RecentTalk) -> None:
        await self._answer()
        self.windows[_key(scope)] = talk

    async def drop(self, scope: Scope, *, for_good: bool = False) -> None:
        await self._answer()
        self.windows = {key: window for key, window in self.windows.items() if key[0] != scope.person}


def _key(scope: Scope) -> tuple[int, str, int]:
    return scope.person, scope.place, scope.epoch


class Stage:
    """A memory over both, and a clock that moves by hand."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.cache = Cache()
        self.seconds = 100.0
        self.memory = self.restarted()

    def restarted(self) -> ShortTermMemory:
        return ShortTermMemory(self.turns, self.cache, budget_tokens=1000, monotonic=lambda: self.seconds)

    async def say(self, number: int, scope: Scope | None = None) -> None:
        self.turns.rows.append(turn(number))
        await self.memory.append(scope or scope_of(), turn(number))

    async def ids(self, scope: Scope | None = None) -> list[int]:
        return [each.id for each in (await self.memory.recent(scope or scope_of())).turns]


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_a_filled_window_is_read_from_the_cache_alone(stage: Stage) -> None:
    await stage.say(1)
    assert await stage.ids() == [1]
    for number in (2, 3, 4):
        await stage.say(number)
        assert await stage.ids() == list(range(1, number + 1))[-LIMIT:]
    assert stage.turns.reads == 1


async def test_without_a_cache_the_table_serves() -> None:
    turns = Turns()
    turns.rows = [turn(number) for number in range(1, 6)]
    memory = ShortTermMemory(turns, None, budget_tokens=1000)
    assert [each.id for each in (await memory.recent(scope_of())).turns] == [3, 4, 5]
    await memory.append(scope_of(), turn(6))
    await memory.drop(scope_of())
    assert not memory.is_degraded


async def test_a_lost_window_is_filled_again(stage: Stage) -> None:
    await stage.say(1)
    await stage.ids()
    stage.cache.windows.clear()
    await stage.say(2)
    assert await stage.ids() == [1, 2]
    assert await stage.ids() == [1, 2]
    assert stage.turns.reads == 2


async def test_an_outage_is_served_by_the_table_at_the_cost_of_one_call(stage: Stage) -> None:
    await stage.say(1)
    await stage.ids()
    stage.cache.is_away = True
    calls = stage.cache.calls
    for number in (2, 3, 4, 5):
        await stage.say(number)
        assert await stage.ids() == list(range(1, number + 1))[-LIMIT:]
    assert stage.cache.calls == calls + 1
    assert stage.memory.is_degraded


async def test_one_caller_tries_again_after_the_pause(stage: Stage) -> None:
    await stage.say(1)
    await stage.ids()
    stage.cache.is_away = True
    await stage.say(2)
    calls = stage.cache.calls
    stage.seconds += PAUSE_SECONDS
    for _ in range(5):
        assert await stage.ids() == [1, 2]
    assert stage.cache.calls == calls + 1


async def test_what_the_cache_missed_is_not_shown_when_it_is_back(stage: Stage) -> None:
    other = scope_of(2, account=2)
    await stage.say(1)
    await stage.ids()
    await stage.ids(other)
    stage.cache.is_away = True
    await stage.say(2)
    stage.cache.is_away = False
    stage.seconds += PAUSE_SECONDS
    assert stage.cache.windows[1, "", 0].turns == (turn(1),)
    assert await stage.ids() == [1, 2]
    # Also of people who met no failure themselves: theirs may have been lost the same way.
    reads = stage.turns.reads
    await stage.ids(other)
    assert stage.turns.reads == reads + 1
    assert not stage.memory.is_degraded


async def test_a_window_of_another_process_is_not_trusted(stage: Stage) -> None:
    stage.cache.windows[1, "", 0] = RecentTalk(turns=(turn(1), turn(99, "被忘记的话")))
    await stage.say(2)
    assert await stage.ids() == [2]
    assert stage.cache.windows[1, "", 0].turns == (turn(2),)


async def test_a_window_older_than_the_last_turn_is_not_shown(stage: Stage) -> None:
    await stage.say(1)
    await stage.ids()
    snapshot = dict(stage.cache.windows)
    await stage.say(2)
    stage.cache.windows = snapshot
    assert await stage.ids() == [1, 2]


async def test_an_account_that_joined_is_read_once_for_all(stage: Stage) -> None:
    await stage.say(1)
    await stage.ids()
    stage.turns.rows.insert(0, turn(0))
    assert await stage.ids(scope_of(account=2)) == [0, 1]
    assert await stage.ids() == [0, 1]


async def test_a_cancelled_append_leaves_no_hole(stage: Stage) -> None:
    await stage.say(1)
    await stage.ids()
    stage.cache.gate = asyncio.Event()
    stage.turns.rows.append(turn(2))
    hanging = asyncio.ensure_future(stage.memory.append(scope_of(), turn(2)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    stage.cache.gate = None
    assert await stage.ids() == [1, 2]


async def test_a_refill_does_not_overwrite_a_newer_turn(stage: Stage) -> None:
    await stage.say(1)
    stage.cache.gate = asyncio.Event()
    refilling = asyncio.ensure_future(stage.ids())
    await asyncio.sleep(0)
    saying = asyncio.ensure_future(stage.say(2))
    for _ in range(5):
        await asyncio.sleep(0)
    stage.cache.gate.set()
    await asyncio.gather(refilling, saying)
    assert await stage.ids() == [1, 2]


async def test_a_dropped_window_is_not_shown(stage: Stage) -> None:
    await stage.say(1)
    await stage.ids()
    stage.turns.rows.clear()
    await stage.memory.drop(scope_of())
    assert await stage.ids() == []
    assert stage.cache.windows == {}


async def test_a_drop_that_did_not_reach_the_cache_holds(stage: Stage) -> None:
    await stage.say(1)
    await stage.say(2)
    await stage.ids()
    stage.turns.rows.pop(0)
    stage.cache.is_away = True
    await stage.memory.drop(scope_of())
    stage.cache.is_away = False
    assert await stage.ids() == [2]
    stage.seconds += PAUSE_SECONDS
    assert await stage.ids() == [2]
    assert await stage.ids() == [2]
    stage.memory = stage.restarted()
    assert await stage.ids() == [2]


async def test_a_drop_is_tried_even_in_a_pause(stage: Stage) -> None:
    await stage.say(1)
    await stage.ids()
    stage.cache.is_away = True
    await stage.ids()
    stage.cache.is_away = False
    await stage.memory.drop(scope_of())
    assert stage.cache.windows == {}


async def test_an_outage_of_the_table_is_said() -> None:
    class Away(Turns):
        async def recent(self, scope: Scope) -> RecentTalk:
            raise StoreUnavailable("away")

    with pytest.raises(StoreUnavailable):
        await ShortTermMemory(Away(), Cache(), budget_tokens=10).recent(scope_of())


@pytest.mark.parametrize(
    ("budget", "expected"), [(1000, [1, 2, 3]), (12, [1, 2, 3]), (11, [2, 3]), (4, [3]), (0, [3])]
)
def test_the_newest_turns_that_fit(budget: int, expected: list[int]) -> None:
    turns = tuple(turn(number, "两字", "两字") for number in (1, 2, 3))
    assert [each.id for each in within_budget(turns, budget)] == expected


def test_an_empty_window_fits() -> None:
    assert within_budget((), 10) == ()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("你好", 2), ("abcd", 1), ("abcde", 2), ("你好 ok", 3), ("，。", 2), ("😀", 1)],
)
def test_tokens_are_estimated(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


async def test_the_budget_is_kept(stage: Stage) -> None:
    stage.memory = ShortTermMemory(stage.turns, stage.cache, budget_tokens=4)
    for number in (1, 2, 3):
        await stage.say(number)
    assert await stage.ids() == [2, 3]
    assert await stage.ids() == [2, 3]


def told(to_turn: int) -> Summary:
    return Summary(text="先前", from_turn=1, to_turn=to_turn, at=NOW)


async def test_a_summary_goes_with_the_window_and_is_read_anew_after_a_drop(stage: Stage) -> None:
    for number in (1, 2, 3):
        await stage.say(number)
    stage.turns.summaries = (told(2),)
    for _ in range(2):
        talk = await stage.memory.recent(scope_of())
        assert (talk.summaries, [each.id for each in talk.fresh]) == ((told(2),), [3])
    await stage.say(4)
    assert [each.id for each in (await stage.memory.recent(scope_of())).fresh] == [3, 4]
    assert stage.turns.reads == 1
    stage.turns.summaries = (told(3),)
    await stage.memory.drop(scope_of())
    assert [each.id for each in (await stage.memory.recent(scope_of())).fresh] == [4]


@pytest.mark.parametrize(
    ("to_turn", "ids"),
    [
        (None, [4, 5]),
        (1, [2, 3, 4, 5]),
        (4, [4, 5]),
    ],
)
async def test_what_no_summary_tells_of_is_shown_beyond_the_usual(
    to_turn: int | None, ids: list[int]
) -> None:
    class Five(Turns):
        async def recent(self, scope: Scope) -> RecentTalk:
            if to_turn is None:
                return RecentTalk(turns=tuple(self.rows))
            condensed = frozenset(range(1, to_turn + 1))
            return RecentTalk(turns=tuple(self.rows), summaries=(told(to_turn),), condensed=condensed)

    turns = Five()
    turns.rows = [turn(number) for number in range(1, 6)]
    memory = ShortTermMemory(turns, None, budget_tokens=1000, most_turns=2)
    assert [each.id for each in (await memory.recent(scope_of())).turns] == ids
