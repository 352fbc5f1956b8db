"""A new pepper under a running bot: no link is lost, and what was forgotten stays forgotten."""

import asyncio
import hashlib
import hmac
import json
import random
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.container.keys import KeysOfFile
from bot.conversation.errors import ConfigurationError, RejectedInput
from bot.secrets_file import PepperFile, pepper_check, read_peppers, replace_pepper
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import lineage
from bot.storage.sql.backup import make_backup
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.phones import SqlPhones
from bot.storage.sql.restoring import restore
from identity.directory import Directory, Proof
from tests.integration.database_fixture import Stores, open_stores
from tests.integration.test_backup import NOW, a_house
from tests.memory_stage import traces

LINKS = "SELECT key_version, count(*) FROM phone_link GROUP BY 1 ORDER BY 1"


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(tmp_path) as stores:
        yield stores


def directory(stores: Stores) -> Directory:
    """As a process of its own has it."""
    keys = KeysOfFile(PepperFile(stores.database.path.parent))
    return Directory(stores.accounts, keys, SqlPhones(stores.database, stores.clock))


def rotate(stores: Stores) -> int:
    folder = stores.database.path.parent
    peppers = read_peppers(folder)
    return lineage.rotate(
        stores.database.path,
        0,
        version=peppers.version,
        pepper_check=pepper_check(peppers.current),
        checks_before=peppers.checks_before,
        replace=lambda: pepper_check(replace_pepper(folder).current),
    )


async def test_a_number_is_found_under_the_old_key_and_renewed_when_it_is_proven(stores: Stores) -> None:
    people = directory(stores)
    one, two = await stores.account("o-1"), await stores.account("o-2")
    await people.prove_phone(one, "13800138000", Proof.CODE)
    assert await asyncio.to_thread(rotate, stores) == 1
    assert [each.id for each in await people.find("13800138000", 5)] == [one.id]
    assert await stores.rows(LINKS) == [(1, 1)]
    assert (await people.prove_phone(two, "+86 138 0013 8000", Proof.CODE)).person == one.person
    assert await stores.rows(LINKS) == [(2, 1)]


async def test_a_second_rotation_waits_for_the_first(stores: Stores) -> None:
    people = directory(stores)
    account = await stores.account("o-1")
    await people.prove_phone(account, "13800138000", Proof.CODE)
    await asyncio.to_thread(rotate, stores)
    with pytest.raises(RejectedInput, match="还有 1 个手机号"):
        await asyncio.to_thread(rotate, stores)
    assert await asyncio.to_thread(lineage.finish_rotation, stores.database.path, 0, 2) == 1
    assert await people.find("13800138000", 5) == ()
    assert await asyncio.to_thread(rotate, stores) == 0


async def test_a_link_made_with_the_old_key_meanwhile_joins_its_person(stores: Stores) -> None:
    """What a process that read the pepper a moment too early leaves."""
    one, two = await stores.account("o-1"), await stores.account("o-2")
    stale = KeysOfFile(PepperFile(stores.database.path.parent)).current()
    await asyncio.to_thread(rotate, stores)
    people = directory(stores)
    owner = await people.prove_phone(one, "13800138000", Proof.CODE)
    await stores.accounts.link_phone(two.id, stale.hash("13800138000"), stale.key_version, "code")
    assert await stores.rows(LINKS) == [(1, 1), (2, 1)]
    await people.prove_phone(one, "13800138000", Proof.CODE)
    joined = await stores.accounts.find_account(two.key)
    assert joined is not None and joined.person == owner.person
    assert await stores.rows(LINKS) == [(2, 1)]


async def test_under_traffic_no_link_is_lost(stores: Stores) -> None:
    """Three processes link and look up while the pepper is replaced three times."""
    numbers = [f"138{number:08}" for number in range(40)]
    accounts = [[await stores.account(f"o-{number}-{device}") for device in range(3)] for number in range(40)]
    processes = [directory(stores) for _ in range(3)]
    order = [(number, device) for number in range(40) for device in range(3)]
    random.Random(7).shuffle(order)
    seen: list[int] = []

    async def link(part: int) -> None:
        for number, device in order[part::6]:
            await processes[part % 3].prove_phone(accounts[number][device], numbers[number], Proof.CODE)
            seen.append(number)

    async def look_up() -> None:
        while len(seen) < len(order):
            for number in set(seen):
                assert await processes[number % 3].find(numbers[number], 5), number
            await asyncio.sleep(0)

    async def replace() -> None:
        for least in (30, 60, 90):
            while len(seen) < least:
                await asyncio.sleep(0)
            with_open = read_peppers(stores.database.path.parent)
            await asyncio.to_thread(force_rotation, stores, with_open.version)

    await asyncio.gather(*map(link, range(6)), look_up(), replace())
    for number in range(40):
        people = {
            found.person
            for each in accounts[number]
            if (found := await stores.accounts.find_account(each.key)) is not None
        }
        assert len(people) == 1, number
        assert len(await processes[0].find(numbers[number], 5)) == 3
    assert read_peppers(stores.database.path.parent).version == 4


def force_rotation(stores: Stores, version: int) -> None:
    """Also while links of the one before wait: an operator would have to wait for them."""
    folder = stores.database.path.parent
    with sqlite3.connect(stores.database.path, timeout=15, isolation_level=None) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert replace_pepper(folder).version == version + 1
        connection.execute("COMMIT")
    connection.close()


async def test_a_backup_from_before_forgets_what_was_forgotten_under_either_key(tmp_path: Path) -> None:
    words = "金丝雀七三一九"
    async with a_house(tmp_path, read_peppers(tmp_path).current) as stage:
        before, after = await stage.arrive("o-before"), await stage.arrive("o-after")
        for account in (before, after):
            await stage.remember(account, f"{words}{account.key.openid}")
        archive = tmp_path / "old.tar.gz"
        await asyncio.to_thread(make_backup, tmp_path, archive, NOW)
        await stage.facts.clear_person(before.person)
        peppers = replace_pepper(tmp_path)
        ledger = ForgetLedger(tmp_path / "forgotten.jsonl", peppers.current, stage.clock, peppers.keys_before)
        await SqlFacts(stage.database, stage.clock, ledger).clear_person(after.person)
    lines = [json.loads(line) for line in (tmp_path / "forgotten.jsonl").read_text().splitlines()]
    assert len({line["key"] for line in lines if "key" in line}) == 2
    alone = ForgetLedger(tmp_path / "forgotten.jsonl", peppers.current, stage.clock)
    with pytest.raises(ConfigurationError, match="另一个 data/pepper"):
        restore(archive, tmp_path, alone, NOW)
    done = restore(archive, tmp_path, ledger, NOW)
    assert done.replay.forgettings == 2 and done.counts["fact"] == 0
    archive.unlink()
    assert traces(tmp_path, words) == set()
    lineage.bind(tmp_path / "jide.db", ledger, pepper_check(peppers.current), peppers.checks_before)


async def test_another_pepper_is_noticed_and_an_heir_is_not(stores: Stores) -> None:
    folder = stores.database.path.parent
    await directory(stores).prove_phone(await stores.account("o-1"), "13800138000", Proof.CODE)
    first = read_peppers(folder)
    ledger = ForgetLedger(folder / "forgotten.jsonl", first.current, stores.clock)
    lineage.bind(stores.database.path, ledger, pepper_check(first.current))
    heir = replace_pepper(folder)
    assert heir.older == ((1, first.current),)
    lineage.bind(stores.database.path, ledger, pepper_check(heir.current), heir.checks_before)
    with pytest.raises(ConfigurationError):
        lineage.bind(stores.database.path, ledger, 5, (6,))


def test_a_crash_between_the_two_files_leaves_one_key(tmp_path: Path) -> None:
    first = read_peppers(tmp_path)
    (tmp_path / "pepper.old").write_text(f"{first.current.hex()} 1\n")
    assert read_peppers(tmp_path) == first
    assert replace_pepper(tmp_path).older == ((1, first.current),)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


async def test_a_stolen_database_yields_no_number(stores: Stores) -> None:
    """A hundred links against the million numbers of one prefix, as a thief would try them."""
    folder = stores.database.path.parent
    hasher = KeysOfFile(PepperFile(folder)).current()
    account = await stores.account("o-1")
    linked = [f"138001{number:05}" for number in range(0, 100_000, 1000)]
    for number in linked:
        await stores.accounts.link_phone(account.id, hasher.hash(number), 1, "code")
    stolen = {bytes(row[0]) for row in await stores.rows("SELECT phone_hash FROM phone_link")}
    assert len(stolen) == 100
    assert hasher.hash(linked[7]) in stolen, "with the pepper it is found"
    guesses = [b"phone:v1:+8613800%06d" % number for number in range(1_000_000)]
    assert b"phone:v1:+86" + linked[7].encode() in guesses
    assert stolen.isdisjoint(hmac.digest(b"", guess, "sha256") for guess in guesses)
    digits = [guess[-11:] for guess in guesses]
    assert stolen.isdisjoint(hashlib.sha256(each).digest() for each in digits)
    assert {each[:16] for each in stolen}.isdisjoint(hashlib.md5(each).digest() for each in digits)
    files = b"".join(path.read_bytes() for path in folder.glob("jide.db*"))
    assert not any(number.encode() in files for number in linked)
