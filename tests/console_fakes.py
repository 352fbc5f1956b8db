"""A site for tests, and a browser that is signed in to it."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
from argon2 import PasswordHasher
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route

from bot.console.pages import make_app
from bot.console.site.doorkeeper import Doorkeeper
from bot.console.site.site import SESSION_COOKIE, Site
from bot.conversation.message import AccountKey
from bot.conversation.scope import PersonId
from bot.health import Finding, Readiness, Verdict

LOCAL = "http://127.0.0.1:8081"
PASSWORD = "一句好记的话就够了呀"
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}
CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')


class Hands:
    """A clock that is set by hand, of the day and monotonic."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


class AuditInMemory:
    """`bot.ports.AuditLog`."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, PersonId | None, str]] = []

    async def record(
        self, actor: AccountKey | None, action: str, subject: PersonId | None, reason: str, detail: str
    ) -> None:
        assert actor is not None and actor.channel == "console"
        self.lines.append((action, subject, detail))


class HouseAtRest:
    """What the overview and the monitors ask."""

    def __init__(self) -> None:
        self.findings = {
            "database": Finding(verdict=Verdict.OK, detail="写入 3 毫秒"),
            "model": Finding(verdict=Verdict.OFF, detail="没有接入，只摘录"),
            "embedder": Finding(verdict=Verdict.OK),
        }
        self.answers: Mapping[str, int] = {}

    async def readiness(self) -> Readiness:
        return Readiness(findings=self.findings)

    async def memory(self) -> dict[str, object]:
        return {"facts": 0}

    async def exposition(self) -> bytes:
        return b"# nothing\n"

    def answers_by_stage(self) -> Mapping[str, int]:
        return self.answers


def site_for(data_folder: Path, hands: Hands | None = None, audit: AuditInMemory | None = None) -> Site:
    """With a hasher that costs nothing."""
    hands = hands or Hands()
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    doorkeeper = Doorkeeper(data_folder, hands, hasher=hasher, monotonic=hands.monotonic)
    return Site(doorkeeper, audit or AuditInMemory())


def app_for(site: Site, views: Sequence[BaseRoute], more: Sequence[Route] = ()) -> Starlette:
    return make_app(HouseAtRest(), more, site, views)


def browser(app: Starlette, *, raises: bool = True) -> httpx.AsyncClient:
    """On a page of the site. `raises`: what goes wrong in a view goes wrong in the test."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=raises)
    return httpx.AsyncClient(transport=transport, base_url=LOCAL, headers=SAME_ORIGIN)


@asynccontextmanager
async def signed_in(site: Site, views: Sequence[BaseRoute]) -> AsyncIterator[httpx.AsyncClient]:
    """A browser with a session."""
    doorkeeper = site.doorkeeper
    cookie = await (
        doorkeeper.sign_in(PASSWORD)
        if doorkeeper.has_password
        else doorkeeper.set_up(doorkeeper.setup_token, PASSWORD)
    )
    assert isinstance(cookie, str)
    async with browser(app_for(site, views)) as client:
        client.cookies.set(SESSION_COOKIE, cookie)
        yield client


async def csrf_of_page(client: httpx.AsyncClient, path: str) -> str:
    """The token in the page's forms."""
    found = CSRF.search((await client.get(path)).text)
    assert found, f"{path} has no form"
    return found[1]
