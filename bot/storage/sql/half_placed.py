"""What an unpacking notes while it puts names in place, and how it is undone where it was killed.

Invariant: may itself be killed at any point, and begun again; nothing is undone where the database did change.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from bot.conversation.errors import ConfigurationError
from bot.storage.archive import DATABASE, OPERATOR_FILES
from bot.storage.forget_ledger import sync_folder
from bot.storage.sql.packing import SECRET_FILES
from bot.storage.sql.snapshot import opened
from bot.storage.sql.stamps import UNPACKED, read_stamp

SCRATCH = ".unpack-"
JOURNAL = "placing.json"
"""In the scratch folder, while names are being moved."""
OLD = "old.db"
"""The database that was there, until the other one is in its place."""
NAMES = (*SECRET_FILES, *OPERATOR_FILES)
"""Of the data folder: what a bundle brings, and what it replaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """What has to be undone where the database did not come by this unpacking."""

    nonce: int
    aside: str
    """Where what was there goes, from the data folder."""
    had: tuple[str, ...]
    """Those of `NAMES` that were there."""


def refuse_half_unpacked(data_folder: Path) -> None:
    """Raises ConfigurationError where an unpacking was interrupted while it put things in place."""
    if any(data_folder.glob(f"{SCRATCH}*/{JOURNAL}")):
        raise ConfigurationError(
            str(data_folder), "上一次 jide unpack 中断在半路", "再执行一次 jide unpack，它会先把原来的放回来"
        )


def remove_leftovers(data_folder: Path) -> None:
    """Of unpackings that were killed before they put anything in place: all the secrets of the bundle are in it.

    Raises StoreUnavailable where one is under way.
    """
    leftovers = [each for each in data_folder.glob(f"{SCRATCH}*") if not (each / JOURNAL).exists()]
    if not leftovers:
        return
    with opened(data_folder / DATABASE) as connection:
        connection.execute("BEGIN")
        connection.execute(
            "SELECT 1 FROM sqlite_master"
        ).fetchall()  # as long as that is read, no other begins
        for each in leftovers:
            shutil.rmtree(each, ignore_errors=True)


def undo_interrupted(data_folder: Path, live: sqlite3.Connection) -> None:
    """What killed unpackings left: nothing of theirs stays, but where the database did change."""
    for scratch in data_folder.glob(f"{SCRATCH}*"):
        with suppress(FileNotFoundError):
            fields = json.loads((scratch / JOURNAL).read_text("utf-8"))
            journal = Journal(nonce=fields["nonce"], aside=fields["aside"], had=tuple(fields["had"]))
            if _nonce_of(live) != journal.nonce:
                undo(data_folder, journal)
            _drop_old_pages(live)
        shutil.rmtree(scratch)


def _drop_old_pages(live: sqlite3.Connection) -> None:
    """A killed writer may leave a log that SQLite neither replays nor deletes; the next write does away with it."""
    (version,) = live.execute("PRAGMA user_version").fetchone()
    live.execute(f"PRAGMA user_version = {version}")


def undo(data_folder: Path, journal: Journal) -> None:
    """Everything back to its name. May itself be interrupted, and begun again."""
    aside = data_folder / journal.aside
    for name in NAMES:
        path, kept = data_folder / name, aside / name
        if name in journal.had and not os.path.lexists(kept):
            continue  # it was not moved yet, or is back already
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        if name in journal.had:
            kept.rename(path)
    sync_folder(data_folder)
    with suppress(OSError):
        for tail in ("", "-journal", "-wal", "-shm"):
            (aside / f"{OLD}{tail}").unlink(missing_ok=True)
        aside.rmdir()


def begin(path: Path, journal: Journal) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(asdict(journal)), "utf-8")
    sync_files([draft])
    draft.replace(path)
    sync_folder(path.parent)


def _nonce_of(live: sqlite3.Connection) -> int | None:
    try:
        return read_stamp(live, UNPACKED)
    except sqlite3.OperationalError:
        return None  # an empty file


def sync_files(paths: Iterable[Path]) -> None:
    """On the disk before their names are: a name without its content would be a pepper lost."""
    for path in paths:
        for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if each.is_file():
                with each.open("r+b") as file:
                    os.fsync(file.fileno())
            else:
                sync_folder(each)
