"""Where the processes of an account share its token: in memory, and in Redis."""

from collections.abc import AsyncIterator, Iterator

import pytest

from bot.channels.wechat.api import MemoryTokenStore, TokenStore
from bot.storage.redis.access_tokens import RedisAccessTokens
from bot.storage.redis.connection import open_redis
from tests.integration.valkey_fixture import Valkey, run_valkey

APP, OTHER = "wx1", "wx2"


class Clock:
    def __init__(self) -> None:
        self.time = 1_700_000_000.0

    def now(self) -> float:
        return self.time


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    with run_valkey() as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "redis"])
async def store(request: pytest.FixtureRequest, clock: Clock, valkey: Valkey) -> AsyncIterator[TokenStore]:
    memory = MemoryTokenStore(clock.now)
    if request.param == "memory":
        yield memory
        return
    valkey.flush()
    shared = RedisAccessTokens(open_redis(valkey.url), alone=memory, now=clock.now)
    yield shared
    await shared.close()


async def test_the_last_token_of_an_account_is_kept(store: TokenStore, clock: Clock):
    assert await store.load(APP) is None
    await store.save(APP, "一", clock.time + 60)
    await store.save(APP, "二", clock.time + 7200.5)
    assert await store.load(APP) == ("二", clock.time + 7200.5)
    assert await store.load(OTHER) is None


async def test_one_at_a_time_holds_the_lease_of_an_account(store: TokenStore):
    assert await store.lease(APP)
    assert not await store.lease(APP)
    assert await store.lease(OTHER)
    await store.release(APP)
    assert await store.lease(APP)
    await store.release(OTHER)
    await store.release(OTHER)
    assert await store.lease(OTHER)


async def test_forcing_is_rare(store: TokenStore, clock: Clock):
    assert await store.may_force(APP)
    assert not await store.may_force(APP)
    assert await store.may_force(OTHER)
    for seconds, allowed in ((29, False), (1, True), (29, False), (1, True)):
        clock.time += seconds
        assert await store.may_force(APP) is allowed


async def test_forcing_ends_with_twenty_a_day(store: TokenStore, clock: Clock):
    began = clock.time
    allowed = 0
    for _ in range(50):
        allowed += await store.may_force(APP)
        clock.time += 60
    assert allowed == 20
    clock.time = began + 24 * 3600
    assert await store.may_force(APP)
    assert not await store.may_force(APP)


async def test_times_ahead_of_a_clock_set_back_say_nothing(store: TokenStore, clock: Clock):
    assert await store.may_force(APP)
    clock.time -= 24 * 3600
    assert await store.may_force(APP)
