# pyright: basic
"""The QQ official bot, outgoing: pages → the open platform, and what is known of them afterwards.

Invariant: every page is a reply to the message it answers (never an active push) and has a number of its own
(`msg_seq`) that follows from its place alone. QQ refuses a number it has delivered, so a page whose fate is
unknown may be sent once more, and only then.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import anyio
import httpx
from loguru import logger
from nonebot.adapters import Bot as AnyBot
from nonebot.adapters.qq import Bot
from nonebot.adapters.qq.exception import ActionFailed, ApiNotAvailable, AuditException, NetworkError
from nonebot.adapters.qq.utils import escape
from pydantic import ValidationError

from bot.alerts import Alerts, OperatorAlerts
from bot.channels.qq_errors import Verdict, code_of, fix_of, verdict_of
from bot.channels.qq_mapping import GUILD_CHANNEL
from bot.channels.qq_pages import QQPages, halves
from bot.conversation.message import Message, is_playground
from bot.conversation.taps import without_taps
from bot.delivery import GoesOn, SendOutcome, Sent, always

REPLIES = {"c2c": 4, "group": 5, "channel": 5, "direct": 5, "event": 4}
"""How many replies a message takes (bot-docs, 2026-07; the page of 2025 says 5 in a private chat too). They must
come within 5 minutes, in a private chat within 60. That time is the platform's to judge: asking late costs one
refusal, a clock of ours that is wrong would cost every answer."""
REWRITTEN, FIRST_HALF, SECOND_HALF = 100, 200, 300
"""Added to the number of a page that goes out in another form: the platform may have noted the refused number."""
_DEADLINE_SECONDS = 20.0
"""A token and a send, each at most `API_SECONDS`."""
_PAUSE_SECONDS = 1.0
"""Before asking again, where the platform says that it was asked too often."""
_REMEMBERED = 10_000
"""Messages known to take no more replies: each reconnect asks for all that is held."""
_NEVER_LEFT = (httpx.ConnectError, httpx.ConnectTimeout)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the replies to a message go."""

    api: str
    address: Mapping[str, str]
    """The chat, and the `msg_id` or `event_id` that is replied to."""
    replies: int
    is_numbered: bool
    """Whether pages have numbers. Guilds know none."""
    is_idempotent: bool
    """Whether a number is refused once it was delivered: documented for replies to messages."""


def target_of(message: Message) -> Target | None:
    """What `Message.key` and its conversation say; None where nothing can be replied to."""
    kind, _, id_ = message.key.partition(":")
    group, openid = message.conversation.group, message.sender.openid
    if kind == "direct":
        guild, _, id_ = id_.partition(":")
        return _target("post_dms_messages", kind, guild_id=guild, msg_id=id_)
    if kind not in REPLIES or not id_:
        return None
    what = {"event_id" if kind == "event" else "msg_id": id_}
    if group.startswith(GUILD_CHANNEL):
        return _target("post_messages", kind, channel_id=group.removeprefix(GUILD_CHANNEL), **what)
    if group:
        return _target("post_group_messages", kind, group_openid=group, **what)
    return _target("post_c2c_messages", kind, openid=openid, **what) if openid else None


def _target(api: str, kind: str, **address: str) -> Target:
    is_numbered = api in ("post_c2c_messages", "post_group_messages")
    return Target(
        api=api,
        address=address,
        replies=REPLIES[kind],
        is_numbered=is_numbered,
        is_idempotent=is_numbered and kind != "event",
    )


class QQOutbox:
    """An `Outbox` of bot.delivery. It needs only the stored `Message`."""

    replies_passively = False

    def __init__(
        self,
        bots: Callable[[], Mapping[str, AnyBot]],
        pages: QQPages,
        mark_page: Callable[[str, int, int], str],
        *,
        alerts: Alerts | None = None,
        pause: Callable[[float], Awaitable[object]] = anyio.sleep,
    ) -> None:
        """`bots` gives the connected bots by their own id: `nonebot.get_bots`. `mark_page(page, number, total)`
        tells how to get the next page."""
        self._bots = bots
        self._pages = pages
        self._mark_page = mark_page
        self._alerts = alerts or OperatorAlerts()
        self._pause = pause
        self._over: dict[str, None] = {}
        self._told: set[tuple[str, str, int]] = set()
        """App, group and code of what the operator was told and is not over."""

    def is_ready(self, message: Message) -> bool:
        """The bot this message came to is connected, and the message is not known to take no more replies."""
        is_open = message.key not in self._over and target_of(message) is not None
        return is_open and self._bot_for(message) is not None

    async def send(self, message: Message, pages: tuple[str, ...], goes_on: GoesOn = always) -> Sent:
        """Reply page by page, as many as the message takes; the last of those tells of the others.

        It stops at the first page that doesn't arrive for certain. FAILED: that page, and all after it, can
        be sent again without repeating anything.
        """
        target = target_of(message)
        bot = self._bot_for(message)
        if target is None or bot is None or not await self._has_token(bot, message):
            return Sent(outcome=SendOutcome.FAILED, pages=0)
        left = target.replies
        for done, page in enumerate(pages):
            if not left:
                return Sent(outcome=SendOutcome.FAILED, pages=done, tells_of_rest=True)
            if done and not await goes_on(done):
                return Sent(outcome=SendOutcome.SENT, pages=done)  # Forgotten meanwhile: there is no rest.
            is_cut = left == 1 and done + 1 < len(pages)
            text = without_taps(self._mark_page(page, done + 1, len(pages))) if is_cut else page
            send = _Sending(self, bot, message, target, left)
            verdict = await send.page(done + 1, text)
            left = send.left
            if verdict is not Verdict.DELIVERED:
                outcome = SendOutcome.UNKNOWN if verdict is None else SendOutcome.FAILED
                return Sent(outcome=outcome, pages=done)
        return Sent(outcome=SendOutcome.SENT, pages=len(pages))

    def _bot_for(self, message: Message) -> Bot | None:
        bot = self._bots().get(message.conversation.app_id)
        return bot if isinstance(bot, Bot) else None

    async def _has_token(self, bot: Bot, message: Message) -> bool:
        """Asked first: what fails here was certainly not sent."""
        try:
            with anyio.fail_after(_DEADLINE_SECONDS):
                await bot.get_access_token()
        except (NetworkError, httpx.HTTPError, OSError, TimeoutError, ValueError) as error:
            logger.warning("QQ 没有给 access_token：{}", type(error).__name__)
            await self._tell(message, 0, "取不到 access_token，请检查 QQ__APP_ID、QQ__SECRET 和网络")
            return False
        return True

    async def _note(self, message: Message, verdict: Verdict | None, code: int) -> None:
        """Remember what is over; tell the operator of what they have to change, until it works again."""
        place = (message.conversation.app_id, message.conversation.group)
        if verdict is Verdict.DELIVERED:
            for told in [told for told in self._told if told[:2] == place]:
                self._told.discard(told)
                self._alerts.settle(_key(told))
            return
        logger.warning("QQ 没有收下这一页：代码 {}（{}）", code, verdict.value if verdict else "不明")
        if verdict is Verdict.OVER:
            self._over[message.key] = None
            if len(self._over) > _REMEMBERED:
                del self._over[next(iter(self._over))]
        elif verdict is Verdict.FORBIDDEN:
            await self._tell(message, code, fix_of(code))

    async def _tell(self, message: Message, code: int, fix: str) -> None:
        app_id, group = message.conversation.app_id, message.conversation.group
        if is_playground(app_id):
            return  # Somebody plays this trouble.
        told = (app_id, group, code)
        self._told.add(told)
        # A group's openid is shown nowhere in QQ: it would tell nobody which one it is.
        place = "在一个群里" if group else ""
        await self._alerts.tell(_key(told), f"QQ 机器人 {app_id} {place}发不出回复：{fix}（错误码 {code}）")


def _key(told: tuple[str, str, int]) -> str:
    return ":".join(("qq", *map(str, told)))


class _Sending:
    """One page on its way, in whatever form QQ takes it."""

    def __init__(self, outbox: QQOutbox, bot: Bot, message: Message, target: Target, left: int) -> None:
        self._outbox = outbox
        self._bot = bot
        self._message = message
        self._target = target
        self.left = left
        """Replies that the message still takes."""

    async def page(self, number: int, text: str) -> Verdict | None:
        """None: it may have arrived."""
        verdict = await self._part(number, text)
        if verdict is Verdict.LINK:
            rewritten = self._outbox._pages.without_addresses(text)
            if rewritten != text:
                return await self._part(REWRITTEN + number, rewritten)
        if verdict is Verdict.TOO_LONG and self.left > 1 and (parts := halves(text)) is not None:
            for offset, part in zip((FIRST_HALF, SECOND_HALF), parts, strict=True):
                verdict = await self._part(offset + number, part)
                if verdict is not Verdict.DELIVERED:
                    break
        return verdict

    async def _part(self, seq: int, text: str) -> Verdict | None:
        """Send once, and once more where that can repeat nothing."""
        verdict = await self._ask(seq, text)
        if verdict is Verdict.AGAIN:
            await self._outbox._pause(_PAUSE_SECONDS)
            verdict = await self._ask(seq, text)
        elif verdict is None and self._target.is_idempotent:
            # Only "that number was delivered" says anything about the first one.
            verdict = await self._ask(seq, text)
            verdict = verdict if verdict is Verdict.DELIVERED else None
        if verdict is Verdict.DELIVERED:
            self.left -= 1
        return verdict

    async def _ask(self, seq: int, text: str) -> Verdict | None:
        code = 0
        try:
            with anyio.fail_after(_DEADLINE_SECONDS):
                await self._bot.call_api(self._target.api, **self._fields(seq, text))
            verdict = Verdict.DELIVERED
        except (AuditException, ValidationError):
            # In review; or delivered, in an answer with fields the adapter doesn't know.
            verdict = Verdict.DELIVERED
        except ActionFailed as failure:
            code = code_of(failure.body)
            verdict = verdict_of(code, failure.status_code)
        except ApiNotAvailable:
            verdict = Verdict.REFUSED
        except NetworkError as error:
            verdict = Verdict.AGAIN if isinstance(error.__cause__, _NEVER_LEFT) else None
        except (TimeoutError, ValueError):
            verdict = None
        await self._outbox._note(self._message, verdict, code)
        return verdict

    def _fields(self, seq: int, text: str) -> dict[str, object]:
        if self._target.is_numbered:
            return {**self._target.address, "msg_type": 0, "content": text, "msg_seq": seq}
        # Guilds read codes in a text, and take `&lt;` for a sign.
        return {**self._target.address, "content": escape(text)}
