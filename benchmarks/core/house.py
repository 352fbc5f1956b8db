"""The house and a bare echo matcher behind the same adapter, in a process of their own: events a second.

    python -m benchmarks.core.house stub|real FOLDER        prints one line of JSON

Invariant: real are ASGI, NoneBot, the WeChat adapter, inbox, Assistant, SQLite and the worker, whose last job is done
before the next round begins. NoneBot keeps one driver a process, hence the process; `events` starts it.
"""

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import bot.container.house as container
from benchmarks.asgi import App, post
from benchmarks.core.stubs import StubChat, StubEmbedder
from bot.conversation.ports import ChatModel
from bot.metering import WatchedEmbedder
from bot.metrics import Metrics
from bot.settings import Settings
from bot.settings_groups import OneBotSettings, WeChatSettings
from simulators.wechat import WeChatServer

TOKEN = "benchmark"
AT_ONCE = 50
PEOPLE = 200
ROUNDS = 5
OURS_A_ROUND = 400
BARE_A_ROUND = 1_000
REAL_AT_ONCE = 16
"""One embedding takes 14 to 30 ms of the one core: with more at once every question would miss its deadline."""
POLL_SECONDS = 0.02
"""Asking whether the jobs are done costs as much as a read of the house's."""
SAYINGS = (
    "我住在滨江区江南大道{0}号，周末常去爬山",
    "我周六约了{0}号技师修空调，下午三点",
    "我上次说我住在哪里？周末推荐我去哪玩",
    "帮我看看{0}号订单现在到哪一步了",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """Of each round: events a second of the clock, and a second of CPU time."""

    by_clock: list[float] = field(default_factory=list[float])
    by_cpu: list[float] = field(default_factory=list[float])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    ours: Rounds
    """Until the last reply is out."""
    kept: Rounds
    """Until the last job is done too."""
    bare: Rounds
    degraded_share: float
    """Of our answers: those that recalled by keyword alone."""
    events: int


class Models(container.Models):
    """The house's, with a chat model that answers at once, and, where asked for, an embedder that does."""

    stubs_embedder = True

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        super().__init__(settings, metrics)
        self.chat: ChatModel | None = StubChat()
        if self.stubs_embedder:
            self.embedder = WatchedEmbedder(StubEmbedder())


def stay_on_one_core() -> bool:
    """False where the system has no way to do so: then it is this process on all of them."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return True


def build_house(folder: Path) -> container.House:
    container.Models = Models
    from bot.__main__ import build

    build(
        Settings(
            jide_data_dir=folder,
            log_level="INFO",
            wechat=WeChatSettings(app_id="wxours", token=TOKEN, path="/wechat"),
            onebot=OneBotSettings(),
        )
    )
    import nonebot

    return nonebot.get_app().state.house


@asynccontextmanager
async def bare_echo() -> AsyncGenerator[tuple[App, Any]]:
    """NoneBot with the same adapter and one matcher that says what it heard. Gives its app and matchers."""
    from nonebot.adapters import Bot, Event
    from nonebot.config import Config, Env
    from nonebot.drivers.fastapi import Driver
    from nonebot.internal.matcher import matchers
    from nonebot.internal.matcher.provider import DEFAULT_PROVIDER_CLASS
    from nonebot.plugin.on import on

    from bot.channels.wechat import Adapter, OfficialAccount

    async def echo(bot: Bot, event: Event) -> None:
        await bot.send(event, event.get_plaintext())

    kept, matchers.provider = matchers.provider, DEFAULT_PROVIDER_CLASS({})
    on(type="message", priority=1, block=True, handlers=[echo])
    bare, matchers.provider = matchers.provider, kept
    driver = Driver(Env(environment="benchmark"), Config())
    Adapter(driver, accounts=[OfficialAccount(app_id="wxbare", token=TOKEN)])
    async with driver.server_app.router.lifespan_context(driver.server_app):
        yield driver.asgi, bare


@dataclass(frozen=True, slots=True)
class Post:
    query: bytes
    body: bytes


def posts(server: WeChatServer, numbers: Sequence[int]) -> list[Post]:
    """What WeChat would post, made before the clock starts."""
    made: list[Post] = []
    for number in numbers:
        text = SAYINGS[(number // PEOPLE) % len(SAYINGS)].format(number)
        query, body = server.post(
            server.xml(f"o{number % PEOPLE}", "text", {"Content": text}, 10**9 + number)
        )
        made.append(Post(urlencode(query).encode(), body))
    return made


async def deliver(app: App, wanted: Post) -> None:
    """Posts until there is a reply, as WeChat does: `success` says that it isn't ready yet."""
    while (body := await post(app, "/wechat", wanted.query, wanted.body)) == b"success":
        pass
    if not body.startswith(b"<xml>"):
        raise RuntimeError(f"no reply but {body!r}")


async def play(app: App, wanted: Sequence[Post], at_once: int) -> None:
    waiting = iter(wanted)

    async def keep_posting() -> None:
        for each in waiting:
            await deliver(app, each)

    await asyncio.gather(*(keep_posting() for _ in range(at_once)))


class Timer:
    def __init__(self, count: int) -> None:
        self._count = count
        self._clock, self._cpu = time.perf_counter(), time.process_time()

    def note(self, rounds: Rounds) -> None:
        rounds.by_clock.append(self._count / (time.perf_counter() - self._clock))
        rounds.by_cpu.append(self._count / (time.process_time() - self._cpu))


async def run(house: container.House, at_once: int) -> Outcome:
    import nonebot
    from nonebot.internal.matcher import matchers

    app, numbers = nonebot.get_app(), itertools.count()
    url = "http://bot.test/wechat"
    ours, kept, bare = Rounds(), Rounds(), Rounds()
    async with (
        WeChatServer(url, TOKEN, "wxours") as wechat,
        WeChatServer(url, TOKEN, "wxbare") as wechat_bare,
        app.router.lifespan_context(app),
        bare_echo() as (bare_app, bare_matchers),
    ):
        house_matchers = matchers.provider

        async def until_kept() -> None:
            while await house.stores.jobs.backlog():
                await asyncio.sleep(POLL_SECONDS)

        # Everybody is greeted once.
        await play(app, posts(wechat, [next(numbers) for _ in range(PEOPLE)]), at_once)
        await until_kept()
        degraded = house.metrics.degraded_recalls._value.get()
        for _ in range(ROUNDS):
            wanted = posts(wechat, [next(numbers) for _ in range(OURS_A_ROUND)])
            timer = Timer(len(wanted))
            await play(app, wanted, at_once)
            timer.note(ours)
            await until_kept()
            timer.note(kept)
            wanted = posts(wechat_bare, [next(numbers) for _ in range(BARE_A_ROUND)])
            matchers.provider = bare_matchers
            timer = Timer(len(wanted))
            await play(bare_app, wanted, at_once)
            timer.note(bare)
            matchers.provider = house_matchers
        degraded = house.metrics.degraded_recalls._value.get() - degraded
    events = ROUNDS * OURS_A_ROUND
    return Outcome(ours=ours, kept=kept, bare=bare, degraded_share=degraded / events, events=events)


def main() -> None:
    kind, folder = sys.argv[1:]
    Models.stubs_embedder = kind == "stub"
    stay_on_one_core()
    house = build_house(Path(folder))
    outcome = asyncio.run(run(house, AT_ONCE if kind == "stub" else REAL_AT_ONCE))
    sys.stdout.write(f"{json.dumps(asdict(outcome))}\n")


if __name__ == "__main__":
    main()
