"""Forgetting again in an older copy of the database, where accounts were linked otherwise than now.

Who forgets means a text, not a row: in the copy it goes from every account of whoever is one person there, once the
partings since were done again, or they would go on reading it by way of the other account. Other persons keep it.
"""

import sqlite3
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.backup import make_backup
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.restoring import restore
from identity.model import Account
from tests.memory_stage import Stage, open_stage, traces, vector_of

PEPPER = b"p" * 32
SAID = "我对花生过敏七三一九"
MORE = "我喜欢爬山"
UNION = "u"


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path / "data") as opened:
        ledger = ledger_in(opened.folder, opened)
        opened.facts = SqlFacts(opened.database, opened.clock, ledger)
        opened.accounts = SqlAccounts(opened.database, opened.clock, ledger)
        yield opened


def ledger_in(folder: Path, stage: Stage) -> ForgetLedger:
    return ForgetLedger(folder / "forgotten.jsonl", PEPPER, stage.clock)


async def tells(stage: Stage, openid: str, *texts: str, unionid: str = "") -> Account:
    """Somebody who has said each of these, and of whom they are kept."""
    account = await stage.arrive(openid, unionid)
    for text in texts:
        turn = await stage.say(account, f"记住{text}")
        await stage.remember(account, text, source_turn=turn.id)
    return account


async def forgets(stage: Stage, account: Account, text: str) -> None:
    scope = (await stage.refreshed(account)).scope("")
    (meant,) = [fact.id for fact in (await stage.facts.fact_sheet(scope)).facts if fact.text == text]
    await stage.facts.forget_facts(scope, [meant])


def backed_up(stage: Stage, folder: Path) -> Path:
    archive = folder / "older.tar.gz"
    make_backup(stage.folder, archive, stage.clock.now())
    return archive


def restored(stage: Stage, archive: Path) -> Path:
    """The copy in a folder of its own, beside the ledger as it is now."""
    other = archive.parent / "restored"
    other.mkdir()
    (other / "forgotten.jsonl").write_bytes((stage.folder / "forgotten.jsonl").read_bytes())
    restore(archive, other, ledger_in(other, stage), stage.clock.now())
    return other


def kept(folder: Path) -> set[tuple[str, str]]:
    """(openid, text) of every fact."""
    connection = sqlite3.connect(folder / "jide.db")
    try:
        return set(
            connection.execute(
                "SELECT openid, text FROM fact JOIN shelf ON shelf.id = shelf_id"
                " JOIN account ON account.id = account_id"
            )
        )
    finally:
        connection.close()


async def test_what_two_linked_accounts_said_goes_from_both(stage: Stage, tmp_path: Path) -> None:
    one = await tells(stage, "a", SAID, MORE, unionid=UNION)
    await tells(stage, "b", SAID, MORE, unionid=UNION)
    archive = backed_up(stage, tmp_path)
    await forgets(stage, one, SAID)
    assert kept(stage.folder) == {("a", MORE), ("b", MORE)}
    other = restored(stage, archive)
    assert kept(other) == {("a", MORE), ("b", MORE)}
    assert traces(other, SAID, vector_of(SAID)) == set()


async def test_it_goes_from_both_where_the_copy_is_from_before_they_were_linked(
    stage: Stage, tmp_path: Path
) -> None:
    """What was named at the forgetting is each account's fact, whoever they belonged to earlier."""
    one, other_account = await tells(stage, "a", SAID, unionid=UNION), await tells(stage, "b", SAID, MORE)
    archive = backed_up(stage, tmp_path)
    await stage.accounts.learn_unionid(other_account.id, UNION)
    await forgets(stage, one, SAID)
    other = restored(stage, archive)
    assert kept(other) == {("b", MORE)}
    assert traces(other, SAID, vector_of(SAID)) == set()


async def test_who_had_parted_before_keeps_what_they_said(stage: Stage, tmp_path: Path) -> None:
    one = await tells(stage, "a", SAID, unionid=UNION)
    parted = await tells(stage, "b", SAID, MORE, unionid=UNION)
    archive = backed_up(stage, tmp_path)
    await stage.accounts.part(parted.id)
    await forgets(stage, one, SAID)
    assert kept(stage.folder) == {("b", SAID), ("b", MORE)} == kept(restored(stage, archive))


async def test_it_goes_from_both_where_nobody_can_tell_the_copy_that_they_parted(
    stage: Stage, tmp_path: Path
) -> None:
    """A ledger of a version that did not note partings: the forgetting names one account, and in the copy they are
    one person, who would still read the other's."""
    one = await tells(stage, "a", SAID, unionid=UNION)
    parted = await tells(stage, "b", SAID, MORE, unionid=UNION)
    archive = backed_up(stage, tmp_path)
    await SqlAccounts(stage.database, stage.clock).part(parted.id)
    await forgets(stage, one, SAID)
    assert kept(stage.folder) == {("b", SAID), ("b", MORE)}
    assert kept(restored(stage, archive)) == {("b", MORE)}


async def test_another_person_who_said_the_same_keeps_it(stage: Stage, tmp_path: Path) -> None:
    one = await tells(stage, "a", SAID, unionid=UNION)
    await tells(stage, "b", MORE, unionid=UNION)
    await tells(stage, "c", SAID)
    archive = backed_up(stage, tmp_path)
    await forgets(stage, one, SAID)
    assert kept(restored(stage, archive)) == {("b", MORE), ("c", SAID)}


async def test_clearing_one_of_parted_accounts_clears_it_alone(stage: Stage, tmp_path: Path) -> None:
    """A clearing names accounts."""
    one = await tells(stage, "a", SAID, unionid=UNION)
    parted = await tells(stage, "b", SAID, MORE, unionid=UNION)
    archive = backed_up(stage, tmp_path)
    await stage.accounts.part(parted.id)
    await stage.facts.clear_person((await stage.refreshed(one)).person)
    assert kept(restored(stage, archive)) == {("b", SAID), ("b", MORE)}
