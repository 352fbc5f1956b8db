"""Processes that share a token over a real Redis-compatible server, which freezes or is not there."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.channels.wechat.api import MemoryTokenStore
from bot.storage.redis.access_tokens import FORCED_A_DAY, LEASE_SECONDS, RedisAccessTokens
from bot.storage.redis.connection import open_redis
from tests.integration.valkey_fixture import Valkey, run_valkey
from tests.wechat_api_fake import OPENID, SEND, TOKEN, FakeWeChat, failing

APP = "wxFake"
HANG_SECONDS = 1.5
"""A guard against hanging, not a measure: the promise is 0.5 s, on a machine that is not busy."""


@pytest.fixture(scope="module")
def server() -> Iterator[Valkey]:
    with run_valkey() as running:
        yield running


@pytest.fixture
def valkey(server: Valkey) -> Valkey:
    server.thaw()
    server.flush()
    return server


class House:
    """Processes on one Redis, and WeChat."""

    def __init__(self, valkey: Valkey, stack: AsyncExitStack) -> None:
        self.valkey = valkey
        self.wechat = FakeWeChat()
        self._stack = stack

    def store(self, url: str = "", **changed: Any) -> RedisAccessTokens:
        """Of one more process: with a connection and memory of its own."""
        alone = MemoryTokenStore(self.wechat.now)
        settings: dict[str, Any] = {"alone": alone, "now": self.wechat.now}
        store = RedisAccessTokens(open_redis(url or self.valkey.url), **(settings | changed))
        self._stack.push_async_callback(store.close)
        return store


@pytest.fixture
async def house(valkey: Valkey) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        yield House(valkey, stack)


@pytest.fixture
async def redis(valkey: Valkey) -> AsyncIterator[Redis]:
    async with open_redis(valkey.url) as client:
        yield client


async def test_two_processes_that_refresh_at_once_make_one_call(house: House):
    processes = [house.wechat.client(tokens=house.store(), sleep=asyncio.sleep) for _ in range(4)]
    await asyncio.gather(*(process.send_text(OPENID, "在吗") for process in processes for _ in range(3)))
    assert len(house.wechat.calls(TOKEN)) == 1
    assert {request.url.query["access_token"] for request in house.wechat.calls(SEND)} == {"t0ken-1"}


async def test_two_processes_whose_token_is_refused_at_once_force_one(house: House):
    wechat = house.wechat
    processes = [wechat.client(tokens=house.store(), sleep=asyncio.sleep) for _ in range(2)]
    for process in processes:
        await process.send_text(OPENID, "一")
    wechat.script(SEND, failing(40001), failing(40001))
    await asyncio.gather(*(process.send_text(OPENID, "二") for process in processes))
    forced = [body["force_refresh"] for body in wechat.bodies(TOKEN)]
    assert forced == [False, False, True]
    assert [request.url.query["access_token"] for request in wechat.calls(SEND)][-2:] == ["t0ken-2"] * 2


async def test_every_key_has_a_life(house: House, redis: Redis):
    store = house.store()
    await store.save(APP, "t0ken", house.wechat.time + 7200)
    assert await store.lease(APP)
    assert await store.may_force(APP)
    keys = sorted(await redis.keys())
    assert keys == [
        b"jide:wechat:token-forced:wxFake",
        b"jide:wechat:token-lease:wxFake",
        b"jide:wechat:token:wxFake",
    ]
    lives = [await redis.ttl(key) for key in keys]
    for life, longest in zip(lives, (24 * 3600, LEASE_SECONDS, 7200), strict=True):
        assert longest - 5 < life <= longest
    await store.save(APP, "over", house.wechat.time)
    assert await store.load(APP) == ("t0ken", house.wechat.time + 7200)


async def test_a_lease_is_given_back_by_its_owner_alone(house: House, redis: Redis):
    one, other = house.store(), house.store()
    assert await one.lease(APP)
    assert not await other.lease(APP)
    await other.release(APP)
    assert not await other.lease(APP)
    await redis.delete("jide:wechat:token-lease:wxFake")
    assert await other.lease(APP)
    # The lease of `one` ran out: what is there now is not its own.
    await one.release(APP)
    assert not await one.lease(APP)
    await other.release(APP)
    assert await one.lease(APP)


async def test_forced_refreshes_are_counted_for_all_processes(house: House):
    one, other = house.store(), house.store()
    wechat = house.wechat
    began = wechat.time
    assert await one.may_force(APP)
    assert not await other.may_force(APP)
    wechat.time += 29
    assert not await other.may_force(APP)
    wechat.time += 1
    assert await other.may_force(APP)
    allowed = 2
    for _ in range(40):
        wechat.time += 60
        allowed += await (one if allowed % 2 else other).may_force(APP)
    assert allowed == FORCED_A_DAY
    assert await one.may_force("another")
    wechat.time = began + 24 * 3600
    assert await one.may_force(APP)


@pytest.mark.parametrize(
    "stored", ["{", "7", "null", "{}", '{"token": 1, "expires_at": 2}', '{"token": "t"}']
)
async def test_what_we_did_not_write_is_no_token(house: House, redis: Redis, stored: str):
    await redis.set("jide:wechat:token:wxFake", stored)
    assert await house.store().load(APP) is None


async def test_a_frozen_redis_costs_little_once_and_each_process_does_for_itself(house: House):
    seconds = 0.0
    store = house.store(monotonic=lambda: seconds)
    client = house.wechat.client(tokens=store)
    house.valkey.freeze()
    async with asyncio.timeout(HANG_SECONDS):
        await client.send_text(OPENID, "在吗")
        assert await store.lease(APP)
        assert await store.may_force(APP)
        assert not await store.may_force(APP)
    house.valkey.thaw()
    assert len(house.wechat.calls(TOKEN)) == 1
    await store.save(APP, "t0ken", house.wechat.time + 60)
    assert await store.load(APP) is None
    seconds += 60
    await store.save(APP, "t0ken", house.wechat.time + 60)
    assert await store.load(APP) == ("t0ken", house.wechat.time + 60)


async def test_a_redis_that_is_not_there_is_done_without(house: House):
    client = house.wechat.client(tokens=house.store("redis://127.0.0.1:1/0"))
    await client.send_text(OPENID, "一")
    house.wechat.script(SEND, failing(42001))
    await client.send_text(OPENID, "二")
    assert [body["force_refresh"] for body in house.wechat.bodies(TOKEN)] == [False, False, True]


async def test_a_flushed_redis_costs_one_fetch_by_whoever_comes_new(house: House):
    client = house.wechat.client(tokens=house.store())
    await client.send_text(OPENID, "一")
    house.valkey.flush()
    await client.send_text(OPENID, "二")
    assert len(house.wechat.calls(TOKEN)) == 1
    await house.wechat.client(tokens=house.store()).send_text(OPENID, "三")
    assert {request.url.query["access_token"] for request in house.wechat.calls(SEND)} == {"t0ken-1"}
