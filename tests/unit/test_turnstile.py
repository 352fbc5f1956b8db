"""The way in: once each, in order for each person, and nobody behind somebody else."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

import bot.turnstile
from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import AccountKey, Kind, dump_message, load_message
from bot.ports import DeliveryState
from bot.turnstile import MAX_TRIES, Turnstile
from tests.story_fakes import HANG_SECONDS, WayIn, delivery, message, settle


@pytest.fixture
def way() -> WayIn:
    return WayIn()


async def test_a_message_is_admitted_answered_and_sent(way: WayIn) -> None:
    answered = await way.turnstile.pass_through(message("1"))
    assert answered.pages == ("答:1",)
    assert way.outbox.sent == [("1", ("答:1",))]
    assert way.deliveries.state(answered.inbox_id) is DeliveryState.SENT


async def test_a_message_is_under_way_from_its_arrival_to_its_answer(way: WayIn) -> None:
    way.story.gates["1"] = asyncio.Event()
    first, second = message("1"), message("2")

    def under_way() -> list[bool]:
        return [
            way.turnstile.is_under_way(each.sender.channel, each.sender.app_id, each.key)
            for each in (first, second)
        ]

    assert under_way() == [False, False]
    calls = [way.start(each) for each in (first, second)]
    await settle()
    assert under_way() == [True, True], "who stands in line too"
    way.story.gates["1"].set()
    await asyncio.gather(*calls)
    assert under_way() == [False, False]


async def test_one_persons_messages_are_answered_in_order(way: WayIn) -> None:
    way.story.gates["1"] = asyncio.Event()
    first, second, third = (way.start(message(key)) for key in "123")
    await settle()
    assert way.story.began == ["1"]
    assert len(way.inbox.messages) == 3, "all are in the inbox before the first is answered"
    way.story.gates["1"].set()
    await asyncio.gather(first, second, third)
    assert way.story.began == ["1", "2", "3"]
    assert [key for key, _ in way.outbox.sent] == ["1", "2", "3"]


async def test_the_order_is_that_of_arrival_also_when_the_first_is_committed_last(way: WayIn) -> None:
    way.inbox.gates["1"] = asyncio.Event()
    first, second = way.start(message("1")), way.start(message("2"))
    await settle()
    assert way.story.began == []
    way.inbox.gates["1"].set()
    await asyncio.gather(first, second)
    assert way.story.began == ["1", "2"]


async def test_others_do_not_wait(way: WayIn) -> None:
    way.story.gates["1"] = asyncio.Event()
    slow = way.start(message("1", by="li"))
    async with asyncio.timeout(HANG_SECONDS):
        answered = await way.turnstile.pass_through(message("2", by="wang"))
    assert answered.pages == ("答:2",)
    assert not slow.done()
    way.story.gates["1"].set()
    await slow


async def test_the_same_openid_of_another_app_is_somebody_else(way: WayIn) -> None:
    way.story.gates["1"] = asyncio.Event()
    slow = way.start(message("1"))
    await settle()
    gate = way.story.gates.pop("1")
    async with asyncio.timeout(HANG_SECONDS):
        await way.turnstile.pass_through(message("1", "别的", channel="wechat"))
    assert way.story.texts == ["话1", "别的"]
    assert not slow.done()
    gate.set()
    await slow


async def test_overlapping_calls_with_one_key_are_one_run(way: WayIn) -> None:
    way.story.gates["1"] = asyncio.Event()
    calls = [way.start(message("1")) for _ in range(3)]
    await settle()
    way.story.gates["1"].set()
    answers = await asyncio.gather(*calls)
    assert way.story.began == ["1"]
    assert {answer.inbox_id for answer in answers} == {1}
    assert len(way.outbox.sent) == 1


async def test_an_answered_key_gets_its_stored_delivery(way: WayIn) -> None:
    way.outbox.is_connected = False
    first = await way.turnstile.pass_through(message("1"))
    again = await way.turnstile.pass_through(message("1"))
    assert again == first
    assert way.story.began == ["1"]


async def test_a_cancelled_caller_does_not_cancel_the_run(way: WayIn) -> None:
    way.story.gates["1"] = asyncio.Event()
    caller = way.start(message("1"))
    await settle()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    way.story.gates["1"].set()
    joined = await way.turnstile.pass_through(message("1"))
    assert joined.pages == ("答:1",)
    assert way.story.began == ["1"]


async def test_a_failing_run_nobody_waits_for_is_heard_by_nobody(way: WayIn) -> None:
    """Its error is taken from the task, else asyncio reports it when the task is collected."""
    way.story.gates["1"] = asyncio.Event()
    way.story.failures["1"] = [StoreUnavailable("away")]
    caller = way.start(message("1"))
    await settle()
    caller.cancel()
    way.story.gates["1"].set()
    await settle()
    assert [entry.message.key for entry in await way.inbox.unfinished()] == ["1"]


async def test_an_outage_leaves_the_message_open_and_later_ones_go_on(way: WayIn) -> None:
    way.story.failures["1"] = [StoreUnavailable("away")]
    first, second = way.start(message("1")), way.start(message("2"))
    with pytest.raises(StoreUnavailable):
        await first
    assert (await second).pages == ("答:2",)
    assert way.inbox.errors == [], "an outage spends no try"
    assert [entry.message.key for entry in await way.inbox.unfinished()] == ["1"]
    await way.turnstile.resume_unfinished()
    await way.turnstile.drain()
    assert way.story.resumed == ["1"]
    assert await way.inbox.unfinished() == ()


async def test_who_gives_up_in_line_lets_nobody_pass_those_ahead(way: WayIn) -> None:
    """The second message could not be committed while the first was still being answered."""
    way.story.gates["1"] = asyncio.Event()
    first = way.start(message("1"))
    await settle()
    way.inbox.is_away = True
    with pytest.raises(StoreUnavailable):
        await way.turnstile.pass_through(message("2"))
    way.inbox.is_away = False
    third = way.start(message("3"))
    await settle()
    assert way.story.began == ["1"]
    way.story.gates["1"].set()
    await asyncio.gather(first, third)
    assert way.story.began == ["1", "3"]
    assert way.story.overlaps == []


async def test_an_empty_line_is_forgotten(way: WayIn) -> None:
    await asyncio.gather(*(way.turnstile.pass_through(message(key)) for key in "123"))
    await settle()
    assert way.turnstile._line._tails == {}  # pyright: ignore[reportPrivateUsage]
    assert way.turnstile._runs == {}  # pyright: ignore[reportPrivateUsage]


async def test_a_poison_message_gets_its_tries_then_the_apology_and_the_next_proceeds(way: WayIn) -> None:
    way.story.failures["1"] = [RuntimeError("poison")] * (MAX_TRIES + 5)
    first, second = way.start(message("1")), way.start(message("2"))
    assert (await first).pages == ("抱歉",)
    assert (await second).pages == ("答:2",)
    assert way.story.began == ["1"] * MAX_TRIES + ["2"]
    assert way.story.apologies == ["1"]
    assert way.inbox.errors == ["RuntimeError"] * MAX_TRIES, "the error's name only: its text may be private"


async def test_tries_before_a_crash_count(way: WayIn) -> None:
    admission = await way.inbox.admit(message("1"))
    way.inbox.tries[admission.inbox_id] = MAX_TRIES - 1
    way.story.failures["1"] = [RuntimeError("poison")] * 5
    assert (await way.turnstile.pass_through(message("1"))).pages == ("抱歉",)
    assert way.story.began == ["1"]


async def test_a_passing_fault_is_tried_again(way: WayIn) -> None:
    way.story.failures["1"] = [RuntimeError("once")]
    assert (await way.turnstile.pass_through(message("1"))).pages == ("答:1",)
    assert way.story.began == ["1", "1"]
    assert way.story.apologies == []


async def test_a_fault_behind_the_commit_does_not_answer_twice(way: WayIn) -> None:
    way.story.failures_after_commit["1"] = RuntimeError("too late to matter")
    assert (await way.turnstile.pass_through(message("1"))).pages == ("答:1",)
    assert way.story.began == ["1"]
    assert way.inbox.errors == []
    assert way.outbox.sent == [("1", ("答:1",))]


async def test_what_a_crash_left_open_is_resumed_in_order(way: WayIn) -> None:
    for key in "123":
        await way.inbox.admit(message(key))
    await way.turnstile.resume_unfinished()
    await way.turnstile.drain()
    assert way.story.resumed == ["1", "2", "3"]
    assert [key for key, _ in way.outbox.sent] == ["1", "2", "3"]


async def test_resuming_joins_a_run_under_way(way: WayIn) -> None:
    way.story.gates["1"] = asyncio.Event()
    call = way.start(message("1"))
    await settle()
    await way.turnstile.resume_unfinished()
    way.story.gates["1"].set()
    await call
    await way.turnstile.drain()
    assert way.story.began == ["1"]
    assert way.story.resumed == []


async def test_what_was_answered_since_it_was_found_open_is_not_answered_again(way: WayIn) -> None:
    admission = await way.inbox.admit(message("1"))
    found = await way.inbox.unfinished()
    way.deliveries.add(delivery(admission.inbox_id, "早答了"))

    async def as_it_was() -> object:
        return found

    way.inbox.unfinished = as_it_was  # type: ignore[method-assign]
    await way.turnstile.resume_unfinished()
    await way.turnstile.drain()
    assert way.story.began == []


async def test_undelivered_answers_go_out_when_the_bot_is_connected(way: WayIn) -> None:
    way.outbox.is_connected = False
    await way.turnstile.pass_through(message("1"))
    await way.turnstile.pass_through(message("2"))
    await way.turnstile.resume_undelivered()
    await way.turnstile.drain()
    assert way.outbox.sent == []
    way.outbox.is_connected = True
    await way.turnstile.resume_undelivered()
    await way.turnstile.resume_undelivered()
    await way.turnstile.drain()
    assert [key for key, _ in way.outbox.sent] == ["1", "2"]
    assert way.story.began == ["1", "2"]


async def test_secrets_are_masked_before_anything_is_stored(way: WayIn) -> None:
    card = "6222021234567890128"
    await way.turnstile.pass_through(message("1", f"我的卡号 {card}", quoted=f"卡号 {card}"))
    stored = way.inbox.messages[1]
    assert (stored.text, stored.quoted) == ("我的卡号 [已隐藏]", "卡号 [已隐藏]")
    assert way.story.texts == ["我的卡号 [已隐藏]"]


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("/手机 138 0013 8000", "/手机 [不保存]"),
        ("／手机＋８６１３８００１３８０００", "/手机 [不保存]"),
        ("/验证 048151", "/验证 [不保存]"),
        ("/验证码：048151", "/验证码 [不保存]"),
    ],
)
async def test_a_phone_and_its_code_are_answered_and_not_stored(way: WayIn, text: str, stored: str) -> None:
    await way.turnstile.pass_through(message("1", text))
    admitted = way.inbox.messages[1]
    assert (admitted.text, way.story.texts) == (stored, [stored])
    assert admitted.aside and admitted.aside in text
    assert admitted.aside not in dump_message(admitted) + repr(admitted)
    assert load_message(dump_message(admitted)) == replace(admitted, aside="")


class WaitingFor:
    """Who waits for a code."""

    def __init__(self, *accounts: AccountKey) -> None:
        self._accounts = accounts

    def is_open(self, account: AccountKey) -> bool:
        return account in self._accounts


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.VOICE])
@pytest.mark.parametrize("text", ["737103", "737 103", "验证码是 737103", "/verify737103"])
async def test_a_bare_code_is_not_stored_while_one_is_waited_for(way: WayIn, text: str, kind: Kind) -> None:
    waiting = message("1", text, kind=kind)
    way.turnstile = Turnstile(way.inbox, way.story, way.desk, codes=WaitingFor(waiting.sender))
    await way.turnstile.pass_through(waiting)
    admitted = way.inbox.messages[1]
    assert (admitted.text, way.story.texts) == ("/验证 [不保存]", ["/验证 [不保存]"])
    assert admitted.aside.replace(" ", "") == "737103"


@pytest.mark.parametrize(
    "more", [{"by": "wang"}, {"group": "g"}, {"channel": "wechat"}, {"kind": Kind.SCAN}, {"kind": Kind.CLICK}]
)
async def test_six_digits_of_others_in_groups_and_of_no_person_stay(way: WayIn, more: dict[str, Any]) -> None:
    way.turnstile = Turnstile(way.inbox, way.story, way.desk, codes=WaitingFor(message("1").sender))
    await way.turnstile.pass_through(message("1", "737103", **more))
    assert (way.inbox.messages[1].text, way.inbox.messages[1].aside) == ("737103", "")


async def test_a_loose_number_is_put_aside_only_where_phones_can_be_proven(way: WayIn) -> None:
    text = "/手机号是13800138000"
    await way.turnstile.pass_through(message("1", text))
    assert way.inbox.messages[1].text == text
    way.turnstile = Turnstile(way.inbox, way.story, way.desk, codes=WaitingFor())
    await way.turnstile.pass_through(message("2", text))
    assert (way.inbox.messages[2].text, way.inbox.messages[2].aside) == ("/手机 [不保存]", "13800138000")


async def test_a_stop_waits_for_what_was_accepted(way: WayIn) -> None:
    way.story.gates["1"] = asyncio.Event()
    call, behind = way.start(message("1")), way.start(message("2"))
    await settle()
    stop = asyncio.create_task(way.turnstile.drain())
    await settle()
    assert not stop.done()
    way.story.gates["1"].set()
    await stop
    assert call.done()
    assert behind.done()


async def test_a_stop_does_not_wait_for_ever(way: WayIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot.turnstile, "DRAIN_SECONDS", 0.01)
    way.story.gates["1"] = asyncio.Event()
    call = way.start(message("1"))
    await settle()
    async with asyncio.timeout(HANG_SECONDS):
        await way.turnstile.drain()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert [entry.message.key for entry in await way.inbox.unfinished()] == ["1"]


async def test_a_stop_with_nothing_under_way(way: WayIn) -> None:
    await way.turnstile.drain()
