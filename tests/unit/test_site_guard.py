"""Nothing of the pages is seen or done without a session, and nothing by a page of somebody else."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import fields
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from bot.console.site.guard import LIMIT_BYTES
from bot.console.site.shields import SHIELDS
from bot.console.site.site import SESSION_COOKIE, Site
from bot.console.site.views.all import Ports, all_routes
from bot.conversation.errors import StoreUnavailable
from tests.console_fakes import LOCAL, Hands, app_for, browser, csrf_of_page, signed_in, site_for

OPEN = {"/readyz", "/healthz/memory", "/metrics", "/login", "/setup", "/static/{name}"}
"""Every address of the pages that answers without a session. Longer only by a decision."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Untouched:
    """Stands for a port that is not asked."""

    def __getattr__(self, name: str) -> "Untouched":
        return Untouched()

    def __iter__(self) -> "Iterable[object]":
        return iter(())

    def __call__(self, *args: object, **kwargs: object) -> object:
        raise AssertionError("the house was asked")


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def site(tmp_path: Path, hands: Hands) -> Site:
    return site_for(tmp_path, hands)


@pytest.fixture
def views(site: Site) -> list[BaseRoute]:
    return list(all_routes(site, Ports(**{field.name: Untouched() for field in fields(Ports)})))  # type: ignore[arg-type]


@pytest.fixture
def app(site: Site, views: list[BaseRoute]) -> Starlette:
    return app_for(site, views)


@pytest.fixture
async def stranger(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    async with browser(app) as client:
        yield client


def walked(routes: Iterable[BaseRoute], above: str = "") -> Iterable[tuple[str, set[str]]]:
    """(address, methods) of every route, those within mounts too."""
    for route in routes:
        if isinstance(route, Mount):
            yield from walked(route.routes, above + route.path)
        else:
            assert isinstance(route, Route), f"{route} is no kind of route that the walk knows"
            yield above + route.path, set(route.methods or ())


def filled(path: str) -> str:
    """A path with something in each of its places."""
    return "/".join("x" if part.startswith("{") else part for part in path.split("/"))


async def test_every_route_is_closed_to_who_has_no_session(
    app: Starlette, stranger: httpx.AsyncClient
) -> None:
    seen = 0
    for path, methods in walked(app.routes):
        if path in OPEN:
            continue
        for method in methods:
            answer = await stranger.request(method, filled(path))
            assert answer.status_code == 401, (method, path)
            assert SESSION_COOKIE not in answer.cookies
            seen += 1
    assert seen >= 3


async def test_what_is_open_is_what_was_decided(app: Starlette) -> None:
    paths = {path for path, _ in walked(app.routes)}
    assert paths >= OPEN
    assert {path for path in paths if path.startswith(("/login", "/setup", "/static", "/platforms"))} <= OPEN


@pytest.mark.parametrize(
    "path",
    ["/nowhere", "/docs", "/login/", "/login/x", "/setup/", "/static", "/readyz/", "//login"],
)
async def test_an_unknown_address_is_closed_like_a_known_one(stranger: httpx.AsyncClient, path: str) -> None:
    for method in METHODS:
        assert (await stranger.request(method, LOCAL + path)).status_code == 401, method


@pytest.mark.parametrize("cookie", ["", "x", "0" * 43, "é"])
async def test_a_cookie_that_was_made_up_opens_nothing(app: Starlette, site: Site, cookie: str) -> None:
    async with browser(app) as client:
        headers = {b"Cookie": f"{SESSION_COOKIE}={cookie}".encode()}
        assert (await client.get("/nowhere", headers=headers)).status_code == 401


async def test_a_session_ends_after_twelve_hours(site: Site, views: list[BaseRoute], hands: Hands) -> None:
    async with signed_in(site, views) as client:
        hands.seconds = 12 * 3600 - 1
        assert (await client.get("/nowhere")).status_code == 404
        hands.seconds = 12 * 3600
        assert (await client.get("/nowhere")).status_code == 401


async def test_every_form_needs_its_token(site: Site, views: list[BaseRoute], app: Starlette) -> None:
    seen = 0
    async with signed_in(site, views) as client:
        for path, methods in walked(app.routes):
            for method in methods - {"GET", "HEAD"}:
                for body in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": "é"}):
                    answer = await client.request(method, filled(path), data=body)
                    assert answer.status_code == 403, (method, path, body)
                    seen += 1
    assert seen >= 12


async def test_a_token_of_another_session_is_none(tmp_path: Path, site: Site, views: list[BaseRoute]) -> None:
    async with signed_in(site, views) as one, signed_in(site, views) as other:
        theirs, ours = await csrf_of_page(other, "/nowhere"), await csrf_of_page(one, "/nowhere")
        assert (await one.post("/logout", data={"csrf": theirs})).status_code == 403
        assert (
            await one.post("/logout", headers={"X-CSRF-Token": theirs}, data={"csrf": ours})
        ).status_code == 403
        assert (await one.post("/logout", headers={"X-CSRF-Token": ours})).status_code == 303


@pytest.mark.parametrize(
    ("headers", "passes"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, True),
        ({"Sec-Fetch-Site": "same-site", "Origin": LOCAL}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "none"}, False),
        ({"Origin": LOCAL}, True),
        ({"Origin": "http://127.0.0.1:3000"}, False),
        ({"Origin": "http://localhost:8081"}, False),
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "null"}, False),
        ({}, False),
    ],
)
async def test_only_a_page_of_this_origin_posts(
    site: Site, views: list[BaseRoute], headers: dict[str, str], passes: bool
) -> None:
    async with signed_in(site, views) as client:
        token = await csrf_of_page(client, "/nowhere")
        del client.headers["Sec-Fetch-Site"]
        answer = await client.post("/logout", data={"csrf": token}, headers=headers)
    assert answer.status_code == (303 if passes else 403)


async def test_every_answer_has_the_shields(site: Site) -> None:
    async def fail(_: Request) -> Response:
        raise RuntimeError("secret words")

    async def lack(_: Request) -> Response:
        raise StoreUnavailable

    async def say(_: Request) -> Response:
        return PlainTextResponse("said", headers={"Cache-Control": "private"})

    views = [
        *all_routes(site, Ports(**{field.name: Untouched() for field in fields(Ports)})),  # type: ignore[arg-type]
        Route("/fail", fail),
        Route("/lack", lack),
        Route("/say", say),
    ]
    asked = [("/nowhere", 404), ("/fail", 500), ("/lack", 503), ("/say", 200), ("/logout", 405)]
    asked += [
        ("/login", 303),
        ("/setup", 403),
        ("/readyz", 200),
        ("/metrics", 200),
        ("/static/style.css", 200),
    ]
    async with signed_in(site, views) as client:
        client._transport.raise_app_exceptions = False  # type: ignore[attr-defined]
        answers = [(await client.get(path), status) for path, status in asked]
        answers.append((await client.get("/nowhere", headers={"Host": "evil.example"}), 400))
        answers.append((await client.post("/logout"), 403))
        client.cookies.clear()
        answers.append((await client.get("/nowhere"), 401))
    for answer, status in answers:
        assert answer.status_code == status, answer.url
        assert "secret words" not in answer.text
        for name, value in SHIELDS.items():
            if name != "Cache-Control":
                assert answer.headers[name] == value, (answer.url, name)
        kept = answer.headers["Cache-Control"]
        assert kept == "no-store" or answer.url.path in ("/say", "/static/style.css"), answer.url
    assert "script-src" not in SHIELDS["Content-Security-Policy"]
    assert "unsafe" not in SHIELDS["Content-Security-Policy"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.168.1.7:8081"])
async def test_another_name_gets_nothing(site: Site, views: list[BaseRoute], host: str) -> None:
    async with signed_in(site, views) as client:
        for path in ("/login", "/setup", "/static/style.css", "/nowhere", "/readyz"):
            assert (await client.get(path, headers={"Host": host})).status_code == 400, path


async def test_no_more_of_a_form_is_read_than_may_be(site: Site, views: list[BaseRoute]) -> None:
    sent: list[int] = []

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(4_096):
            sent.append(1)
            yield b"x" * 64 * 1024

    async def read(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    async with signed_in(site, [*views, Route("/read", read, methods=["POST"])]) as client:
        assert (await client.post("/read", content=b"x" * LIMIT_BYTES)).text == str(LIMIT_BYTES)
        assert (await client.post("/read", content=endless())).status_code == 413
        assert len(sent) <= LIMIT_BYTES // (64 * 1024) + 2
        client.cookies.clear()
        for kind in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            sent.clear()
            refused = await client.post("/read", content=endless(), headers={"Content-Type": kind})
            assert (refused.status_code, len(sent) <= LIMIT_BYTES // (64 * 1024) + 2) == (401, True), kind


def test_a_websocket_comes_in_by_the_platforms_door_alone(app: Starlette) -> None:
    with (
        TestClient(app, base_url=LOCAL) as client,
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/nowhere"),
    ):
        pass


async def test_programs_are_answered_as_before(stranger: httpx.AsyncClient) -> None:
    assert (await stranger.get("/readyz")).json()["status"] == "ready"
    assert (await stranger.get("/healthz/memory")).json() == {"facts": 0}
    assert (await stranger.get("/metrics")).headers["content-type"].startswith("text/plain; version=0.0.4")
    refused = await stranger.post("/readyz")
    assert (refused.status_code, refused.text) == (405, "Method Not Allowed")
    assert not refused.cookies
