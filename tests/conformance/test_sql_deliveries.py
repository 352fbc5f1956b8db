"""`DeliveryStore` over SQL: every page once, the same bytes for the same key."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.ports import Delivery, DeliveryState
from bot.storage.sql.deliveries import PROMISE
from identity.model import Account
from tests.integration.database_fixture import NOON, Stores, a_delivery, a_message, open_stores


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(tmp_path) as stores:
        yield stores


@pytest.fixture
async def account(stores: Stores) -> Account:
    return await stores.account("o-li")


async def answered(stores: Stores, account: Account, key: str, *pages: str) -> int:
    entry = await stores.inbox.admit(a_message(key))
    delivery = a_delivery(entry.inbox_id, *pages)
    await stores.inbox.close(entry.inbox_id, account=account.id, delivery=delivery)
    return entry.inbox_id


async def found(stores: Stores, inbox_id: int) -> Delivery:
    delivery = await stores.deliveries.find_delivery(inbox_id)
    assert delivery is not None
    return delivery


async def test_nothing_is_found_where_nothing_was_answered(stores: Stores) -> None:
    assert await stores.deliveries.find_delivery(404) is None
    assert await stores.deliveries.sealed("wechat", "wx1", "404") is None


async def test_the_oldest_with_pages_left_is_held_for_48_hours(stores: Stores, account: Account) -> None:
    other = await stores.account("o-wang")
    await answered(stores, other, "0", "别人的")
    first = await answered(stores, account, "1", "一", "二")
    second = await answered(stores, account, "2", "三")
    held = await stores.deliveries.oldest_held(account.id)
    assert held == a_delivery(first, "一", "二")
    await stores.deliveries.mark_delivery(first, DeliveryState.HELD, 1)
    held = await stores.deliveries.oldest_held(account.id)
    assert held is not None
    assert (held.inbox_id, held.remaining) == (first, ("二",))
    await stores.deliveries.mark_delivery(first, DeliveryState.HELD, 2)
    held = await stores.deliveries.oldest_held(account.id)
    assert held is not None
    assert held.inbox_id == second
    stores.clock.step(hours=48)
    assert await stores.deliveries.oldest_held(account.id) is not None
    stores.clock.step(seconds=1)
    assert await stores.deliveries.oldest_held(account.id) is None


@pytest.mark.parametrize(
    ("state", "is_held"),
    [
        (DeliveryState.HELD, True),
        (DeliveryState.UNKNOWN, True),
        (DeliveryState.SENDING, False),
        (DeliveryState.SENT, False),
    ],
)
async def test_what_may_not_have_arrived_can_be_fetched(
    stores: Stores, account: Account, state: DeliveryState, is_held: bool
) -> None:
    inbox_id = await answered(stores, account, "1", "一")
    await stores.deliveries.mark_delivery(inbox_id, state, 0)
    assert (await stores.deliveries.oldest_held(account.id) is not None) is is_held


async def test_sending_begins_once(stores: Stores, account: Account) -> None:
    inbox_id = await answered(stores, account, "1", "一", "二")
    begun = await asyncio.gather(*(stores.deliveries.begin_sending(inbox_id) for _ in range(5)))
    assert sorted(begun) == [False] * 4 + [True]
    assert (await found(stores, inbox_id)).state is DeliveryState.SENDING
    handed_over = await answered(stores, account, "2", "一", "二")
    await stores.deliveries.mark_delivery(handed_over, DeliveryState.HELD, 1)
    assert not await stores.deliveries.begin_sending(handed_over)
    assert not await stores.deliveries.begin_sending(404)


async def test_a_crash_while_sending_is_unknown_and_never_resent(stores: Stores, account: Account) -> None:
    ids = [await answered(stores, account, str(number), "一") for number in range(3)]
    for inbox_id in ids[:2]:
        await stores.deliveries.begin_sending(inbox_id)
    assert await stores.deliveries.crashed_sendings() == 2
    assert await stores.deliveries.crashed_sendings() == 0
    states = [(await found(stores, inbox_id)).state for inbox_id in ids]
    assert states == [DeliveryState.UNKNOWN, DeliveryState.UNKNOWN, DeliveryState.HELD]
    assert [entry.inbox_id for entry in await stores.inbox.undelivered()] == ids[2:]


async def test_the_first_seal_wins(stores: Stores) -> None:
    bodies = [b"<xml>%d</xml>" % number for number in range(8)]
    got = await asyncio.gather(
        *(stores.deliveries.seal("wechat", "wx1", "1", body, carries_answer=False) for body in bodies)
    )
    assert set(got) == {bodies[0]}
    assert await stores.deliveries.sealed("wechat", "wx1", "1") == bodies[0]
    assert await stores.deliveries.seal("wechat", "wx2", "1", b"other", carries_answer=False) == b"other"


async def test_a_seal_hands_the_first_page_over_only_if_it_carries_it(
    stores: Stores, account: Account
) -> None:
    waiting, short, long = [
        await answered(stores, account, str(number), *pages)
        for number, pages in enumerate((("一",), ("一",), ("一", "二")))
    ]
    await stores.deliveries.seal("wechat", "wx1", "0", b"wait", carries_answer=False)
    # A later seal with the answer comes too late: the platform has the waiting line.
    assert await stores.deliveries.seal("wechat", "wx1", "0", b"answer", carries_answer=True) == b"wait"
    for key in ("1", "2"):
        for _ in range(2):
            await stores.deliveries.seal("wechat", "wx1", key, b"answer", carries_answer=True)
    seen = [await found(stores, inbox_id) for inbox_id in (waiting, short, long)]
    assert [(each.state, each.next_page) for each in seen] == [
        (DeliveryState.HELD, 0),
        (DeliveryState.SENT, 1),
        (DeliveryState.HELD, 1),
    ]
    assert all(each.at == NOON for each in seen)


async def test_a_key_without_an_entry_can_be_sealed(stores: Stores) -> None:
    assert await stores.deliveries.seal("wechat", "wx1", "x", b"success", carries_answer=True) == b"success"


async def test_what_is_handed_over_leaves_no_words(stores: Stores, account: Account) -> None:
    sent, taken = (
        await answered(stores, account, "1", "第一页"),
        await answered(stores, account, "2", "第二页"),
    )
    words = "SELECT pages, question FROM delivery ORDER BY inbox_id"
    assert all(pages != "[]" for pages, _ in await stores.rows(words))
    await stores.deliveries.mark_delivery(sent, DeliveryState.SENT, 1)
    await stores.deliveries.seal("wechat", "wx1", "2", b"<xml>", carries_answer=True)
    assert await stores.rows(words) == [("[]", ""), ("[]", "")]
    assert (await found(stores, taken)).state is DeliveryState.SENT


async def test_a_promise_is_known_after_a_restart_and_outlives_other_seals(stores: Stores) -> None:
    await stores.deliveries.seal("wechat", "wx1", "promised", PROMISE, carries_answer=False)
    await stores.deliveries.seal("wechat", "wx1", "answered", b"<xml/>", carries_answer=True)
    await stores.deliveries.seal("other", "wx1", "elsewhere", PROMISE, carries_answer=False)
    assert await stores.deliveries.promised("wechat") == (("wx1", "promised"),)
    stores.clock.step(hours=1)
    assert await stores.deliveries.purge_seals(stores.clock.now()) == 1
    assert await stores.deliveries.promised("wechat") == (("wx1", "promised"),)
    stores.clock.step(hours=48)
    assert await stores.deliveries.purge_seals(stores.clock.now()) == 2
    assert await stores.deliveries.promised("wechat") == ()


@pytest.mark.parametrize("state", [DeliveryState.SENDING, DeliveryState.UNKNOWN, DeliveryState.SENT])
async def test_what_goes_another_way_is_not_sealed_as_an_answer(
    stores: Stores, account: Account, state: DeliveryState
) -> None:
    entry = await answered(stores, account, "late", "一")
    await stores.deliveries.mark_delivery(entry, state, 0)
    sealed = await stores.deliveries.seal("wechat", "wx1", "late", b"<xml/>", carries_answer=True)
    assert sealed == PROMISE
    assert (await found(stores, entry)).state is state


async def test_a_page_that_was_fetched_is_not_sealed_either(stores: Stores, account: Account) -> None:
    entry = await answered(stores, account, "late", "一", "二")
    await stores.deliveries.mark_delivery(entry, DeliveryState.HELD, 1)
    sealed = await stores.deliveries.seal("wechat", "wx1", "late", b"<xml/>", carries_answer=True)
    assert sealed == PROMISE
    assert (await found(stores, entry)).remaining == ("二",)


async def test_whether_several_answers_are_held(stores: Stores, account: Account) -> None:
    await answered(stores, await stores.account("o-wang"), "0", "别人的")
    first = await answered(stores, account, "1", "一", "二")
    assert not await stores.deliveries.has_several_held(account.id)
    await answered(stores, account, "2", "三")
    assert await stores.deliveries.has_several_held(account.id)
    await stores.deliveries.mark_delivery(first, DeliveryState.SENT, 2)
    assert not await stores.deliveries.has_several_held(account.id)
