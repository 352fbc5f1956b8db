"""`ConfirmationStore` and `AuditLog` over SQL."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.ports import Confirmation
from tests.integration.database_fixture import NOON, Stores, a_key, open_stores

CLEAR = Confirmation(action="clear", argument="wechat:o-wang", reason="本人要求")
SOON = NOON + timedelta(minutes=2)


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(tmp_path) as stores:
        yield stores


async def test_one_is_pending_until_taken_once(stores: Stores) -> None:
    account = (await stores.account("o-li")).id
    other = (await stores.account("o-wang")).id
    await stores.confirmations.ask(account, CLEAR, SOON)
    assert await stores.confirmations.pending(account) == CLEAR
    assert await stores.confirmations.pending(other) is None
    assert await stores.confirmations.take(other) is None
    taken = await asyncio.gather(*(stores.confirmations.take(account) for _ in range(3)))
    assert taken == [CLEAR, None, None]
    assert await stores.confirmations.pending(account) is None


async def test_a_later_one_takes_its_place(stores: Stores) -> None:
    account = (await stores.account("o-li")).id
    await stores.confirmations.ask(account, CLEAR, SOON)
    later = Confirmation(action="clear", argument="", reason="")
    await stores.confirmations.ask(account, later, SOON)
    assert await stores.confirmations.take(account) == later
    assert await stores.confirmations.take(account) is None


async def test_it_expires(stores: Stores) -> None:
    account = (await stores.account("o-li")).id
    await stores.confirmations.ask(account, CLEAR, SOON)
    stores.clock.step(minutes=2)
    assert await stores.confirmations.pending(account) is None
    assert await stores.confirmations.take(account) is None


async def test_the_audit_log_notes_who_what_whom_why(stores: Stores) -> None:
    person = (await stores.account("o-wang")).person
    await stores.audit.record(a_key("o-li"), "clear", person, "本人要求", "facts=3 turns=9")
    stores.clock.step(seconds=1)
    await stores.audit.record(None, "migrate", None, "", "")
    rows = await stores.rows(
        "SELECT at, actor, action, subject_person, reason, detail FROM audit ORDER BY id"
    )
    at = int(NOON.timestamp() * 1000)
    assert rows == [
        (at, "wechat:wx1:o-li", "clear", person, "本人要求", "facts=3 turns=9"),
        (at + 1000, "", "migrate", None, "", ""),
    ]
