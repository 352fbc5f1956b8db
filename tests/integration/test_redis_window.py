"""A real Redis-compatible server that freezes, forgets everything, or is not there."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.conversation.errors import ConfigurationError, StoreUnavailable
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.conversation.turn import Turn
from bot.memory.short_term import ShortTermMemory
from bot.memory.summary import RecentTalk
from bot.storage.redis.connection import open_redis
from bot.storage.redis.turn_window import LIFE_SECONDS, RedisTurnWindow
from bot.storage.sql.turn_window import SqlTurnWindow
from tests.integration.valkey_fixture import Valkey, run_valkey
from tests.memory_stage import START, Stage, open_stage

LIMIT = 3
HANG_SECONDS = 1.5
"""A guard against hanging, not a measure: the promise is 0.5 s, on a machine that is not busy."""
SCOPE = Scope(person=PersonId(1), account=AccountId(1), epoch=0)


@pytest.fixture(scope="module")
def server() -> Iterator[Valkey]:
    with run_valkey() as running:
        yield running


@pytest.fixture
def valkey(server: Valkey) -> Valkey:
    server.thaw()
    server.flush()
    return server


@pytest.fixture
async def redis(valkey: Valkey) -> AsyncGenerator[Redis]:
    async with open_redis(valkey.url) as client:
        yield client


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as opened:
        yield opened


def turn(number: int, question: str = "问") -> Turn:
    return Turn(id=number, question=question, answer="答", at=START)


def talk(*turns: Turn) -> RecentTalk:
    return RecentTalk(turns=turns)


async def test_a_window_that_is_not_there_is_not_begun_by_an_append(redis: Redis) -> None:
    window = RedisTurnWindow(redis, limit=LIMIT)
    assert await window.append(SCOPE, turn(1)) is False
    assert (await window.recent(SCOPE)).turns == ()
    assert await redis.keys() == []


async def test_a_filled_window_is_appended_to_and_trimmed(redis: Redis) -> None:
    window = RedisTurnWindow(redis, limit=LIMIT)
    await window.refill(SCOPE, talk(*map(turn, range(1, 6))))
    assert (await window.recent(SCOPE)).turns == (turn(3), turn(4), turn(5))
    assert await window.append(SCOPE, turn(6)) is True
    assert await window.append(SCOPE, turn(6, "同一条")) is True
    assert (await window.recent(SCOPE)).turns == (turn(4), turn(5), turn(6, "同一条"))
    await window.refill(SCOPE, talk(turn(9)))
    assert (await window.recent(SCOPE)).turns == (turn(9),)
    await window.refill(SCOPE, talk())
    assert await redis.exists("jide:talk:1::0") == 0


async def test_late_turns_fall_into_place(redis: Redis) -> None:
    window = RedisTurnWindow(redis, limit=LIMIT)
    await window.refill(SCOPE, talk(turn(1)))
    for number in (3, 2):
        await window.append(SCOPE, turn(number))
    assert (await window.recent(SCOPE)).turns == (turn(1), turn(2), turn(3))


async def test_a_server_that_forgot_the_scripts_is_given_them_again(redis: Redis) -> None:
    window = RedisTurnWindow(redis, limit=LIMIT)
    for number in (1, 3):
        await redis.script_flush()
        await window.refill(SCOPE, talk(turn(number)))
        await redis.script_flush()
        assert await window.append(SCOPE, turn(number + 1)) is True
        assert (await window.recent(SCOPE)).turns == (turn(number), turn(number + 1))


async def test_every_key_has_a_life(redis: Redis) -> None:
    window = RedisTurnWindow(redis, limit=LIMIT, life_seconds=100)
    await window.refill(SCOPE, talk(turn(1)))
    keys = await redis.keys()
    assert sorted(keys) == [b"jide:talk:1::0", b"jide:windows:1"]
    for key in keys:
        assert 0 < await redis.ttl(key) <= 100
    await RedisTurnWindow(redis, limit=LIMIT).append(SCOPE, turn(2))
    for key in keys:
        assert 100 < await redis.ttl(key) <= LIFE_SECONDS


async def test_a_drop_takes_all_places_and_epochs_of_the_person_alone(redis: Redis) -> None:
    window = RedisTurnWindow(redis, limit=LIMIT)
    place = "wechat:wx1:g1"
    scopes = [
        SCOPE,
        Scope(person=PersonId(1), account=AccountId(1), epoch=0, place=place),
        Scope(person=PersonId(1), account=AccountId(2), epoch=1),
        Scope(person=PersonId(11), account=AccountId(3), epoch=0),
    ]
    for scope in scopes:
        await window.refill(scope, talk(turn(1)))
    await window.drop(SCOPE)
    assert [len((await window.recent(scope)).turns) for scope in scopes] == [0, 0, 0, 1]
    assert sorted(await redis.keys()) == [b"jide:talk:11::0", b"jide:windows:11"]


@pytest.mark.parametrize(
    "member",
    [
        "{",
        "7",
        json.dumps({"id": 1}),
        "null",
        "[" * 100_000,
        json.dumps({"summaries": [{"text": "", "from": 1, "to": 1, "at_ms": 1e30}], "condensed": []}),
    ],
    ids=["broken", "a number", "a turn alone", "null", "deep", "far off"],
)
async def test_what_we_did_not_write_is_no_window(redis: Redis, member: str) -> None:
    await redis.zadd("jide:talk:1::0", {member: 1})
    assert (await RedisTurnWindow(redis, limit=LIMIT).recent(SCOPE)).turns == ()


async def test_a_key_of_another_kind_is_an_outage(redis: Redis) -> None:
    await redis.set("jide:talk:1::0", "text")
    with pytest.raises(StoreUnavailable):
        await RedisTurnWindow(redis, limit=LIMIT).recent(SCOPE)


async def test_lone_surrogates_pass(redis: Redis) -> None:
    window = RedisTurnWindow(redis, limit=LIMIT)
    await window.refill(SCOPE, talk(turn(1, "坏\ud83d字")))
    assert (await window.recent(SCOPE)).turns == (turn(1, "坏\ud83d字"),)


async def test_nobody_there_is_an_outage() -> None:
    async with open_redis("redis://127.0.0.1:1/0") as client:
        with pytest.raises(StoreUnavailable):
            await RedisTurnWindow(client, limit=LIMIT).recent(SCOPE)


def test_a_wrong_address_stops_the_start() -> None:
    with pytest.raises(ConfigurationError, match="REDIS__URL"):
        open_redis("127.0.0.1:6379")


async def test_a_frozen_server_costs_little_and_the_table_serves(
    stage: Stage, redis: Redis, valkey: Valkey
) -> None:
    seconds = 0.0
    turns = SqlTurnWindow(stage.database, limit=LIMIT)
    memory = ShortTermMemory(
        turns, RedisTurnWindow(redis, limit=LIMIT), budget_tokens=10_000, monotonic=lambda: seconds
    )
    account = await stage.arrive("a")
    scope = account.scope("")

    async def say(question: str) -> list[str]:
        await memory.append(scope, await stage.say(account, question))
        return [turn.question for turn in (await memory.recent(scope)).turns]

    assert await say("1") == ["1"]
    assert await say("2") == ["1", "2"]
    valkey.freeze()
    for question, expected in (("3", ["1", "2", "3"]), ("4", ["2", "3", "4"]), ("5", ["3", "4", "5"])):
        seconds += 60
        async with asyncio.timeout(2 * HANG_SECONDS):
            assert await say(question) == expected
        assert memory.is_degraded
    valkey.thaw()
    assert await say("6") == ["4", "5", "6"]
    seconds += 60
    assert await say("7") == ["5", "6", "7"]
    assert not memory.is_degraded
    valkey.flush()
    assert await say("8") == ["6", "7", "8"]
    assert await say("9") == ["7", "8", "9"]


async def test_a_server_frozen_before_the_first_connection_costs_little(valkey: Valkey) -> None:
    valkey.freeze()
    async with open_redis(valkey.url) as client:
        async with asyncio.timeout(HANG_SECONDS):
            with pytest.raises(StoreUnavailable):
                await RedisTurnWindow(client, limit=LIMIT).recent(SCOPE)
        valkey.thaw()
        assert (await RedisTurnWindow(client, limit=LIMIT).recent(SCOPE)).turns == ()


async def test_a_cancelled_call_leaves_no_answer_for_the_next(redis: Redis, valkey: Valkey) -> None:
    """A connection whose answer was not read must not give it to whoever asks next."""
    window = RedisTurnWindow(redis, limit=LIMIT)
    other = Scope(person=PersonId(2), account=AccountId(2), epoch=0)
    await window.refill(SCOPE, talk(turn(1, "一个人的话")))
    await window.refill(other, talk(turn(2, "另一个人的话")))
    valkey.freeze()
    asking = asyncio.ensure_future(window.recent(SCOPE))
    await asyncio.sleep(0.05)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    valkey.thaw()
    assert (await window.recent(other)).turns == (turn(2, "另一个人的话"),)
