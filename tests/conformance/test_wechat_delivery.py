"""Five seconds, three deliveries, one answer: what WeChat gets when, and how often handlers run."""

import asyncio

import httpx
import pytest

from bot.channels.wechat import (
    AccountError,
    Bot,
    Deadlines,
    Event,
    MemoryReplyStore,
    OfficialAccount,
    ReplyTooLate,
)
from bot.channels.wechat.adapter import WAITING_LINE
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

AT_ONCE = Deadlines(ready_seconds=0.0, hold_seconds=0.0, drain_seconds=0.0)
"""No delivery waits: each answers what there is."""
PATIENT = Deadlines(ready_seconds=60.0, hold_seconds=60.0)
BOTH = pytest.mark.parametrize("account", [ACCOUNT, SAFE_ACCOUNT], ids=["plain", "aes"])


def read(wechat: WeChatServer, response: httpx.Response) -> str:
    assert response.status_code == 200
    return wechat._read(response.content, "oA")


async def until_joined(app: WeChatApp, deliveries: int) -> None:
    """Until that many deliveries wait for the one run."""
    while sum(run.attempts for run in app.adapter._runs._in_flight.values()) < deliveries:
        await asyncio.sleep(0)


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
        await asyncio.gather(*(run.task for run in app.adapter._runs._in_flight.values()))
        # The answer is ready now, but this message has its reply: the house holds the answer.
        assert (await app.post(*wechat.post(xml))).content == responses[2].content
    assert gate.runs == 1
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


@pytest.mark.parametrize("is_waiting_line_first", [True, False])
async def test_the_answer_and_the_waiting_line_never_race(is_waiting_line_first: bool):
    gate, store = Gate(), SlowStore()
    deadlines = Deadlines(ready_seconds=0.0, hold_seconds=60.0, last_chance_age_seconds=-1e9)
    async with wechat_app(handler=gate, deadlines=deadlines, store=store) as app, app.wechat() as wechat:
        if not is_waiting_line_first:
            gate.open.set()
            app.adapter._runs._deadlines = PATIENT
        xml = wechat.xml("oA", "text", {"Content": "?"}, 1)
        first = asyncio.create_task(app.post(*wechat.post(xml)))
        while not store.asked:
            await asyncio.sleep(0)
        # The other one comes while the first is being written.
        app.adapter._runs._deadlines = deadlines
        second = asyncio.create_task(app.post(*wechat.post(xml)))
        await until_joined(app, 2)
        gate.open.set()
        for _ in range(50):
            await asyncio.sleep(0)
        store.open.set()
        texts = {read(wechat, await first), read(wechat, await second)}
    assert store.asked == [not is_waiting_line_first]
    assert texts == {WAITING_LINE if is_waiting_line_first else "想好了"}


async def test_an_answer_between_deliveries_goes_out_with_the_next():
    gate, store = Gate(), MemoryReplyStore()
    async with wechat_app(handler=gate, deadlines=AT_ONCE, store=store) as app, app.wechat() as wechat:
        xml = wechat.xml("oA", "text", {"Content": "?"}, 1)
        assert (await app.post(*wechat.post(xml))).content == b"success"
        gate.open.set()
        await asyncio.gather(*(run.task for run in app.adapter._runs._in_flight.values()))
        response = await app.post(*wechat.post(xml))
        # AT_ONCE gives the look-up no time either; the run itself knows.
        while response.content == b"success":
            await asyncio.sleep(0)
            response = await app.post(*wechat.post(xml))
        assert read(wechat, response) == "想好了"
    assert gate.runs == 1
    assert store.answered == {(APP_ID, "oA/1")}


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


async def test_wechat_shows_a_fault_when_nobody_answers():
    gate = Gate()
    async with wechat_app(handler=gate, deadlines=PATIENT) as app, app.wechat(0.05) as wechat:
        seen = await wechat.say("oA", "你好")
        gate.open.set()
    assert (seen.text, seen.attempts, seen.is_fault) == (FAULT, 3, True)


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
        "message.unsupported",
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


async def test_a_broken_store_does_not_silence():
    async with wechat_app(store=BrokenStore()) as app, app.wechat() as wechat:
        assert (await wechat.say("oA", "你好")).text == "收到"


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
    place = {"Event": "LOCATION", "Latitude": "23.1", "Longitude": "113.3", "Precision": "65"}
    async with wechat_app() as app, app.wechat() as wechat:
        for _ in range(3):
            assert (await wechat.raw(wechat.xml("oA", "event", place))).text == ""
        await app.settle()
    assert app.seen == []


async def test_only_the_first_text_is_sent_and_none_after_the_end():
    kept: list[tuple[Bot, Event]] = []

    async def handler(bot: Bot, event: Event) -> None:
        kept.append((bot, event))
        await bot.send(event, "一")
        await bot.send(event, "二")

    async with wechat_app(handler=handler) as app, app.wechat() as wechat:
        assert (await wechat.say("oA", "你好")).text == "一"
        bot, event = kept[0]
        with pytest.raises(ReplyTooLate):
            await bot.send(event, "三")
        with pytest.raises(TypeError):
            await bot.send(object(), "三")  # type: ignore[arg-type]
    assert bot.self_id == APP_ID
    assert app.seen == [event]


@pytest.mark.parametrize(
    "text",
    ["]]>", "a]]>b", "]]>]]>", "a\x0bb\x00", "\ud83d半个", "😀" * 600, "<a href='x'>&amp;", "x" * 3000],
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


async def test_shutdown_lets_runs_finish():
    gate, store = Gate(), MemoryReplyStore()
    async with wechat_app(handler=gate, store=store) as app, app.wechat() as wechat:
        post = app.post(*wechat.post(wechat.xml("oA", "text", {"Content": "你好"}, 1)))
        gone = asyncio.create_task(post)
        await gate.entered.wait()
        gone.cancel()
        closing = asyncio.create_task(app.adapter._runs.close())
        await asyncio.sleep(0)
        assert not closing.done()
        gate.open.set()
        await closing
    assert store.answered == {(APP_ID, "oA/1")}


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
