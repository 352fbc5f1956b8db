"""The QQ platform for one official bot: its events out, its API in, and what people saw.

Invariant: what a person or a group saw is in `seen`, in order; nothing else was.

```python
async with QQPlatform("http://127.0.0.1:8080/qq/webhook", app_id, secret) as qq:
    ...  # the bot's qq_api_base is qq.api.base_url, its qq_auth_base qq.api.auth_url
    await qq.say("OPENID", "你好")
    print((await qq.wait_seen("OPENID"))[0].text)
```
"""

import itertools
import json
import secrets
import string
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import httpx

from .account import BotAccount, Rules, Scene
from .api import Api
from .clock import Clock, SystemClock
from .deliveries import APP_ID_HEADER, Callback, Delivery, Retries, deliver
from .events import Fields
from .gateway import DISPATCH, Gateway
from .hostile import VALIDATION, Hostile
from .media import Media
from .places import Places, Sight
from .sending import Sending
from .signing import Signer
from .speaking import Speaking

_LETTERS = string.ascii_letters + string.digits


class QQPlatform(Speaking):
    """Use as an async context manager: the API and the gateway listen while it is open."""

    def __init__(
        self,
        url: str | None,
        app_id: str,
        secret: str,
        *,
        rules: Rules | None = None,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Clock | None = None,
        api_port: int = 0,
        shards: int = 1,
        **account: str,
    ) -> None:
        """`url`: the callback; None: events go out on the gateway alone.

        `transport`: for example `httpx.ASGITransport(app=app)`; None opens a connection for each post.
        `account`: the rest of `BotAccount`. Raises ValueError: an empty secret.
        """
        self.account = BotAccount(app_id=app_id, secret=secret, **account)
        self.signer = Signer(secret)
        self.retries = retries or Retries()
        self.clock = clock or SystemClock()
        self.places = Places()
        self.deliveries: list[Delivery] = []
        """Every event that is over, in the order in which they ended."""
        media = Media()
        self.sending = Sending(self.account, self.places, media, self.clock, rules or Rules())
        self.gateway = Gateway(self.account, self._check_token, shards=shards)
        self.api = Api(
            self.account, self.places, self.sending, media, self.gateway, self.clock, port=api_port
        )
        self._callback = None if url is None else Callback(url, transport)
        self._numbers = itertools.count(1)
        self._message_numbers = itertools.count(1)

    async def __aenter__(self) -> Self:
        await self.api.start()
        await self.gateway.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self.gateway.close()
        await self.api.close()
        if self._callback is not None:
            await self._callback.close()

    @property
    def hostile(self) -> Hostile:
        """Somebody who is not the platform. Raises ValueError: there is no callback to attack."""
        return Hostile(self._open_callback(), self.signer, self.account.app_id, self.clock)

    def seen(self, openid: str) -> tuple[Sight, ...]:
        """All that this person saw of the bot in private, in order: C2C and direct messages."""
        return self.places.seen(openid, is_private=True)

    def seen_in(self, group: str) -> tuple[Sight, ...]:
        """All that was seen in a group or channel, in order."""
        return self.places.seen(group, is_private=False)

    async def wait_seen(
        self, openid: str, count: int = 1, timeout_seconds: float = 10.0
    ) -> tuple[Sight, ...]:
        """Wait until so much was seen in all. Raises TimeoutError."""
        await self.places.wait_until(lambda: len(self.seen(openid)) >= count, timeout_seconds)
        return self.seen(openid)

    async def wait_seen_in(
        self, group: str, count: int = 1, timeout_seconds: float = 10.0
    ) -> tuple[Sight, ...]:
        await self.places.wait_until(lambda: len(self.seen_in(group)) >= count, timeout_seconds)
        return self.seen_in(group)

    async def wait_calls(self, count: int, endpoint: str = "", timeout_seconds: float = 10.0) -> None:
        """Wait until an endpoint, or the API, was called so often in all. Raises TimeoutError."""
        await self.places.wait_until(lambda: len(self.api.codes(endpoint)) >= count, timeout_seconds)

    async def verify(self, plain_token: str = "", *, is_signed: bool = True) -> bool:
        """What happens when the callback's URL is saved: op 13. Is it answered, and rightly signed?

        `is_signed`: also with the headers of an event, as the official SDK expects; the page shows none.
        """
        timestamp = str(int(self.clock.now()))
        plain_token = plain_token or "".join(secrets.choice(_LETTERS) for _ in range(20))
        body = json.dumps({"d": {"plain_token": plain_token, "event_ts": timestamp}, "op": VALIDATION})
        headers = dict(self._headers(body.encode()))
        if not is_signed:
            headers = {APP_ID_HEADER: self.account.app_id}
        answer = await self._open_callback().post(body.encode(), headers)
        said = answer.json
        return (
            answer.status == 200
            and isinstance(said, dict)
            and said.get("plain_token") == plain_token
            and self.signer.is_signed(str(said.get("signature")), timestamp, plain_token.encode())
        )

    async def dispatch(
        self,
        event: str,
        d: Fields,
        *,
        scene: Scene | None = None,
        place: str = "",
        event_id: str = "",
        guild_id: str = "",
    ) -> Delivery:
        """Any event. With `scene` and `place`, it may be answered there as far as its type allows."""
        event_id = event_id or f"{event}:{secrets.token_urlsafe(18)}"
        if scene is not None:
            self.places.open(scene, place)
            now, windows = self.clock.now(), self.sending.windows
            if "content" in d:
                windows.open_message(str(d["id"]), scene, place, now)
            windows.open_event(event_id, event, scene, place, now)
        return await self._deliver(event, event_id, d, guild_id)

    async def again(self, delivery: Delivery, *, is_new_event: bool = False) -> Delivery:
        """The same event once more, freshly signed; `is_new_event`: the same message under another event id."""
        event_id = f"{delivery.event}:{secrets.token_urlsafe(18)}" if is_new_event else delivery.id
        return await self._deliver(
            delivery.event, event_id, delivery.d, str(delivery.d.get("guild_id", "")), delivery
        )

    async def settle_audit(self, audit_id: str, *, is_passed: bool = True) -> Delivery:
        """A message held by `sending.audit_next` is let through, or not: MESSAGE_AUDIT_PASS or …_REJECT."""
        audit, told = self.sending.settle(audit_id, is_passed=is_passed)
        event = "MESSAGE_AUDIT_PASS" if is_passed else "MESSAGE_AUDIT_REJECT"
        return await self.dispatch(event, told, guild_id=audit.guild_id)

    def forget(self, most: int) -> None:
        """Keep only the newest so many deliveries, calls and sights, and windows that may be answered."""
        del self.deliveries[: max(len(self.deliveries) - most, 0)]
        del self.api.calls[: max(len(self.api.calls) - most, 0)]
        self.places.forget(most)
        # A message opens two: its own, and its event's.
        self.sending.windows.forget(2 * most)

    async def _deliver(
        self,
        event: str,
        event_id: str,
        d: Mapping[str, Any],
        guild_id: str,
        repeated: Delivery | None = None,
    ) -> Delivery:
        number = next(self._numbers)
        payload: dict[str, Any] = {"op": DISPATCH, "id": event_id, "d": dict(d), "t": event}
        body = json.dumps(payload | {"s": number}, ensure_ascii=False).encode()
        if repeated is not None and event_id == repeated.id:
            body = repeated.body
        connections = await self.gateway.dispatch(event, payload, guild_id)
        attempts = ()
        if self._callback is not None:
            attempts = await deliver(self._callback, body, self._headers, self.retries, self.clock)
        delivery = Delivery(
            number=number,
            event=event,
            id=event_id,
            d=d,
            body=body,
            attempts=attempts,
            connections=connections,
        )
        self.deliveries.append(delivery)
        return delivery

    def _headers(self, body: bytes) -> dict[str, str]:
        timestamp = str(int(self.clock.now()))
        return {APP_ID_HEADER: self.account.app_id, **self.signer.headers(timestamp, body)}

    def _check_token(self, token: str) -> None:
        self.api.tokens.check(token, self.clock.now())

    def _open_callback(self) -> Callback:
        if self._callback is None:
            raise ValueError("this platform has no callback: it speaks through the gateway")
        return self._callback
