"""Promised answers: as many pages as WeChat takes, each once, and what did not arrive stays held."""

from datetime import UTC, datetime

import pytest

from bot.channels.wechat.service import (
    SENT,
    UNKNOWN,
    HeldReason,
    MemoryCustomerService,
    Sending,
    ServiceOutcome,
)
from bot.channels.wechat_outbox import WeChatOutbox
from bot.conversation.message import AccountKey, Conversation, Kind, Message
from bot.conversation.taps import TAP_END, TAP_START
from bot.conversation.wording import Wording
from bot.delivery import SendOutcome

APP_ID = "wx1"
HELD = ServiceOutcome(sending=Sending.HELD, reason=HeldReason.WINDOW)


class Promises:
    def __init__(self, *keys: str) -> None:
        self.owed = {(APP_ID, key) for key in keys}

    def is_owed(self, app_id: str, key: str) -> bool:
        return (app_id, key) in self.owed

    def settle(self, app_id: str, key: str) -> None:
        self.owed.discard((app_id, key))


def message(key: str = "oA/1", kind: Kind = Kind.TEXT) -> Message:
    return Message(
        key=key,
        kind=kind,
        sender=AccountKey(channel="wechat", app_id=APP_ID, openid="oA"),
        conversation=Conversation(channel="wechat", app_id=APP_ID),
        text="问",
        sent_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


async def outbox(
    *outcomes: ServiceOutcome, taps: bool = True
) -> tuple[WeChatOutbox, MemoryCustomerService, Promises]:
    service, promises = MemoryCustomerService(outcomes=outcomes), Promises("oA/1")
    await service.typing(APP_ID, "oA")
    wording = Wording.load("zh_CN")
    return WeChatOutbox(service, promises, wording.mark_page, taps=taps), service, promises


def texts(service: MemoryCustomerService) -> list[str]:
    return [text for _, _, text in service.sent]


async def test_only_what_was_promised_is_sent_by_it() -> None:
    box, _, promises = await outbox()
    assert box.replies_passively
    assert box.is_ready(message()) and not box.is_ready(message("oA/2"))
    await box.send(message(), ("好",))
    assert not promises.is_owed(APP_ID, "oA/1") and not box.is_ready(message())


async def test_pages_go_in_order_without_marks() -> None:
    box, service, _ = await outbox()
    sent = await box.send(message(), ("一", "二", "三"))
    assert (sent.outcome, sent.pages) == (SendOutcome.SENT, 3)
    assert texts(service) == ["一", "二", "三"]


@pytest.mark.parametrize(
    ("kind", "most"), [(Kind.TEXT, 5), (Kind.VOICE, 5), (Kind.CLICK, 3), (Kind.FOLLOW, 3)]
)
async def test_beyond_what_wechat_takes_the_last_one_says_how_to_go_on(kind: Kind, most: int) -> None:
    box, service, _ = await outbox()
    pages = tuple(f"第{number}页" for number in range(1, 8))
    sent = await box.send(message(kind=kind), pages)
    assert (sent.outcome, sent.pages) == (SendOutcome.FAILED, most)
    assert texts(service)[:-1] == list(pages[: most - 1])
    assert texts(service)[-1].startswith(f"第{most}页\n({most}/7)") and "继续" in texts(service)[-1]


@pytest.mark.parametrize(
    ("outcomes", "outcome", "pages"),
    [
        ((HELD,), SendOutcome.FAILED, 0),
        ((SENT, HELD), SendOutcome.FAILED, 1),
        ((UNKNOWN,), SendOutcome.UNKNOWN, 0),
        ((SENT, UNKNOWN), SendOutcome.UNKNOWN, 1),
    ],
)
async def test_it_stops_at_the_first_page_that_does_not_arrive_for_certain(
    outcomes: tuple[ServiceOutcome, ...], outcome: SendOutcome, pages: int
) -> None:
    box, service, _ = await outbox(*outcomes)
    sent = await box.send(message(), ("一", "二", "三"))
    assert (sent.outcome, sent.pages) == (outcome, pages)
    assert "三" not in texts(service)


@pytest.mark.parametrize(("taps", "shows_link"), [(True, True), (False, False)])
async def test_taps_are_links_where_they_are_wanted(taps: bool, shows_link: bool) -> None:
    box, service, _ = await outbox(taps=taps)
    await box.send(message(), (f"回复“{TAP_START}继续{TAP_END}”",))
    (text,) = texts(service)
    assert ("weixin://bizmsgmenu" in text) is shows_link
    assert TAP_START not in text and "继续" in text
