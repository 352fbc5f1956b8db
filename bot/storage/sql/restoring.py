"""Restore a backup: checked, migrated, forgotten again and settled aside, then put in place at once.

Invariant: the live database changes in one SQLite transaction, from the old state to one in which the
forget ledger was replayed; whatever fails before or in it leaves the old state. Nobody else has it open.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from bot.conversation.errors import ConfigurationError, RejectedInput, StoreUnavailable
from bot.storage.archive import DATABASE, FILES, Manifest
from bot.storage.forget_ledger import ForgetLedger, sync_folder
from bot.storage.sql.audit import record_within
from bot.storage.sql.backup import FOLDER, verify
from bot.storage.sql.migrating import migrate
from bot.storage.sql.replaying import Replay, replay
from bot.storage.sql.schema import to_ms
from bot.storage.sql.settling import Past, past_of, settle
from bot.storage.sql.snapshot import (
    PAGES,
    Progress,
    check_integrity,
    counts,
    is_damage,
    no_progress,
    opened,
    rebuild,
)

SCRATCH = ".restore-"
"""Before the names of folders in the data folder where a restore works."""
OTHERS_SECONDS = 2.0
"""A command beside us ends by then; a running bot does not."""
BUSY = "机器人或别的 jide 命令正在用这个数据文件夹：先停下再恢复"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore did."""

    manifest: Manifest
    replay: Replay
    counts: Mapping[str, int]
    """Rows by table, after the replay."""
    replaced: tuple[str, ...]
    """The operator's files that were another version before."""
    aside: Path
    """Where those versions, or a damaged database, were moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What the audit will say of it."""

    action: str
    reason: str
    at: int
    """Milliseconds."""


def restore(
    archive: Path,
    data_folder: Path,
    ledger: ForgetLedger,
    now: datetime,
    on_progress: Progress = no_progress,
    *,
    replays: bool = True,
    keep: timedelta | None = None,
) -> Restored:
    """Put a backup in place of the data of a folder. `replays` False leaves the ledger unread. `keep`: how long what
    people left behind stays; None leaves what is overdue to the next start.

    Raises:
        RejectedInput: the archive is damaged or of a newer program; nothing was changed.
        ConfigurationError: the ledger cannot be replayed; nothing was changed.
        StoreUnavailable: somebody uses the data, or the disk is full; the database is as it was.
    """
    if not archive.is_file():
        raise RejectedInput(f"找不到备份文件：{archive}")
    aside = data_folder / FOLDER / f"replaced-{now.astimezone():%Y%m%d-%H%M%S}"
    try:
        data_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (
            sole_owner(data_folder / DATABASE, aside) as live,
            tempfile.TemporaryDirectory(dir=data_folder, prefix=SCRATCH) as scratch,
        ):
            _remove_leftovers(data_folder, Path(scratch))
            manifest = verify(archive, Path(scratch), on_progress)
            staged = Path(scratch) / DATABASE
            past = past_of(live)
            done = prepare(
                staged,
                past,
                lambda copy: (
                    _replayed(copy, ledger, past, None if keep is None else to_ms(now - keep))
                    if replays
                    else Replay()
                ),
                Note(action="restore", reason=manifest.made_at, at=to_ms(now)),
                on_progress,
            )
            rows = put_in_place(staged, live, Path(scratch) / "old.db", on_progress)
            replaced = _put_files(Path(scratch) / FILES, data_folder, aside)
    except OSError as error:
        raise StoreUnavailable(f"{error.strerror}：检查剩余空间和权限") from error
    return Restored(manifest=manifest, replay=done, counts=rows, replaced=replaced, aside=aside)


@contextmanager
def sole_owner(database: Path, aside: Path, busy: str = BUSY) -> Generator[sqlite3.Connection]:
    """The live database, locked against every other connection; made where there is none.

    Leaving WAL mode needs the file alone: SQLite refuses while another process has it open, on every
    platform and without a lock file that a crash would leave behind.
    """
    try:
        live = _lock(database)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise StoreUnavailable(busy if _is_busy(error) else f"SQLite: {error}") from error
        # Damaged: why one restores. It goes aside whole, with its log.
        aside.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in (database, *(database.with_name(f"{database.name}{tail}") for tail in ("-wal", "-shm"))):
            if path.exists():
                path.replace(aside / path.name)
        live = _lock(database)
    try:
        yield live
    finally:
        live.close()


def _lock(database: Path) -> sqlite3.Connection:
    live = sqlite3.connect(database, isolation_level=None, timeout=OTHERS_SECONDS)
    try:
        live.execute("PRAGMA secure_delete = ON").fetchall()
        live.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        live.execute("PRAGMA journal_mode = DELETE").fetchall()
        live.execute("PRAGMA synchronous = FULL").fetchall()
        live.execute("BEGIN EXCLUSIVE")
        live.execute("COMMIT")  # the mode keeps the lock
        database.chmod(0o600)
    except BaseException:
        live.close()
        raise
    return live


def prepare(
    staged: Path,
    past: Past,
    forget: Callable[[sqlite3.Connection], Replay],
    note: Note,
    on_progress: Progress,
) -> Replay:
    """Everything that changes the copy before anybody may see it. `forget` replays within a transaction."""
    on_progress("升级、重放忘记账本", 0, 1)
    with opened(staged) as copy:
        try:
            migrate(copy)
        except ConfigurationError as error:
            raise RejectedInput(f"不能恢复：{error.problem}。{error.fix}") from error
        copy.execute("PRAGMA foreign_keys = ON").fetchall()
        copy.execute("BEGIN IMMEDIATE")
        settle(copy, past)
        done = forget(copy)
        record_within(
            copy,
            at=note.at,
            actor=None,
            action=note.action,
            subject=None,
            reason=note.reason,
            detail=f"replayed={done.entries} facts={done.receipt.facts} turns={done.receipt.turns}"
            f" left={done.left} parted={done.parted} parked={done.parked}",
        )
        copy.execute("COMMIT")
        rebuild(copy)
        check_integrity(copy, "备份")
    on_progress("升级、重放忘记账本", 1, 1)
    return done


def _replayed(copy: sqlite3.Connection, ledger: ForgetLedger, past: Past, overdue_at: int | None) -> Replay:
    return replay(copy, ledger, past.forgotten, is_last_sure=past.is_lost, overdue_at=overdue_at)


def put_in_place(staged: Path, live: sqlite3.Connection, old: Path, on_progress: Progress) -> dict[str, int]:
    """One transaction of the live file; the old state is kept beside it until the new one was checked."""
    with opened(old) as kept, opened(staged) as source:
        live.backup(kept)
        source.backup(
            live,
            pages=PAGES,
            progress=lambda _, left, total: on_progress("写入", total - left, total),
        )
        try:
            check_integrity(live, DATABASE)
            rows = counts(live)
            if rows != counts(source):
                raise RejectedInput("写入后行数不符")
        except (RejectedInput, sqlite3.Error):
            kept.backup(live)
            raise
    return rows


def _put_files(unpacked: Path, data_folder: Path, aside: Path) -> tuple[str, ...]:
    """The operator's files, each at once; versions that differ are moved aside, not lost."""
    replaced: list[str] = []
    for path in sorted(unpacked.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(unpacked)
        target = data_folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_file():
            if target.read_bytes() == path.read_bytes():
                continue
            (aside / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy2(target, aside / name)
            replaced.append(name.as_posix())
        path.replace(target)
        sync_folder(target.parent)
    return tuple(replaced)


def _remove_leftovers(data_folder: Path, ours: Path) -> None:
    """Of a restore that was killed: its old state is the live one, by SQLite's own rollback."""
    for path in data_folder.glob(f"{SCRATCH}*"):
        if path != ours:
            shutil.rmtree(path, ignore_errors=True)


def _is_busy(error: sqlite3.Error) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0) or 0
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
