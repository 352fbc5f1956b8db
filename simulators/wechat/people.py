"""The people before the official account, and all that each of them saw, in order, by whatever way.

Invariant: a sight is appended once and never changed; what is not in `seen` nobody saw.
"""

import asyncio
import hashlib
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import parse_qs, urlsplit

from .clock import Clock
from .posts import Post
from .replies import Article
from .windows import Window

FAULT = "该公众号提供的服务出现故障，请稍后再试"
TYPING_SECONDS = 15.0
"""How long one 「对方正在输入」 is shown. Source: 客服输入状态."""

_LINK = re.compile(r'<a\s+href="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)


def openid_of(name: str) -> str:
    """A stable openid for a made-up name, in WeChat's shape."""
    return f"o{hashlib.sha256(name.encode()).hexdigest()[:27]}"


class Way(StrEnum):
    PASSIVE = "passive"
    CUSTOMER_SERVICE = "customer_service"
    FAULT = "fault"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tap:
    """Words that can be tapped, in a text or in a msgmenu."""

    label: str
    content: str
    """What then arrives as if it were typed."""
    menu_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One thing that a person saw."""

    at: float
    """Unix seconds."""
    way: Way
    kind: str
    """text, image, news …"""
    text: str
    """As delivered, markup included."""
    media_id: str = ""
    articles: tuple[Article, ...] = ()
    menu: tuple[Tap, ...] = ()
    """The lines of a msgmenu."""
    answers: int | None = None
    """The number of the delivery whose passive reply, or fault notice, this is."""

    @property
    def shown(self) -> str:
        """As the phone shows it: a link is its words."""
        return html.unescape(_LINK.sub(r"\2", self.text)) if _LINK.search(self.text) else self.text

    @property
    def taps(self) -> tuple[Tap, ...]:
        return (*self.menu, *_taps_in(self.text))


def _taps_in(text: str) -> Iterator[Tap]:
    for href, label in _LINK.findall(text):
        target = urlsplit(html.unescape(href))
        if (target.scheme, target.netloc) == ("weixin", "bizmsgmenu"):
            query = parse_qs(target.query)
            content, menu_id = query.get("msgmenucontent", [""])[0], query.get("msgmenuid", [""])[0]
            yield Tap(label=html.unescape(label), content=content, menu_id=menu_id)


@dataclass(slots=True, kw_only=True)
class Person:
    openid: str
    unionid: str
    is_following: bool = True
    followed_at: float = 0.0
    scene: str = ""
    """Of the QR code by which they came."""
    interacted_at: float | None = None
    """When either side last said something."""
    typing_until: float = 0.0
    typings: list[float] = field(default_factory=list[float])
    """When 「对方正在输入」 came up."""
    transfers: list[str] = field(default_factory=list[str])
    """Hand-overs to human customer service: the accounts named, "" for whoever is free."""
    window: Window = field(default_factory=Window)
    sights: list[Sight] = field(default_factory=list[Sight])


class People:
    """Whoever speaks is known from then on, as a follower."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._people: dict[str, Person] = {}
        self._changed = asyncio.Event()
        self.on_sight: Callable[[str, Sight], None] = lambda openid, sight: None
        """Told of each, as it is seen."""

    def __getitem__(self, openid: str) -> Person:
        """Known, or a follower from now on."""
        if openid not in self._people:
            unionid = f"u{hashlib.sha256(openid.encode()).hexdigest()[:27]}"
            self._people[openid] = Person(openid=openid, unionid=unionid, followed_at=self._clock.now())
        return self._people[openid]

    def __iter__(self) -> Iterator[Person]:
        return iter(self._people.values())

    def find(self, openid: str) -> Person | None:
        return self._people.get(openid)

    def arrive(self, post: Post) -> None:
        """The person did something: it opens windows, and following begins or ends with it."""
        person, now = self[post.openid], self._clock.now()
        if post.grant is not None:
            person.window.grant(post.grant, now)
            person.interacted_at = now
        if post.event == "subscribe":
            person.is_following, person.followed_at = True, now
            person.scene = str(dict(post.fields).get("EventKey", "")).removeprefix("qrscene_")
        elif post.event == "unsubscribe":
            person.is_following = False
            person.window.close()

    def hand_over(self, openid: str, kf_account: str) -> None:
        self[openid].transfers.append(kf_account)

    def show(self, openid: str, sight: Sight) -> None:
        person = self[openid]
        person.sights.append(sight)
        person.typing_until = 0.0
        self.on_sight(openid, sight)
        self._changed.set()
        self._changed = asyncio.Event()

    def forget(self, most: int) -> None:
        """Keep the newest `most` that each saw."""
        for person in self:
            del person.sights[:-most], person.typings[:-most], person.transfers[:-most]

    async def wait_until(self, is_so: Callable[[], bool], seconds: float) -> bool:
        """Looked at again whenever anybody sees something. False: not within `seconds`."""
        until = self._clock.now() + seconds
        while not is_so():
            left = until - self._clock.now()
            if left <= 0:
                return False
            change = asyncio.ensure_future(self._changed.wait())
            deadline = asyncio.ensure_future(self._clock.sleep(left))
            try:
                await asyncio.wait({change, deadline}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                change.cancel()
                deadline.cancel()
        return True
