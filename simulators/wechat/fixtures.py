"""pytest fixtures: `pytest_plugins = ["simulators.wechat.fixtures"]` in a conftest.py.

    async def test_it_answers(wechat_server):
        async with wechat_server(my_asgi_app) as wechat:
            assert (await wechat.say("oA", "你好")).text == "您好"

They are plain functions that make things, so any plugin that runs coroutines will do.

Invariant: every test gets its own; nothing is shared and nothing is left open that a test closed.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import httpx
import pytest

from .acting import run_scenario, server_for
from .clock import ManualClock
from .report import Report
from .script import Scenario
from .script_reading import load_scenario
from .server import WeChatServer

TOKEN = "simulatedtoken"  # noqa: S105 - everybody's
APP_ID = "wx0123456789abcdef"
HOST = "http://callback.test"

Callback: TypeAlias = str | Callable[..., Awaitable[None]]
"""A URL, or an ASGI application."""


class MakeServer(Protocol):
    def __call__(
        self, callback: Callback, *, path: str = ..., token: str = ..., app_id: str = ..., **options: Any
    ) -> WeChatServer: ...


class PlayScenario(Protocol):
    async def __call__(
        self,
        scenario: Scenario | Path,
        callback: Callback,
        *,
        path: str = ...,
        token: str = ...,
        app_id: str = ...,
        calls: dict[str, Callable[[], Awaitable[None]]] | None = ...,
        **options: Any,
    ) -> Report: ...


@pytest.fixture
def wechat_clock() -> ManualClock:
    """A clock to move by hand: `wechat_server(app, clock=wechat_clock)`."""
    return ManualClock()


@pytest.fixture
def wechat_server() -> MakeServer:
    """Makes servers: `async with wechat_server(callback, …) as wechat`.

    `path` is where an application expects the posts; `options` are those of `WeChatServer`.
    """

    def make(
        callback: Callback,
        *,
        path: str = "/wechat",
        token: str = TOKEN,
        app_id: str = APP_ID,
        **options: Any,
    ) -> WeChatServer:
        url, more = _target(callback, path)
        return WeChatServer(url, token, app_id, **more | options)

    return make


@pytest.fixture
def wechat_scenario() -> PlayScenario:
    """Plays a scenario and fails with its report: `await wechat_scenario(Path("x.yaml"), callback)`."""

    async def play(
        scenario: Scenario | Path,
        callback: Callback,
        *,
        path: str = "/wechat",
        token: str = TOKEN,
        app_id: str = APP_ID,
        calls: dict[str, Callable[[], Awaitable[None]]] | None = None,
        **options: Any,
    ) -> Report:
        if isinstance(scenario, Path):
            scenario = load_scenario(scenario)
        url, more = _target(callback, path)
        async with server_for(scenario, url, token, app_id, **more | options) as server:
            report = await run_scenario(scenario, server, calls=calls)
        assert report.is_ok, report.text()
        return report

    return play


def _target(callback: Callback, path: str) -> tuple[str, dict[str, Any]]:
    if isinstance(callback, str):
        return callback, {}
    return HOST + path, {"transport": httpx.ASGITransport(app=callback)}  # type: ignore[arg-type]
