"""`IdentityHistory` over SQL: what an operator sees before deciding or undoing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.conversation.errors import RejectedInput
from bot.storage.sql.identity_history import SqlIdentityHistory
from identity.history import OPERATOR
from identity.model import Account, Decision
from tests.integration.database_fixture import Stores, open_stores

PHONE, OTHER_PHONE = b"\x01" * 32, b"\x02" * 32


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(tmp_path) as stores:
        yield stores


@pytest.fixture
def history(stores: Stores) -> SqlIdentityHistory:
    return SqlIdentityHistory(stores.database)


async def a_conflict(stores: Stores) -> tuple[Account, Account]:
    """The second would join the first by its phone, but has one of its own."""
    owner, mover = await stores.account("o-owner"), await stores.account("o-mover")
    await stores.accounts.link_phone(owner.id, PHONE, 1, "otp")
    await stores.accounts.link_phone(mover.id, OTHER_PHONE, 1, "otp")
    with pytest.raises(RejectedInput):
        await stores.accounts.link_phone(mover.id, PHONE, 1, "otp")
    return owner, mover


async def changes(history: SqlIdentityHistory) -> list[tuple[int, int, bool]]:
    """(id, what stands last, whether it can be undone), newest first."""
    return [
        (each.merge.id, each.latest, each.can_be_undone) for each in await history.merges(None, limit=100)
    ]


async def test_a_new_house_has_no_history(history: SqlIdentityHistory) -> None:
    assert await history.conflicts(with_decided=True) == () == await history.merges(None, limit=9)
    assert await history.conflict(1) is None
    assert await history.merge(1) is None
    assert await history.merged_for("code") == ()


async def test_a_conflict_waits_until_it_is_decided(stores: Stores, history: SqlIdentityHistory) -> None:
    await a_conflict(stores)
    (waiting,) = await history.conflicts(with_decided=False)
    assert (waiting.conflict,) == await stores.accounts.conflicts()
    assert waiting.decision is None and waiting.decided_at is None
    stores.clock.step(hours=1)
    await stores.accounts.decide(waiting.conflict.id, Decision.KEEP, OPERATOR)
    assert await history.conflicts(with_decided=False) == ()
    (decided,) = await history.conflicts(with_decided=True)
    assert decided.conflict == waiting.conflict
    assert (decided.decision, decided.decided_at) == (Decision.KEEP, stores.clock.now())
    assert await history.conflict(decided.conflict.id) == decided


async def test_what_an_operator_did_is_named_as_such(stores: Stores, history: SqlIdentityHistory) -> None:
    owner, _ = await a_conflict(stores)
    (waiting,) = await history.conflicts(with_decided=False)
    await stores.accounts.decide(waiting.conflict.id, Decision.MERGE, OPERATOR)
    (moved,) = await history.merged_for(f"conflict:{waiting.conflict.id}")
    assert moved.merge.after == owner.person
    await stores.accounts.undo_merge(moved.merge.id, OPERATOR)
    done = await stores.rows("SELECT action FROM audit WHERE actor = 'cli' ORDER BY id")
    assert done == [("decide-conflict",), ("undo-merge",)]


async def test_the_last_change_of_an_account_can_be_undone(
    stores: Stores, history: SqlIdentityHistory
) -> None:
    owner, mover = await stores.account("o-owner", "union"), await stores.account("o-mover")
    await stores.accounts.learn_unionid(mover.id, "union")
    assert await changes(history) == [(1, 1, True)]
    parted = await stores.accounts.part(mover.id)
    assert await changes(history) == [(2, 2, True), (1, 2, False)]
    await stores.accounts.undo_merge(2)
    assert await changes(history) == [(2, 1, False), (1, 1, True)]
    await stores.accounts.undo_merge(1)
    assert await changes(history) == [(2, 0, False), (1, 0, False)]
    oldest_first = [each.merge for each in reversed(await history.merges(parted.person, limit=9))]
    assert tuple(oldest_first) == await stores.accounts.merges(parted.person)
    assert {each.key for each in await history.merges(owner.person, limit=9)} == {mover.key}


async def test_only_so_many_of_one_person_are_listed_the_newest_first(
    stores: Stores, history: SqlIdentityHistory
) -> None:
    first, other = await stores.account("o-first", "union"), await stores.account("o-other", "another")
    for number, unionid in enumerate(["union", "another", "union"]):
        account = await stores.account(f"o-{number}")
        await stores.accounts.learn_unionid(account.id, unionid)
    assert [each.merge.id for each in await history.merges(None, limit=2)] == [3, 2]
    assert [each.merge.id for each in await history.merges(first.person, limit=9)] == [3, 1]
    assert [each.merge.id for each in await history.merges(other.person, limit=9)] == [2]
