"""Pack a whole data folder into one sealed file, beside a running bot.

Invariant: a bundle has its name only once it was opened again whole; nothing clear is written but into the data
folder, which holds the same already. Secrets and ledger are of a moment after that of the database, so
what was forgotten meanwhile is forgotten again where it is unpacked.
"""

import io
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from bot.conversation.errors import ConfigurationError, RejectedInput, StoreUnavailable
from bot.conversation.ports import Clock
from bot.moving.chunks import CHUNK_BYTES, SealingStream, UnsealingStream, read_header
from bot.moving.header import Seal
from bot.moving.refusal import BundleRefusal, Fault
from bot.storage.archive import DATABASE, Manifest, operator_files, write_archive
from bot.storage.forget_ledger import ForgetLedger, sync_folder
from bot.storage.sql.backup import counted, described, verify
from bot.storage.sql.lineage import pepper_use
from bot.storage.sql.snapshot import Progress, copy_database, opened
from bot.storage.sql.stamps import FORGOTTEN, read_stamp

SECRETS = "secrets/"
"""Before their names in a bundle."""
PEPPER, LEDGER = "pepper", "forgotten.jsonl"
SECRET_FILES = (PEPPER, "pepper.old", LEDGER, "jide.env", "tryout.json")
"""What a backup leaves out. A list, so that no name of a bundle leads anywhere else."""
SECRET_NAMES = frozenset(f"{SECRETS}{name}" for name in SECRET_FILES)
SCRATCH = ".move-"
SCRATCH_KEPT = timedelta(days=1)
"""A move that was killed leaves a copy of the database; no move that lives takes as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Everything a bundle will hold, as files."""

    manifest: Manifest
    sources: dict[str, Path]
    scratch: Path

    @property
    def database(self) -> Path:
        return self.sources[DATABASE]

    @property
    def secrets(self) -> Path:
        """A folder with those of `SECRET_FILES` that there are."""
        return self.scratch / SECRETS


@contextmanager
def gathered(data_folder: Path, clock: Clock, on_progress: Progress) -> Generator[Gathered]:
    """Copies of the database and the secrets, and the operator's files.

    Raises RejectedInput (no database, damage), ConfigurationError (no pepper) or StoreUnavailable.
    """
    database = data_folder / DATABASE
    if not database.is_file():
        raise RejectedInput(f"还没有数据可搬：{database} 不存在")
    if not (data_folder / PEPPER).is_file():
        raise ConfigurationError(str(data_folder / PEPPER), "不见了", "放回来再搬，先执行 jide doctor")
    remove_leftovers(data_folder)
    try:
        with tempfile.TemporaryDirectory(dir=data_folder, prefix=SCRATCH) as folder:
            scratch = Path(folder)
            copy_database(database, scratch / DATABASE, on_progress)
            _copy_secrets(data_folder, scratch / SECRETS, clock)
            sources = {
                DATABASE: scratch / DATABASE,
                **{f"{SECRETS}{path.name}": path for path in sorted((scratch / SECRETS).iterdir())},
                **operator_files(data_folder),
            }
            manifest = described(sources, clock.now())
            yield Gathered(manifest=manifest, sources=sources, scratch=scratch)
    except OSError as error:
        raise StoreUnavailable(f"{error.strerror}：检查剩余空间和权限") from error


def check_pepper(database: Path, check: int, checks_before: tuple[int, ...]) -> None:
    """Whether it is the database's own. Raises ConfigurationError."""
    with opened(database) as copy:
        use = pepper_use(copy, check, checks_before)
    if not use.is_the_same and use.phones:
        raise ConfigurationError(
            "data/pepper",
            f"不是这个数据库原来用的那一个，{use.phones} 个已验证的手机号会对不上",
            "先执行 jide doctor，照它说的改好",
        )


def write_bundle(
    found: Gathered, target: Path, seal: Seal, on_progress: Progress, *, overwrites: bool
) -> None:
    """Write, open again and look at every byte, then name it. Raises RejectedInput or StoreUnavailable."""
    refuse_existing(target, overwrites=overwrites)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        _write(draft, found, seal, on_progress)
        found.database.unlink()
        check = found.scratch / "check"
        check.mkdir(mode=0o700)
        with draft.open("rb") as file:
            read_bundle(file, seal, check, on_progress)
        refuse_existing(target, overwrites=overwrites)
        draft.replace(target)
        with suppress(OSError):  # not every disk that is carried about can
            sync_folder(target.parent)
    except OSError as error:
        raise StoreUnavailable(f"写不成 {target}（{error.strerror}）：检查剩余空间和权限") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def refuse_existing(target: Path, *, overwrites: bool) -> None:
    """Raises RejectedInput."""
    if target.is_dir() or (target.exists() and not overwrites):
        raise RejectedInput(f"{target} 已经存在：换个名字，或加 --force 换掉它")


def read_bundle(file: IO[bytes], seal: Seal, folder: Path, on_progress: Progress) -> Manifest:
    """Unpack into an empty folder, and look at every byte. Raises RejectedInput or StoreUnavailable."""
    if read_header(file) != seal.header:
        raise BundleRefusal(Fault.DAMAGED)
    stream = io.BufferedReader(UnsealingStream(file, seal), CHUNK_BYTES)
    manifest = verify(stream, folder, on_progress, SECRET_NAMES)
    while stream.read(CHUNK_BYTES):  # only at the end it is known that nothing was cut off
        pass
    if f"{SECRETS}{PEPPER}" not in manifest.parts:
        raise RejectedInput("包里没有 data/pepper")
    return manifest


def remove_leftovers(data_folder: Path) -> None:
    """Of moves that were killed."""
    before = (datetime.now(UTC) - SCRATCH_KEPT).timestamp()
    for path in data_folder.glob(f"{SCRATCH}*"):
        with suppress(OSError):
            if path.stat().st_mtime < before:
                shutil.rmtree(path)


def _copy_secrets(data_folder: Path, target: Path, clock: Clock) -> None:
    """While nobody writes: no pepper is being replaced, and every forgetting has committed or failed."""
    target.mkdir(mode=0o700)
    with opened(data_folder / DATABASE) as live:
        live.execute("BEGIN IMMEDIATE")
        stamp = read_stamp(live, FORGOTTEN) or 0
        for name in SECRET_FILES:
            with suppress(FileNotFoundError):
                (target / name).write_bytes((data_folder / name).read_bytes())
        live.execute("ROLLBACK")
    # The number says which lines were committed, also where nobody had the time to note it.
    ForgetLedger(target / LEDGER, b"", clock).confirm(stamp)


def _write(draft: Path, found: Gathered, seal: Seal, on_progress: Callable[[str, int, int], None]) -> None:
    total = sum(part.bytes for part in found.manifest.parts.values())
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        sealing = SealingStream(file, seal)
        with io.BufferedWriter(sealing, CHUNK_BYTES) as buffered:
            write_archive(buffered, found.manifest, found.sources, counted(on_progress, "加密", total))
            buffered.flush()
            sealing.finish()
        file.flush()
        os.fsync(file.fileno())
