"""Out it goes: at most once, and afterwards it is known what may have arrived."""

from datetime import timedelta

import pytest

from bot.delivery import STALE_IN_GROUP, SendOutcome
from bot.ports import Delivery, DeliveryState
from tests.story_fakes import NOW, WayIn, delivery, message


@pytest.fixture
def way() -> WayIn:
    return WayIn()


def held(way: WayIn, *pages: str) -> Delivery:
    return way.deliveries.add(delivery(1, *pages))


async def test_all_pages_go_out_and_are_sent(way: WayIn) -> None:
    await way.desk.hand_over(message("1"), held(way, "上", "下"))
    assert way.outbox.sent == [("1", ("上", "下"))]
    assert way.deliveries.state(1) is DeliveryState.SENT


async def test_a_delivery_leaves_once(way: WayIn) -> None:
    answer = held(way, "好")
    await way.desk.hand_over(message("1"), answer)
    await way.desk.hand_over(message("1"), answer)
    assert len(way.outbox.sent) == 1


async def test_silence_is_not_sent(way: WayIn) -> None:
    await way.desk.hand_over(message("1"), held(way))
    assert way.outbox.sent == []
    assert way.deliveries.state(1) is DeliveryState.HELD


async def test_what_may_have_arrived_is_never_sent_again(way: WayIn) -> None:
    way.outbox.outcome = SendOutcome.UNKNOWN
    answer = held(way, "好")
    await way.desk.hand_over(message("1"), answer)
    assert way.deliveries.state(1) is DeliveryState.UNKNOWN
    await way.desk.hand_over(message("1"), answer)
    assert len(way.outbox.sent) == 1


async def test_what_certainly_did_not_arrive_may_be_sent_again(way: WayIn) -> None:
    way.outbox.outcome = SendOutcome.FAILED
    answer = held(way, "好")
    await way.desk.hand_over(message("1"), answer)
    assert way.deliveries.state(1) is DeliveryState.HELD
    way.outbox.outcome = SendOutcome.SENT
    await way.desk.hand_over(message("1"), answer)
    assert way.deliveries.state(1) is DeliveryState.SENT


async def test_a_crash_while_sending_becomes_unknown(way: WayIn) -> None:
    answer = held(way, "好")
    assert await way.deliveries.begin_sending(1)
    await way.desk.settle_after_crash()
    assert way.deliveries.state(1) is DeliveryState.UNKNOWN
    await way.desk.hand_over(message("1"), answer)
    assert way.outbox.sent == []


async def test_a_platforms_wrong_clock_silences_nobody(way: WayIn) -> None:
    question = message("1", group="g1", sent_at=NOW - timedelta(days=1))
    await way.desk.hand_over(question, held(way, "好"))
    assert len(way.outbox.sent) == 1


@pytest.mark.parametrize(
    ("group", "late", "is_sent"),
    [
        ("g1", STALE_IN_GROUP, True),
        ("g1", STALE_IN_GROUP + timedelta(seconds=1), False),
        ("", timedelta(hours=5), True),
    ],
)
async def test_a_group_that_has_moved_on_is_spared(
    way: WayIn, group: str, late: timedelta, is_sent: bool
) -> None:
    way.clock.time += late
    await way.desk.hand_over(message("1", group=group), held(way, "好"))
    assert bool(way.outbox.sent) is is_sent
    assert way.deliveries.state(1) is (DeliveryState.SENT if is_sent else DeliveryState.UNKNOWN)


def test_a_channel_without_an_outbox_takes_its_pages_itself(way: WayIn) -> None:
    assert way.desk.replies_passively(message("1", channel="wechat"))
    assert not way.desk.can_send(message("1", channel="wechat"))


def test_an_outbox_can_send_while_its_bot_is_connected(way: WayIn) -> None:
    assert way.desk.can_send(message("1"))
    way.outbox.is_connected = False
    assert not way.desk.replies_passively(message("1"))
    assert not way.desk.can_send(message("1"))


async def test_pages_that_arrived_are_not_held(way: WayIn) -> None:
    way.outbox.outcome, way.outbox.pages_before = SendOutcome.FAILED, 1
    await way.desk.hand_over(message("1"), held(way, "一", "二", "三"))
    assert way.deliveries.state(1) is DeliveryState.HELD
    assert way.deliveries.remaining(1) == ("二", "三")


async def test_who_was_promised_an_answer_and_got_none_is_told_once(way: WayIn) -> None:
    way.outbox.replies_passively = True
    way.outbox.outcome = SendOutcome.FAILED
    asked = message("1")
    await way.desk.hand_over(asked, held(way, "一"))
    assert [way.desk.was_unreached(asked.sender) for _ in range(2)] == [True, False]
