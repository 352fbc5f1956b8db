"""One POST to an OpenAI-compatible endpoint: within a deadline, tried at most twice, behind a circuit.

Invariant: raises only errors of the house, and their text holds no prompt, answer or key.
The `openai` package is imported at first use, in a thread: it takes about a second.
"""

import asyncio
import ipaddress
import json
import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.conversation.errors import ModelUnavailable, ModelUnpaid, RejectedInput
from bot.llm.circuit import Circuit
from bot.llm.provider_faults import Fault, ProviderError, as_house_error, judge, read_error

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAIError

LEAST_PAUSE_SECONDS = 0.2
"""Before the retry; up to as much again is added at random, so that callers don't return together."""
CONNECT_SECONDS = 5.0
"""A host that doesn't accept a connection for this long is down; leave time for the second try."""
NO_KEY = "none"
"""Local servers want no key. An empty one would make `openai` take OPENAI_API_KEY from the environment."""


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

    async def post(self, path: str, body: Mapping[str, object]) -> object:
        """The decoded JSON answer.

        Raises:
            ModelUnavailable, ModelUnpaid, ModelRefused: see `provider_faults`.
        """
        self._circuit.admit()
        try:
            async with asyncio.timeout(self._timeout_seconds) as deadline:
                answer = await self._post_at_most_twice(path, body, deadline)
        except TimeoutError:
            failure = ModelUnavailable(f"{self.host} 在 {self._timeout_seconds:g} 秒内没有回答")
            self._circuit.note_failure(failure)
            raise failure from None
        self._circuit.note_success()
        return answer

    async def close(self) -> None:
        """Close idle connections. A later `post` opens a new client."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _post_at_most_twice(
        self, path: str, body: Mapping[str, object], deadline: asyncio.Timeout
    ) -> object:
        client = await self._opened()
        from httpx2 import Response
        from openai import OpenAIError

        tried = False
        while True:
            try:
                response = await client.post(path, cast_to=Response, body=dict(body))
                return json.loads(response.content)
            # `from None`: openai's message quotes the answer's body, and that may quote the prompt.
            except OpenAIError as error:
                said = _as_provider_error(error)
                fault = judge(said)
                pause = self._pause_seconds(error)
                if tried or fault is not Fault.BUSY or not _is_time_left(deadline, pause):
                    raise self._noted(fault, as_house_error(fault, said, self.host)) from None
            except (ValueError, RecursionError):
                # RecursionError: a body of nothing but brackets.
                failure = ModelUnavailable(f"{self.host} 的回答不是 JSON")
                raise self._noted(Fault.BUSY, failure) from None
            tried = True
            await asyncio.sleep(pause)

    def _noted(self, fault: Fault, error: ModelUnavailable | RejectedInput) -> Exception:
        """Tell the circuit. A fault of this one request (too long, declined) is none of the model's:
        else one person's messages could close the model for everyone."""
        if isinstance(error, ModelUnavailable) and fault in (Fault.BUSY, Fault.UNPAID):
            self._circuit.note_failure(error)
        else:
            self._circuit.note_success()
        return error

    def _pause_seconds(self, error: "OpenAIError") -> float:
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
