"""`JobStore` over SQL: in order, one at a time per scope, retried, never after a clearing."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from bot.conversation.errors import ViewChanged
from bot.ports import JobTicket
from identity.model import Account
from tests.integration.database_fixture import Stores, a_key, open_stores


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(tmp_path) as stores:
        yield stores


@pytest.fixture
async def account(stores: Stores) -> Account:
    return await stores.account("o-li")


def questions(tickets: Sequence[JobTicket]) -> list[str]:
    return [ticket.turn.question for ticket in tickets]


async def test_oldest_first_one_at_a_time_per_scope(stores: Stores, account: Account) -> None:
    wang = await stores.account("o-wang")
    for key, (who, place) in enumerate(
        ((account, ""), (account, ""), (account, "g"), (wang, ""), (wang, "g"))
    ):
        await stores.turn(who, str(key), place=place, text=str(key))
    assert questions(await stores.jobs.lease_jobs(3, 60)) == ["0", "2", "3"]
    assert questions(await stores.jobs.lease_jobs(3, 60)) == ["4"]
    assert await stores.jobs.lease_jobs(3, 60) == ()
    assert await stores.jobs.backlog() == 5


async def test_two_accounts_of_one_person_share_a_scope(stores: Stores) -> None:
    one, two = await stores.account("o-1", "union"), await stores.account("o-2", "union")
    await stores.turn(one, "1", text="1")
    await stores.turn(two, "2", text="2")
    (first,) = await stores.jobs.lease_jobs(5, 60)
    await stores.jobs.finish_job(first.id)
    (second,) = await stores.jobs.lease_jobs(5, 60)
    assert questions([first, second]) == ["1", "2"]
    assert (first.scope.account, second.scope.account) == (one.id, two.id)


async def test_workers_never_share_a_job(stores: Stores, account: Account) -> None:
    for key in range(20):
        await stores.turn(account, str(key), place=f"g{key}")
    leased = await asyncio.gather(*(stores.jobs.lease_jobs(3, 60) for _ in range(10)))
    ids = [ticket.id for tickets in leased for ticket in tickets]
    assert sorted(ids) == sorted(set(ids))
    assert len(ids) == 20


async def test_finishing_frees_the_scope(stores: Stores, account: Account) -> None:
    for key in ("1", "2"):
        await stores.turn(account, key, text=key)
    (first,) = await stores.jobs.lease_jobs(5, 60)
    await stores.jobs.finish_job(first.id)
    assert questions(await stores.jobs.lease_jobs(5, 60)) == ["2"]
    assert await stores.jobs.backlog() == 1


async def test_a_lapsed_lease_is_taken_again(stores: Stores, account: Account) -> None:
    await stores.turn(account, "1")
    (first,) = await stores.jobs.lease_jobs(5, 60)
    stores.clock.step(seconds=59)
    assert await stores.jobs.lease_jobs(5, 60) == ()
    stores.clock.step(seconds=1)
    (again,) = await stores.jobs.lease_jobs(5, 60)
    assert again.id == first.id


async def test_released_leases_can_be_taken_at_once(stores: Stores, account: Account) -> None:
    await stores.turn(account, "1", text="一")
    (leased,) = await stores.jobs.lease_jobs(9, 60)
    assert await stores.jobs.lease_jobs(9, 60) == ()
    assert await stores.jobs.release_leases() == 1
    (again,) = await stores.jobs.lease_jobs(9, 60)
    assert again.id == leased.id
    await stores.jobs.finish_job(again.id)
    assert await stores.jobs.release_leases() == 0


async def test_a_retry_waits_and_the_fifth_counted_try_is_dead(stores: Stores, account: Account) -> None:
    await stores.turn(account, "1")
    for tries in range(5):
        for _ in range(2):  # an outage spends no try
            (ticket,) = await stores.jobs.lease_jobs(5, 60)
            assert ticket.tries == tries
            await stores.jobs.retry_job(ticket.id, "ModelUnavailable", 30, counts=False)
            assert await stores.jobs.lease_jobs(5, 60) == ()
            stores.clock.step(seconds=30)
        (ticket,) = await stores.jobs.lease_jobs(5, 60)
        assert await stores.jobs.retry_job(ticket.id, "ValueError", 0, counts=True) is (tries == 4)
    assert await stores.jobs.lease_jobs(5, 60) == ()
    assert await stores.jobs.backlog() == 0
    assert await stores.rows("SELECT state, tries, error FROM job") == [("dead", 5, "ValueError")]


async def test_a_waiting_retry_lets_later_jobs_pass(stores: Stores, account: Account) -> None:
    for key in ("1", "2"):
        await stores.turn(account, key, text=key)
    (first,) = await stores.jobs.lease_jobs(5, 60)
    await stores.jobs.retry_job(first.id, "ValueError", 30, counts=True)
    assert questions(await stores.jobs.lease_jobs(5, 60)) == ["2"]


async def test_a_clearing_deletes_the_jobs_it_overtook(stores: Stores, account: Account) -> None:
    wang = await stores.account("o-wang")
    for key, who in enumerate((account, account, wang)):
        await stores.turn(who, str(key), text=str(key))
    await stores.jobs.lease_jobs(1, 60)
    await stores.clear(account)
    fresh = await stores.accounts.find_account(account.key)
    assert fresh is not None
    await stores.turn(fresh, "3", text="3")
    # The lease of an overtaken job no longer holds the scope.
    assert questions(await stores.jobs.lease_jobs(5, 60)) == ["2", "3"]
    stores.clock.step(seconds=61)
    await stores.jobs.lease_jobs(5, 60)
    assert await stores.rows("SELECT question FROM job JOIN turn ON turn.id = turn_id") == [("2",), ("3",)]


async def test_jobs_follow_an_account_that_joins(stores: Stores) -> None:
    """Whatever the two persons' epochs are: joining drops nothing, a clearing before or after it does."""
    for cleared in range(3):
        mover = await stores.account(f"o-mover{cleared}")
        owner = await stores.account(f"o-owner{cleared}", f"union{cleared}")
        for _ in range(cleared):
            await stores.clear(owner)
        await stores.turn(mover, f"m{cleared}", text="mover")
        current = await stores.accounts.find_account(owner.key)
        assert current is not None
        await stores.turn(current, f"o{cleared}", text="owner")
        (before,) = [t for t in await stores.jobs.lease_jobs(9, 60) if t.scope.account == mover.id]
        joined = await stores.accounts.learn_unionid(mover.id, f"union{cleared}")
        assert joined.person == owner.person

        # Work under way survives the join, an answer by being made once more ...
        with pytest.raises(ViewChanged):
            await stores.turn(mover, f"f{cleared}", text="in flight")
        in_flight = await stores.turn(joined, f"f{cleared}", text="in flight")
        assert in_flight is not None
        await stores.jobs.retry_job(before.id, "again", 0, counts=True)
        stores.clock.step(seconds=61)
        first, *none = [
            ticket for ticket in await stores.jobs.lease_jobs(9, 60) if ticket.scope.person == owner.person
        ]
        assert none == []
        assert first.scope == joined.scope("")
        # ... and no clearing after it.
        await stores.clear(joined)
        assert await stores.turn(mover, f"l{cleared}") is None
        stores.clock.step(seconds=61)
        leased = await stores.jobs.lease_jobs(9, 60)
        assert [ticket for ticket in leased if ticket.scope.person == owner.person] == []
    assert await stores.accounts.find_account(a_key("o-mover0")) is not None
