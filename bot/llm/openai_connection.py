"""One POST to an OpenAI-compatible endpoint: within a deadline, tried at most twice, behind a circuit.

Invariant: raises only errors of the house, and their text holds no prompt, answer or key; what was handed on
of a streamed answer is never handed on again.
The `openai` package is imported at first use, in a thread: it takes about a second.
"""

import asyncio
import ipaddress
import json
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from bot.conversation.errors import ModelUnavailable, ModelUnpaid, RejectedInput
from bot.llm.circuit import Circuit
from bot.llm.provider_faults import Fault, ProviderError, as_house_error, judge, read_error
from bot.llm.streamed_answer import StreamedAnswer, Unreadable

if TYPE_CHECKING:
    from httpx2 import Response
    from openai import AsyncOpenAI, OpenAIError

LEAST_PAUSE_SECONDS = 0.2
"""Before the retry; up to as much again is added at random, so that callers don't return together."""
CONNECT_SECONDS = 5.0
"""A host that doesn't accept a connection for this long is down; leave time for the second try."""
NO_KEY = "none"
"""Local servers want no key. An empty one would make `openai` take OPENAI_API_KEY from the environment."""
LINGER_SECONDS = 0.5
"""After a streamed answer's last word: for the count of tokens, and the end that frees the connection for the
next. Some servers never close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How to ask for one thing: as most servers take it, as fewer do, and not at all."""

    name: str
    """Under which a connection remembers the first that its server took."""
    bodies: tuple[dict[str, object], ...]
    refusals: re.Pattern[str]
    """What a server's error says, in lower case, that doesn't take a way."""


_STREAMING = Ways(
    name="stream",
    bodies=({"stream": True, "stream_options": {"include_usage": True}}, {"stream": True}, {}),
    refusals=re.compile(
        r"stream|include_usage|extra (fields|inputs)|unknown (field|param|arg)|unrecogni[sz]ed"
    ),
)

_Once: TypeAlias = "Callable[[AsyncOpenAI], Awaitable[object]]"


class OpenAiConnection:
    """A lazily opened client. Used from one event loop; `close` it in the end."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        timeout_seconds: float,
        circuit: Circuit | None = None,
        random_fraction: Callable[[], float] = random.random,
    ) -> None:
        self._base_url = base_url.strip()
        self._api_key = api_key.strip() or NO_KEY
        self._timeout_seconds = timeout_seconds
        self._circuit = circuit or Circuit()
        self._random_fraction = random_fraction
        self._opening = asyncio.Lock()
        self._client: AsyncOpenAI | None = None
        self._taken: dict[str, int] = {}

    @property
    def host(self) -> str:
        """For messages: the host alone, since an address may carry credentials."""
        return host_of(self._base_url) or "模型地址"

    @property
    def is_resting(self) -> bool:
        """The circuit is open: `post` would refuse at once."""
        return self._circuit.is_open

    async def warm(self) -> None:
        """Import and build the client now, so that no person waits for it."""
        await self._opened()

    async def post(self, path: str, body: Mapping[str, object], ways: Ways | None = None) -> object:
        """The decoded JSON answer; asked for in the first of `ways` that the server takes.

        Raises:
            ModelUnavailable, ModelUnpaid, ModelRefused: see `provider_faults`.
        """

        async def once(client: "AsyncOpenAI") -> object:
            if ways is None:
                return json.loads((await self._send(client, path, body)).content)
            return json.loads((await self._send_in(ways, client, path, body)).content)

        return await self._ask(once, lambda: True)

    async def stream(self, path: str, body: Mapping[str, object], on_text: Callable[[str], None]) -> object:
        """The decoded answer as `post` gives it, its text handed on as it comes.

        A server that answers with one document is taken at its word; its text is not handed on.

        Raises:
            As `post`; ModelUnavailable too when the stream ends before the answer does.
        """
        reader = StreamedAnswer(on_text)

        async def once(client: "AsyncOpenAI") -> object:
            nonlocal reader
            reader = StreamedAnswer(on_text)
            return await _read(await self._send_in(_STREAMING, client, path, body, stream=True), reader)

        return await self._ask(once, lambda: not reader.has_begun)

    async def close(self) -> None:
        """Close idle connections. A later `post` opens a new client."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ask(self, once: _Once, may_repeat: Callable[[], bool]) -> object:
        self._circuit.admit()
        try:
            async with asyncio.timeout(self._timeout_seconds) as deadline:
                answer = await self._at_most_twice(once, may_repeat, deadline)
        except TimeoutError:
            failure = ModelUnavailable(f"{self.host} 在 {self._timeout_seconds:g} 秒内没有回答")
            self._circuit.note_failure(failure)
            raise failure from None
        self._circuit.note_success()
        return answer

    async def _at_most_twice(
        self, once: _Once, may_repeat: Callable[[], bool], deadline: asyncio.Timeout
    ) -> object:
        client = await self._opened()
        from openai import OpenAIError

        tried = False
        while True:
            try:
                return await once(client)
            # `from None`: openai's message quotes the answer's body, and that may quote the prompt.
            except OpenAIError as error:
                said = _as_provider_error(error)
                fault = judge(said)
                failure = as_house_error(fault, said, self.host)
                pause = self._pause_seconds(error)
            except Unreadable:
                fault, failure = Fault.BUSY, ModelUnavailable(f"{self.host} 的回答中途断了")
                pause = self._pause_seconds(None)
            except (ValueError, RecursionError):
                # RecursionError: a body of nothing but brackets.
                failure = ModelUnavailable(f"{self.host} 的回答不是 JSON")
                raise self._noted(Fault.BUSY, failure) from None
            if tried or fault is not Fault.BUSY or not may_repeat() or not _is_time_left(deadline, pause):
                raise self._noted(fault, failure) from None
            tried = True
            await asyncio.sleep(pause)

    async def _send(
        self, client: "AsyncOpenAI", path: str, body: Mapping[str, object], *, stream: bool = False
    ) -> "Response":
        from httpx2 import Response

        return await client.post(path, cast_to=Response, body=dict(body), stream=stream)

    async def _send_in(
        self,
        ways: Ways,
        client: "AsyncOpenAI",
        path: str,
        body: Mapping[str, object],
        *,
        stream: bool = False,
    ) -> "Response":
        """In the first way that the server takes; the next call begins with it."""
        from openai import APIStatusError

        for way in range(self._taken.get(ways.name, 0), len(ways.bodies)):
            try:
                response = await self._send(client, path, {**body, **ways.bodies[way]}, stream=stream)
            except APIStatusError as error:
                if way == len(ways.bodies) - 1 or not _is_refused(ways, _as_provider_error(error)):
                    raise
            else:
                self._taken[ways.name] = way
                return response
        raise AssertionError("the last way returns or raises")

    def _noted(self, fault: Fault, error: ModelUnavailable | RejectedInput) -> Exception:
        """Tell the circuit. A fault of this one request (too long, declined) is none of the model's:
        else one person's messages could close the model for everyone."""
        if isinstance(error, ModelUnavailable) and fault in (Fault.BUSY, Fault.UNPAID):
            self._circuit.note_failure(error)
        else:
            self._circuit.note_success()
        return error

    def _pause_seconds(self, error: "OpenAIError | None") -> float:
        """The provider's Retry-After, or a short pause with jitter."""
        response = getattr(error, "response", None)
        asked = response.headers.get("retry-after", "") if response is not None else ""
        try:
            return max(float(asked), 0.0)
        except ValueError:
            return LEAST_PAUSE_SECONDS * (1 + self._random_fraction())

    async def _opened(self) -> "AsyncOpenAI":
        async with self._opening:
            if self._client is None:
                # Header values are ASCII: a pasted 「你的密钥」 would fail deep inside the client.
                if not (self._api_key.isascii() and self._api_key.isprintable()):
                    raise ModelUnpaid("密钥含有不能使用的字符，请重新复制")
                self._client = await asyncio.to_thread(self._build)
            return self._client

    def _build(self) -> "AsyncOpenAI":
        import httpx2
        import openai

        try:
            http_client = httpx2.AsyncClient(
                timeout=httpx2.Timeout(
                    self._timeout_seconds, connect=min(CONNECT_SECONDS, self._timeout_seconds)
                ),
                # A proxy set for the outside world can't reach a model server on this machine.
                trust_env=not is_loopback(self._base_url),
            )
            return openai.AsyncOpenAI(
                base_url=self._base_url, api_key=self._api_key, max_retries=0, http_client=http_client
            )
        except (ImportError, ValueError, openai.OpenAIError, httpx2.InvalidURL):
            # ImportError: a SOCKS proxy in the environment without the package that speaks it.
            raise ModelUnavailable(f"无法建立到 {self.host} 的连接：请检查地址和代理设置") from None


async def _read(response: "Response", reader: StreamedAnswer) -> object:
    """The whole answer, read to its end. Raises Unreadable, ValueError or RecursionError."""
    from httpx2 import HTTPError

    try:
        # Of no length before the answer is complete: the deadline is the caller's.
        async with asyncio.timeout(None) as lingering:
            async for data in response.aiter_bytes():
                reader.feed(data)
                if reader.is_complete:
                    lingering.reschedule(asyncio.get_running_loop().time() + LINGER_SECONDS)
    except TimeoutError:
        pass
    except HTTPError:
        if not reader.is_complete:
            raise Unreadable from None
    finally:
        await response.aclose()
    return reader.document()


def _is_refused(ways: Ways, error: ProviderError) -> bool:
    """Whether a server refused the request for the way it was asked in."""
    return error.status in (400, 422) and ways.refusals.search(error.words) is not None


def host_of(base_url: str) -> str:
    """The host of an address, "" when there is none."""
    try:
        return urlsplit(base_url).hostname or ""
    except ValueError:
        return ""


def is_loopback(base_url: str) -> bool:
    """Whether the address is this machine."""
    host = host_of(base_url)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _as_provider_error(error: "OpenAIError") -> ProviderError:
    response = getattr(error, "response", None)
    return read_error(response.status_code if response is not None else 0, getattr(error, "body", None))


def _is_time_left(deadline: asyncio.Timeout, pause_seconds: float) -> bool:
    """Whether a retry can begin before the deadline: else fail now rather than keep a person waiting."""
    ends_at = deadline.when()
    return ends_at is None or asyncio.get_running_loop().time() + pause_seconds < ends_at
