"""What somebody who is not the platform posts to the callback.

Invariant: knows the address, the AppID and what it once saw pass; it never signs with the secret, except in
`body` and `stale`, which show what becomes of bytes that are truly signed.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .clock import Clock
from .deliveries import APP_ID_HEADER, Answer, Callback, Delivery
from .signing import SIGNATURE_HEADER, TIMESTAMP_HEADER, Signer

VALIDATION = 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgery:
    """What came of a forged validation."""

    validation: Answer
    """Of the op 13."""
    event: Answer | None
    """Of the event under the signature that was got so; None when none was got."""


class Hostile:
    """Every method gives the callback's answer, and raises ConnectionError: it broke the connection."""

    def __init__(self, callback: Callback, signer: Signer, app_id: str, clock: Clock) -> None:
        self._callback = callback
        self._signer = signer
        self._app_id = app_id
        self._clock = clock

    async def validation(self, plain_token: Any, event_ts: Any = None, **more: str) -> Answer:
        """An unsigned op 13 with any token. `event_ts` None: now. `more`: headers."""
        told = self._now() if event_ts is None else event_ts
        body = {"op": VALIDATION, "d": {"plain_token": plain_token, "event_ts": told}}
        return await self.post(json.dumps(body, ensure_ascii=False).encode(), more)

    async def forge(self, payload: Mapping[str, Any], *, split_at: int = 0) -> Forgery:
        """The signing oracle: let the bot sign an event as a token, then post the event so signed.

        `split_at`: so many of the timestamp's digits are moved over into the token.
        """
        timestamp, body = self._now(), json.dumps(payload, ensure_ascii=False)
        place = len(timestamp) - split_at
        validation = await self.validation(timestamp[place:] + body, timestamp[:place])
        said = validation.json
        signature = said.get("signature") if isinstance(said, dict) else None
        if not isinstance(signature, str):
            return Forgery(validation=validation, event=None)
        headers = {SIGNATURE_HEADER: signature, TIMESTAMP_HEADER: timestamp}
        return Forgery(validation=validation, event=await self.post(body.encode(), headers))

    async def replay(self, delivery: Delivery) -> Answer:
        """The very request of an earlier delivery, headers and all."""
        return await self.post(delivery.body, delivery.attempts[-1].headers)

    async def stale(self, delivery: Delivery, seconds: float) -> Answer:
        """An event truly signed, but so long ago; or, with a negative number, in the future."""
        timestamp = str(int(self._clock.now() - seconds))
        return await self.post(delivery.body, self._signer.headers(timestamp, delivery.body))

    async def body(self, raw: bytes) -> Answer:
        """Any bytes, truly signed: `null`, `[]`, `"x"`, no JSON …"""
        return await self.post(raw, self._signer.headers(self._now(), raw))

    async def unsigned(self, payload: Mapping[str, Any]) -> Answer:
        return await self.post(_json(payload), {})

    async def signed_with(self, payload: Mapping[str, Any], signature: str, timestamp: str = "") -> Answer:
        """Any signature: not hexadecimal, too short, of another body …"""
        headers = {SIGNATURE_HEADER: signature, TIMESTAMP_HEADER: timestamp or self._now()}
        return await self.post(_json(payload), headers)

    async def wrong_key(self, payload: Mapping[str, Any]) -> Answer:
        """Well-formed, of another secret."""
        raw = _json(payload)
        return await self.post(raw, Signer(secrets.token_hex(16)).headers(self._now(), raw))

    async def tampered(self, delivery: Delivery) -> Answer:
        """An earlier request with one byte of the body changed."""
        body = bytearray(delivery.body)
        place = body.rindex(b"}")
        body[place:place] = b" "
        return await self.post(bytes(body), delivery.attempts[-1].headers)

    async def other_bot(self, payload: Mapping[str, Any], app_id: str | None = None) -> Answer:
        """Truly signed, for an AppID that the callback does not serve; None: for none at all."""
        raw = _json(payload)
        headers = dict(self._signer.headers(self._now(), raw))
        return await self._callback.post(raw, headers | ({APP_ID_HEADER: app_id} if app_id else {}))

    async def post(self, raw: bytes, headers: Mapping[str, str]) -> Answer:
        """Any bytes under any headers, for the right AppID."""
        return await self._callback.post(raw, {APP_ID_HEADER: self._app_id, **headers})

    def _now(self) -> str:
        return str(int(self._clock.now()))


def _json(payload: Mapping[str, Any]) -> bytes:
    return json.dumps(payload, ensure_ascii=False).encode()
