"""One official account of the playground on its stage: its followers act, WeChat's server delivers, the bot answers.

Invariant: an act returns at once, and its deliveries go on by themselves; of what is over, the newest `MOST`
messages are kept, in this process alone.
"""

from collections import deque

import httpx
from loguru import logger

from bot.playground.acting import MOST, MOST_PEOPLE, CannotPlay, UnderWay, checked_name, checked_words
from bot.playground.changes import Changes
from bot.playground.playing import Knobs
from bot.playground.wechat_accounts import PlayedAccount
from bot.playground.wechat_record import Record, message_key
from bot.playground.wechat_state import Act, Follower, Played, PlayedMessage
from simulators.wechat import Post, Sight, Way, WeChatServer, openid_of, posts
from simulators.wechat.clock import Clock

MOST_MEDIA = 20
LARGEST_PICTURE_BYTES = 2 * 1024 * 1024
"""As much as WeChat takes."""
LONGEST_TEXT_BYTES = 2048
"""What a phone takes (微信: 600 characters)."""
PICTURES = "https://mmbiz.qpic.cn/picture/"
"""WeChat's own host, which the bot insists on; its API client asks this stage for them and nobody else."""
FIRST_FOLLOWERS = ("小明", "小红")


class WeChatStage:
    """One account."""

    def __init__(
        self,
        account: PlayedAccount,
        base_url: str,
        knobs: Knobs,
        *,
        clock: Clock | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`base_url`: of the loopback port. `clock` and `transport` of tests."""
        self.account = account
        self.knobs = knobs
        self.changes = Changes()
        self.server = WeChatServer(
            f"{base_url}{account.door}",
            account.token,
            account.app_id,
            account.aes_key,
            app_secret=account.app_secret,
            account_type=account.type,
            clock=clock,
            transport=transport,
        )
        self.server.people.on_sight = self._see
        self._names: dict[str, str] = {}
        self._records: deque[Record] = deque(maxlen=MOST)
        self._count = 0
        self._under_way = UnderWay()
        for name in FIRST_FOLLOWERS:
            self._know(name)

    async def close(self) -> None:
        """Give up what is under way."""
        await self._under_way.close()
        await self.server.close()

    def state(self) -> Played:
        return Played(
            app_id=self.account.app_id,
            type=self.account.type,
            is_safe=self.account.is_safe,
            followers=tuple(map(self._follower, self._names)),
            now=self.server.clock.now(),
            changes=self.changes.count,
        )

    def messages(self, name: str) -> tuple[PlayedMessage, ...]:
        """Of one follower, the oldest first."""
        return tuple(record.shown() for record in self._records if record.follower == name)

    def openid(self, name: str) -> str:
        """Raises CannotPlay: nobody of that name follows or followed."""
        if name not in self._names:
            raise CannotPlay("unknown_follower")
        return self._names[name]

    def name_of(self, openid: str) -> str:
        """ "" for who isn't known here."""
        return next((name for name, known in self._names.items() if known == openid), "")

    def say(self, name: str, text: str) -> None:
        """Each of the acts: raises CannotPlay."""
        openid, text = self._present(name), checked_words(text, LONGEST_TEXT_BYTES)
        self._play(name, Act.TEXT, text, self.server.numbered(posts.text(openid, text)))

    def tap(self, name: str, label: str) -> None:
        """Words in something seen, the newest first."""
        openid = self._present(name)
        for sight in reversed(self.server.seen(openid)):
            for tap in sight.taps:
                if tap.label == label:
                    post = posts.text(openid, tap.content, tap.menu_id)
                    return self._play(name, Act.TAP, tap.content, self.server.numbered(post))
        raise CannotPlay("nothing_to_tap")

    def voice(self, name: str, heard: str) -> None:
        """`heard`: what WeChat recognised; "" where it heard no words."""
        openid = self._present(name)
        heard = checked_words(heard, LONGEST_TEXT_BYTES) if heard.strip() else ""
        medium = self.server.media.add("voice", b"#!AMR\nsimulated")
        self._play(name, Act.VOICE, heard, self.server.numbered(posts.voice(openid, medium.id, heard)))

    def picture(self, name: str, content: bytes) -> None:
        """`content`: PNG, JPEG or GIF."""
        openid = self._present(name)
        if len(content) > LARGEST_PICTURE_BYTES:
            raise CannotPlay("picture_too_large")
        medium = self.server.media.add("image", content)
        if not medium.content_type.startswith("image/"):
            raise CannotPlay("no_picture")
        post = posts.image(openid, medium.id, f"{PICTURES}{medium.id}")
        self._play(name, Act.PICTURE, "", self.server.numbered(post))

    def click(self, name: str, key: str) -> None:
        """A menu entry that sends `key`."""
        if not self.account.type.is_verified:
            raise CannotPlay("no_menu")
        openid, key = self._present(name), checked_words(key, LONGEST_TEXT_BYTES)
        self._play(name, Act.CLICK, key, posts.click(openid, key))

    def follow(self, name: str) -> str:
        """Somebody new, or somebody who is back. The name, as it is kept."""
        name = checked_name(name)
        if name in self._names and self._is_following(name):
            raise CannotPlay("follows_already")
        if name not in self._names and len(self._names) >= MOST_PEOPLE:
            raise CannotPlay("too_many_followers")
        self._under_way.check_room()
        self._play(name, Act.FOLLOW, "", posts.subscribe(self._know(name)))
        return name

    def unfollow(self, name: str) -> None:
        openid = self._present(name)
        self._play(name, Act.UNFOLLOW, "", posts.unsubscribe(openid))

    def _know(self, name: str) -> str:
        """By the same rule as `jide simulate`, so that who was somebody before a restart is so again."""
        openid = self._names.setdefault(name, openid_of(name))
        self.server.people[openid]
        return openid

    def _present(self, name: str) -> str:
        openid = self.openid(name)
        if not self._is_following(name):
            raise CannotPlay("not_following")
        self._under_way.check_room()
        return openid

    def _is_following(self, name: str) -> bool:
        return self.server.people[self._names[name]].is_following

    def _follower(self, name: str) -> Follower:
        person, now = self.server.people[self._names[name]], self.server.clock.now()
        return Follower(
            name=name,
            openid=person.openid,
            is_following=person.is_following,
            is_typed_to=now < person.typing_until,
            service_left=person.window.left(now) if self.account.type.is_verified else 0,
            is_busy=any(each.follower == name and not each.is_over for each in self._records),
        )

    def _play(self, name: str, act: Act, text: str, post: Post) -> None:
        self._count += 1
        if key := message_key(post.openid, post.msg_id):
            self.knobs.hold(key)
        record = Record(
            self.changes,
            number=self._count,
            follower=name,
            act=act,
            text=text,
            key=key,
            at=self.server.clock.now(),
        )
        self._records.append(record)
        self._under_way.start(self._deliver(record, post))
        self.changes.note()

    async def _deliver(self, record: Record, post: Post) -> None:
        delivery = None
        try:
            delivery = (await self.server.send(post, watch=record)).delivery
        except OSError as error:
            logger.warning("试用场的一条消息没有送出：{}", type(error).__name__)
        finally:
            record.close(post.openid, delivery)
            self.server.forget(MOST)
            self.server.media.forget(MOST_MEDIA)

    def _see(self, openid: str, sight: Sight) -> None:
        """A passive reply comes with its message; of the others WeChat does not say what they answer."""
        if sight.way is not Way.CUSTOMER_SERVICE:
            return
        theirs = [record for record in self._records if self._names.get(record.follower) == openid]
        owed = [record for record in theirs if record.is_owed]
        if theirs:
            (owed[0] if owed else theirs[-1]).show(sight)
