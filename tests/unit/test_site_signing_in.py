"""The first visit, the password, and the sessions it opens."""

import asyncio
import html
import json
import stat
from collections.abc import AsyncIterator
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import quote, unquote

import httpx
import pytest
from starlette.requests import Request

from bot.console.site.doorkeeper import MOST_SESSIONS, Doorkeeper
from bot.console.site.key_file import NAME, KeyFile
from bot.console.site.site import SESSION_COOKIE, VISIT_COOKIE, Site, own_path
from bot.console.site.tries import FIRST_WAIT_SECONDS, FREE_TRIES, LONGEST_WAIT_SECONDS, LoginTries
from bot.console.site.views import account
from bot.conversation.errors import ConfigurationError
from tests.console_fakes import (
    PASSWORD,
    AuditInMemory,
    Hands,
    app_for,
    browser,
    csrf_of_page,
    signed_in,
    site_for,
)


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def audit() -> AuditInMemory:
    return AuditInMemory()


@pytest.fixture
def site(tmp_path: Path, hands: Hands, audit: AuditInMemory) -> Site:
    return site_for(tmp_path, hands, audit)


@pytest.fixture
async def client(site: Site) -> AsyncIterator[httpx.AsyncClient]:
    async with browser(app_for(site, account.routes(site))) as client:
        yield client


def address(site: Site) -> str:
    return f"/setup?token={site.doorkeeper.setup_token}"


async def set_up(
    client: httpx.AsyncClient, site: Site, password: str = PASSWORD, again: str = PASSWORD, token: str = ""
) -> httpx.Response:
    csrf = await csrf_of_page(client, address(site))
    token = token or site.doorkeeper.setup_token
    form = {"csrf": csrf, "token": token, "password": password, "again": again}
    return await client.post("/setup", data=form)


async def sign_in(client: httpx.AsyncClient, password: str, onward: str = "/") -> httpx.Response:
    csrf = await csrf_of_page(client, "/login")
    return await client.post("/login", data={"csrf": csrf, "password": password, "onward": onward})


async def test_the_first_visit_sets_the_password_and_is_in(
    client: httpx.AsyncClient, site: Site, tmp_path: Path, audit: AuditInMemory
) -> None:
    used = address(site)
    answer = await set_up(client, site)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert (await client.get("/nowhere")).status_code == 404, "it is in"
    assert [action for action, *_ in audit.lines] == ["console.set_up"]
    written = tmp_path / NAME
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    document = json.loads(written.read_text("utf-8"))
    assert document["password"].startswith("$argon2id$")
    for secret in (PASSWORD, client.cookies[SESSION_COOKIE], used.partition("=")[2]):
        assert secret not in written.read_text("utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME]


async def test_the_setup_token_opens_once(client: httpx.AsyncClient, site: Site, tmp_path: Path) -> None:
    used = address(site)
    page = await client.get(used)
    csrf = await csrf_of_page(client, used)
    await set_up(client, site)
    client.cookies.delete(SESSION_COOKIE)
    again = await client.get(used)
    assert (page.status_code, again.status_code) == (200, 403)
    assert 'name="token"' in page.text and 'name="token"' not in again.text
    form = {"csrf": csrf, "token": used.partition("=")[2], "password": "another one", "again": "another one"}
    client.cookies.update({VISIT_COOKIE: page.cookies[VISIT_COOKIE]})
    assert (await client.post("/setup", data=form)).status_code == 403
    assert not site_for(tmp_path).doorkeeper.setup_token, "nor is there one at the next start"


async def test_of_two_who_set_it_up_at_once_one_is_in(site: Site) -> None:
    token = site.doorkeeper.setup_token
    both = await asyncio.gather(*(site.doorkeeper.set_up(token, PASSWORD) for _ in range(2)))
    assert [each is None for each in both].count(True) == 1


@pytest.mark.parametrize("token", ["", "x", "é", "0" * 43])
async def test_another_token_opens_nothing(client: httpx.AsyncClient, site: Site, token: str) -> None:
    assert (await client.get(f"/setup?token={quote(token)}")).status_code == 403
    assert (await set_up(client, site, token=token or " ")).status_code == 403
    assert not site.doorkeeper.has_password


@pytest.mark.parametrize(
    ("password", "again"),
    [("", ""), ("短密码", "短密码"), ("x" * 9, "x" * 9), ("x" * 1025, "x" * 1025), ("x" * 10, "x" * 11)],
)
async def test_a_password_that_does_not_do_is_refused_in_words(
    client: httpx.AsyncClient, site: Site, password: str, again: str
) -> None:
    answer = await set_up(client, site, password, again)
    assert answer.status_code == 422 and 'role="alert"' in answer.text
    assert not site.doorkeeper.has_password and site.doorkeeper.setup_token
    assert not password or f'value="{password}"' not in answer.text


async def test_where_the_folder_cannot_be_written_the_token_stays_good(
    client: httpx.AsyncClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: KeyFile, hashed: str) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(KeyFile, "set_password", full)
        assert (await set_up(client, site)).status_code == 500
    assert (await set_up(client, site)).status_code == 303


async def test_signing_in_and_out(client: httpx.AsyncClient, site: Site, audit: AuditInMemory) -> None:
    await set_up(client, site)
    first = client.cookies[SESSION_COOKIE]
    csrf = await csrf_of_page(client, "/nowhere")
    assert (await client.post("/logout", data={"csrf": csrf})).status_code == 303
    client.cookies.set(SESSION_COOKIE, first)
    assert (await client.get("/nowhere")).status_code == 401, (
        "the cookie that was signed out is worth nothing"
    )
    client.cookies.clear()
    assert (await sign_in(client, "not the password")).status_code == 403
    assert (await client.get("/nowhere")).status_code == 401
    answer = await sign_in(client, PASSWORD, "/memory?who=3")
    assert (answer.status_code, answer.headers["location"]) == (303, "/memory?who=3")
    assert client.cookies[SESSION_COOKIE] != first
    assert (await client.get("/nowhere")).status_code == 404
    actions = [action for action, *_ in audit.lines]
    assert actions == ["console.set_up", "console.sign_in_refused", "console.sign_in"]
    assert all(PASSWORD not in detail for *_, detail in audit.lines)


async def test_what_was_asked_for_is_gone_on_to(client: httpx.AsyncClient, site: Site) -> None:
    await set_up(client, site)
    client.cookies.clear()
    page = await client.get("/memory?who=3&language=en")
    assert (page.status_code, 'lang="en"' in page.text) == (401, True)
    assert 'name="onward" value="/memory?who=3"' in page.text


@pytest.mark.parametrize(
    "onward",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "",
        "/a\r\nX: y",
        "evil",
    ],
)
def test_nobody_is_sent_to_another_site(onward: str) -> None:
    assert own_path(onward) == "/"
    assert own_path("/memory?who=3") == "/memory?who=3"


async def test_every_cookie_is_out_of_reach_of_scripts_and_of_other_sites(
    client: httpx.AsyncClient, site: Site
) -> None:
    answers = [await client.get(address(site) + "&language=en"), await set_up(client, site)]
    csrf = await csrf_of_page(client, "/nowhere")
    answers += [await client.post("/logout", data={"csrf": csrf})]
    cookies = [
        morsel
        for answer in answers
        for line in answer.headers.get_list("set-cookie")
        for morsel in SimpleCookie(line).values()
    ]
    assert {SESSION_COOKIE, VISIT_COOKIE, "jide_language"} <= {cookie.key for cookie in cookies}
    for cookie in cookies:
        assert cookie["httponly"] and cookie["samesite"] == "strict" and cookie["path"] == "/", cookie.key
        assert not cookie["domain"] and not cookie["secure"], "it is plain HTTP on loopback"
    begun = next(cookie for cookie in cookies if cookie.key == SESSION_COOKIE and cookie.value)
    assert begun["max-age"] == str(12 * 3600)
    assert len(begun.value) >= 43, "256 bits"


async def test_over_https_cookies_stay_on_https(tmp_path: Path) -> None:
    site = site_for(tmp_path)
    transport = httpx.ASGITransport(app=app_for(site, account.routes(site)))
    async with httpx.AsyncClient(transport=transport, base_url="https://localhost:8443") as client:
        assert "Secure" in (await client.get("/login")).headers["set-cookie"]


async def test_a_restart_signs_nobody_out(site: Site, tmp_path: Path) -> None:
    async with signed_in(site, account.routes(site)) as client:
        cookie = client.cookies[SESSION_COOKIE]
    restarted = site_for(tmp_path)
    assert not restarted.doorkeeper.setup_token
    async with browser(app_for(restarted, account.routes(restarted))) as client:
        client.cookies.set(SESSION_COOKIE, cookie)
        assert (await client.get("/nowhere")).status_code == 404


async def test_deleting_the_file_takes_password_and_sessions_back(site: Site, tmp_path: Path) -> None:
    async with signed_in(site, account.routes(site)) as client:
        cookie = client.cookies[SESSION_COOKIE]
    (tmp_path / NAME).unlink()
    restarted = site_for(tmp_path).doorkeeper
    assert restarted.setup_token and restarted.session(cookie) is None
    assert await restarted.sign_in(PASSWORD) is None


@pytest.mark.parametrize(
    "content",
    ["", "{", "null", "[]", "{}", '{"password": 3, "sessions": []}', '{"password": "plain", "sessions": []}',
     '{"password": "", "sessions": [{"sha256": "x"}]}', '{"password": "", "sessions": [{"sha256": "x", "ends": "?"}]}',
     '{"password": "", "sessions": [{"sha256": "x", "ends": "2026-01-01"}]}', '{"password": "", "sessions": 3}'],
)  # fmt: skip
def test_a_damaged_file_stops_the_start_with_its_fix(tmp_path: Path, hands: Hands, content: str) -> None:
    (tmp_path / NAME).write_text(content)
    with pytest.raises(ConfigurationError, match=NAME):
        Doorkeeper(tmp_path, hands)


async def test_the_oldest_of_many_sessions_ends(site: Site) -> None:
    doorkeeper = site.doorkeeper
    first = await doorkeeper.set_up(doorkeeper.setup_token, PASSWORD)
    later = [await doorkeeper.sign_in(PASSWORD) for _ in range(MOST_SESSIONS)]
    assert isinstance(first, str) and doorkeeper.session(first) is None
    assert all(isinstance(each, str) and doorkeeper.session(each) for each in later)


async def test_guessing_gets_slower(client: httpx.AsyncClient, site: Site, hands: Hands) -> None:
    await set_up(client, site)
    client.cookies.clear()
    for _ in range(FREE_TRIES):
        assert (await sign_in(client, "not the password")).status_code == 403
    answer = await sign_in(client, PASSWORD)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, f"{FIRST_WAIT_SECONDS:.0f}")
    assert SESSION_COOKIE not in answer.cookies, "the right one has to wait as well"
    hands.seconds = FIRST_WAIT_SECONDS
    assert (await sign_in(client, PASSWORD)).status_code == 303


async def test_many_tries_at_once_are_no_way_around(site: Site) -> None:
    await site.doorkeeper.set_up(site.doorkeeper.setup_token, PASSWORD)
    tried = await asyncio.gather(*(site.doorkeeper.sign_in("not the password") for _ in range(50)))
    assert tried.count(None) == FREE_TRIES


def test_each_further_wrong_try_waits_twice_as_long_up_to_an_end() -> None:
    hands = Hands()
    tries = LoginTries(hands.monotonic)
    waits: list[float] = []
    for _ in range(FREE_TRIES + 12):
        assert tries.begin() == 0.0
        if wait := tries.begin():
            assert tries.begin() == wait, "asking is no try"
            waits.append(wait)
            hands.seconds += wait
    assert waits[:3] == [FIRST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2, FIRST_WAIT_SECONDS * 4]
    assert waits[-1] == waits[-2] == LONGEST_WAIT_SECONDS
    tries.succeed()
    assert [tries.begin() for _ in range(FREE_TRIES)] == [0.0] * FREE_TRIES


def no_space(*_: object) -> None:
    raise OSError(28, "No space left on device")


async def test_signing_in_where_nothing_can_be_written_is_refused_in_words(
    client: httpx.AsyncClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await set_up(client, site)
    client.cookies.clear()
    with monkeypatch.context() as patch:
        patch.setattr(KeyFile, "_write", no_space)
        answer = await sign_in(client, PASSWORD, "/memory?who=3")
    assert (answer.status_code, SESSION_COOKIE in answer.cookies) == (500, False)
    assert "剩余空间" in answer.text and 'value="/memory?who=3"' in answer.text
    assert (await sign_in(client, PASSWORD)).status_code == 303, "the password was right, and no try was lost"


async def test_who_signs_out_is_out_though_nothing_can_be_written(
    client: httpx.AsyncClient, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await set_up(client, site)
    cookie, csrf = client.cookies[SESSION_COOKIE], await csrf_of_page(client, "/nowhere")
    with monkeypatch.context() as patch:
        patch.setattr(KeyFile, "_write", no_space)
        answer = await client.post("/logout", data={"csrf": csrf})
    assert (answer.status_code, "剩余空间" in answer.text) == (500, True)
    assert SESSION_COOKIE not in client.cookies and site.doorkeeper.session(cookie) is None
    assert site_for(tmp_path).doorkeeper.session(cookie), "as the page says, the file has it still"
    assert (await sign_in(client, PASSWORD)).status_code == 303
    assert site_for(tmp_path).doorkeeper.session(cookie) is None, "until it is written again"


async def stream_of(site: Site, cookie: str) -> tuple[AsyncIterator[str], "asyncio.Queue[str]"]:
    said: asyncio.Queue[str] = asyncio.Queue()

    async def events() -> AsyncIterator[tuple[str, str]]:
        while True:
            yield "fragment", await said.get()

    headers = [(b"cookie", f"{SESSION_COOKIE}={cookie}".encode())]
    response = site.events(Request({"type": "http", "headers": headers}), events())
    return response.body_iterator, said  # type: ignore[attr-defined]


@pytest.mark.parametrize("how", ["signed out", "expired"])
async def test_a_stream_ends_with_its_session_and_no_other(site: Site, hands: Hands, how: str) -> None:
    doorkeeper = site.doorkeeper
    first = await doorkeeper.set_up(doorkeeper.setup_token, PASSWORD)
    hands.seconds = 1
    second = await doorkeeper.sign_in(PASSWORD)
    assert isinstance(first, str) and isinstance(second, str)
    streams = [await stream_of(site, cookie) for cookie in (first, second)]
    for lines, said in streams:
        said.put_nowait("1")
        assert "data: 1\n" in await anext(lines)
    if how == "expired":
        hands.seconds = 12 * 3_600
    else:
        session = doorkeeper.session(first)
        assert session
        await doorkeeper.sign_out(session)
    for _, said in streams:
        said.put_nowait("2")
    assert await anext(streams[0][0], "the end") == "the end"
    assert "data: 2\n" in await anext(streams[1][0])
    site.close()
    await streams[1][0].aclose()  # type: ignore[attr-defined]


CHAT = "/playground/wechat?account=a&who=小明"


@pytest.mark.parametrize(
    ("form", "onward"),
    [
        ({"here": CHAT, "text": "记住，我&花生"}, f"{CHAT}&typed={quote('记住，我&花生')}"),
        ({"here": "/memory", "text": "1 2"}, "/memory?typed=1+2"),
        ({"here": CHAT}, CHAT),
        ({"here": "//evil.example/", "text": "x"}, "/"),
        ({"text": "x"}, "/"),
    ],
)
async def test_what_was_typed_when_the_session_had_ended_is_there_after_signing_in(
    client: httpx.AsyncClient, site: Site, form: dict[str, str], onward: str
) -> None:
    await set_up(client, site)
    client.cookies.clear()
    page = await client.post("/playground/wechat/say", data=form)
    assert page.status_code == 401
    assert f'name="onward" value="{html.escape(onward)}"' in page.text
    answer = await sign_in(client, PASSWORD, onward)
    assert unquote(answer.headers["location"]) == unquote(onward)


async def test_of_another_sites_form_nothing_is_read(client: httpx.AsyncClient, site: Site) -> None:
    await set_up(client, site)
    client.cookies.clear()
    headers = {"Sec-Fetch-Site": "cross-site"}
    page = await client.post("/playground/wechat/say", data={"here": CHAT, "text": "x"}, headers=headers)
    assert page.status_code == 401 and 'name="onward" value="/"' in page.text


async def test_every_form_of_a_page_says_where_it_stands(client: httpx.AsyncClient, site: Site) -> None:
    await set_up(client, site)
    assert 'name="here" value="/nowhere?a=1"' in (await client.get("/nowhere?a=1&language=zh")).text
