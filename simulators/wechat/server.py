"""Posts as WeChat posts, waits as WeChat waits, and notes what the person would have seen.

Invariant: five seconds a delivery, three deliveries with one MsgId; anything but a timely, well-formed
answer becomes what a person sees then: 「该公众号提供的服务出现故障，请稍后再试」.

```python
async with WeChatServer("http://127.0.0.1:8080/wechat", token, app_id) as wechat:
    seen = await wechat.say("oAlice", "你好")
    print(seen.text, seen.attempts)
```
"""

import asyncio
import itertools
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from xml.etree import ElementTree

import httpx

from . import envelope

FAULT = "该公众号提供的服务出现故障，请稍后再试"
_ATTEMPTS = 3
_LONGEST_REPLY_BYTES = 2047


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of one message."""

    text: str
    """What the person read; "" when nothing was shown."""
    attempts: int
    """Deliveries made."""
    bodies: tuple[bytes, ...] = ()
    """The raw response of each delivery that got one."""
    statuses: tuple[int, ...] = ()

    @property
    def is_fault(self) -> bool:
        return self.text == FAULT


class _BadReplyError(Exception):
    """The answer is nothing WeChat would show."""


@dataclass(kw_only=True)
class _Delivered:
    bodies: list[bytes] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)


class WeChatServer:
    """WeChat's server for one official account. Use as an async context manager."""

    def __init__(
        self,
        url: str,
        token: str,
        app_id: str,
        aes_key: str | None = None,
        *,
        original_id: str = "gh_simulated",
        timeout_seconds: float = 5.0,
        transport: httpx.AsyncBaseTransport | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`aes_key`: the 43 characters; None or "" posts in plain mode. `transport`: e.g. ASGITransport."""
        self._url = url
        self._token = token
        self._app_id = app_id
        self._aes_key = aes_key or ""
        self._original_id = original_id
        self._timeout_seconds = timeout_seconds
        self._now = now
        # Each delivery has its deadline. No proxies from the environment: the bot is next door.
        self._client = httpx.AsyncClient(transport=transport, timeout=timeout_seconds, trust_env=False)
        self._message_ids = itertools.count(secrets.randbelow(10**15) + 10**15)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._client.aclose()

    async def verify(self, echostr: str | None = None) -> bool:
        """What happens when the operator saves the settings: is `echostr` answered word for word?"""
        echostr = echostr or str(secrets.randbelow(10**18))
        response = await self._client.get(self._url, params={**self.signed_query(), "echostr": echostr})
        return response.status_code == 200 and response.text == echostr

    async def say(self, openid: str, text: str, msg_id: int | None = None) -> Seen:
        """A text message."""
        return await self._send(openid, "text", {"Content": text}, msg_id)

    async def voice(self, openid: str, recognition: str = "", msg_id: int | None = None) -> Seen:
        """A voice message; `recognition` is what WeChat heard."""
        fields = {"MediaId": "media", "Format": "amr", "Recognition": recognition}
        return await self._send(openid, "voice", fields, msg_id)

    async def image(self, openid: str, msg_id: int | None = None) -> Seen:
        fields = {"PicUrl": "https://mmbiz.qpic.cn/simulated", "MediaId": "media"}
        return await self._send(openid, "image", fields, msg_id)

    async def follow(self, openid: str, scene: str = "") -> Seen:
        """Following the account, by a QR code with `scene` or otherwise."""
        return await self._happen(openid, "subscribe", f"qrscene_{scene}" if scene else "")

    async def unfollow(self, openid: str) -> Seen:
        return await self._happen(openid, "unsubscribe", "")

    async def click(self, openid: str, key: str) -> Seen:
        """A tapped menu entry."""
        return await self._happen(openid, "CLICK", key)

    async def raw(self, xml: str, openid: str = "") -> Seen:
        """Any XML, signed and encrypted as usual. `openid`: who must get the answer; "" asks no one."""
        delivered = _Delivered()
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                body = await self._deliver(xml, delivered)
            except (TimeoutError, httpx.HTTPError):
                continue
            try:
                text = self._read(body, openid)
            except (_BadReplyError, ValueError, ElementTree.ParseError):
                text = FAULT
            return self._seen(text, attempt, delivered)
        return self._seen(FAULT, _ATTEMPTS, delivered)

    def xml(self, openid: str, kind: str, fields: dict[str, str], msg_id: int | None = None) -> str:
        """A post's XML as WeChat writes it: CDATA, and a `]]>` inside is not escaped."""
        marked = "".join(f"<{name}><![CDATA[{value}]]></{name}>" for name, value in fields.items())
        numbered = "" if msg_id is None else f"<MsgId>{msg_id}</MsgId>"
        return (
            f"<xml><ToUserName><![CDATA[{self._original_id}]]></ToUserName>"
            f"<FromUserName><![CDATA[{openid}]]></FromUserName><CreateTime>{int(self._now())}</CreateTime>"
            f"<MsgType><![CDATA[{kind}]]></MsgType>{marked}{numbered}</xml>"
        )

    def signed_query(self) -> dict[str, str]:
        """Query parameters signed now, with a fresh nonce."""
        timestamp, nonce = str(int(self._now())), str(secrets.randbelow(10**9))
        signed = envelope.signature(self._token, timestamp, nonce)
        return {"signature": signed, "timestamp": timestamp, "nonce": nonce}

    def post(self, xml: str) -> tuple[dict[str, str], bytes]:
        """Query and body of one delivery of `xml`, in this account's mode."""
        query = self.signed_query()
        if not self._aes_key:
            return query, xml.encode()
        encrypted = envelope.encrypt(xml, aes_key=self._aes_key, app_id=self._app_id)
        query["encrypt_type"] = "aes"
        query["msg_signature"] = envelope.signature(
            self._token, query["timestamp"], query["nonce"], encrypted
        )
        outer = (
            f"<xml><ToUserName><![CDATA[{self._original_id}]]></ToUserName>"
            f"<Encrypt><![CDATA[{encrypted}]]></Encrypt></xml>"
        )
        return query, outer.encode()

    async def _send(self, openid: str, kind: str, fields: dict[str, str], msg_id: int | None) -> Seen:
        number = next(self._message_ids) if msg_id is None else msg_id
        return await self.raw(self.xml(openid, kind, fields, number), openid)

    async def _happen(self, openid: str, event: str, key: str) -> Seen:
        return await self.raw(self.xml(openid, "event", {"Event": event, "EventKey": key}), openid)

    async def _deliver(self, xml: str, delivered: _Delivered) -> bytes:
        """The body of a 200. Raises TimeoutError or httpx.HTTPError."""
        query, body = self.post(xml)
        async with asyncio.timeout(self._timeout_seconds):
            response = await self._client.post(
                self._url, params=query, content=body, headers={"Content-Type": "text/xml"}
            )
        delivered.statuses.append(response.status_code)
        delivered.bodies.append(response.content)
        if response.status_code != 200:
            raise httpx.HTTPStatusError("not 200", request=response.request, response=response)
        return response.content

    def _read(self, body: bytes, openid: str) -> str:
        """The text shown. Raises _BadReplyError, ValueError or ParseError."""
        if body in (b"", b"success"):
            return ""
        root = ElementTree.fromstring(body)  # noqa: S314 - the answer of the bot under test
        if self._aes_key:
            root = ElementTree.fromstring(self._open(root))  # noqa: S314
        content = root.findtext("Content") or ""
        int(root.findtext("CreateTime") or "")
        ends = (root.findtext("FromUserName"), root.findtext("ToUserName"))
        is_ours = not openid or ends == (self._original_id, openid)
        is_text = root.findtext("MsgType") == "text" and 0 < len(content.encode()) <= _LONGEST_REPLY_BYTES
        if not (is_ours and is_text):
            raise _BadReplyError
        return content

    def _open(self, root: ElementTree.Element) -> str:
        encrypted = root.findtext("Encrypt") or ""
        timestamp, nonce = root.findtext("TimeStamp") or "", root.findtext("Nonce") or ""
        claimed = root.findtext("MsgSignature") or ""
        if not envelope.is_signature(claimed, self._token, timestamp, nonce, encrypted):
            raise _BadReplyError
        return envelope.decrypt(encrypted, aes_key=self._aes_key, app_id=self._app_id)

    @staticmethod
    def _seen(text: str, attempts: int, delivered: _Delivered) -> Seen:
        bodies, statuses = tuple(delivered.bodies), tuple(delivered.statuses)
        return Seen(text=text, attempts=attempts, bodies=bodies, statuses=statuses)
