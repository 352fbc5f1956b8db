"""Backups are whole, restores are at once, and what was forgotten stays forgotten."""

import asyncio
import gzip
import json
import shutil
import sqlite3
import tarfile
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from bot.conversation.errors import ConfigurationError, RejectedInput, StoreUnavailable
from bot.ports import DeliveryState
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import backup as backups
from bot.storage.sql import migrating
from bot.storage.sql.backup import make_backup
from bot.storage.sql.database import Database
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.lineage import bind
from bot.storage.sql.restoring import Restored, restore
from tests.memory_stage import DIMENSION, GROUP, MODEL, Stage, open_stage, traces, vector_of

PEPPER = b"p" * 32
CHECK = 7
CANARY = "金丝雀七三一九对坚果过敏"
OF_ACCOUNTS = ("files/accounts/wx1/secret", "files/accounts/persona.md", "files/accounts/a/b/persona.md")
"""No personas of single accounts, though they stand beside them."""
STARTS = count()
"""Of the message keys of each start, which no other start used."""
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@asynccontextmanager
async def a_house(folder: Path, pepper: bytes = PEPPER) -> AsyncGenerator[Stage]:
    """A data folder as the running bot has it: stores, ledger, bound to each other."""
    async with open_stage(folder) as stage:
        ledger = ForgetLedger(folder / "forgotten.jsonl", pepper, stage.clock)
        stage.facts = SqlFacts(stage.database, stage.clock, ledger)
        stage.count = 1000 * next(STARTS)
        bind(stage.database.path, ledger, CHECK)
        yield stage


def put_back(archive: Path, folder: Path, pepper: bytes = PEPPER, *, replays: bool = True) -> Restored:
    ledger = ForgetLedger(folder / "forgotten.jsonl", pepper, NoonClock())
    return restore(archive, folder, ledger, NOW, replays=replays)


class NoonClock:
    def now(self) -> datetime:
        return NOW


def damaged(zipped: bytes, at: float) -> bytes:
    """One byte changed at this share of the file, or at the next one that matters.

    About one in eighty does not: a copy within a run of zeros may come from anywhere in the run.
    """
    content = gzip.decompress(zipped)
    for position in range(int(len(zipped) * at), len(zipped)):
        changed = bytearray(zipped)
        changed[position] ^= 0x55
        if unpacked(changed) != content:
            return bytes(changed)
    raise AssertionError("no byte matters")


def unpacked(zipped: bytearray) -> bytes | None:
    try:
        return gzip.decompress(zipped)
    except (gzip.BadGzipFile, zlib.error, EOFError):
        return None


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as connection:
        found = connection.execute(sql).fetchall()
    connection.close()
    return found


async def live_in(stage: Stage, openid: str = "a", words: str = CANARY) -> None:
    """A person who said something, of which a fact was kept."""
    account = await stage.arrive(openid)
    turn = await stage.say(account, f"记住{words}", "已记住", consolidate=True)
    await stage.remember(account, words, f"{openid} 的另一件事", source_turn=turn.id)
    await stage.say(account, "你记得什么", f"您说过：{words}", state=DeliveryState.HELD)
    await stage.say(account, f"群里也说{words}", place=GROUP)


async def test_a_backup_under_load_restores_with_equal_counts(tmp_path: Path) -> None:
    folder, archive = tmp_path / "数据 一", tmp_path / "备份.tar.gz"
    folder.mkdir()
    (folder / "faq.yaml").write_text("- patterns: 退款\n  answer: 七天内\n", "utf-8")
    (folder / "prompts").mkdir()
    (folder / "prompts" / "answer.md").write_text("答", "utf-8")
    for secret in ("pepper", "jide.env", "tryout.json"):
        (folder / secret).write_text("SECRET-VALUE", "utf-8")
    async with a_house(folder) as stage:
        people = [await stage.arrive(f"p{number}") for number in range(8)]
        done = asyncio.Event()
        written = commits = 0

        async def write(number: int) -> None:
            nonlocal written, commits
            while not done.is_set():
                written += 1
                turn = await stage.say(people[number], f"第 {written} 句", consolidate=True)
                commits += 1
                await stage.remember(people[number], f"事 {number}-{written}", source_turn=turn.id)
                commits += 1

        writers = [asyncio.create_task(write(number)) for number in range(8)]
        while written < 200:
            await asyncio.sleep(0)
        before = commits
        manifest = await asyncio.to_thread(make_backup, folder, archive, NOW)
        after = commits
        done.set()
        await asyncio.gather(*writers)
    assert after > before, "the bot went on meanwhile"
    assert manifest.counts["turn"] >= 150
    assert set(manifest.parts) == {"jide.db", "files/faq.yaml", "files/prompts/answer.md"}
    with tarfile.open(archive) as tar:
        assert not any(b"SECRET-VALUE" in tar.extractfile(member).read() for member in tar)  # type: ignore[union-attr]
    assert archive.stat().st_mode & 0o077 == 0

    other = tmp_path / "另一台"
    restored = await asyncio.to_thread(put_back, archive, other)
    assert dict(restored.counts) == {**manifest.counts, "audit": manifest.counts["audit"] + 1}
    assert rows(other / "jide.db", "SELECT action, subject_person FROM audit") == [("restore", None)]
    assert (other / "faq.yaml").read_text("utf-8").startswith("- patterns")
    async with a_house(other) as stage:
        for number, person in enumerate(people):
            account = await stage.refreshed(person)
            texts = await stage.texts(account.scope(""))
            assert texts and all(text.startswith(f"事 {number}-") for text in texts)
            sheet = await stage.facts.vector_sheet(account.scope(""), MODEL, DIMENSION)
            assert len(sheet.fact_ids) == len(texts)
    assert [path.name for path in tmp_path.glob(".*")] == []


async def test_what_was_cleared_stays_cleared(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
        await live_in(stage, "other", "别人的话")
        make_backup(folder, archive, NOW)
        account = await stage.arrive("a")
        await stage.facts.clear_person(account.person)
        await stage.remember(await stage.refreshed(account), "后来说的")
    restored = put_back(archive, folder)
    assert restored.replay.forgettings == 1
    assert (restored.replay.receipt.facts, restored.replay.receipt.turns) == (2, 3)
    assert traces(folder, CANARY, vector_of(CANARY)) == set()
    assert traces(folder, "别人的话") == {"utf-8"}
    async with a_house(folder) as stage:
        account = await stage.arrive("a")
        assert await stage.texts(account.scope("")) == []
        other = await stage.arrive("other")
        assert await stage.texts(other.scope("")) == ["别人的话", "other 的另一件事"]
    again = put_back(archive, folder)
    assert again.replay.forgettings == 1, "the backup is still the old one"


async def test_a_forgotten_fact_stays_forgotten_and_the_rest_comes_back(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
        make_backup(folder, archive, NOW)
        account = await stage.arrive("a")
        fact = (await stage.facts.fact_sheet(account.scope(""))).facts[0]
        assert fact.text == CANARY
        await stage.facts.forget_facts(account.scope(""), [fact.id])
    restored = put_back(archive, folder)
    assert restored.replay.receipt.facts == 1
    async with a_house(folder) as stage:
        account = await stage.arrive("a")
        assert await stage.texts(account.scope("")) == ["a 的另一件事"]
        group = rows(folder / "jide.db", "SELECT question FROM turn")
        assert group == [(f"群里也说{CANARY}",)], "said elsewhere: another memory, as when it was forgotten"
        sheet = await stage.facts.vector_sheet(account.scope(""), MODEL, DIMENSION)
        assert len(sheet.fact_ids) == 1


async def test_a_turn_whose_fact_was_kept_and_forgotten_after_the_backup_does_not_bring_it_back(
    tmp_path: Path,
) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        account = await stage.arrive("a")
        turn = await stage.say(account, f"记住{CANARY}", "好的", consolidate=True)
        make_backup(folder, archive, NOW)
        (fact,) = await stage.remember(account, CANARY, source_turn=turn.id)
        await stage.facts.forget_facts(account.scope(""), [fact])
    put_back(archive, folder)
    assert traces(folder, CANARY) == set()
    assert rows(folder / "jide.db", "SELECT count(*) FROM job") == [(0,)]


async def test_what_was_said_again_after_the_forgetting_is_kept_in_a_later_backup(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
        account = await stage.arrive("a")
        await stage.facts.clear_person(account.person)
        account = await stage.refreshed(account)
        await stage.remember(account, CANARY)
        make_backup(folder, archive, NOW)
    restored = put_back(archive, folder)
    assert restored.replay.forgettings == 0
    async with a_house(folder) as stage:
        account = await stage.arrive("a")
        assert await stage.texts(account.scope("")) == [CANARY]


async def test_ids_given_out_again_do_not_confuse_the_ledger(tmp_path: Path) -> None:
    """The account that was cleared has in the older timeline no row: its number goes to somebody else."""
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage, "first", "第一个人的话")
        make_backup(folder, archive, NOW)
        late = await stage.arrive("late")
        await stage.facts.clear_person(late.person)
    put_back(archive, folder)
    async with a_house(folder) as stage:
        newcomer = await stage.arrive("newcomer")
        assert newcomer.person > late.person and newcomer.id > late.id, "caches and exports name rows by id"
        await live_in(stage, "newcomer", "新来的话")
        make_backup(folder, tmp_path / "c.tar.gz", NOW)
    assert put_back(tmp_path / "c.tar.gz", folder).replay.forgettings == 0
    assert traces(folder, "新来的话") and traces(folder, "第一个人的话")


async def test_a_forgetting_that_failed_to_commit_is_not_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person was told that it did not work, and went on talking."""
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
        account = await stage.arrive("a")

        def fail(*_: object, **__: object) -> None:
            raise sqlite3.OperationalError("disk full")

        with monkeypatch.context() as patched:
            patched.setattr("bot.storage.sql.forgetting.clear_accounts", fail)
            with pytest.raises(sqlite3.OperationalError):
                await stage.facts.clear_person(account.person)
        lines = (folder / "forgotten.jsonl").read_text().splitlines()
        assert len(lines) == 1 and json.loads(lines[0])["n"] == 1
        make_backup(folder, archive, NOW)
        other = await stage.arrive("other")
        await stage.facts.clear_person(other.person)
    assert put_back(archive, folder).replay.forgettings == 1
    assert traces(folder, CANARY)


async def test_where_the_database_is_lost_the_last_line_counts(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
        make_backup(folder, archive, NOW)
        account = await stage.arrive("a")
        await stage.facts.clear_person(account.person)
    ledger = folder / "forgotten.jsonl"
    ledger.write_text(ledger.read_text().splitlines()[0] + "\n")  # killed before it was noted as done
    (folder / "jide.db").write_bytes(b"no database at all" * 1000)
    restored = put_back(archive, folder)
    assert restored.replay.forgettings == 1
    assert traces(folder, CANARY) == set()
    assert (restored.aside / "jide.db").read_bytes().startswith(b"no database")


async def test_a_file_put_back_by_hand_is_noticed_at_the_start(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with a_house(folder) as stage:
        await live_in(stage)
    shutil.copy(folder / "jide.db", tmp_path / "by-hand.db")
    async with a_house(folder) as stage:
        account = await stage.arrive("a")
        await stage.facts.clear_person(account.person)
    shutil.copy(tmp_path / "by-hand.db", folder / "jide.db")
    async with a_house(folder) as stage:
        account = await stage.arrive("a")
        assert await stage.texts(account.scope("")) == []
        assert traces(folder, CANARY, vector_of(CANARY)) == set()


async def test_nothing_of_the_past_is_said_again(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        account = await stage.arrive("a")
        await stage.inbox.admit(stage.message(account, "还没回答的话"))
        await stage.say(account, "问", "还没送到的话", state=DeliveryState.HELD)
        make_backup(folder, archive, NOW)
        epoch = (await stage.refreshed(account)).epoch
    put_back(archive, folder)
    async with a_house(folder) as stage:
        assert await stage.inbox.unfinished() == ()
        assert await stage.inbox.undelivered() == ()
        held = await stage.deliveries.oldest_held((await stage.refreshed(account)).id)
        assert held is not None and held.pages == ("还没送到的话",)
        assert (await stage.refreshed(account)).epoch > epoch, "no cached window of before is read"


async def test_a_restore_waits_for_nobody(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
        make_backup(folder, archive, NOW)
        with pytest.raises(StoreUnavailable, match="先停下再恢复"):
            await asyncio.to_thread(put_back, archive, folder)
        await stage.remember(await stage.arrive("a"), "照常")
    assert put_back(archive, folder).counts["fact"] == 2


async def test_a_restore_that_fails_at_the_end_leaves_the_old_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
        make_backup(folder, archive, NOW)
        await live_in(stage, "later", "后来的")
    before = rows(folder / "jide.db", "SELECT * FROM fact")
    with monkeypatch.context() as patched:
        patched.setattr("bot.storage.sql.restoring.counts", lambda _: object())
        with pytest.raises(RejectedInput, match="行数不符"):
            put_back(archive, folder)
    assert rows(folder / "jide.db", "SELECT * FROM fact") == before
    assert not list(folder.glob(".restore*"))
    (folder / ".restore-killed").mkdir()
    put_back(archive, folder)
    assert not list(folder.glob(".restore*"))
    assert rows(folder / "jide.db", "SELECT * FROM fact") != before


async def test_a_newer_schema_is_refused_and_the_data_stays(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
    before = rows(folder / "jide.db", "SELECT * FROM fact")
    shutil.copytree(folder, tmp_path / "newer")
    with sqlite3.connect(tmp_path / "newer" / "jide.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    make_backup(tmp_path / "newer", archive, NOW)
    with pytest.raises(RejectedInput, match="更新版本的程序写成（版本 9999"):
        put_back(archive, folder)
    assert rows(folder / "jide.db", "SELECT * FROM fact") == before
    assert not list(folder.glob(".restore*"))


@pytest.mark.parametrize("at", [0.02, 0.3, 0.6, 0.9])
async def test_a_damaged_backup_is_refused_and_the_data_stays(tmp_path: Path, at: float) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
    make_backup(folder, archive, NOW)
    whole = archive.read_bytes()
    archive.write_bytes(damaged(whole, at))
    before = rows(folder / "jide.db", "SELECT * FROM fact")
    with pytest.raises(RejectedInput):
        put_back(archive, folder)
    archive.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RejectedInput):
        put_back(archive, folder)
    assert rows(folder / "jide.db", "SELECT * FROM fact") == before


@pytest.mark.parametrize("place", ["manifest", "padding", "behind"])
async def test_damage_that_no_file_shows_is_refused(tmp_path: Path, place: str) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
    make_backup(folder, archive, NOW)
    zipped = archive.read_bytes()
    raw = bytearray(gzip.decompress(zipped))
    match place:
        case "manifest":
            made = raw.index(NOW.strftime("%Y-").encode())
            raw[made + 3] ^= 1
        case "padding":
            raw[-1] ^= 1
        case _:
            raw += bytes(2 * tarfile.RECORDSIZE)
    # The bits differ, the checksum over all is that of what was written.
    archive.write_bytes(gzip.compress(raw)[:-8] + zipped[-8:])
    with pytest.raises(RejectedInput):
        put_back(archive, folder)


async def test_an_archive_cannot_write_outside_the_folder(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
    manifest = make_backup(folder, archive, NOW)
    for name in ("../evil", "files/../../evil", "/tmp/evil", "files/pepper", "files/jide.env", *OF_ACCOUNTS):
        forged = tmp_path / "forged.tar.gz"
        with tarfile.open(archive) as source, tarfile.open(forged, "w:gz") as target:
            for member in source:
                content = source.extractfile(member)
                assert content is not None
                raw = content.read()
                if member.name == "manifest.json":
                    fields = json.loads(raw)
                    fields["parts"] = {name: fields["parts"]["jide.db"], **fields["parts"]}
                    raw = json.dumps(fields).encode()
                    member.size = len(raw)
                _put(target, member.name, raw)
                if member.name == "jide.db":
                    _put(target, name, raw)
        with pytest.raises(RejectedInput, match="不该有的文件"):
            put_back(forged, folder)
    assert not (tmp_path / "evil").exists() and not (folder / "pepper").exists()
    assert manifest.revision == migrating.HEAD


def _put(target: tarfile.TarFile, name: str, raw: bytes) -> None:
    import io

    member = tarfile.TarInfo(name)
    member.size = len(raw)
    target.addfile(member, io.BytesIO(raw))


async def test_another_pepper_cannot_replay(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
        make_backup(folder, archive, NOW)
        account = await stage.arrive("a")
        await stage.facts.clear_person(account.person)
    with pytest.raises(ConfigurationError, match="另一个 data/pepper"):
        put_back(archive, folder, b"q" * 32)
    assert traces(folder, CANARY) == set()
    assert put_back(archive, folder, b"q" * 32, replays=False).replay.forgettings == 0


async def test_operators_files_that_differ_are_moved_aside(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
    (folder / "persona.md").write_text("# 旧", "utf-8")
    (folder / "faq.yaml").write_text("[]", "utf-8")
    make_backup(folder, archive, NOW)
    (folder / "persona.md").write_text("# 新", "utf-8")
    restored = put_back(archive, folder)
    assert restored.replaced == ("persona.md",)
    assert (folder / "persona.md").read_text("utf-8") == "# 旧"
    assert (restored.aside / "persona.md").read_text("utf-8") == "# 新"


async def test_personas_of_single_accounts_are_kept_and_put_back(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    async with a_house(folder) as stage:
        await live_in(stage)
    shop, school = folder / "accounts" / "wxshop", folder / "accounts" / "wxschool"
    for own in (shop, school):
        own.mkdir(parents=True)
        (own / "persona.md").write_text(f"# {own.name} 旧", "utf-8")
    (shop / "app_secret.txt").write_text("SECRET-VALUE", "utf-8")
    (folder / "accounts" / "notes.md").write_text("SECRET-VALUE", "utf-8")
    manifest = make_backup(folder, archive, NOW)
    kept = {name for name in manifest.parts if name.startswith("files/accounts/")}
    assert kept == {"files/accounts/wxschool/persona.md", "files/accounts/wxshop/persona.md"}
    (shop / "persona.md").write_text("# wxshop 新", "utf-8")
    shutil.rmtree(school)
    restored = put_back(archive, folder)
    assert restored.replaced == ("accounts/wxshop/persona.md",)
    assert (shop / "persona.md").read_text("utf-8") == "# wxshop 旧"
    assert (school / "persona.md").read_text("utf-8") == "# wxschool 旧"
    assert (restored.aside / "accounts" / "wxshop" / "persona.md").read_text("utf-8") == "# wxshop 新"
    assert (shop / "app_secret.txt").read_text("utf-8") == "SECRET-VALUE"


async def test_a_migration_is_preceded_by_a_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    async with a_house(folder) as stage:
        await live_in(stage)
    assert not list((folder / "backups").glob("*")), "a new file needs none"
    stored = migrating.HEAD
    monkeypatch.setattr(migrating, "HEAD", "later")
    Database(folder / "jide.db").prepare()
    (archive,) = (folder / "backups").glob(f"before-{stored}-*.tar.gz")
    monkeypatch.undo()
    assert put_back(archive, tmp_path / "other").counts["fact"] == 2

    monkeypatch.setattr(backups, "AUTOMATIC_KEPT", timedelta(0))
    backups.prune_automatic(folder)
    assert not archive.exists()


async def test_no_backup_no_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    async with a_house(folder) as stage:
        await live_in(stage)
    (folder / "backups").write_text("in the way")
    monkeypatch.setattr(migrating, "HEAD", "later")
    with pytest.raises(StoreUnavailable, match="写不成"):
        Database(folder / "jide.db").prepare()


async def test_a_backup_never_overwrites(tmp_path: Path) -> None:
    folder, archive = tmp_path / "data", tmp_path / "b.tar.gz"
    with pytest.raises(RejectedInput, match="还没有数据"):
        make_backup(folder, archive, NOW)
    async with a_house(folder) as stage:
        await live_in(stage)
    archive.write_text("mine")
    with pytest.raises(RejectedInput, match="已经存在"):
        make_backup(folder, archive, NOW)
    assert archive.read_text() == "mine"
