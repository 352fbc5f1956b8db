"""When the simulator posts again, what the person then sees and when: against callbacks of a few lines."""

import asyncio
from typing import Any

import httpx
import pytest

from simulators.wechat import FAULT, Ending, ManualClock, Schedule, Seen, Way, WeChatServer
from tests.wechat_callbacks import Answer, Callback, Posted, answering, echoing, says_text, silent

ANSWERED, DROPPED, REFUSED = Ending.ANSWERED, Ending.DROPPED, Ending.REFUSED


def server_of(callback: Callback, clock: ManualClock, **options: Any) -> WeChatServer:
    transport = httpx.ASGITransport(app=callback)
    return WeChatServer("http://bot.test/wechat", "t", "wx1", transport=transport, clock=clock, **options)


def timeline(seen: Seen) -> list[tuple[float, float, Ending]]:
    """Each attempt in seconds from the message's start."""
    assert seen.delivery is not None
    start = seen.delivery.started_at
    return [(a.started_at - start, a.ended_at - start, a.ending) for a in seen.delivery.attempts]


def check(found: list[tuple[float, float, Ending]], wanted: list[tuple[float, float, Ending]]) -> None:
    assert [each[2] for each in found] == [each[2] for each in wanted]
    moments = [moment for each in found for moment in each[:2]]
    assert moments == pytest.approx([moment for each in wanted for moment in each[:2]])


async def played(callback: Callback, **options: Any) -> tuple[Seen, WeChatServer]:
    clock = ManualClock()
    async with server_of(callback, clock, **options) as wechat:
        return await clock.run(wechat.say("oA", "你好", 7)), wechat


@pytest.mark.parametrize(
    ("delays", "expected", "seconds"),
    [
        ((0.1,), [(0, 0.1, ANSWERED)], 0.1),
        ((4.9,), [(0, 4.9, ANSWERED)], 4.9),
        ((5.1,), [(0, 5, DROPPED), (5, 10, DROPPED), (10, 15, DROPPED)], 15),
        ((9.0, 2.0), [(0, 5, DROPPED), (5, 7, ANSWERED)], 7),
        ((9.0, 9.0, 4.9), [(0, 5, DROPPED), (5, 10, DROPPED), (10, 14.9, ANSWERED)], 14.9),
    ],
)
async def test_five_seconds_three_times(
    delays: tuple[float, ...], expected: list[tuple[float, float, Ending]], seconds: float
):
    clock = ManualClock()
    callback = echoing(clock, *delays)
    async with server_of(callback, clock) as wechat:
        seen = await clock.run(wechat.say("oA", "你好", 7))
    check(timeline(seen), expected)
    (sight,) = wechat.seen("oA")
    assert sight.at - 1_750_000_000.0 == pytest.approx(seconds)
    is_answered = expected[-1][2] is ANSWERED
    assert (sight.text, sight.way) == (("听到：你好", Way.PASSIVE) if is_answered else (FAULT, Way.FAULT))
    assert seen.is_fault is not is_answered
    assert {posted.fields["MsgId"] for posted in callback.posted} == {"7"}
    assert len({posted.body for posted in callback.posted}) == 1
    assert len({posted.query["signature"] for posted in callback.posted}) == len(expected)


async def test_nobody_answers():
    seen, wechat = await played(silent())
    check(timeline(seen), [(0, 5, DROPPED), (5, 10, DROPPED), (10, 15, DROPPED)])
    assert (seen.text, seen.attempts, seen.statuses) == (FAULT, 3, ())
    assert [sight.way for sight in wechat.seen("oA")] == [Way.FAULT]
    (delivery,) = wechat.deliveries
    assert delivery is seen.delivery
    assert (delivery.key, delivery.is_fault, delivery.ended_at - delivery.started_at) == ("7", True, 15.0)


async def test_a_fourth_delivery_by_setting():
    clock = ManualClock()
    callback = echoing(clock, 9.0, 9.0, 9.0, 1.0)
    async with server_of(callback, clock, schedule=Schedule(attempts=4)) as wechat:
        seen = await clock.run(wechat.say("oA", "你好"))
    assert (seen.text, seen.attempts, seen.shown) == ("听到：你好", 4, "听到：你好")


async def test_an_answer_that_is_not_200_is_asked_again_at_once():
    seen, _ = await played(
        answering(Answer(status=500), Answer(status=201), Answer(body=says_text("oA", "好")))
    )
    check(timeline(seen), [(0, 0, ANSWERED)] * 3)
    assert (seen.text, seen.statuses) == ("好", (500, 201, 200))


async def test_a_redirect_is_not_followed():
    seen, wechat = await played(answering(Answer(status=301, headers=(("location", "/wechat/"),))))
    assert (seen.text, seen.statuses) == (FAULT, (301, 301, 301))
    assert wechat.deliveries[0].verdict is None


async def test_a_refused_connection_waits_for_the_next_five_seconds():
    """Assumed: nothing is published about it."""

    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    clock = ManualClock()
    transport = httpx.MockTransport(refuse)
    async with WeChatServer("http://bot.test/", "t", "wx1", transport=transport, clock=clock) as wechat:
        seen = await clock.run(wechat.say("oA", "你好"))
    check(timeline(seen), [(0, 0, REFUSED), (5, 5, REFUSED), (10, 10, REFUSED)])
    assert seen.text == FAULT


async def test_a_callback_that_comes_back_in_time_loses_nothing():
    clock = ManualClock()
    callback = echoing(clock)
    async with server_of(callback, clock) as wechat:
        seen = await clock.run(wechat.say("oA", "你好", schedule=Schedule(unreachable=2)))
    check(timeline(seen), [(0, 0, REFUSED), (5, 5, REFUSED), (10, 10, ANSWERED)])
    assert (seen.text, len(callback.posted)) == ("听到：你好", 1)


async def test_overlapping_deliveries_and_the_first_answer_counts():
    clock = ManualClock()
    schedule = Schedule(overlap_after_seconds=1.0)
    async with server_of(echoing(clock, 4.0, 1.5, 4.0), clock, schedule=schedule) as wechat:
        seen = await clock.run(wechat.say("oA", "你好"))
    check(timeline(seen), [(0, 4, ANSWERED), (1, 2.5, ANSWERED), (2, 6, ANSWERED)])
    assert seen.delivery is not None
    assert seen.delivery.decided_at - seen.delivery.started_at == 2.5
    assert [sight.at - seen.delivery.started_at for sight in wechat.seen("oA")] == [2.5]


async def test_overlapping_deliveries_that_all_fail_are_one_fault():
    seen, wechat = await played(silent(), schedule=Schedule(overlap_after_seconds=0.5, attempts=4))
    check(timeline(seen), [(0, 5, DROPPED), (0.5, 5.5, DROPPED), (1, 6, DROPPED), (1.5, 6.5, DROPPED)])
    assert [sight.way for sight in wechat.seen("oA")] == [Way.FAULT]


@pytest.mark.parametrize("body", [b"", b"success"])
async def test_handled_without_a_reply(body: bytes):
    seen, wechat = await played(answering(Answer(body=body)))
    assert (seen.text, seen.attempts, wechat.seen("oA")) == ("", 1, ())


@pytest.mark.parametrize(
    "body",
    ["ok", "<xml>", '{"errcode":0}', says_text("oB", "好"), says_text("oA", "好" * 683), says_text("oA", "")],
)
async def test_a_malformed_answer_is_a_fault_and_not_asked_again(body: str):
    seen, wechat = await played(answering(Answer(body=body)))
    assert (seen.text, seen.attempts, seen.statuses) == (FAULT, 1, (200,))
    verdict = wechat.deliveries[0].verdict
    assert verdict is not None
    assert verdict.problem


async def test_slow_with_wrong_xml_then_right():
    clock = ManualClock()
    answers = [(9.0, "x"), (1.0, says_text("oA", "好"))]

    async def says(posted: Posted) -> Answer:
        delay, body = answers.pop(0)
        await clock.sleep(delay)
        return Answer(body=body)

    async with server_of(Callback(says=says), clock) as wechat:
        seen = await clock.run(wechat.say("oA", "你好"))
    assert (seen.text, seen.attempts) == ("好", 2)


async def test_the_same_message_again_later_shows_nothing_more():
    clock = ManualClock()
    callback = echoing(clock)
    async with server_of(callback, clock) as wechat:
        first = await wechat.say("oA", "你好")
        assert first.delivery is not None
        again = await wechat.again(first.delivery)
        assert again.delivery is not None
    assert (again.text, again.attempts, again.bodies) == (first.text, 1, first.bodies)
    assert again.delivery.repeats == first.delivery.number
    assert len({posted.body for posted in callback.posted}) == 1
    assert len(wechat.seen("oA")) == 1


async def test_people_are_kept_apart_and_in_order():
    clock = ManualClock()
    async with server_of(echoing(clock, 2.0, 0.5, 0.0), clock) as wechat:

        async def both() -> None:
            await asyncio.gather(wechat.say("oA", "一"), wechat.say("oB", "二"), wechat.say("oA", "三"))

        await clock.run(both())
    assert [sight.text for sight in wechat.seen("oA")] == ["听到：三", "听到：一"]
    assert [sight.text for sight in wechat.seen("oB")] == ["听到：二"]
    assert wechat.seen("oNobody") == ()
    assert [delivery.number for delivery in wechat.deliveries] == [1, 2, 3]
    assert len({delivery.key for delivery in wechat.deliveries}) == 3


async def test_the_query_names_the_person_as_wechats_does():
    callback = echoing()
    async with server_of(callback, ManualClock()) as wechat:
        await wechat.say("oA", "你好")
    assert set(callback.posted[0].query) == {"signature", "timestamp", "nonce", "openid"}
    assert callback.posted[0].query["openid"] == "oA"


async def test_an_error_of_the_application_is_the_tests_to_see():
    async def fails(posted: Posted) -> Answer:
        raise RuntimeError("boom")

    async with server_of(Callback(says=fails), ManualClock()) as wechat:
        with pytest.raises(RuntimeError, match="boom"):
            await wechat.say("oA", "你好")


@pytest.mark.parametrize("fields", [{"attempts": 0}, {"drop_seconds": 0.0}])
def test_a_schedule_has_an_attempt(fields: dict[str, Any]):
    with pytest.raises(ValueError):
        Schedule(**fields)


async def test_verification_wants_a_length():
    async def chunks(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"77"})

    for app, is_verified in ((echoing(), True), (chunks, False)):
        transport = httpx.ASGITransport(app=app)
        async with WeChatServer("http://bot.test/", "t", "wx1", transport=transport) as wechat:
            assert await wechat.verify("77") is is_verified


async def test_a_manual_clock_wakes_in_order():
    clock, woken = ManualClock(0.0), []

    async def wait(seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((seconds, clock.now()))

    tasks = [asyncio.create_task(wait(seconds)) for seconds in (3.0, 1.0, 2.0, 0.0)]
    for _ in range(3):
        await asyncio.sleep(0)
    clock.advance(2.5)
    for _ in range(3):
        await asyncio.sleep(0)
    assert [seconds for seconds, _ in woken] == [0.0, 1.0, 2.0]
    assert clock.now() == 2.5
    tasks[0].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    clock.advance(10)
    assert len(woken) == 3
