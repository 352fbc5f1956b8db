"""Bots of a few lines, to try the simulated QQ platform on: ASGI applications that acknowledge, or not."""

import asyncio
import json
from typing import Any

from simulators.qq.signing import Signer

SECRET = "naOC0ocQE3shWLAfffVLB1rhYPG7"


class Bot:
    """An application that keeps what it is sent. `statuses` are answered in order, then 200."""

    def __init__(
        self, *statuses: int, secret: str = SECRET, body: bytes = b"", is_guarded: bool = True
    ) -> None:
        self.payloads: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.hang_first = 0
        """The first so many requests get no answer."""
        self._statuses = list(statuses)
        self._signer = Signer(secret)
        self._body = body
        self._is_guarded = is_guarded

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = b""
        while True:
            message = await receive()
            raw += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
        status, body = await self._answer(raw, headers)
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, raw: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        try:
            payload = json.loads(raw)
        except ValueError:
            return 400, b""
        if isinstance(payload, dict) and payload.get("op") == 13:
            told = payload["d"]
            if self._is_guarded and not str(told["plain_token"]).isalnum():
                return 403, b""
            signature = self._signer.sign(str(told["event_ts"]), told["plain_token"].encode())
            return 200, json.dumps({"plain_token": told["plain_token"], "signature": signature}).encode()
        signed = headers.get("x-signature-ed25519", ""), headers.get("x-signature-timestamp", "")
        if not self._signer.is_signed(*signed, raw):
            return 403, b""
        self.payloads.append(payload)
        self.headers.append(headers)
        if len(self.payloads) <= self.hang_first:
            await asyncio.Event().wait()
        return (self._statuses.pop(0) if self._statuses else 200), self._body
