"""The other way in: an event by HTTP POST, signed or not (OneBot 11, communication/http-post.md).

Invariant: one request, no retries; the signature is over the very bytes that are sent.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

import httpx


async def post_event(
    url: str,
    event: Mapping[str, Any] | bytes,
    *,
    self_id: int | str | None = 10001,
    secret: str = "",
    transport: httpx.AsyncBaseTransport | None = None,
) -> int:
    """The status that the bot answers with. `secret` "" sends no signature, `self_id` None no X-Self-ID."""
    body = event if isinstance(event, bytes) else json.dumps(event, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json"}
    if self_id is not None:
        headers["X-Self-ID"] = str(self_id)
    if secret:
        headers["X-Signature"] = f"sha1={hmac.new(secret.encode(), body, hashlib.sha1).hexdigest()}"
    async with httpx.AsyncClient(transport=transport, trust_env=False, timeout=10) as client:
        return (await client.post(url, content=body, headers=headers)).status_code
