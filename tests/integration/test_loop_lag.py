"""A blocked loop is seen."""

import asyncio
import time

import pytest

from bot import loop_lag
from bot.metrics import Metrics
from tests.unit.test_metrics import samples


async def test_a_blocked_loop_shows_for_as_long_as_it_was_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_lag, "SAMPLE_SECONDS", 0.001)
    metrics = Metrics()
    sampler = loop_lag.LoopLag(metrics)
    assert samples(metrics)["event_loop_lag_seconds",] == 0.0
    task = asyncio.create_task(sampler.run())
    try:
        await asyncio.sleep(0)
        time.sleep(0.1)
        async with asyncio.timeout(20):
            while not samples(metrics)["event_loop_lag_seconds",]:
                await asyncio.sleep(0.001)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    # The timer was due after a millisecond, and nothing ran for a hundred.
    assert samples(metrics)["event_loop_lag_seconds",] > 0.09
