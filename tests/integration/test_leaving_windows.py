"""Unsubscribing with a real Redis-compatible server: no window from before is looked at again."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.conversation.message import Kind
from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from identity.directory import Proof
from tests.integration.living_house import QQ, WECHAT, LivingHouse, OpenHouse, neighbourhood
from tests.integration.valkey_fixture import Valkey, run_valkey

PHONE = "13800138000"
SAID = {WECHAT: "这件外套有红色的吗", QQ: "周末去哪里钓鱼好"}
PLANTED = "缓存里的旧话"
"""An answer that no table holds: whoever shows it has read the cached window."""


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    with run_valkey() as server:
        yield server


@pytest.fixture
async def redis(valkey: Valkey) -> AsyncGenerator[Redis]:
    async with Redis.from_url(valkey.url, decode_responses=True) as client:
        yield client


@pytest.fixture
async def living(tmp_path: Path, valkey: Valkey, redis: Redis) -> AsyncGenerator[LivingHouse]:
    """One person on both channels, whose window is cached, and holds what was said on either."""
    async with neighbourhood(tmp_path) as open_house:
        living = await linked(open_house, valkey)
        assert await questions(living, WECHAT) == await questions(living, QQ) == set(SAID.values())
        await plant(redis, await keys_of(redis, living))
        assert PLANTED in await answers(living, QQ), "what is planted is read, while it may be"
        yield living


async def linked(open_house: OpenHouse, valkey: Valkey) -> LivingHouse:
    living = await open_house(redis_url=valkey.url)
    living.model.answer_with(lambda _: "好的。")
    for channel, said in SAID.items():
        await living.greet("li", channel=channel)
        await living.say(said, channel=channel)
        await living.house.directory.prove_phone(await living.account("li", channel), PHONE, Proof.IMPORT)
    await living.house.worker.work_off()
    return living


async def keys_of(redis: Redis, living: LivingHouse) -> list[str]:
    """The cached windows of the person, whatever their epoch."""
    person = (await living.account("li", QQ)).person
    return [key async for key in redis.scan_iter(f"jide:talk:{person}:*")]


async def plant(redis: Redis, keys: Iterable[str]) -> None:
    for key in keys:
        cached: Any = await redis.zrange(key, 0, -1, withscores=True)
        await redis.delete(key)
        for member, score in cached:
            changed = json.dumps(json.loads(member) | {"answer": PLANTED})
            await redis.zadd(key, {changed: score})


async def window(living: LivingHouse, channel: str) -> tuple[Turn, ...]:
    return await living.recent(channel=channel)


async def questions(living: LivingHouse, channel: str) -> set[str]:
    return {turn.question for turn in await window(living, channel)}


async def answers(living: LivingHouse, channel: str) -> set[str]:
    return {turn.answer for turn in await window(living, channel)}


async def unfollows(living: LivingHouse) -> None:
    await living.say("", kind=Kind.UNFOLLOW, channel=WECHAT)


async def scope_of(living: LivingHouse) -> Scope:
    return (await living.account("li", QQ)).scope("")


@asynccontextmanager
async def listening(redis: Redis) -> AsyncGenerator[list[str]]:
    """Every command that the server was given meanwhile, in order."""
    heard: list[str] = []
    async with redis.monitor() as monitor:

        async def listen() -> None:
            while (command := (await monitor.next_command())["command"]) != "ECHO end":
                heard.append(command)

        listener = asyncio.create_task(listen())
        yield heard
        await redis.echo("end")
        await listener


def touching(heard: Iterable[str], scope: Scope) -> list[str]:
    """The commands that name the window of a scope."""
    key = re.compile(rf"jide:talk:{scope.person}:{scope.place}:{scope.epoch}(?!\d)")
    return [command for command in heard if key.search(command)]


async def talk_on(living: LivingHouse) -> None:
    """Ask, on both sides, what the window is read for."""
    for channel in (QQ, WECHAT, QQ):
        await living.say("还有什么要注意的吗", channel=channel)
        await living.house.worker.work_off()


async def test_the_windows_are_dropped_and_no_older_one_is_touched_again(
    living: LivingHouse, redis: Redis
) -> None:
    older = await scope_of(living)
    await unfollows(living)
    assert await keys_of(redis, living) == []
    assert await questions(living, QQ) == {SAID[QQ]}
    assert await questions(living, WECHAT) == {SAID[QQ]}, "one person's, of whom this account holds nothing"
    async with listening(redis) as heard:
        await talk_on(living)
    newer = await scope_of(living)
    assert newer.person == older.person and newer.epoch > older.epoch
    assert touching(heard, newer) != [] == touching(heard, older)
    assert SAID[WECHAT] not in await questions(living, QQ)


async def test_what_a_hung_server_could_not_be_told_to_drop_is_not_shown(
    living: LivingHouse, redis: Redis, valkey: Valkey
) -> None:
    older = await keys_of(redis, living)
    assert older
    valkey.freeze()
    await unfollows(living)
    valkey.thaw()
    assert await redis.exists(*older) == len(older), "else there would be nothing to be wrong about"
    living.house.window._asks_again_at = 0.0  # pyright: ignore[reportPrivateUsage]
    await talk_on(living)
    for channel in (QQ, WECHAT):
        assert PLANTED not in await answers(living, channel)
        assert SAID[WECHAT] not in await questions(living, channel)
    assert not set(await keys_of(redis, living)) <= set(older), "the cache is in use again"


async def test_an_answer_under_way_brings_no_older_window_back(living: LivingHouse, redis: Redis) -> None:
    older = await scope_of(living)
    async with living.thinking() as asked:
        answering = asyncio.create_task(living.say("要带伞吗", channel=QQ))
        await asked.wait()
        await unfollows(living)
    await answering
    assert await redis.exists(f"jide:talk:{older.person}::{older.epoch}") == 0
    assert await questions(living, QQ) == {SAID[QQ], "要带伞吗"}


async def test_who_asks_for_it_again_has_it_from_the_table_and_not_from_an_older_window(
    living: LivingHouse, redis: Redis
) -> None:
    older = await scope_of(living)
    await unfollows(living)
    away = await scope_of(living)
    await talk_on(living)
    await plant(redis, await keys_of(redis, living))
    await living.say("恢复", channel=WECHAT)
    async with listening(redis) as heard:
        for channel in (WECHAT, QQ):
            assert set(SAID.values()) <= await questions(living, channel)
            assert PLANTED not in await answers(living, channel)
    assert touching(heard, await scope_of(living)) != []
    assert touching(heard, older) == touching(heard, away) == []
