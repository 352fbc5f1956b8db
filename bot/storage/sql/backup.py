"""Back up a data folder beside a running bot, and before each migration.

Invariant: a backup has its name only once it was read back whole: checksums, integrity, counts. It never
holds the pepper, jide.env or the forget ledger.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO

from bot.conversation.errors import RejectedInput, StoreUnavailable
from bot.storage.archive import (
    DATABASE,
    FORMAT,
    Manifest,
    operator_files,
    part_of,
    read_archive,
    write_archive,
)
from bot.storage.forget_ledger import sync_folder
from bot.storage.sql.migrating import stored_revision
from bot.storage.sql.snapshot import (
    Progress,
    check_integrity,
    copy_database,
    counts,
    no_progress,
    opened,
)
from bot.storage.sql.stamps import FORGOTTEN, read_stamp

FOLDER = "backups"
"""Within the data folder; where nobody named a file, and where the automatic ones go."""
AUTOMATIC = "before-"
AUTOMATIC_KEPT = timedelta(days=7)
"""As long as a person who left may come back (BEHAVIOUR). Longer, and what was forgotten since would lie there."""


def make_backup(
    data_folder: Path, target: Path, now: datetime, on_progress: Progress = no_progress
) -> Manifest:
    """Write and verify a backup of the database and the operator's files.

    Raises RejectedInput (no database, the file exists, damage) or StoreUnavailable (no space, locked).
    """
    database = data_folder / DATABASE
    if not database.is_file():
        raise RejectedInput(f"还没有数据可备份：{database} 不存在")
    if target.exists():
        raise RejectedInput(f"{target} 已经存在，换个名字")
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".backup-") as scratch:
            copy = Path(scratch) / DATABASE
            copy_database(database, copy, on_progress)
            sources = {DATABASE: copy, **operator_files(data_folder)}
            manifest = described(sources, now)
            _write(draft, manifest, sources, on_progress)
            copy.unlink()
            verify(draft, Path(scratch), on_progress)
        draft.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise StoreUnavailable(f"写不成 {target}（{error.strerror}）：检查剩余空间和权限") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return manifest


def verify(
    archive: Path | IO[bytes],
    folder: Path,
    on_progress: Progress = no_progress,
    also: frozenset[str] = frozenset(),
) -> Manifest:
    """Unpack a backup into a folder and look at every byte of it. Raises RejectedInput or StoreUnavailable."""
    name = archive.name if isinstance(archive, Path) else "包"
    manifest = read_archive(archive, folder, counted(on_progress, "校验备份", 0), also)
    with opened(folder / DATABASE) as copy:
        check_integrity(copy, name)
        if counts(copy) != dict(manifest.counts) or stored_revision(copy) != manifest.revision:
            raise RejectedInput(f"{name} 里的数据库与清单不符")
    return manifest


def back_up_before_migration(data_folder: Path, revision: str) -> Path:
    """Called inside the migration's transaction: other connections still read the state before it.

    Raises RejectedInput or StoreUnavailable.
    """
    now = datetime.now(UTC)
    target = data_folder / FOLDER / f"{AUTOMATIC}{revision}-{now:%Y%m%d-%H%M%S}.tar.gz"
    make_backup(data_folder, target, now)
    return target


def prune_automatic(data_folder: Path) -> None:
    """Delete automatic backups of more than a week ago: files, and folders that an unpacked bundle replaced."""
    before = (datetime.now(UTC) - AUTOMATIC_KEPT).timestamp()
    for path in (data_folder / FOLDER).glob(f"{AUTOMATIC}*"):
        with suppress(OSError):
            if path.stat().st_mtime >= before:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name.endswith(".tar.gz"):
                path.unlink()


def default_name(now: datetime) -> str:
    return f"jide-{now.astimezone():%Y%m%d-%H%M%S}.tar.gz"


def program_version() -> str:
    try:
        return version("jide")
    except PackageNotFoundError:
        return "unreleased"


def described(sources: dict[str, Path], now: datetime) -> Manifest:
    """The manifest of these files. Raises RejectedInput for an empty database."""
    with opened(sources[DATABASE]) as copy:
        revision = stored_revision(copy)
        if revision is None:
            raise RejectedInput("数据库是空的，没有可备份的")
        rows = counts(copy)
        forgotten = read_stamp(copy, FORGOTTEN) or 0
    return Manifest(
        format=FORMAT,
        made_at=now.isoformat(timespec="seconds"),
        program=program_version(),
        revision=revision,
        forgotten=forgotten,
        counts=rows,
        parts={name: part_of(path) for name, path in sources.items()},
    )


def _write(draft: Path, manifest: Manifest, sources: dict[str, Path], on_progress: Progress) -> None:
    total = sum(part.bytes for part in manifest.parts.values())
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        write_archive(file, manifest, sources, counted(on_progress, "压缩", total))
        file.flush()
        os.fsync(file.fileno())


def counted(on_progress: Progress, what: str, total: int) -> Callable[[int], None]:
    """Adds up bytes and shows them."""
    done = 0

    def count(size: int) -> None:
        nonlocal done
        done += size
        on_progress(what, done, total)

    return count


def free_bytes(folder: Path) -> int:
    """Of the disk a folder is on, or will be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free
