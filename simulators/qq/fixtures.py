"""pytest fixtures: `pytest_plugins = ["simulators.qq.fixtures"]` in a conftest.py.

    async def test_it_acknowledges(qq_platform):
        async with qq_platform(my_asgi_app) as qq:
            assert (await qq.say("OPENID", "你好")).is_acknowledged

Invariant: every test gets its own; nothing is shared and nothing is left open that a test closed.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias

import httpx
import pytest

from .clock import ManualClock
from .server import QQPlatform

APP_ID = "102000001"
SECRET = "naOC0ocQE3shWLAfffVLB1rhYPG7"  # noqa: S105 - the published example's
HOST = "http://callback.test"

App: TypeAlias = str | Callable[..., Awaitable[None]] | None
"""A URL, an ASGI application, or None for a bot that connects to the gateway."""


class MakePlatform(Protocol):
    def __call__(
        self, callback: App, *, path: str = ..., app_id: str = ..., secret: str = ..., **options: Any
    ) -> QQPlatform: ...


@pytest.fixture
def qq_clock() -> ManualClock:
    """A clock to move by hand: `qq_platform(app, clock=qq_clock)`."""
    return ManualClock()


@pytest.fixture
def qq_platform() -> MakePlatform:
    """Makes platforms: `async with qq_platform(callback, …) as qq`.

    `path` is where an application expects the posts; `options` are those of `QQPlatform`.
    """

    def make(
        callback: App,
        *,
        path: str = "/qq/webhook",
        app_id: str = APP_ID,
        secret: str = SECRET,
        **options: Any,
    ) -> QQPlatform:
        if callback is None or isinstance(callback, str):
            return QQPlatform(callback, app_id, secret, **options)
        options.setdefault("transport", httpx.ASGITransport(app=callback))  # type: ignore[arg-type]
        return QQPlatform(HOST + path, app_id, secret, **options)

    return make
