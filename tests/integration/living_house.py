"""A whole house over a temporary folder, with people who write to it: no platform, no network, no key."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.container import Channels, House
from bot.conversation.message import AccountKey, Conversation, Kind, Message
from bot.conversation.taps import SHOWN_END, SHOWN_START
from bot.conversation.turn import Turn
from bot.delivery import GoesOn, SendOutcome, Sent
from bot.ports import Delivery
from bot.settings import Settings
from bot.settings_groups import EmbeddingSettings, LlmSettings, RedisSettings
from bot.settings_memory import MemorySettings
from identity.model import Account
from simulators.openai import OpenAiServer
from tests.story_fakes import HandClock

WECHAT, QQ = "wechat", "onebot"
APP_IDS = {WECHAT: "wxshop0000000001", QQ: "10001"}
GROUP = "30001"
PAGE_BREAK = "|"
"""Where a reply is cut in these tests; how channels really cut has tests of its own."""
HANG_SECONDS = 60.0
"""A hang guard, never a measure."""


def pages_of(text: str) -> tuple[str, ...]:
    return tuple(text.replace(SHOWN_START, "").replace(SHOWN_END, "").split(PAGE_BREAK))


@dataclass
class Outbox:
    """A QQ client that takes everything while it is connected."""

    is_connected: bool = True
    replies_passively: bool = False
    sent: list[tuple[Message, str]] = field(default_factory=list)

    def is_ready(self, message: Message) -> bool:
        return self.is_connected

    async def send(self, message: Message, pages: tuple[str, ...], goes_on: GoesOn) -> Sent:
        self.sent += [(message, page) for page in pages]
        return Sent(outcome=SendOutcome.SENT, pages=len(pages))

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.sent]


class LivingHouse:
    """A house and the people around it."""

    def __init__(self, settings: Settings, model: OpenAiServer) -> None:
        self.model = model
        self.clock = HandClock()
        self.outbox = Outbox()
        self.house = House(
            settings,
            Channels(outboxes={QQ: self.outbox}, paginate={WECHAT: pages_of, QQ: pages_of}),
            self.clock,
        )
        self._count = 0

    def message(
        self,
        text: str,
        *,
        by: str = "li",
        channel: str = QQ,
        group: str = "",
        kind: Kind = Kind.TEXT,
        is_addressed: bool = True,
        quoted: str = "",
        key: str = "",
    ) -> Message:
        self._count += 1
        app_id = APP_IDS[channel]
        return Message(
            key=key or f"m{self._count}",
            kind=kind,
            sender=AccountKey(channel=channel, app_id=app_id, openid=by),
            conversation=Conversation(channel=channel, app_id=app_id, group=group),
            text=text,
            sent_at=self.clock.now(),
            is_addressed=is_addressed,
            quoted=quoted,
        )

    async def hear(self, message: Message) -> str:
        """What its sender gets to see at once: everything on QQ, the first page on WeChat."""
        async with asyncio.timeout(HANG_SECONDS):
            delivery = await self.house.turnstile.pass_through(message)
        if message.sender.channel == QQ:
            return "\n".join(text for to, text in self.outbox.sent if to.key == message.key)
        return await self._passive_reply(message, delivery)

    async def _passive_reply(self, message: Message, delivery: Delivery) -> str:
        """As the WeChat adapter does: the first page goes into the response, which is sealed."""
        page = delivery.pages[0] if delivery.pages else ""
        sealed = await self.house.wechat_replies.seal(
            message.sender.app_id, message.key, page.encode(), carries_answer=bool(page)
        )
        return sealed.decode()

    async def say(self, text: str, **more: Any) -> str:
        return await self.hear(self.message(text, **more))

    async def greet(self, *names: str, channel: str = QQ) -> None:
        """Make people known, so that their first answer carries no notice."""
        for name in names:
            key = AccountKey(channel=channel, app_id=APP_IDS[channel], openid=name)
            account = await self.house.stores.accounts.create_account(key, "")
            await self.house.stores.accounts.mark_greeted(account.id)

    async def account(self, name: str = "li", channel: str = QQ) -> Account:
        key = AccountKey(channel=channel, app_id=APP_IDS[channel], openid=name)
        account = await self.house.stores.accounts.find_account(key)
        assert account is not None
        return account

    async def recent(self, name: str = "li", place: str = "", channel: str = QQ) -> tuple[Turn, ...]:
        return (await self.house.window.recent((await self.account(name, channel)).scope(place))).turns

    async def facts(self, name: str = "li", place: str = "", channel: str = QQ) -> list[str]:
        scope = (await self.account(name, channel)).scope(place)
        return [fact.text for fact in (await self.house.stores.facts.fact_sheet(scope)).facts]

    def count(self, table: str) -> int:
        return len(self.rows(table))

    def rows(self, table: str) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(self.house.stores.database.path)
        try:
            return connection.execute(f"SELECT * FROM {table}").fetchall()
        finally:
            connection.close()

    def tables_with(self, text: str) -> set[str]:
        """Tables in which some row holds a text."""
        connection = sqlite3.connect(self.house.stores.database.path)
        try:
            names = [
                name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]
        finally:
            connection.close()
        return {name for name in names if any(text in str(row) for row in self.rows(name))}

    @asynccontextmanager
    async def thinking(self) -> AsyncGenerator[asyncio.Event]:
        """The chat model does not answer before the block ends. The event: it was asked."""
        chat = self.house.models.chat
        assert chat is not None
        asked, may_answer, complete = asyncio.Event(), asyncio.Event(), chat.complete

        async def slowly(lines: Any, on_text: Any = None, schema: Any = None) -> str:
            asked.set()
            await may_answer.wait()
            return await complete(lines, on_text, schema)

        chat.complete = slowly
        try:
            yield asked
        finally:
            may_answer.set()
            chat.complete = complete


OpenHouse = Callable[..., Coroutine[Any, Any, LivingHouse]]


@asynccontextmanager
async def neighbourhood(folder: Path) -> AsyncGenerator[OpenHouse]:
    """`await open_house(faq=…, has_model=False, consent="off", superusers=(…), redis_url=…)`."""
    opened: list[LivingHouse] = []
    async with OpenAiServer() as model:

        async def open_house(
            *,
            has_model: bool = True,
            faq: str = "",
            consent: str = "on",
            memory: Mapping[str, object] | None = None,
            superusers: tuple[str, ...] = (),
            ai_label: bool = False,
            timeout_seconds: float = 30.0,
            redis_url: str = "",
            keep_after_leaving_days: int = 7,
        ) -> LivingHouse:
            data = folder / f"数据 {len(opened)}"
            data.mkdir(exist_ok=True)
            (data / "faq.yaml").write_text(faq, "utf-8")
            llm = LlmSettings(base_url=model.base_url, model="scripted", timeout_seconds=timeout_seconds)
            settings = Settings(
                jide_data_dir=data,
                superusers=superusers,
                ai_label=ai_label,
                llm=llm if has_model else LlmSettings(),
                embedding=EmbeddingSettings(base_url=model.base_url, model="hashed", deadline_seconds=10),
                memory=MemorySettings.model_validate(
                    {
                        "consent": consent,
                        "keep_after_leaving_days": keep_after_leaving_days,
                        **(memory or {}),
                    }
                ),
                redis=RedisSettings(url=redis_url),
            )
            living = LivingHouse(settings, model)
            opened.append(living)
            await living.house.open()
            # Importing the client takes a second, which no deadline of a test should pay for.
            await living.house.models.warm()
            model.reset()
            return living

        try:
            yield open_house
        finally:
            for living in opened:
                await living.house.close()
