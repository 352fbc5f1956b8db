"""What people do before an official account: one method for each thing.

Invariant: a method makes one post and hands it on; it decides nothing.
"""

from abc import ABC, abstractmethod

from . import posts
from .account import Account
from .deliveries import Schedule
from .media import PICTURE, Media
from .people import People
from .posts import Post
from .records import Seen


class Speaking(ABC):
    """Everything returns what came of it. `schedule` overrides the server's for this once."""

    account: Account
    people: People
    media: Media

    @abstractmethod
    async def send(self, post: Post, *, schedule: Schedule | None = None) -> Seen: ...

    @abstractmethod
    def picture_url(self, media_id: str) -> str: ...

    async def say(
        self,
        openid: str,
        text: str,
        msg_id: int | None = None,
        *,
        menu_id: str = "",
        schedule: Schedule | None = None,
    ) -> Seen:
        """A text message. `menu_id`: of the msgmenu line that was tapped instead of typing."""
        return await self._message(posts.text(openid, text, menu_id), msg_id, schedule)

    async def tap(self, openid: str, label: str, *, schedule: Schedule | None = None) -> Seen:
        """Tap words in something seen, the newest first. Raises LookupError: there are no such words."""
        for sight in reversed(self.people[openid].sights):
            for tap in sight.taps:
                if tap.label == label:
                    return await self.say(openid, tap.content, menu_id=tap.menu_id, schedule=schedule)
        raise LookupError(f"{openid} sees no {label!r} to tap")

    async def unsupported(self, openid: str, *, schedule: Schedule | None = None) -> Seen:
        """A sticker, say: the placeholder arrives as text."""
        return await self._message(posts.unsupported(openid), None, schedule)

    async def voice(
        self,
        openid: str,
        recognition: str = "",
        msg_id: int | None = None,
        *,
        schedule: Schedule | None = None,
    ) -> Seen:
        """A voice message; `recognition` is what WeChat heard."""
        medium = self.media.add("voice", b"#!AMR\nsimulated")
        return await self._message(posts.voice(openid, medium.id, recognition), msg_id, schedule)

    async def image(
        self,
        openid: str,
        msg_id: int | None = None,
        *,
        content: bytes = PICTURE,
        schedule: Schedule | None = None,
    ) -> Seen:
        """A picture, which `media/get` and PicUrl give back."""
        medium = self.media.add("image", content)
        post = posts.image(openid, medium.id, self.picture_url(medium.id))
        return await self._message(post, msg_id, schedule)

    async def video(self, openid: str, *, is_short: bool = False, schedule: Schedule | None = None) -> Seen:
        medium, thumb = self.media.add("video", b"simulated"), self.media.add("thumb", PICTURE)
        post = posts.video(openid, medium.id, thumb.id, is_short=is_short)
        return await self._message(post, None, schedule)

    async def location(
        self,
        openid: str,
        latitude: float = 23.13,
        longitude: float = 113.27,
        label: str = posts.PLACE,
        *,
        schedule: Schedule | None = None,
    ) -> Seen:
        """A place, sent on purpose."""
        return await self._message(posts.location(openid, latitude, longitude, label), None, schedule)

    async def link(
        self,
        openid: str,
        title: str,
        description: str = "",
        url: str = "https://example.com/",
        *,
        schedule: Schedule | None = None,
    ) -> Seen:
        return await self._message(posts.link(openid, title, description, url), None, schedule)

    async def follow(
        self,
        openid: str,
        scene: str = "",
        *,
        trade_no: str = "",
        schedule: Schedule | None = None,
    ) -> Seen:
        """Following the account, by a QR code with `scene`, after paying (`trade_no`) or otherwise."""
        post = posts.subscribe(openid, scene=scene, trade_no=trade_no)
        return await self.send(post, schedule=schedule)

    async def unfollow(self, openid: str, *, schedule: Schedule | None = None) -> Seen:
        return await self.send(posts.unsubscribe(openid), schedule=schedule)

    async def scan(self, openid: str, scene: str, *, schedule: Schedule | None = None) -> Seen:
        """A follower scans a QR code with `scene`."""
        return await self.send(posts.scan(openid, scene), schedule=schedule)

    async def report_location(
        self,
        openid: str,
        latitude: float = 23.13,
        longitude: float = 113.27,
        *,
        schedule: Schedule | None = None,
    ) -> Seen:
        """The phone tells where it is, every five seconds while the conversation is open."""
        return await self.send(posts.report_location(openid, latitude, longitude), schedule=schedule)

    async def click(self, openid: str, key: str, *, schedule: Schedule | None = None) -> Seen:
        """A tapped menu entry."""
        return await self.send(posts.click(openid, key), schedule=schedule)

    async def view(self, openid: str, url: str, *, schedule: Schedule | None = None) -> Seen:
        """A tapped menu entry that opens a page."""
        return await self.send(posts.view(openid, url), schedule=schedule)

    async def template_sent(
        self,
        openid: str,
        msg_id: int = 1,
        status: str = "success",
        *,
        schedule: Schedule | None = None,
    ) -> Seen:
        """What became of a template message."""
        return await self.send(posts.template_sent(openid, msg_id, status), schedule=schedule)

    async def authorization(self, openid: str, event: str, *, schedule: Schedule | None = None) -> Seen:
        """user_authorization_revoke, user_info_modified or user_authorization_cancellation."""
        post = posts.authorization(openid, event, self.account.app_id)
        return await self.send(post, schedule=schedule)

    async def _message(self, post: Post, msg_id: int | None, schedule: Schedule | None) -> Seen:
        return await self.send(self.numbered(post, msg_id), schedule=schedule)

    @abstractmethod
    def numbered(self, post: Post, msg_id: int | None = None) -> Post:
        """With this MsgId, or the next one."""
