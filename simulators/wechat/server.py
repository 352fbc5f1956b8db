"""Posts as WeChat posts, waits as WeChat waits, and notes what each person saw, by whatever way.

Invariant: five seconds an attempt, three attempts with one MsgId; anything but a timely, well-formed
answer becomes what a person sees then: 「该公众号提供的服务出现故障，请稍后再试」.

```python
async with WeChatServer("http://127.0.0.1:8080/wechat", token, app_id, app_secret=secret) as wechat:
    ...  # the bot's API base is wechat.api.base_url
    seen = await wechat.say("oAlice", "你好")
    print(seen.text, seen.attempts, wechat.seen("oAlice"))
```
"""

import itertools
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

from . import envelope
from .account import Account, AccountType, Mode
from .api import PICTURES, Api
from .clock import Clock, SystemClock
from .deliveries import Attempt, Courier, Outcome, Schedule
from .media import Media
from .mini_program import MiniProgram
from .outgoing import Callback, Transport
from .people import People, Sight
from .posts import Post, Value, post_in, xml_of
from .records import Delivery, Seen, Verdict, seen_of, sight_of
from .replies import BadReply, Reply, read_reply
from .speaking import Speaking
from .watching import Nobody, Watch

_NO_PICTURE = "https://mmbiz.qpic.cn/simulated"


class WeChatServer(Speaking):
    """WeChat's server for one official account. Use as an async context manager."""

    def __init__(
        self,
        url: str,
        token: str,
        app_id: str,
        aes_key: str | None = None,
        *,
        app_secret: str = "",
        account_type: AccountType = AccountType.VERIFIED_SERVICE,
        mode: Mode | None = None,
        is_bound: bool = False,
        ip_whitelist: tuple[str, ...] | None = None,
        original_id: str = "gh_simulated",
        timeout_seconds: float = 5.0,
        schedule: Schedule | None = None,
        transport: Transport | None = None,
        now: Callable[[], float] = time.time,
        clock: Clock | None = None,
        api_port: int = 0,
        mini_app_id: str = "wxmini0000000001",
        mini_app_secret: str = "",
    ) -> None:
        """`aes_key`: the 43 characters. `mode`: plain without a key, safe with one, unless said otherwise.

        `app_secret`: with one, the API listens on `api_port` (0: a free one) while the context is open.
        `timeout_seconds`: short for a schedule that drops and retries after that long; `schedule` wins.
        `transport`: for example `httpx.ASGITransport(app=app)`; None opens a connection for each post.
        `clock` wins over `now`, which only tells the time of day. `mini_app_secret`: with one, the API is also that
        of a mini-program, bound as the account is.
        """
        self._check_mode(aes_key or "", mode)
        self.account = Account(
            app_id=app_id,
            token=token,
            mode=mode or (Mode.SAFE if aes_key else Mode.PLAIN),
            aes_key=aes_key or "",
            app_secret=app_secret,
            original_id=original_id,
            type=account_type,
            is_bound=is_bound,
            ip_whitelist=ip_whitelist,
        )
        self.schedule = schedule or Schedule(
            drop_seconds=timeout_seconds, retry_refused_seconds=timeout_seconds
        )
        self.clock = clock or SystemClock(now)
        self.people = People(self.clock)
        self.media = Media(self.clock)
        self.mini_program = MiniProgram(
            app_id=mini_app_id,
            app_secret=mini_app_secret,
            people=self.people,
            clock=self.clock,
            is_bound=is_bound,
        )
        self.api = Api(
            self.account,
            self.people,
            self.media,
            self.clock,
            mini_program=self.mini_program if mini_app_secret else None,
            port=api_port,
        )
        self._is_api_open = False
        self._callback = Callback(url, transport)
        self._deliveries: dict[int, Delivery] = {}
        self._numbers = itertools.count(1)
        self._message_ids = itertools.count(secrets.randbelow(10**15) + 10**15)

    async def __aenter__(self) -> Self:
        if self.account.app_secret:
            await self.api.start()
            self._is_api_open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self.api.close()
        await self._callback.close()

    @property
    def deliveries(self) -> tuple[Delivery, ...]:
        """Every message that is over, in the order in which they were sent."""
        return tuple(self._deliveries[number] for number in sorted(self._deliveries))

    def forget(self, most: int) -> None:
        """Keep the newest `most` of everything that is noted: for a server that stays open."""
        for number in sorted(self._deliveries)[:-most]:
            del self._deliveries[number]
        del self.api.calls[:-most]
        self.media.forget(most)
        self.people.forget(most)

    def seen(self, openid: str) -> tuple[Sight, ...]:
        """All that this person saw, in order, by whatever way."""
        person = self.people.find(openid)
        return tuple(person.sights) if person else ()

    async def verify(self, echostr: str | None = None) -> bool:
        """What happens when the operator saves the settings: is `echostr` answered word for word?

        With a Content-Length, not in chunks, not by a redirect.
        """
        echostr = echostr or str(secrets.randbelow(10**18))
        answer = await self._callback.get({**self.signed_query(), "echostr": echostr})
        return answer.status == 200 and answer.has_length and answer.body == echostr.encode()

    def use_key(self, aes_key: str) -> None:
        """The operator changed the EncodingAESKey: from now on WeChat encrypts with this one."""
        self._check_mode(aes_key, self.account.mode)
        self.account = replace(self.account, aes_key=aes_key)

    async def send(self, post: Post, *, schedule: Schedule | None = None, watch: Watch | None = None) -> Seen:
        """Any post of `posts`. `watch` looks on."""
        created_at = int(self.clock.now())
        xml = xml_of(post, original_id=self.account.original_id, created_at=created_at)
        return seen_of(await self._deliver(post, xml, post.openid, schedule, watch=watch))

    async def raw(self, xml: str, openid: str = "", *, schedule: Schedule | None = None) -> Seen:
        """Any XML, signed and encrypted as usual. `openid`: who must get the answer; "" asks no one."""
        post = post_in(xml, openid) if openid else None
        return seen_of(await self._deliver(post, xml, openid, schedule))

    async def again(self, delivery: Delivery, *, schedule: Schedule | None = None) -> Seen:
        """Deliver the same bytes once more, late. Nobody sees what is answered: that was decided."""
        once = schedule or replace(self.schedule, attempts=1)
        repeated = await self._deliver(delivery.post, delivery.xml, delivery.openid, once, delivery.number)
        return seen_of(repeated)

    def read(self, body: bytes, openid: str = "") -> Reply | None:
        """A response's body as WeChat reads it. Raises BadReply: a person would see a fault."""
        return read_reply(body, self.account, openid)

    def _read(self, body: bytes, openid: str) -> str:
        reply = self.read(body, openid)
        return reply.text if reply else ""

    def xml(self, openid: str, kind: str, fields: dict[str, Value], msg_id: int | None = None) -> str:
        """A post's XML as WeChat writes it: a `]]>` inside is not escaped."""
        post = Post(openid=openid, kind=kind, fields=tuple(fields.items()), msg_id=msg_id)
        return xml_of(post, original_id=self.account.original_id, created_at=int(self.clock.now()))

    def signed_query(self) -> dict[str, str]:
        """Query parameters signed now, with a fresh nonce."""
        timestamp, nonce = str(int(self.clock.now())), str(secrets.randbelow(10**9))
        signed = envelope.signature(self.account.token, timestamp, nonce)
        return {"signature": signed, "timestamp": timestamp, "nonce": nonce}

    def post(self, xml: str) -> tuple[dict[str, str], bytes]:
        """Query and body of one delivery of `xml`, in this account's mode."""
        query, account = self.signed_query(), self.account
        if account.mode is Mode.PLAIN:
            return query, xml.encode()
        encrypted = envelope.encrypt(xml, aes_key=account.aes_key, app_id=account.app_id)
        query["encrypt_type"] = "aes"
        query["msg_signature"] = envelope.signature(
            account.token, query["timestamp"], query["nonce"], encrypted
        )
        sealed = f"<Encrypt><![CDATA[{encrypted}]]></Encrypt>"
        if account.mode is Mode.COMPATIBLE:
            return query, (xml.removesuffix("</xml>") + sealed + "</xml>").encode()
        return query, (
            f"<xml><ToUserName><![CDATA[{account.original_id}]]></ToUserName>{sealed}</xml>".encode()
        )

    def picture_url(self, media_id: str) -> str:
        return f"{self.api.base_url}{PICTURES}{media_id}" if self._is_api_open else _NO_PICTURE

    def numbered(self, post: Post, msg_id: int | None = None) -> Post:
        return replace(post, msg_id=next(self._message_ids) if msg_id is None else msg_id)

    async def _deliver(
        self,
        post: Post | None,
        xml: str,
        openid: str,
        schedule: Schedule | None,
        repeats: int | None = None,
        watch: Watch | None = None,
    ) -> Delivery:
        watch = watch or Nobody()
        number, started_at = next(self._numbers), self.clock.now()
        if post is not None and repeats is None:
            self.people.arrive(post)

        async def send() -> tuple[int, bytes]:
            query, body = self.post(xml)
            return await self._callback.post({**query, **({"openid": openid} if openid else {})}, body)

        def judge(attempt: Attempt) -> Verdict:
            return self._judge(attempt.body, post, openid)

        sights: list[Sight] = []

        def show(verdict: Verdict | None, at: float) -> None:
            if not openid or repeats is not None:
                return
            sight = sight_of(verdict, post, number, at)
            watch.decided(sight, verdict, at)
            if sight is not None:
                self.people.show(openid, sight)
                sights.append(sight)
            elif verdict is not None and verdict.reply is not None and not verdict.reply.is_shown:
                self.people.hand_over(openid, verdict.reply.kf_account)

        courier = Courier(
            schedule or self.schedule, self.clock, send, judge, on_start=watch.begun, on_end=watch.ended
        )
        outcome: Outcome[Verdict] = await courier.deliver(show)
        delivery = self._deliveries[number] = Delivery(
            number=number,
            openid=openid,
            post=post,
            xml=xml,
            started_at=started_at,
            decided_at=outcome.decided_at,
            ended_at=self.clock.now(),
            attempts=outcome.attempts,
            verdict=outcome.verdict,
            sight=sights[0] if sights else None,
            repeats=repeats,
        )
        return delivery

    def _judge(self, body: bytes, post: Post | None, openid: str) -> Verdict:
        is_event = post is None or post.kind == "event"
        try:
            reply = read_reply(body, self.account, openid, is_event=is_event)
        except BadReply as bad:
            return Verdict(problem=str(bad))
        if reply is not None and reply.media_id and not self.media.has(reply.media_id):
            return Verdict(problem="nothing is stored under its MediaId")
        return Verdict(reply=reply)

    @staticmethod
    def _check_mode(aes_key: str, mode: Mode | None) -> None:
        if aes_key and not envelope.is_aes_key(aes_key):
            raise ValueError("an EncodingAESKey has 43 letters and digits")
        if mode in (Mode.COMPATIBLE, Mode.SAFE) and not aes_key:
            raise ValueError(f"{mode} mode needs an EncodingAESKey")
