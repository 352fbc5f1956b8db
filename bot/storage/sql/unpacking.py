"""Unpack a bundle into a data folder: looked at aside as a whole, then put in place.

Invariant: until the database changes, in one SQLite transaction and as the last thing, everything can be put
back, and is: here where something fails, else by the next `jide unpack`; a bot does not start in between. What was
there before stays in a folder of its own.
"""

import os
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from bot.conversation.errors import RejectedInput, StoreUnavailable
from bot.moving.header import Seal
from bot.storage.archive import DATABASE, FILES, Manifest
from bot.storage.forget_ledger import ForgetLedger, sync_folder
from bot.storage.ledger_lines import Forgetting
from bot.storage.ledger_merging import dump, merge
from bot.storage.sql.backup import AUTOMATIC, FOLDER
from bot.storage.sql.half_placed import (
    JOURNAL,
    NAMES,
    OLD,
    SCRATCH,
    Journal,
    begin,
    sync_files,
    undo,
    undo_interrupted,
)
from bot.storage.sql.packing import LEDGER, SECRET_FILES, SECRETS, read_bundle
from bot.storage.sql.replaying import Replay, replay
from bot.storage.sql.restoring import Note, prepare, put_in_place, sole_owner
from bot.storage.sql.schema import to_ms
from bot.storage.sql.settling import Past, past_of
from bot.storage.sql.snapshot import Progress, opened
from bot.storage.sql.stamps import FORGOTTEN, UNPACKED, read_stamp, write_stamp

BUSY = "机器人或别的 jide 命令正在用这个数据文件夹：先停下再解开"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A finished unpacking."""

    counts: dict[str, int]
    replay: Replay
    aside: Path | None
    """Where what was there before is now."""


def occupants(data_folder: Path, live: sqlite3.Connection | None = None) -> tuple[str, ...]:
    """What of a bot is in a folder. A ledger alone is none: it is put there to be heeded.

    `live`: the database, for who has it locked. Raises StoreUnavailable.
    """
    found = [] if _is_blank(data_folder / DATABASE, live) else [DATABASE]
    return (*found, *(name for name in NAMES if name != LEDGER and os.path.lexists(data_folder / name)))


@contextmanager
def unpacked(
    bundle: Path, seal: Seal, data_folder: Path, now: datetime, on_progress: Progress, *, overwrites: bool
) -> Generator["Stage"]:
    """A bundle, read and checked whole, in a folder aside; nobody else has the data open.

    Raises RejectedInput, ConfigurationError or StoreUnavailable: nothing was changed.
    """
    aside = _aside(data_folder, now)
    with _settled(data_folder, aside) as live:
        if (found := occupants(data_folder, live)) and not overwrites:
            raise RejectedInput(f"{data_folder} 不是空的，里面有 {'、'.join(found)}")
        with _scratch(data_folder) as scratch, bundle.open("rb") as file:
            manifest = read_bundle(file, seal, scratch, on_progress)
            yield Stage(
                manifest=manifest,
                scratch=scratch,
                data_folder=data_folder,
                aside=aside,
                live=live,
                past=past_of(live),
                now=now,
            )


def settle_interrupted(data_folder: Path, now: datetime) -> None:
    """What killed unpackings left is undone, as by the next one. Raises StoreUnavailable."""
    if any(data_folder.glob(f"{SCRATCH}*")):
        with _settled(data_folder, _aside(data_folder, now)):
            pass


def _aside(data_folder: Path, now: datetime) -> Path:
    return data_folder / FOLDER / f"{AUTOMATIC}unpack-{now.astimezone():%Y%m%d-%H%M%S}"


@contextmanager
def _settled(data_folder: Path, aside: Path) -> Generator[sqlite3.Connection]:
    """The database, which nobody else has open, with nothing left of killed unpackings."""
    live_path = data_folder / DATABASE
    try:
        data_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with sole_owner(live_path, aside, BUSY) as live:
            undo_interrupted(data_folder, live)
            yield live
    except OSError as error:
        raise StoreUnavailable(f"{error.strerror}：检查剩余空间和权限") from error
    finally:
        _remove_blank(live_path)
        _put_back_damaged(live_path, aside)


@contextmanager
def _scratch(data_folder: Path) -> Generator[Path]:
    """Stays where something could not be put back: the next one tries again."""
    scratch = Path(tempfile.mkdtemp(dir=data_folder, prefix=SCRATCH))
    try:
        yield scratch
    finally:
        if not (scratch / JOURNAL).exists():
            shutil.rmtree(scratch, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A bundle aside, before it is put in place."""

    manifest: Manifest
    scratch: Path
    data_folder: Path
    aside: Path
    live: sqlite3.Connection
    past: Past
    now: datetime

    @property
    def database(self) -> Path:
        return self.scratch / DATABASE

    @property
    def secrets(self) -> Path:
        return self.scratch / SECRETS

    def merge_ledgers(self, ledger: ForgetLedger, theirs: ForgetLedger) -> tuple[Forgetting, ...]:
        """Also what was forgotten in the data folder stays forgotten. Returns that.

        `ledger`: of the bundle, in `secrets`. Raises ConfigurationError for a damaged one.
        """
        with opened(self.database) as copy:
            held = read_stamp(copy, FORGOTTEN) or 0
            merged = merge(
                ledger.read(), held, theirs.read(), None if self.past.is_lost else self.past.forgotten
            )
            if merged.held != held:
                write_stamp(copy, FORGOTTEN, merged.held)
        if merged.content.forgettings:
            ledger.path.write_bytes(dump(merged.content))
        return merged.added

    def place(self, ledger: ForgetLedger, on_progress: Progress) -> Placed:
        """Migrate, forget, settle, and put everything in place. Raises as `unpacked`."""
        nonce = secrets.randbits(56)

        def forget(copy: sqlite3.Connection) -> Replay:
            write_stamp(copy, UNPACKED, nonce)
            return replay(copy, ledger)

        # The bot it comes from may have gone on, so ids and epochs leap as where the state before is lost.
        past = replace(self.past, is_lost=True)
        note = Note(action="unpack", reason=self.manifest.made_at, at=to_ms(self.now))
        done = prepare(self.database, past, forget, note, on_progress)
        brought = self._brought()
        sync_files(brought.values())
        had = tuple(name for name in NAMES if os.path.lexists(self.data_folder / name))
        if had or not self.past.is_lost:
            self.aside.mkdir(mode=0o700, parents=True, exist_ok=True)
        old = (self.scratch if self.past.is_lost else self.aside) / OLD
        journal = Journal(nonce=nonce, aside=self.aside.relative_to(self.data_folder).as_posix(), had=had)
        begin(self.scratch / JOURNAL, journal)
        try:
            self._move(had, brought)
            rows = put_in_place(self.database, self.live, old, on_progress)
        except BaseException:
            undo(self.data_folder, journal)
            (self.scratch / JOURNAL).unlink()
            raise
        (self.scratch / JOURNAL).unlink()
        if not self.past.is_lost:
            old.rename(self.aside / DATABASE)
        return Placed(counts=rows, replay=done, aside=self.aside if self.aside.exists() else None)

    def _brought(self) -> dict[str, Path]:
        """Of `NAMES`, what the bundle has."""
        folders = {name: self.secrets if name in SECRET_FILES else self.scratch / FILES for name in NAMES}
        return {name: folder / name for name, folder in folders.items() if (folder / name).exists()}

    def _move(self, had: tuple[str, ...], brought: dict[str, Path]) -> None:
        for name in had:
            (self.data_folder / name).rename(self.aside / name)
        for name, path in brought.items():
            if name in SECRET_FILES:
                path.chmod(0o600)
            path.rename(self.data_folder / name)
        sync_folder(self.data_folder)


def _is_blank(database: Path, live: sqlite3.Connection | None = None) -> bool:
    """There is none, or one that was only made to be locked."""
    if live is not None:
        return live.execute("SELECT 1 FROM sqlite_master").fetchone() is None
    if not database.is_file():
        return True
    try:
        with opened(database) as connection:
            return _is_blank(database, connection)
    except RejectedInput:
        return False  # damaged


def _remove_blank(database: Path) -> None:
    with suppress(OSError, StoreUnavailable):
        if database.is_file() and _is_blank(database):
            database.unlink()


def _put_back_damaged(database: Path, aside: Path) -> None:
    """What was moved aside to be locked, where nothing came in its place."""
    if database.exists() or not (aside / database.name).exists():
        return
    with suppress(OSError):
        for path in aside.glob(f"{database.name}*"):
            path.rename(database.with_name(path.name))
        aside.rmdir()
