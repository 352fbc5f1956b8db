"""`InboxStore` over SQL: once per key, durable, and no text longer than it is needed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.conversation.message import Message
from bot.ports import DeliveryState, Taken
from tests.integration.database_fixture import Stores, a_delivery, a_message, open_stores


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(tmp_path) as stores:
        yield stores


async def payloads(stores: Stores) -> list[str | None]:
    return [row[0] for row in await stores.rows("SELECT payload FROM inbox ORDER BY id")]


async def test_a_key_is_admitted_once(stores: Stores) -> None:
    first = await stores.inbox.admit(a_message("1"))
    again = await stores.inbox.admit(a_message("1", text="换了说法"))
    other = await stores.inbox.admit(a_message("2"))
    assert (first.is_new, again.is_new, other.is_new) == (True, False, True)
    assert first.inbox_id == again.inbox_id != other.inbox_id
    assert again.delivery is None


async def test_unfinished_come_back_whole_and_in_order(stores: Stores) -> None:
    messages = [a_message(key, text=f"第{key}句 😀\n]]>") for key in ("b", "a", "c")]
    for message in messages:
        await stores.inbox.admit(message)
    assert [entry.message for entry in await stores.inbox.unfinished()] == messages


async def test_a_closed_entry_is_finished_and_answers_with_its_delivery(stores: Stores) -> None:
    account = await stores.account("o-li")
    entry = await stores.inbox.admit(a_message("1"))
    delivery = a_delivery(entry.inbox_id, "一", "二")
    await stores.inbox.close(entry.inbox_id, account=account.id, delivery=delivery)
    assert await stores.inbox.unfinished() == ()
    again = await stores.inbox.admit(a_message("1"))
    assert (again.is_new, again.delivery) == (False, delivery)


async def test_a_second_close_changes_nothing(stores: Stores) -> None:
    account = await stores.account("o-li")
    held = await stores.inbox.admit(a_message("0"))
    await stores.inbox.close(held.inbox_id, account=account.id, delivery=a_delivery(held.inbox_id))
    entry = await stores.inbox.admit(a_message("1"))
    for page in ("一", "二"):
        await stores.inbox.close(
            entry.inbox_id,
            account=account.id,
            delivery=a_delivery(entry.inbox_id, page),
            taken=Taken(inbox_id=held.inbox_id, page=0),
        )
    stored = await stores.deliveries.find_delivery(entry.inbox_id)
    taken = await stores.deliveries.find_delivery(held.inbox_id)
    assert stored is not None
    assert taken is not None
    assert (stored.pages, taken.next_page) == (("一",), 1)


async def test_only_own_pages_are_taken(stores: Stores) -> None:
    """The last page taken makes a delivery SENT; another account's stays as it is."""
    mine, theirs = await stores.account("o-li"), await stores.account("o-wang")
    held = await stores.inbox.admit(a_message("0"))
    await stores.inbox.close(held.inbox_id, account=mine.id, delivery=a_delivery(held.inbox_id))
    tries = [
        (theirs, 0, False),
        (mine, 1, False),
        (mine, 0, True),
        (mine, 0, False),
        (mine, 1, True),
        (mine, 2, False),
    ]
    expected_page = 0
    for key, (account, page, is_taken) in enumerate(tries, start=1):
        entry = await stores.inbox.admit(a_message(str(key)))
        taken = Taken(inbox_id=held.inbox_id, page=page)
        closed = await stores.inbox.close(entry.inbox_id, account=account.id, delivery=None, taken=taken)
        assert closed is is_taken
        assert (entry.inbox_id in [each.inbox_id for each in await stores.inbox.unfinished()]) is not is_taken
        found = await stores.deliveries.find_delivery(held.inbox_id)
        assert found is not None
        expected_page += is_taken
        assert found.next_page == expected_page
    assert found.state is DeliveryState.SENT


async def test_the_third_failure_is_a_dead_letter_without_text(stores: Stores) -> None:
    entry = await stores.inbox.admit(a_message("1"))
    await stores.inbox.admit(a_message("2"))
    assert [await stores.inbox.refuse(entry.inbox_id, "ValueError") for _ in range(2)] == [1, 2]
    assert len(await stores.inbox.unfinished()) == 2
    assert await stores.inbox.refuse(entry.inbox_id, "ValueError") == 3
    assert [kept.message.key for kept in await stores.inbox.unfinished()] == ["2"]
    assert await stores.inbox.refuse(entry.inbox_id, "again") == 3
    assert await stores.rows("SELECT state, payload, error FROM inbox WHERE id = 1") == [
        ("dead", None, "ValueError")
    ]


async def test_a_dead_letter_may_still_be_apologised_for(stores: Stores) -> None:
    entry = await stores.inbox.admit(a_message("1"))
    for _ in range(3):
        await stores.inbox.refuse(entry.inbox_id, "ValueError")
    apology = a_delivery(entry.inbox_id, "抱歉")
    await stores.inbox.close(entry.inbox_id, account=None, delivery=apology)
    assert (await stores.inbox.admit(a_message("1"))).delivery == apology
    assert await stores.rows("SELECT state FROM inbox") == [("dead",)]


async def test_a_finished_entry_cannot_be_refused(stores: Stores) -> None:
    entry = await stores.inbox.admit(a_message("1"))
    await stores.inbox.close(entry.inbox_id, account=None, delivery=None)
    assert await stores.inbox.refuse(entry.inbox_id, "late") == 0
    assert await stores.rows("SELECT state, error FROM inbox") == [("closed", "")]


async def test_text_stays_only_while_a_reply_is_unsent(stores: Stores) -> None:
    account = await stores.account("o-li")
    messages = [a_message(str(number)) for number in range(4)]
    silent, sent, marked, sealed = [await stores.inbox.admit(message) for message in messages]
    for entry in (sent, marked, sealed):
        await stores.inbox.close(entry.inbox_id, account=account.id, delivery=a_delivery(entry.inbox_id))
    await stores.inbox.close(silent.inbox_id, account=account.id, delivery=None)
    waiting = await stores.inbox.undelivered()
    assert [entry.message for entry in waiting] == messages[1:]

    await stores.deliveries.begin_sending(sent.inbox_id)
    await stores.deliveries.crashed_sendings()
    await stores.deliveries.mark_delivery(marked.inbox_id, DeliveryState.SENT, 2)
    await stores.deliveries.seal("wechat", "wx1", "3", b"<xml/>", carries_answer=True)
    assert await stores.inbox.undelivered() == ()
    assert await payloads(stores) == [None] * 4


async def test_a_known_sender_is_noted_at_once(stores: Stores) -> None:
    """So that a clearing finds what is still waiting."""
    account = await stores.account("o-li")
    await stores.inbox.admit(a_message("1", "o-li"))
    entry = await stores.inbox.admit(a_message("2", "o-new"))
    assert await stores.rows("SELECT account_id FROM inbox ORDER BY id") == [(account.id,), (None,)]
    new = await stores.account("o-new")
    await stores.inbox.close(entry.inbox_id, account=new.id, delivery=None)
    assert await stores.rows("SELECT account_id FROM inbox WHERE id = 2") == [(new.id,)]


async def test_an_unreadable_entry_is_buried_and_the_rest_resumes(stores: Stores) -> None:
    good: Message = a_message("2")
    await stores.inbox.admit(a_message("1"))
    await stores.inbox.admit(good)
    await stores.rows("UPDATE inbox SET payload = '{\"old\": 1}' WHERE id = 1")
    assert [entry.message for entry in await stores.inbox.unfinished()] == [good]
    assert await stores.rows("SELECT state, payload FROM inbox WHERE id = 1") == [("dead", None)]
