"""Forgetting is provable: the bytes are there before and nowhere after, and others' rows never move."""

import asyncio
import base64
import json
import sqlite3
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from bot.memory.fact import ForgetReceipt
from bot.ports import Confirmation, Delivery, DeliveryState
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.backup import make_backup
from bot.storage.sql.confirmations import SqlConfirmations
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.restoring import restore
from bot.storage.sql.shelves import COVERED_SHELVES, asked
from identity.directory import Directory
from identity.model import Account
from identity.phone import PhoneHasher
from tests.memory_stage import GROUP, MODEL, Stage, open_stage, traces, vector_of, vectors_of

CANARY = "金丝雀七三一九对坚果过敏"
DIMENSION = 384
"""As the embedded model's: BLOBs overflow their pages."""


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as opened:
        yield opened


async def fill(stage: Stage, openid: str, words: str, count: int = 12) -> tuple[int, ...]:
    """A person with a history, in which `words` were said once and quoted twice."""
    account = await stage.arrive(openid)
    ids: list[int] = []
    for number in range(count):
        text = words if number == count // 2 else f"{openid} 的第 {number} 件事"
        turn = await stage.say(account, f"记住{text}", "已记住", consolidate=number % 3 == 0)
        kept = await stage.facts.keep(
            account.scope(""),
            [stage.fact(text)],
            vectors_of([text], DIMENSION),
            MODEL,
            source_turn=turn.id,
        )
        ids += kept
    await stage.say(account, "你记得我什么", f"您说过：{words}", state=DeliveryState.HELD)
    await stage.say(account, f"群里也说{words}", place=GROUP)
    return tuple(ids)


async def test_the_scan_finds_every_form_it_looks_for(tmp_path: Path) -> None:
    vector = vector_of(CANARY, DIMENSION)
    assert traces(tmp_path, CANARY, vector) == set()
    forms = [CANARY.encode(), json.dumps(CANARY).encode(), vector.tobytes()]
    forms += [base64.b64encode(b"xyz"[:shift] + CANARY.encode() + b"!") for shift in range(3)]
    (tmp_path / "leak").write_bytes(b"|".join(forms))
    found = traces(tmp_path, CANARY, vector)
    assert {"utf-8", "escaped", "base64+0", "base64+1", "base64+2", "vector[0]"} <= found


async def test_clearing_leaves_no_byte(stage: Stage) -> None:
    await fill(stage, "other", "别人的话")
    await fill(stage, "a", CANARY)
    await fill(stage, "third", "第三个人的话")
    account = await stage.arrive("a")
    confirmation = Confirmation(action="forget", argument=CANARY, reason="")
    confirmations = SqlConfirmations(stage.database, stage.clock)
    await confirmations.ask(account.id, confirmation, stage.clock.now() + timedelta(minutes=2))
    vector = vector_of(CANARY, DIMENSION)
    before = traces(stage.folder, CANARY, vector)
    assert "utf-8" in before and any(name.startswith("vector") for name in before)

    receipt = await stage.facts.clear_person(account.person)

    assert receipt == ForgetReceipt(facts=12, turns=14, jobs=4, deliveries=14, vectors=12)
    assert traces(stage.folder, CANARY, vector) == set()
    assert traces(stage.folder, "a 的第 3 件事") == set()
    assert traces(stage.folder, "别人的话") == {"utf-8"}
    assert await confirmations.pending(account.id) is None
    assert await stage.facts.clear_person(account.person) == ForgetReceipt()


async def test_forgetting_one_fact_leaves_no_byte_of_it(stage: Stage) -> None:
    await fill(stage, "other", "别人的话")
    ids = await fill(stage, "a", CANARY)
    account = await stage.arrive("a")
    # Said elsewhere, it is another memory: of the group, where only the group's turn holds the words.
    (in_group,) = await stage.facts.keep(
        account.scope(GROUP.place), [stage.fact(CANARY)], None, MODEL, source_turn=None
    )
    vector = vector_of(CANARY, DIMENSION)
    assert traces(stage.folder, CANARY, vector)

    receipt = await stage.facts.forget_facts(account.scope(""), [ids[6]])
    assert receipt == ForgetReceipt(facts=1, turns=2, jobs=1, deliveries=3, vectors=1)
    assert not any(name.startswith("vector") for name in traces(stage.folder, CANARY, vector))
    assert traces(stage.folder, CANARY) == {"utf-8"}
    await stage.facts.forget_facts(account.scope(GROUP.place), [in_group])

    assert traces(stage.folder, CANARY, vector) == set()
    assert traces(stage.folder, "a 的第 3 件事") == {"utf-8"}
    sheet = await stage.facts.vector_sheet(account.scope(""), MODEL, DIMENSION)
    assert sheet.fact_ids.tolist() == [fact_id for fact_id in ids if fact_id != ids[6]]


@pytest.mark.parametrize("seed", [3, 6, 11])
async def test_no_byte_stays_in_the_slack_of_pages(stage: Stage, seed: int) -> None:
    """SQLite moves rows between pages and leaves copies in the unused middle of those they came from;
    with these seeds `secure_delete` and a checkpoint alone leave one to five."""
    people = [await stage.arrive(f"p{number}") for number in range(10)]
    for account in people:
        await stage.remember(account, "第一件事")
    # An earlier forgetting must not serve for the later one.
    await stage.facts.clear_person(people[9].person)
    random = Random(seed)

    def crowd(connection: sqlite3.Connection) -> None:
        for number in range(3000):
            shelf = random.randrange(10) + 1
            text = ("CANARYxyz" if shelf == 3 else "other") + str(random.random()) * random.choice(
                [1, 3, 10, 40]
            )
            connection.execute(
                "INSERT INTO fact (shelf_id, kind, text, importance, said_at, model)"
                " VALUES (?, 'event', ?, 0.5, ?, '')",
                (shelf, text, number),
            )
            if random.random() < 0.3:
                changed = random.randrange(1, number + 2)
                connection.execute("UPDATE fact SET model = 'model-a' WHERE id = ?", (changed,))
            if random.random() < 0.2:
                gone = random.randrange(1, number + 2)
                connection.execute("DELETE FROM fact WHERE id = ? AND shelf_id <> 3", (gone,))

    await stage.database.write(crowd)
    assert "utf-8" in traces(stage.folder, "CANARYxyz")
    await stage.facts.clear_person(people[2].person)
    assert traces(stage.folder, "CANARYxyz") == set()


async def test_forgettings_at_once_all_leave_no_byte(stage: Stage) -> None:
    """They share the rebuilding of the file; none may return on one that began before it."""
    people = [await stage.arrive(f"p{number}") for number in range(8)]
    for account in people:
        await stage.remember(account, f"{CANARY} {account.id}")

    async def clear(account: Account) -> set[str]:
        await stage.facts.clear_person(account.person)
        return traces(stage.folder, f"{CANARY} {account.id}")

    assert await asyncio.gather(*map(clear, people)) == [set()] * 8


async def test_others_rows_stay_as_they_are(stage: Stage) -> None:
    for openid in ("before", "a", "after"):
        await fill(stage, openid, f"{openid} 的话")
    account = await stage.arrive("a")
    own_shelves = {row[0] for row in stage.dump()["shelf"] if row[1] == account.id}
    before = stage.dump()

    ids = [fact.id for fact in (await stage.facts.fact_sheet(account.scope(""))).facts]
    await stage.facts.forget_facts(account.scope(""), ids[:5])
    await stage.facts.clear_person(account.person)

    after = stage.dump()
    inboxes = {row[0] for row in before["inbox"] if row[4] == account.id}
    keys = {row[:3] for row in ((r[1], r[2], r[3]) for r in before["inbox"] if r[0] in inboxes)}
    belongs = {
        "person": lambda row: row[0] == account.person,
        "account": lambda row: row[0] == account.id,
        "inbox": lambda row: row[0] in inboxes,
        "delivery": lambda row: row[0] in inboxes,
        "seal": lambda row: row[:3] in keys,
        "shelf": lambda row: row[0] in own_shelves,
        "seg": lambda row: row[0] >> 20 in own_shelves,
        "turn": lambda row: row[1] in own_shelves,
        "fact": lambda row: row[1] in own_shelves,
        "job": lambda row: row[2] == account.id,
    }
    others = 0
    for table, rows in before.items():
        mine = belongs.get(table, lambda _: False)
        kept = [row for row in rows if not mine(row)]
        assert [row for row in after[table] if not mine(row)] == kept, table
        others += len(kept)
    assert others > 100
    assert [row for row in after["fact"] if belongs["fact"](row)] == []


async def test_the_keys_of_cleared_messages_stay_known(stage: Stage) -> None:
    account = await stage.arrive("a")
    message = stage.message(account, CANARY)
    await stage.inbox.admit(message)
    await stage.inbox.close(1, account=account.id, delivery=None)
    await stage.deliveries.seal("wechat", "wx1", message.key, CANARY.encode(), carries_answer=False)
    await stage.facts.clear_person(account.person)
    assert not (await stage.inbox.admit(message)).is_new
    assert await stage.deliveries.sealed("wechat", "wx1", message.key) == b""


async def test_a_restart_brings_no_cleared_message_back(stage: Stage) -> None:
    account = await stage.arrive("a")
    failed = await stage.inbox.admit(stage.message(account, CANARY))
    await stage.inbox.refuse(failed.inbox_id, f"could not handle {CANARY}")
    waiting = await stage.inbox.admit(stage.message(account, "清除之后说的"))
    await stage.facts.clear_person(account.person)
    assert [each.inbox_id for each in await stage.inbox.unfinished()] == [waiting.inbox_id]
    assert traces(stage.folder, CANARY) == set()


async def test_a_list_of_memories_in_a_reply_is_forgotten_with_them(stage: Stage) -> None:
    account = await stage.arrive("a")
    (kept,) = await stage.remember(account, CANARY)
    listing = await stage.inbox.admit(stage.message(account, "/我的记忆"))
    delivery = Delivery(
        inbox_id=listing.inbox_id,
        pages=("第一页", f"2. {CANARY}"),
        next_page=0,
        state=DeliveryState.HELD,
        decided_by="command",
        at=stage.clock.now(),
    )
    await stage.inbox.close(listing.inbox_id, account=account.id, delivery=delivery)
    assert await stage.facts.forget_facts(account.scope(""), [kept]) == ForgetReceipt(
        facts=1, deliveries=1, vectors=1
    )
    assert traces(stage.folder, CANARY) == set()
    assert await stage.deliveries.oldest_held(account.id) is None


async def test_a_reader_under_way_holds_the_receipt_back(stage: Stage) -> None:
    """While someone still reads the old state, its bytes must stay: so the receipt has to wait."""
    account = await stage.arrive("a")
    await stage.remember(account, CANARY)
    async with stage.database.snapshot() as read:
        await read(COVERED_SHELVES, **asked(account.scope("")))
        clearing = asyncio.ensure_future(stage.facts.clear_person(account.person))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not clearing.done()
    await clearing
    assert traces(stage.folder, CANARY) == set()


async def fill_group(stage: Stage, words: str) -> None:
    """A group in which `words` were said in every way in which words are kept."""
    group = await Directory(stage.accounts, PhoneHasher(b"p" * 32)).group(GROUP)
    for account in (await stage.arrive("a"), await stage.arrive("b"), group):
        for number in range(6):
            text = f"{words} {number}"
            turn = await stage.say(
                account, text, f"听到了{text}", place=GROUP, state=DeliveryState.HELD, consolidate=True
            )
            await stage.remember(
                account, text, place=GROUP, source_turn=turn.id, vectors=vectors_of([words], DIMENSION)
            )
    member = await stage.arrive("a")
    listing = await stage.inbox.admit(stage.message(member, f"/我的记忆 {words}", GROUP))
    pages = Delivery(
        inbox_id=listing.inbox_id,
        pages=("第一页", words),
        next_page=1,
        state=DeliveryState.HELD,
        decided_by="command",
        question=words,
        at=stage.clock.now(),
    )
    await stage.inbox.close(listing.inbox_id, account=member.id, delivery=pages)
    failed = await stage.inbox.admit(stage.message(member, words, GROUP))
    await stage.inbox.refuse(failed.inbox_id, f"could not handle {words}")
    await stage.inbox.admit(stage.message(await stage.arrive("waiting"), words, GROUP))


async def test_clearing_a_group_leaves_no_byte(stage: Stage) -> None:
    await fill(stage, "a", "私下的话")
    await fill_group(stage, CANARY)
    vector = vector_of(CANARY, DIMENSION)
    before = traces(stage.folder, CANARY, vector)
    assert "utf-8" in before and any(name.startswith("vector") for name in before)

    receipt = await stage.facts.clear_place(GROUP.place)

    # One turn of `fill` was said in the group, and its reply was handed over.
    assert receipt == ForgetReceipt(facts=18, turns=19, jobs=18, deliveries=20, vectors=18)
    assert traces(stage.folder, CANARY, vector) == set()
    assert traces(stage.folder, "群里也说私下的话") == set()
    assert traces(stage.folder, "私下的话") == {"utf-8"}
    assert len(await stage.texts((await stage.arrive("a")).scope(""))) == 12


async def test_a_cleared_group_stays_cleared_in_an_older_backup(stage: Stage, tmp_path: Path) -> None:
    ledger = ForgetLedger(stage.folder / "forgotten.jsonl", b"p" * 32, stage.clock)
    facts = SqlFacts(stage.database, stage.clock, ledger)
    await fill(stage, "a", "私下的话")
    await fill_group(stage, CANARY)
    await stage.accounts.set_open((await stage.arrive("a")).id, is_open=True)
    archive = tmp_path / "backup" / "b.tar.gz"
    make_backup(stage.folder, archive, stage.clock.now())
    receipt = await facts.clear_place(GROUP.place)
    assert GROUP.group not in ledger.path.read_text().replace(ledger.place(GROUP.place), "")
    await stage.remember(await stage.refreshed(await stage.arrive("b")), "之后说的", place=GROUP)

    other = tmp_path / "other"
    other.mkdir()
    (other / "forgotten.jsonl").write_bytes(ledger.path.read_bytes())
    restored = restore(
        archive,
        other,
        ForgetLedger(other / "forgotten.jsonl", b"p" * 32, stage.clock),
        stage.clock.now(),
    )

    assert (restored.replay.forgettings, restored.replay.receipt) == (1, receipt)
    assert traces(other, CANARY, vector_of(CANARY, DIMENSION)) == set()
    with sqlite3.connect(other / "jide.db") as connection:
        kept = connection.execute(
            "SELECT place, count(*) FROM fact JOIN shelf ON shelf.id = shelf_id GROUP BY place"
        ).fetchall()
        opened = connection.execute("SELECT count(*) FROM account WHERE is_open").fetchone()
    connection.close()
    assert kept == [("", 12)]
    assert opened == (0,), "who opened their memory may have closed it since"
