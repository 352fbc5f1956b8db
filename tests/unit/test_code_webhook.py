"""What the operator's service is posted, and how its answer is read."""

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from loguru import logger

from bot.channels.code_webhook import SIGNATURE, TIMESTAMP, CodeWebhook
from identity.model import Sending
from tests.command_fakes import NOW, Clock

URL, SECRET = "https://sms.example.com/jide?key=urlsecret", "s3cret-密钥"
PHONE, CODE = "+8613800138000", "048151"

Handler = Callable[[httpx.Request], httpx.Response]


@pytest.fixture
def log() -> Iterator[list[str]]:
    written: list[str] = []
    sink = logger.add(written.append, level="TRACE", format="{message}")
    yield written
    logger.remove(sink)


def webhook(handler: Handler, **more: float) -> CodeWebhook:
    transport = httpx.MockTransport(handler)
    return CodeWebhook(url=URL, secret=SECRET, clock=Clock(), transport=transport, **more)


async def test_one_signed_post() -> None:
    asked: list[httpx.Request] = []

    def take(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(204)

    assert await webhook(take).send(PHONE, CODE, 5) is Sending.SENT
    (request,) = asked
    assert (request.method, str(request.url)) == ("POST", URL)
    assert request.headers["content-type"] == "application/json"
    assert json.loads(request.content) == {"phone": PHONE, "code": CODE, "minutes": 5}
    expected = "sha256=" + hmac.new(SECRET.encode(), request.content, hashlib.sha256).hexdigest()
    assert request.headers[SIGNATURE] == expected
    assert int(request.headers[TIMESTAMP]) == int(NOW.timestamp())


async def test_the_operators_page_checks_the_signature_as_it_is_made() -> None:
    asked: list[httpx.Request] = []

    def take(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200)

    await webhook(take).send(PHONE, CODE, 5)
    page = (Path(__file__).parents[2] / "docs/operators/phones.md").read_text("utf-8")
    shown = re.search(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert shown
    names: dict[str, Any] = {}
    exec(shown[1], names)
    is_from_jide, body, signature = names["is_from_jide"], asked[0].content, asked[0].headers[SIGNATURE]
    assert is_from_jide(body, signature, SECRET)
    assert not is_from_jide(body + b" ", signature, SECRET)
    assert not is_from_jide(body, signature, SECRET + "x")
    assert not is_from_jide(body, "", SECRET)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_any_2xx_is_sent(status: int) -> None:
    assert await webhook(lambda _: httpx.Response(status)).send(PHONE, CODE, 5) is Sending.SENT


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 429, 500, 502, 503])
async def test_anything_else_is_not_and_no_redirect_is_followed(status: int, log: list[str]) -> None:
    asked: list[httpx.Request] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(status, headers={"Location": "https://evil.example/"}, text=f"{PHONE} {CODE}")

    assert await webhook(refuse).send(PHONE, CODE, 5) is Sending.REFUSED
    assert len(asked) == 1
    assert f"HTTP {status}" in "".join(log)


@pytest.mark.parametrize(
    ("error", "sending"),
    [
        (httpx.ConnectError(f"{URL} {PHONE}"), Sending.REFUSED),
        (httpx.ConnectTimeout(URL), Sending.REFUSED),
        (httpx.ReadTimeout(URL), Sending.UNKNOWN),
        (httpx.RemoteProtocolError(URL), Sending.UNKNOWN),
        (OSError(URL), Sending.UNKNOWN),
        (ValueError(URL), Sending.UNKNOWN),
    ],
)
async def test_trouble_on_the_way_says_whether_it_may_have_arrived(
    error: Exception, sending: Sending, log: list[str]
) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise error

    assert await webhook(fail).send(PHONE, CODE, 5) is sending
    written = "".join(log)
    assert type(error).__name__ in written
    for secret in (PHONE[3:], CODE, SECRET, "urlsecret"):
        assert secret not in written


async def test_it_ends_by_its_deadline() -> None:
    class Hanging(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            await asyncio.Event().wait()
            raise AssertionError

    hook = CodeWebhook(url=URL, secret=SECRET, clock=Clock(), transport=Hanging(), seconds=0.01)
    assert await hook.send(PHONE, CODE, 5) is Sending.UNKNOWN


async def test_an_answer_without_end_is_not_read() -> None:
    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self):
            while True:
                yield b"x" * 65_536

    assert await webhook(lambda _: httpx.Response(200, stream=Endless())).send(PHONE, CODE, 5) is Sending.SENT
