"""`TurnLedger` over SQL: all of a turn or nothing of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.conversation.turn import Turn
from tests.integration.database_fixture import A_REPLY, NOON, Stores, a_delivery, a_message, open_stores

COUNTS = "SELECT (SELECT count(*) FROM turn), (SELECT count(*) FROM job), (SELECT count(*) FROM delivery)"


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(tmp_path) as stores:
        yield stores


async def test_a_turn_closes_its_entry_and_leaves_a_job(stores: Stores) -> None:
    account = await stores.account("o-li")
    message = a_message("1")
    entry = await stores.inbox.admit(message)
    delivery = a_delivery(entry.inbox_id)
    turn = await stores.ledger.commit_turn(
        entry.inbox_id, account.scope(""), message, A_REPLY, delivery, consolidate=True
    )
    assert turn is not None
    assert turn == Turn(id=turn.id, question=message.text, answer=A_REPLY.text, at=NOON)
    assert await stores.inbox.unfinished() == ()
    assert await stores.deliveries.find_delivery(entry.inbox_id) == delivery
    (ticket,) = await stores.jobs.lease_jobs(10, 60)
    assert (ticket.turn, ticket.scope, ticket.tries) == (turn, account.scope(""), 0)
    assert await stores.rows("SELECT account_id, place FROM shelf") == [(account.id, "")]


async def test_without_consolidation_there_is_no_job(stores: Stores) -> None:
    assert await stores.turn(await stores.account("o-li"), "1", consolidate=False) is not None
    assert await stores.rows(COUNTS) == [(1, 0, 0)]


async def test_one_shelf_for_each_account_and_place(stores: Stores) -> None:
    li, wang = await stores.account("o-li"), await stores.account("o-wang")
    for key, (account, place) in enumerate(((li, ""), (li, "g1"), (wang, "g1"), (li, "g1"), (li, ""))):
        await stores.turn(account, str(key), place=place)
    assert await stores.rows(
        "SELECT account_id, place, count(*) FROM turn JOIN shelf ON shelf.id = shelf_id GROUP BY 1, 2"
    ) == [(li.id, "", 2), (li.id, "g1", 2), (wang.id, "g1", 1)]


async def test_a_turn_overtaken_by_a_clearing_leaves_nothing_and_an_open_entry(stores: Stores) -> None:
    account = await stores.account("o-li")
    other = await stores.account("o-wang")
    message = a_message("1")
    entry = await stores.inbox.admit(message)
    await stores.clear(account)
    delivery = a_delivery(entry.inbox_id)
    committed = await stores.ledger.commit_turn(
        entry.inbox_id, account.scope(""), message, A_REPLY, delivery, consolidate=True
    )
    assert committed is None
    assert await stores.rows(COUNTS) == [(0, 0, 0)]
    notice = a_delivery(entry.inbox_id, "刚刚清除了")
    await stores.inbox.close(entry.inbox_id, account=account.id, delivery=notice)
    assert (await stores.inbox.admit(message)).delivery == notice
    assert await stores.turn(other, "2") is not None
    fresh = await stores.accounts.find_account(account.key)
    assert fresh is not None
    assert fresh.epoch == account.epoch + 1
    assert await stores.turn(fresh, "3") is not None


async def test_the_same_entry_is_one_turn(stores: Stores) -> None:
    account = await stores.account("o-li")
    assert await stores.turn(account, "1") is not None
    assert await stores.turn(account, "1") is None
    assert await stores.rows(COUNTS) == [(1, 1, 0)]


async def test_ids_grow_and_are_never_given_again(stores: Stores) -> None:
    account = await stores.account("o-li")
    first, second = await stores.turn(account, "1"), await stores.turn(account, "2")
    assert first is not None
    assert second is not None
    await stores.rows("DELETE FROM turn")
    third = await stores.turn(account, "3")
    assert third is not None
    assert first.id < second.id < third.id
    assert await stores.rows("SELECT turn_id FROM job") == [(third.id,)]
