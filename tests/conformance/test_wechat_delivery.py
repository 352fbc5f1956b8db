"""Five seconds, three deliveries, one answer: what WeChat gets when, and how often handlers run."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from bot.channels.wechat import (
    AccountError,
    Bot,
    Deadlines,
    Event,
    MemoryReplyStore,
    MessageSegment,
    OfficialAccount,
)
from bot.channels.wechat.adapter import UNFINISHED_MARK, WAITING_LINE
from bot.channels.wechat.links import TAP_END, TAP_START
from bot.channels.wechat.service import MemoryCustomerService
from simulators.wechat import FAULT, WeChatServer
from tests.conformance.wechat_app import (
    ACCOUNT,
    APP_ID,
    SAFE_ACCOUNT,
    TOKEN,
    Gate,
    WeChatApp,
    wechat_app,
)

AT_ONCE = Deadlines(typing_seconds=0.0, ready_seconds=0.0, hold_seconds=0.0, drain_seconds=0.0)
"""No delivery waits: each answers what there is."""
PATIENT = Deadlines(ready_seconds=60.0, answer_seconds=60.0, hold_seconds=60.0, retry_seconds=60.0)
QUICK = Deadlines(
    typing_seconds=0.2,
    ready_seconds=0.9,
    answer_seconds=0.95,
    hold_seconds=1.2,
    retry_seconds=2.0,
)
"""Five times as fast, for a WeChat that drops after a second."""
HANG_SECONDS = 30.0
BOTH = pytest.mark.parametrize("account", [ACCOUNT, SAFE_ACCOUNT], ids=["plain", "aes"])


@pytest.fixture(autouse=True)
def little_time_to_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handlers that never end are many here."""
    monkeypatch.setattr("bot.channels.wechat.run._CANCEL_SECONDS", 0.01)


def read(wechat: WeChatServer, response: httpx.Response) -> str:
    assert response.status_code == 200
    reply = wechat.read(response.content, "oA")
    return reply.text if reply else ""


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(HANG_SECONDS):
        while not condition():
            await asyncio.sleep(0)


async def until_joined(app: WeChatApp, deliveries: int) -> None:
    """Until that many deliveries came to the runs in flight."""
    runs = app.adapter._runs._in_flight
    await until(lambda: sum(run.state.attempts for run in runs.values()) >= deliveries)


async def until_handled(app: WeChatApp) -> None:
    """Until no handler is at work."""
    await until(lambda: all(run.task.done() for run in app.adapter._runs._in_flight.values()))


def question(wechat: WeChatServer, msg_id: int = 1) -> str:
    return wechat.xml("oA", "text", {"Content": "很难的问题"}, msg_id)


@BOTH
async def test_three_overlapping_deliveries_share_one_run(account: OfficialAccount):
    gate = Gate()
    async with wechat_app(account, handler=gate, deadlines=PATIENT) as app, app.wechat() as wechat:
        xml = wechat.xml("oA", "text", {"Content": "你好"}, 1)
        waiting = [asyncio.create_task(app.post(*wechat.post(xml))) for _ in range(3)]
        await until_joined(app, 3)
        gate.open.set()
        responses = await asyncio.gather(*waiting)
        late = await app.post(*wechat.post(xml))
        assert [read(wechat, r) for r in responses] == ["想好了"] * 3
    assert gate.runs == 1
    assert len({r.content for r in [*responses, late]}) == 1


@BOTH
async def test_a_ready_answer_never_waits(account: OfficialAccount):
    async with wechat_app(account) as app, app.wechat() as wechat:
        seen = await wechat.say("oA", "你好")
        again = await wechat.say("oA", "你好")
    assert (seen.text, seen.attempts, again.text, len(app.seen)) == ("收到", 1, "收到", 2)


@BOTH
async def test_early_deliveries_are_silent_and_the_last_says_to_wait(account: OfficialAccount):
    gate, store = Gate(), MemoryReplyStore()
    async with (
        wechat_app(account, handler=gate, deadlines=AT_ONCE, store=store) as app,
        app.wechat() as wechat,
    ):
        xml = wechat.xml("oA", "text", {"Content": "很难的问题"}, 1)
        responses = [await app.post(*wechat.post(xml)) for _ in range(4)]
        assert [r.content for r in responses[:2]] == [b"success", b"success"]
        assert read(wechat, responses[2]) == WAITING_LINE
        assert responses[3].content == responses[2].content
        await gate.entered.wait()
        gate.open.set()
        await until(lambda: app.adapter._runs._in_flight == {})
        # The answer is ready now, but this message has its reply: the house holds the answer.
        assert (await app.post(*wechat.post(xml))).content == responses[2].content
    assert (gate.runs, gate.carried) == (1, [False])
    assert store.answered == set()


class SlowStore(MemoryReplyStore):
    """Takes its time to write, and notes who asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[bool] = []
        self.open = asyncio.Event()

    async def seal(self, app_id: str, key: str, body: bytes, *, carries_answer: bool) -> bytes:
        self.asked.append(carries_answer)
        await self.open.wait()
        return await super().seal(app_id, key, body, carries_answer=carries_answer)


async def test_the_answer_never_overtakes_the_waiting_line():
    gate, store = Gate(), SlowStore()
    deadlines = Deadlines(ready_seconds=0.0, answer_seconds=60.0, last_chance_age_seconds=-1e9)
    async with wechat_app(handler=gate, deadlines=deadlines, store=store) as app, app.wechat() as wechat:
        first = asyncio.create_task(app.post(*wechat.post(question(wechat))))
        await until(lambda: bool(store.asked))
        # The answer comes while the waiting line is being written, and so does a delivery.
        gate.open.set()
        second = asyncio.create_task(app.post(*wechat.post(question(wechat))))
        await until_joined(app, 2)
        await until_handled(app)
        store.open.set()
        assert [read(wechat, await each) for each in (first, second)] == [WAITING_LINE] * 2
    assert (store.asked, gate.carried) == ([False], [False])


async def test_the_waiting_line_never_overtakes_the_answer():
    gate, store = Gate(), SlowStore()
    deadlines = Deadlines(ready_seconds=0.1, answer_seconds=60.0, last_chance_age_seconds=-1e9)
    gate.open.set()
    async with wechat_app(handler=gate, deadlines=deadlines, store=store) as app, app.wechat() as wechat:
        first = asyncio.create_task(app.post(*wechat.post(question(wechat))))
        await until(lambda: bool(store.asked))
        second = asyncio.create_task(app.post(*wechat.post(question(wechat))))
        await until_joined(app, 2)
        run = next(iter(app.adapter._runs._in_flight.values()))
        # Its last deadline passes while the answer is being written.
        loop = asyncio.get_running_loop()
        await until(lambda: loop.time() > run.state.latest_at + 0.15)
        store.open.set()
        assert [read(wechat, await each) for each in (first, second)] == ["想好了"] * 2
    assert (store.asked, gate.carried) == ([True], [True])


async def test_a_last_delivery_does_not_wait_for_a_slow_disk():
    store = SlowStore()
    deadlines = Deadlines(ready_seconds=60.0, answer_seconds=0.1, last_chance_age_seconds=-1e9)
    async with wechat_app(deadlines=deadlines, store=store) as app, app.wechat() as wechat:
        assert read(wechat, await app.post(*wechat.post(question(wechat)))) == "收到"
        store.open.set()
        await until(lambda: app.adapter._runs._in_flight == {})
    assert store.answered == {(APP_ID, "oA/1")}


async def test_an_answer_between_deliveries_goes_out_with_the_next():
    gate, store = Gate(), MemoryReplyStore()
    async with wechat_app(handler=gate, deadlines=AT_ONCE, store=store) as app, app.wechat() as wechat:
        assert (await app.post(*wechat.post(question(wechat)))).content == b"success"
        gate.open.set()
        await until_handled(app)
        # Nobody came for it so far: it counts as held.
        assert (gate.carried, store.answered) == ([True], set())
        assert read(wechat, await app.post(*wechat.post(question(wechat)))) == "想好了"
        assert app.adapter._runs._in_flight == {}
    assert gate.runs == 1
    assert store.answered == {(APP_ID, "oA/1")}


async def test_an_answer_nobody_comes_for_stays_held():
    gate, store = Gate(), MemoryReplyStore()
    deadlines = Deadlines(ready_seconds=0.0, hold_seconds=0.0, retry_seconds=0.2)
    async with wechat_app(handler=gate, deadlines=deadlines, store=store) as app, app.wechat() as wechat:
        assert (await app.post(*wechat.post(question(wechat)))).content == b"success"
        gate.open.set()
        await until(lambda: app.adapter._runs._in_flight == {})
        assert await store.sealed(APP_ID, "oA/1") is None
        # A delivery that comes ever so late is answered all the same.
        app.adapter._runs._deadlines = Deadlines()
        assert read(wechat, await app.post(*wechat.post(question(wechat)))) == "想好了"


async def test_an_answer_too_late_for_any_delivery_is_not_carried():
    gate = Gate()
    deadlines = Deadlines(ready_seconds=0.0, hold_seconds=0.0, retry_seconds=0.0)
    async with wechat_app(handler=gate, deadlines=deadlines) as app, app.wechat() as wechat:
        assert (await app.post(*wechat.post(question(wechat)))).content == b"success"
        gate.open.set()
        await until(lambda: app.adapter._runs._in_flight == {})
    assert gate.carried == [False]


async def test_a_message_that_is_old_already_gets_no_more_chances():
    """The process was restarted: WeChat's third delivery is our first."""
    gate = Gate()
    clock = 1_750_000_000.0
    async with (
        wechat_app(handler=gate, deadlines=AT_ONCE, now=lambda: clock) as app,
        app.wechat(now=lambda: clock - 9) as old,
        app.wechat(now=lambda: clock - 7) as young,
    ):
        assert read(old, await app.post(*old.post(old.xml("oA", "text", {"Content": "?"}, 1)))) == (
            WAITING_LINE
        )
        response = await app.post(*young.post(young.xml("oA", "text", {"Content": "?"}, 2)))
        assert response.content == b"success"
        gate.open.set()


async def test_growing_old_while_it_waits_costs_no_chance():
    """WeChat's second delivery comes at 5 s and is 9.5 s old when it is given up: the third must come."""
    clock = 1_750_000_000.0
    gate = Gate()

    async def handler(bot: Bot, event: Event) -> None:
        nonlocal clock
        clock += 9.5
        await gate(bot, event)

    deadlines = Deadlines(ready_seconds=0.05, hold_seconds=0.05)
    async with (
        wechat_app(handler=handler, deadlines=deadlines, now=lambda: clock) as app,
        app.wechat(now=lambda: 1_750_000_000.0) as wechat,
    ):
        response = await app.post(*wechat.post(wechat.xml("oA", "text", {"Content": "?"}, 1)))
        assert response.content == b"success"
        gate.open.set()


async def test_a_delivery_that_goes_away_does_not_stop_the_run():
    gate = Gate()
    async with wechat_app(handler=gate, deadlines=PATIENT) as app, app.wechat() as wechat:
        xml = wechat.xml("oA", "text", {"Content": "你好"}, 1)
        gone = asyncio.create_task(app.post(*wechat.post(xml)))
        await gate.entered.wait()
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        waiting = asyncio.create_task(app.post(*wechat.post(xml)))
        await until_joined(app, 2)
        gate.open.set()
        assert read(wechat, await waiting) == "想好了"
    assert (gone.cancelled(), gate.runs) == (True, 1)


async def test_wechat_drops_retries_and_shows_one_answer():
    """The simulator's own five seconds, shortened: two deliveries are dropped, the third is answered."""
    gate = Gate()
    async with wechat_app(handler=gate, deadlines=PATIENT) as app, app.wechat(0.5) as wechat:

        async def open_at_the_third() -> None:
            await until_joined(app, 3)
            gate.open.set()

        opening = asyncio.create_task(open_at_the_third())
        seen = await wechat.say("oA", "你好")
        await opening
    assert (seen.text, seen.attempts, gate.runs) == ("想好了", 3, 1)


@pytest.mark.parametrize(
    ("think_seconds", "attempts", "text"),
    [(0.5, 1, "想好了"), (1.5, 2, "想好了"), (2.5, 3, "想好了"), (4.0, 3, WAITING_LINE)],
)
async def test_all_attempts_are_used_where_only_passive_replies_are_allowed(
    think_seconds: float, attempts: int, text: str
):
    runs: list[str] = []

    async def think(bot: Bot, event: Event) -> None:
        runs.append(event.key)
        await asyncio.sleep(think_seconds)
        await bot.send(event, "想好了")

    async with wechat_app(handler=think, deadlines=QUICK) as app, app.wechat(1.0) as wechat:
        seen = await wechat.say("oA", "你好", 1)
        fourth = await app.post(*wechat.post(question(wechat)))
        assert (seen.text, seen.attempts) == (text, attempts)
        assert fourth.content == seen.bodies[-1]
        await app.settle()
        fifth = await app.post(*wechat.post(question(wechat)))
    assert fifth.content == fourth.content
    assert runs == ["oA/1"]


class Written:
    """What is finished of an answer."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.taken: list[tuple[str, str]] = []

    def take(self, app_id: str, key: str) -> str:
        self.taken.append((app_id, key))
        return self.text


@BOTH
async def test_the_last_delivery_shows_what_is_finished(account: OfficialAccount):
    gate, drafts, store = Gate(), Written("第一句。"), MemoryReplyStore()
    async with (
        wechat_app(account, handler=gate, deadlines=AT_ONCE, drafts=drafts, store=store) as app,
        app.wechat() as wechat,
    ):
        responses = [await app.post(*wechat.post(question(wechat))) for _ in range(4)]
        assert [r.content for r in responses[:2]] == [b"success", b"success"]
        assert read(wechat, responses[2]) == "第一句。" + UNFINISHED_MARK
        gate.open.set()
        await until(lambda: app.adapter._runs._in_flight == {})
        later = await app.post(*wechat.post(question(wechat)))
    assert responses[3].content == later.content == responses[2].content
    assert (drafts.taken, gate.carried, store.answered) == ([(APP_ID, "oA/1")], [False], set())


async def test_what_to_say_meanwhile_can_be_tapped():
    marked = f"回复“{TAP_START}继续{TAP_END}”"
    tapped = '回复“<a href="weixin://bizmsgmenu?msgmenucontent=继续&msgmenuid=1">继续</a>”'
    drafts, deadlines = Written(""), Deadlines(ready_seconds=0.0, last_chance_age_seconds=-1e9)
    async with (
        wechat_app(
            handler=Gate(), deadlines=deadlines, drafts=drafts, waiting_line=marked, unfinished_mark=marked
        ) as app,
        app.wechat() as wechat,
    ):
        assert read(wechat, await app.post(*wechat.post(question(wechat, 1)))) == tapped
        drafts.text = "一。" * 300
        part = read(wechat, await app.post(*wechat.post(question(wechat, 2))))
        app.adapter._runs._deadlines = AT_ONCE
    assert part == drafts.text + tapped
    assert len(part.encode()) <= 2000


class Torn:
    def take(self, app_id: str, key: str) -> str:
        raise LookupError


@pytest.mark.parametrize("waiting_line", [WAITING_LINE, " "])
async def test_drafts_that_fail_and_a_line_that_is_blank_do_not_jam(waiting_line: str):
    deadlines = Deadlines(ready_seconds=0.0, drain_seconds=0.0, last_chance_age_seconds=-1e9)
    store = MemoryReplyStore()
    async with (
        wechat_app(
            handler=Gate(), deadlines=deadlines, drafts=Torn(), store=store, waiting_line=waiting_line
        ) as app,
        app.wechat() as wechat,
    ):
        response = await app.post(*wechat.post(question(wechat)))
    assert read_or_nothing(response) == (waiting_line == WAITING_LINE)
    assert not await store.is_promised(APP_ID, "oA/1")


def read_or_nothing(response: httpx.Response) -> bool:
    assert response.status_code == 200
    return WAITING_LINE.encode() in response.content


async def test_wechat_shows_a_fault_when_nobody_answers():
    gate = Gate()
    async with wechat_app(handler=gate, deadlines=PATIENT) as app, app.wechat(0.05) as wechat:
        seen = await wechat.say("oA", "你好")
        gate.open.set()
    assert (seen.text, seen.attempts, seen.is_fault) == (FAULT, 3, True)
    assert app.adapter._runs._in_flight == {}


async def test_silence_is_success_and_leaves_no_trace():
    """Peers jam after a handler that returned nothing."""
    answers: list[str] = []

    async def handler(bot: Bot, event: Event) -> None:
        for answer in answers:
            await bot.send(event, answer)

    async with wechat_app(handler=handler) as app, app.wechat() as wechat:
        assert (await wechat.say("oA", "你好", msg_id=1)).text == ""
        assert app.adapter._runs._in_flight == {}
        answers.append("现在有了")
        assert (await wechat.say("oA", "你好", msg_id=1)).text == "现在有了"
    assert len(app.seen) == 2


async def test_following_then_talking_both_work():
    async with wechat_app() as app, app.wechat() as wechat:
        assert (await wechat.follow("oA", "77")).text == "收到"
        assert (await wechat.say("oA", "你好")).text == "收到"
        assert (await wechat.voice("oA", "你好")).text == "收到"
        assert (await wechat.image("oA")).text == "收到"
        assert (await wechat.click("oA", "HELP")).text == "收到"
        assert (await wechat.unfollow("oA")).text == ""
    names = [event.get_event_name() for event in app.seen]
    assert names == [
        "notice.follow",
        "message.text",
        "message.voice",
        "message.image",
        "notice.click",
        "notice.unfollow",
    ]


async def test_a_handler_that_fails_is_success_and_runs_again():
    fails = [True]

    async def handler(bot: Bot, event: Event) -> None:
        if fails.pop() if fails else False:
            raise RuntimeError("boom")
        await bot.send(event, "好了")

    async with wechat_app(handler=handler) as app, app.wechat() as wechat:
        first = await wechat.say("oA", "你好", msg_id=1)
        assert (first.text, first.statuses) == ("", (200,))
        assert (await wechat.say("oA", "你好", msg_id=1)).text == "好了"


async def test_a_dispatch_that_fails_is_success_and_runs_again(monkeypatch: pytest.MonkeyPatch):
    """The same, past NoneBot, which keeps matchers' errors to itself."""
    async with wechat_app() as app, app.wechat() as wechat:
        dispatch = app.adapter._handler

        async def fail(bot: object, event: Event) -> None:
            raise RuntimeError("boom")

        monkeypatch.setattr(app.adapter, "_handler", fail)
        assert (await wechat.say("oA", "你好", msg_id=1)).statuses == (200,)
        monkeypatch.setattr(app.adapter, "_handler", dispatch)
        assert (await wechat.say("oA", "你好", msg_id=1)).text == "收到"


async def test_what_was_sealed_before_a_restart_is_given_again():
    store = MemoryReplyStore()
    async with wechat_app(store=store) as app, app.wechat() as wechat:
        xml = wechat.xml("oA", "text", {"Content": "你好"}, 1)
        before = await app.post(*wechat.post(xml))
    async with wechat_app(store=store) as app, app.wechat() as wechat:
        after = await app.post(*wechat.post(xml))
    assert (after.content, app.seen) == (before.content, [])


class BrokenStore:
    async def sealed(self, app_id: str, key: str) -> bytes | None:
        raise OSError("disk")

    async def seal(self, app_id: str, key: str, body: bytes, *, carries_answer: bool) -> bytes:
        raise OSError("disk")

    async def promise(self, app_id: str, key: str) -> bytes:
        raise OSError("disk")

    async def is_promised(self, app_id: str, key: str) -> bool:
        raise OSError("disk")


async def test_a_broken_store_does_not_silence():
    async with wechat_app(store=BrokenStore()) as app, app.wechat() as wechat:
        assert (await wechat.say("oA", "你好")).text == "收到"


# Customer service


async def open_service() -> MemoryCustomerService:
    service = MemoryCustomerService()
    await service.typing(APP_ID, "oX")
    service.typed.clear()
    return service


@BOTH
async def test_a_late_answer_is_promised_where_customer_service_is_open(account: OfficialAccount):
    gate, store, service = Gate(), MemoryReplyStore(), await open_service()
    async with (
        wechat_app(account, handler=gate, deadlines=AT_ONCE, store=store, service=service) as app,
        app.wechat() as wechat,
    ):
        seen = await wechat.say("oA", "很难的问题", 1)
        assert (seen.text, seen.attempts, seen.bodies) == ("", 1, (b"success",))
        assert await store.is_promised(APP_ID, "oA/1")
        retry = await app.post(*wechat.post(question(wechat)))
        gate.open.set()
        await until(lambda: app.adapter._runs._in_flight == {})
        late = await app.post(*wechat.post(question(wechat)))
    # Whoever answers is told to send it another way, and the message's responses stay what they were.
    assert (gate.runs, gate.carried) == (1, [False])
    assert retry.content == late.content == b"success"
    assert (store.answered, service.sent) == (set(), [])


class SlowToPromise(SlowStore):
    """And may fail at it."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__()
        self.error = error

    async def promise(self, app_id: str, key: str) -> bytes:
        self.asked.append(False)
        await self.open.wait()
        if self.error:
            raise self.error
        return await super().promise(app_id, key)


@pytest.mark.parametrize("error", [None, OSError("disk")])
async def test_a_promise_is_neither_acknowledged_nor_told_before_it_is_durable(error: Exception | None):
    """An answer that comes in that moment waits; where it cannot be promised, the response carries it."""
    gate, store, service = Gate(), SlowToPromise(error), await open_service()
    deadlines = Deadlines(ready_seconds=0.0)
    async with (
        wechat_app(handler=gate, deadlines=deadlines, store=store, service=service) as app,
        app.wechat() as wechat,
    ):
        post = asyncio.create_task(app.post(*wechat.post(question(wechat))))
        await until(lambda: bool(store.asked))
        gate.open.set()
        run = next(iter(app.adapter._runs._in_flight.values()))
        await until(lambda: run.decision is not None)
        assert (post.done(), gate.carried) == (False, [])
        store.open.set()
        assert read(wechat, await post) == ("想好了" if error else "")
        await until(lambda: app.adapter._runs._in_flight == {})
    assert gate.carried == [bool(error)]
    assert await store.is_promised(APP_ID, "oA/1") is not bool(error)


async def test_shutdown_does_not_wait_for_a_promise_for_ever():
    gate, store, service = Gate(), SlowToPromise(None), await open_service()
    gate.open.set()
    deadlines = Deadlines(ready_seconds=0.05, drain_seconds=0.1)
    entered = asyncio.Event()

    async def handler(bot: Bot, event: Event) -> None:
        await until(lambda: bool(store.asked))
        entered.set()
        await gate(bot, event)

    async with (
        wechat_app(handler=handler, deadlines=deadlines, store=store, service=service) as app,
        app.wechat() as wechat,
    ):
        post = asyncio.create_task(app.post(*wechat.post(question(wechat))))
        await entered.wait()
        await app.adapter._runs.close()
        assert (await post).content == b"success"
    await until(lambda: gate.carried == [False])


async def test_what_typing_teaches_decides():
    """The account's first message: nobody knows yet whether it may."""
    gate, store, service = Gate(), MemoryReplyStore(), MemoryCustomerService()
    async with (
        wechat_app(handler=gate, deadlines=QUICK, store=store, service=service) as app,
        app.wechat(1.0) as wechat,
    ):
        seen = await wechat.say("oA", "很难的问题", 1)
        assert (seen.text, seen.attempts, service.typed) == ("", 1, [(APP_ID, "oA")])
        assert await store.is_promised(APP_ID, "oA/1")
        gate.open.set()


async def test_the_passive_ladder_where_typing_is_refused():
    gate, store = Gate(), MemoryReplyStore()
    service = MemoryCustomerService(is_permitted=False)
    async with (
        wechat_app(handler=gate, deadlines=AT_ONCE, store=store, service=service) as app,
        app.wechat() as wechat,
    ):
        responses = [await app.post(*wechat.post(question(wechat))) for _ in range(3)]
        assert [r.content for r in responses[:2]] == [b"success", b"success"]
        assert read(wechat, responses[2]) == WAITING_LINE
        assert not await store.is_promised(APP_ID, "oA/1")
    assert service.typed == [(APP_ID, "oA")]


class ClosingService(MemoryCustomerService):
    """WeChat says 45015 to the typing sign."""

    async def typing(self, app_id: str, openid: str) -> None:
        await super().typing(app_id, openid)
        self.close(app_id, openid)


async def test_the_passive_ladder_where_the_window_turns_out_closed():
    service = ClosingService()
    await service.typing(APP_ID, "oX")
    async with (
        wechat_app(handler=Gate(), deadlines=QUICK, service=service) as app,
        app.wechat(1.0) as wechat,
    ):
        assert service.is_open(APP_ID, "oA")
        seen = await wechat.say("oA", "很难的问题", 1)
        assert (seen.text, seen.attempts) == (WAITING_LINE, 3)
        app.adapter._runs._deadlines = AT_ONCE


async def test_a_person_who_writes_opens_their_window():
    service = await open_service()
    service.close(APP_ID, "oA")
    async with wechat_app(service=service) as app, app.wechat() as wechat:
        await wechat.unfollow("oA")
        assert not service.is_open(APP_ID, "oA")
        await wechat.say("oA", "你好")
        assert service.is_open(APP_ID, "oA")


async def test_an_answer_within_a_second_costs_no_typing():
    service = await open_service()
    async with wechat_app(service=service) as app, app.wechat() as wechat:
        seen = await wechat.say("oA", "你好")
        assert app.adapter._runs._courtesies == set()
    assert (seen.text, service.typed) == ("收到", [])


class HangingService(MemoryCustomerService):
    async def typing(self, app_id: str, openid: str) -> None:
        await super().typing(app_id, openid)
        await asyncio.Event().wait()


async def test_nothing_waits_for_typing():
    gate, service = Gate(), HangingService(is_permitted=False)
    deadlines = Deadlines(typing_seconds=0.0)
    async with (
        wechat_app(handler=gate, deadlines=deadlines, service=service) as app,
        app.wechat() as wechat,
    ):
        post = asyncio.create_task(app.post(*wechat.post(question(wechat))))
        await until(lambda: bool(service.typed))
        gate.open.set()
        assert read(wechat, await post) == "想好了"
        typing = next(iter(app.adapter._runs._courtesies))
    await asyncio.gather(typing, return_exceptions=True)
    assert typing.cancelled()


class Unpromising(MemoryReplyStore):
    async def promise(self, app_id: str, key: str) -> bytes:
        raise OSError("disk")


async def test_the_passive_ladder_where_no_promise_can_be_kept():
    gate, service = Gate(), await open_service()
    async with (
        wechat_app(handler=gate, deadlines=AT_ONCE, store=Unpromising(), service=service) as app,
        app.wechat() as wechat,
    ):
        responses = [await app.post(*wechat.post(question(wechat))) for _ in range(3)]
        assert [r.content for r in responses[:2]] == [b"success", b"success"]
        assert read(wechat, responses[2]) == WAITING_LINE


async def test_each_account_has_its_own_customer_service():
    other = OfficialAccount(app_id="wxother", token="other-token", path="/wechat/other")
    store, service = MemoryReplyStore(), MemoryCustomerService()
    await service.typing("wxother", "oX")
    service.typed.clear()
    deadlines = Deadlines(ready_seconds=0.0, hold_seconds=0.0, drain_seconds=0.0, typing_seconds=60.0)
    async with (
        wechat_app(
            handler=Gate(), more_accounts=[other], deadlines=deadlines, store=store, service=service
        ) as app,
        app.wechat() as first,
        WeChatServer(
            "http://bot.test/wechat/other", "other-token", "wxother", transport=app.transport
        ) as second,
    ):
        for wechat in (first, second):
            url = f"/wechat{'/other' if wechat is second else ''}"
            query, body = wechat.post(question(wechat))
            assert (await app.client.post(url, params=query, content=body)).content == b"success"
        assert [await store.is_promised(app_id, "oA/1") for app_id in (APP_ID, "wxother")] == [False, True]


# A restart in the middle: the second process has the store, and nothing else


async def test_an_attempt_after_a_restart_joins_a_new_run():
    store, clock = MemoryReplyStore(), 1_750_000_000.0
    old, new = Gate("旧的"), Gate("新的")
    deadlines = Deadlines(ready_seconds=0.0, hold_seconds=0.0, drain_seconds=0.0)
    async with (
        wechat_app(handler=old, deadlines=deadlines, store=store, now=lambda: clock) as first,
        first.wechat(now=lambda: 1_750_000_000.0) as wechat,
    ):
        assert (await first.post(*wechat.post(question(wechat)))).content == b"success"
        await old.entered.wait()
        clock += 5.2
        async with wechat_app(handler=new, deadlines=deadlines, store=store, now=lambda: clock) as second:
            assert (await second.post(*wechat.post(question(wechat)))).content == b"success"
            new.open.set()
            await until_handled(second)
            clock += 5.0
            third = await second.post(*wechat.post(question(wechat)))
            assert read(wechat, third) == "新的"
            assert (await second.post(*wechat.post(question(wechat)))).content == third.content
    assert (old.runs, new.runs) == (1, 1)


@pytest.mark.parametrize(("age", "body"), [(5.2, b"success"), (10.2, WAITING_LINE.encode())])
async def test_age_tells_the_attempt_after_a_restart(age: float, body: bytes):
    clock = 1_750_000_000.0
    async with (
        wechat_app(handler=Gate(), deadlines=AT_ONCE, now=lambda: clock + age) as app,
        app.wechat(now=lambda: clock) as wechat,
    ):
        response = await app.post(*wechat.post(question(wechat)))
    assert body in response.content


@pytest.mark.parametrize("is_service_open", [True, False])
async def test_what_was_promised_or_conceded_before_a_restart_stays(is_service_open: bool):
    store, old, new = MemoryReplyStore(), Gate(), Gate()
    service = await open_service() if is_service_open else None
    deadlines = Deadlines(
        ready_seconds=0.0, hold_seconds=0.0, drain_seconds=0.0, last_chance_age_seconds=-1e9
    )
    async with (
        wechat_app(handler=old, deadlines=deadlines, store=store, service=service) as first,
        first.wechat() as wechat,
    ):
        before = await first.post(*wechat.post(question(wechat)))
        async with wechat_app(handler=new, store=store, service=service) as second:
            after = await second.post(*wechat.post(question(wechat)))
    assert after.content == before.content
    assert (before.content == b"success") == is_service_open
    assert await store.is_promised(APP_ID, "oA/1") == is_service_open
    assert (old.runs, new.runs) == (1, 0)


# What is sent, and when it is over


async def test_one_msgid_of_two_people_is_two_messages():
    async with wechat_app() as app, app.wechat() as wechat:
        await wechat.say("oA", "你好", msg_id=1)
        await wechat.say("oB", "你好", msg_id=1)
    assert [event.key for event in app.seen] == ["oA/1", "oB/1"]


async def test_events_of_one_second_differ_and_their_retries_do_not():
    clock = 1_750_000_000.0
    async with wechat_app(now=lambda: clock) as app, app.wechat(now=lambda: clock) as wechat:
        for _ in range(2):
            await wechat.click("oA", "A")
            await wechat.click("oA", "B")
            await wechat.follow("oA")
    assert [e.key for e in app.seen] == [
        "oA/1750000000/CLICK/A",
        "oA/1750000000/CLICK/B",
        "oA/1750000000/subscribe/",
    ]


async def test_a_long_event_key_makes_a_short_key():
    async with wechat_app() as app, app.wechat() as wechat:
        await wechat.click("oA", "k" * 10_000)
        await wechat.click("oA", "k" * 9_999)
    keys = {event.key for event in app.seen}
    assert len(keys) == 2
    assert max(map(len, keys)) < 128


async def test_what_needs_no_answer_is_acknowledged_before_it_is_handled():
    gate = Gate()
    async with wechat_app(handler=gate, deadlines=PATIENT) as app, app.wechat() as wechat:
        seen = await wechat.raw(wechat.xml("oA", "event", {"Event": "VIEW", "EventKey": "https://e.cn"}))
        assert (seen.text, seen.statuses) == ("", (200,))
        await gate.entered.wait()
        gate.open.set()
    assert [event.get_type() for event in app.seen] == ["meta_event"]


async def test_where_people_are_is_nobodys_business():
    place: dict[str, Any] = {"Event": "LOCATION", "Latitude": "23.1", "Longitude": "113.3", "Precision": "65"}
    async with wechat_app() as app, app.wechat() as wechat:
        for _ in range(3):
            assert (await wechat.raw(wechat.xml("oA", "event", place))).text == ""
        await app.settle()
    assert app.seen == []


async def test_only_the_first_text_is_sent_and_none_after_the_end():
    kept: list[tuple[Bot, Event]] = []

    async def handler(bot: Bot, event: Event) -> None:
        kept.append((bot, event))
        assert await bot.send(event, "一") is True
        assert await bot.send(event, MessageSegment.text("二")) is False

    async with wechat_app(handler=handler) as app, app.wechat() as wechat:
        assert (await wechat.say("oA", "你好")).text == "一"
        bot, event = kept[0]
        assert await bot.send(event, "三") is False
        with pytest.raises(TypeError):
            await bot.send(object(), "三")  # type: ignore[arg-type]
    assert bot.self_id == APP_ID
    assert app.seen == [event]


@pytest.mark.parametrize(
    "text",
    ["]]>", "a]]>b", "]]>]]>", "a\x0bb\x00", "\ud83d半个", "😀" * 600, "<i>&amp;", "x" * 3000],
)
@BOTH
async def test_any_text_makes_a_valid_reply(account: OfficialAccount, text: str):
    async def handler(bot: Bot, event: Event) -> None:
        await bot.send(event, text)

    async with wechat_app(account, handler=handler) as app, app.wechat() as wechat:
        seen = await wechat.say("oA", "你好")
    clean = "".join(c for c in text if c.isprintable())
    assert seen.text == clean or (seen.text.endswith("…") and clean.startswith(seen.text[:-1]))
    assert len(seen.text.encode()) <= 2000


async def test_a_blank_text_is_silence():
    said: list[bool] = []

    async def handler(bot: Bot, event: Event) -> None:
        said.append(await bot.send(event, " \x0b"))

    store = MemoryReplyStore()
    async with wechat_app(handler=handler, store=store) as app, app.wechat() as wechat:
        seen = await wechat.say("oA", "你好", 1)
    assert (seen.text, seen.is_fault, said) == ("", False, [True])
    assert await store.sealed(APP_ID, "oA/1") is None


async def test_what_takes_no_reply_carries_none_and_is_acknowledged_in_the_end():
    gate = Gate()
    deadlines = Deadlines(ready_seconds=0.0, hold_seconds=60.0, last_chance_age_seconds=-1e9)
    service = await open_service()
    async with (
        wechat_app(handler=gate, deadlines=deadlines, service=service) as app,
        app.wechat() as wechat,
    ):
        assert (await wechat.unfollow("oA")).bodies == (b"success",)
        gate.open.set()
        await until(lambda: app.adapter._runs._in_flight == {})
    assert (gate.carried, service.typed) == ([False], [])


async def test_a_sender_that_gives_up_does_not_unsay_its_answer():
    store = SlowStore()

    async def hasty(bot: Bot, event: Event) -> None:
        async with asyncio.timeout(0.05):
            await bot.send(event, "收到")

    async with wechat_app(handler=hasty, store=store) as app, app.wechat() as wechat:
        post = asyncio.create_task(app.post(*wechat.post(question(wechat))))
        await until(lambda: len(store.asked) == 2)
        await until_handled(app)
        store.open.set()
        assert read(wechat, await post) == "收到"
    assert store.answered == {(APP_ID, "oA/1")}


async def test_shutdown_lets_runs_finish():
    gate, store = Gate(), MemoryReplyStore()
    async with wechat_app(handler=gate, store=store) as app, app.wechat() as wechat:
        post = app.post(*wechat.post(question(wechat)))
        waiting = asyncio.create_task(post)
        await gate.entered.wait()
        closing = asyncio.create_task(app.adapter._runs.close())
        await asyncio.sleep(0)
        assert not closing.done()
        gate.open.set()
        await closing
        assert read(wechat, await waiting) == "想好了"
    assert store.answered == {(APP_ID, "oA/1")}


async def test_shutdown_leaves_held_what_nobody_came_for():
    gate, store = Gate(), MemoryReplyStore()
    async with wechat_app(handler=gate, store=store) as app, app.wechat() as wechat:
        gone = asyncio.create_task(app.post(*wechat.post(question(wechat))))
        await gate.entered.wait()
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        gate.open.set()
        await app.adapter._runs.close()
        assert app.adapter._runs._in_flight == {}
    assert (gate.carried, store.answered) == ([True], set())


async def test_shutdown_acknowledges_what_it_could_not_finish():
    async with wechat_app(deadlines=Deadlines(drain_seconds=0.0)) as app, app.wechat() as wechat:
        entered = asyncio.Event()

        async def never(bot: object, event: Event) -> None:
            entered.set()
            await asyncio.Event().wait()

        app.adapter._handler = never
        post = asyncio.create_task(app.post(*wechat.post(question(wechat))))
        await entered.wait()
        await app.adapter._runs.close()
        assert (await post).content == b"success"


async def test_shutdown_does_not_wait_for_ever():
    async def never(bot: object, event: Event) -> None:
        await asyncio.Event().wait()

    async with wechat_app(deadlines=AT_ONCE) as app, app.wechat() as wechat:
        app.adapter._handler = never
        await wechat.say("oA", "你好")
        await app.adapter._runs.close()
        assert app.adapter._runs._in_flight == {}


async def test_two_accounts_have_two_doors():
    other = OfficialAccount(app_id="wxother", token="other-token", path="/wechat/other")
    async with wechat_app(more_accounts=[other]) as app, app.wechat() as wechat:
        url = "http://bot.test/wechat/other"
        async with (
            WeChatServer(url, "other-token", "wxother", transport=app.transport) as second,
            WeChatServer(url, TOKEN, APP_ID, transport=app.transport) as stranger,
        ):
            assert await second.verify()
            assert not await stranger.verify()
            assert (await second.say("oA", "你好", msg_id=1)).text == "收到"
        assert (await wechat.say("oA", "你好", msg_id=1)).text == "收到"
        assert set(app.driver.bots) == {APP_ID, "wxother"}
    assert [event.app_id for event in app.seen] == ["wxother", APP_ID]
    assert app.driver.bots == {}


@pytest.mark.parametrize(("app_id", "path"), [(APP_ID, "/b"), ("wxother", ACCOUNT.path)])
async def test_two_accounts_share_neither_path_nor_appid(app_id: str, path: str):
    other = OfficialAccount(app_id=app_id, token="t", path=path)
    with pytest.raises(AccountError):
        async with wechat_app(more_accounts=[other]):
            pass
