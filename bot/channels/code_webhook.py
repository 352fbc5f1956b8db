"""One-time codes to phones, by the operator's webhook.

Invariant: the request is signed, goes where the operator said and nowhere else, and is made once; of the number, the
code and the address nothing is logged.

What is posted: `{"phone": "+8613800138000", "code": "123456", "minutes": 5}`, with `X-Jide-Timestamp` (Unix seconds)
and `X-Jide-Signature`: `sha256=` and the HMAC-SHA256 of the body under the shared secret, in hexadecimal. Any 2xx is
taken for sent.
"""

import asyncio
import hmac
import json

import httpx
from loguru import logger

from bot.conversation.ports import Clock
from identity.model import Sending

SECONDS = 5.0
"""For the whole exchange: a person waits for it."""
CONNECT_SECONDS = 2.0
"""Less than the whole: what did not connect is known not to have left."""
SIGNATURE, TIMESTAMP = "X-Jide-Signature", "X-Jide-Timestamp"

_NEVER_LEFT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)


class CodeWebhook:
    """`identity.ports.CodeSender` over HTTP."""

    def __init__(
        self,
        *,
        url: str,
        secret: str,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._url = url
        self._secret = secret.encode()
        self._clock = clock
        self._transport = transport
        self._seconds = seconds

    async def send(self, phone: str, code: str, minutes: int) -> Sending:
        body = json.dumps({"phone": phone, "code": code, "minutes": minutes}).encode()
        headers = {
            "Content-Type": "application/json",
            SIGNATURE: f"sha256={hmac.new(self._secret, body, 'sha256').hexdigest()}",
            TIMESTAMP: str(int(self._clock.now().timestamp())),
        }
        try:
            async with asyncio.timeout(self._seconds):
                status = await self._post(body, headers)
        except _NEVER_LEFT as error:
            return _failed(Sending.REFUSED, type(error).__name__)
        except (httpx.HTTPError, TimeoutError, OSError, ValueError) as error:
            # It was on its way: who receives it may have sent the code all the same.
            return _failed(Sending.UNKNOWN, type(error).__name__)
        if not 200 <= status < 300:
            return _failed(Sending.REFUSED, f"HTTP {status}")
        return Sending.SENT

    async def _post(self, body: bytes, headers: dict[str, str]) -> int:
        """The status. What else is answered is not read: it may have no end."""
        # Reading the certificates takes tens of milliseconds. A client kept would seldom find its connection open.
        client = await asyncio.to_thread(self._client)
        async with client, client.stream("POST", self._url, content=body, headers=headers) as response:
            return response.status_code

    def _client(self) -> httpx.AsyncClient:
        timeout = httpx.Timeout(self._seconds, connect=min(CONNECT_SECONDS, self._seconds))
        return httpx.AsyncClient(
            transport=self._transport, trust_env=False, follow_redirects=False, timeout=timeout
        )


def _failed(sending: Sending, reason: str) -> Sending:
    logger.warning("验证码没有发出：您的短信接口（IDENTITY__OTP_WEBHOOK）{}", reason)
    return sending
