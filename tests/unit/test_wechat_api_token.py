"""One refresher: early, shared, forced only where nothing else helps, and never in a loop."""

import asyncio
import itertools
from collections.abc import Callable

import pytest

from bot.channels.wechat.api import AccessToken, ApiAway, ApiError, MemoryTokenStore, Verdict
from bot.channels.wechat.api.token import EARLY_SECONDS, FORCED_A_DAY, PAUSE_SECONDS, REST_SECONDS, Tokens

LIFE = 7200.0


class Stage:
    """WeChat's token endpoint on a clock that moves by sleeping alone."""

    def __init__(self) -> None:
        self.time = 1_000_000.0
        self.store = MemoryTokenStore(lambda: self.time)
        self.fetches: list[bool] = []
        """Whether each was forced."""
        self.number = 1
        self.expires_at = self.time + LIFE
        self.error: Exception | None = None
        self.before_answer: Callable[[], object] = lambda: None
        self.gate = asyncio.Event()
        self.gate.set()

    def tokens(self) -> Tokens:
        """One process."""
        return Tokens(
            app_id="wx1", fetch=self.fetch, store=self.store, now=lambda: self.time, sleep=self.sleep
        )

    async def fetch(self, force: bool) -> AccessToken:
        self.fetches.append(force)
        await self.gate.wait()
        if self.error:
            raise self.error
        if force or self.time >= self.expires_at - 300:
            self.number += 1
            self.expires_at = self.time + LIFE
        return AccessToken(value=f"t{self.number}", expires_at=self.expires_at)

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        await asyncio.sleep(0)


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_a_token_is_fetched_once_and_kept(stage: Stage):
    tokens = stage.tokens()
    assert [await tokens.current() for _ in range(3)] == ["t1"] * 3
    assert stage.fetches == [False]


async def test_those_who_come_together_share_one_fetch(stage: Stage):
    tokens, other_process = stage.tokens(), stage.tokens()
    stage.gate.clear()
    asking = [
        asyncio.create_task(one.current()) for one in (tokens, tokens, other_process, tokens, other_process)
    ]
    for _ in range(5):
        await asyncio.sleep(0)
    stage.gate.set()
    assert await asyncio.gather(*asking) == ["t1"] * 5
    assert stage.fetches == [False]


async def test_it_is_refreshed_before_its_end_while_others_go_on_with_it(stage: Stage):
    tokens = stage.tokens()
    await tokens.current()
    stage.time += LIFE - EARLY_SECONDS
    stage.gate.clear()
    refreshing = asyncio.create_task(tokens.current())
    await asyncio.sleep(0)
    assert await tokens.current() == "t1"
    stage.gate.set()
    assert await refreshing == "t2"
    assert await tokens.current() == "t2"
    assert stage.fetches == [False, False]


async def test_a_store_that_is_slow_keeps_nobody_from_a_token_that_serves(stage: Stage):
    class SlowStore(MemoryTokenStore):
        async def load(self, app_id: str) -> tuple[str, float] | None:
            await stage.gate.wait()
            return await super().load(app_id)

    stage.store = SlowStore(lambda: stage.time)
    tokens = stage.tokens()
    await tokens.current()
    stage.time += LIFE - EARLY_SECONDS
    stage.gate.clear()
    refreshing = asyncio.create_task(tokens.current())
    await asyncio.sleep(0)
    other = asyncio.create_task(tokens.current())
    await asyncio.sleep(0)
    assert other.done()
    stage.gate.set()
    assert (await other, await refreshing) == ("t1", "t2")


async def test_what_another_process_left_before_the_lease_was_free_is_taken(stage: Stage):
    class BusyStore(MemoryTokenStore):
        async def lease(self, app_id: str) -> bool:
            await self.save(app_id, "theirs", stage.time + LIFE)
            return await super().lease(app_id)

    stage.store = BusyStore(lambda: stage.time)
    assert await stage.tokens().current() == "theirs"
    assert stage.fetches == []


async def test_another_process_is_not_waited_for_while_the_old_token_serves(stage: Stage):
    tokens = stage.tokens()
    await tokens.current()
    stage.time += LIFE - EARLY_SECONDS
    assert await stage.store.lease("wx1")
    assert await tokens.current() == "t1"
    assert stage.fetches == [False]


async def test_an_early_refresh_that_fails_or_brings_the_old_one_is_not_tried_at_every_call(stage: Stage):
    tokens = stage.tokens()
    await tokens.current()
    stage.time += LIFE - EARLY_SECONDS
    stage.error = ApiAway("ConnectError")
    assert [await tokens.current() for _ in range(3)] == ["t1"] * 3
    assert len(stage.fetches) == 2
    stage.time += PAUSE_SECONDS
    stage.error = None
    assert await tokens.current() == "t2"


async def test_a_token_at_its_end_does_not_serve(stage: Stage):
    tokens = stage.tokens()
    await tokens.current()
    stage.time += LIFE - 5
    stage.error = ApiAway("ConnectError")
    with pytest.raises(ApiAway):
        await tokens.current()


async def test_a_process_finds_the_token_of_another(stage: Stage):
    await stage.tokens().current()
    assert await stage.tokens().current() == "t1"
    assert stage.fetches == [False]


async def test_a_process_that_died_while_fetching_is_waited_for_only_so_long(stage: Stage):
    assert await stage.store.lease("wx1")
    began = stage.time
    assert await stage.tokens().current() == "t1"
    assert stage.time - began == pytest.approx(5.0)


async def test_a_process_that_waits_takes_the_token_of_the_one_that_fetches(stage: Stage):
    assert await stage.store.lease("wx1")
    waiting = asyncio.create_task(stage.tokens().current())
    await asyncio.sleep(0)
    await stage.store.save("wx1", "theirs", stage.time + LIFE)
    assert await waiting == "theirs"
    assert stage.fetches == []


async def test_a_refused_token_that_wechat_replaced_needs_no_force(stage: Stage):
    tokens = stage.tokens()
    refused = await tokens.current()
    stage.number += 1
    assert await tokens.renew(refused) == "t2"
    assert stage.fetches == [False, False]


async def test_a_refused_token_that_wechat_insists_on_is_forced_once(stage: Stage):
    tokens = stage.tokens()
    refused = await tokens.current()
    assert await asyncio.gather(*(tokens.renew(refused) for _ in range(4))) == ["t2"] * 4
    assert stage.fetches == [False, False, True]


async def test_a_refused_token_that_another_process_renewed_is_not_renewed_again(stage: Stage):
    one, other = stage.tokens(), stage.tokens()
    refused = await one.current()
    assert await other.current() == refused
    assert await one.renew(refused) == "t2"
    assert await other.renew(refused) == "t2"
    assert stage.fetches == [False, False, True]


async def test_it_is_forced_every_thirty_seconds_and_twenty_times_a_day_at_most(stage: Stage):
    tokens = stage.tokens()
    refused = await tokens.current()
    forced_at: list[float] = []
    began = stage.time
    while stage.time < began + 2 * 3600:
        try:
            refused = await tokens.renew(refused)
            forced_at.append(stage.time)
        except ApiError as error:
            assert error.verdict is Verdict.STALE
        stage.time += 10
    assert len(forced_at) == FORCED_A_DAY == stage.fetches.count(True)
    assert min(later - one for one, later in itertools.pairwise(forced_at)) >= PAUSE_SECONDS
    stage.time = began + 24 * 3600 + 60
    await tokens.renew(refused)


async def test_a_clock_set_back_does_not_forbid_forcing_for_a_day(stage: Stage):
    tokens = stage.tokens()
    refused = await tokens.renew(await tokens.current())
    stage.time -= 24 * 3600
    assert await tokens.renew(refused) == "t3"


async def test_a_failure_is_everyones_and_is_tried_again_soon(stage: Stage):
    tokens = stage.tokens()
    stage.error = ApiAway("ConnectError")
    stage.gate.clear()
    asking = [asyncio.create_task(tokens.current()) for _ in range(20)]
    await asyncio.sleep(0)
    stage.gate.set()
    results = await asyncio.gather(*asking, return_exceptions=True)
    assert {type(result) for result in results} == {ApiAway}
    assert len(stage.fetches) == 1
    stage.error = None
    with pytest.raises(ApiAway):
        await tokens.current()
    stage.time += REST_SECONDS
    assert await tokens.current() == "t1"


async def test_whoever_leaves_while_fetching_gives_the_lease_back(stage: Stage):
    tokens = stage.tokens()
    stage.gate.clear()
    asking = asyncio.create_task(tokens.current())
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    stage.gate.set()
    began = stage.time
    assert await tokens.current() == "t1"
    assert stage.time == began


def test_a_token_is_not_in_its_repr():
    assert "s3cret" not in repr(AccessToken(value="s3cret", expires_at=1.0))
