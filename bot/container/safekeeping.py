"""Backup, restore and a new pepper, of the data folder that the settings name.

Invariant: nothing of the house is opened: a bot may be running beside a backup, and may not beside a restore.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.conversation.errors import RejectedInput, StoreUnavailable
from bot.secrets_file import pepper_check, read_pepper, read_peppers, replace_pepper
from bot.settings import Settings
from bot.storage.archive import Manifest
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import backup, lineage, restoring
from bot.storage.sql.half_placed import refuse_half_unpacked
from bot.storage.sql.restoring import Restored
from bot.storage.sql.schema import to_ms

Progress = Callable[[str, int, int], None]
"""(what is being done in 简体中文, done, of how many; 0 where nobody knows)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A finished backup."""

    path: Path
    bytes: int
    manifest: Manifest


class _NowClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


async def back_up(settings: Settings, target: Path | None, on_progress: Progress) -> BackedUp:
    """Into `target`, or a file of today's name in the data folder. Raises RejectedInput or StoreUnavailable."""
    now = datetime.now(UTC)
    folder = settings.data_folder
    await asyncio.to_thread(refuse_half_unpacked, folder)
    path = target or folder / backup.FOLDER / backup.default_name(now)
    manifest = await asyncio.to_thread(backup.make_backup, folder, path, now, on_progress)
    return BackedUp(path=path, bytes=path.stat().st_size, manifest=manifest)


async def restore(settings: Settings, archive: Path, on_progress: Progress, *, uses_ledger: bool) -> Restored:
    """Raises RejectedInput, ConfigurationError or StoreUnavailable: the database is then as it was."""
    folder = settings.data_folder

    def work() -> Restored:
        refuse_half_unpacked(folder)
        peppers = read_peppers(folder)
        ledger = ForgetLedger(folder / "forgotten.jsonl", peppers.current, _NowClock(), peppers.keys_before)
        keep = timedelta(days=settings.memory.keep_after_leaving_days)
        now = datetime.now(UTC)
        return restoring.restore(archive, folder, ledger, now, on_progress, replays=uses_ledger, keep=keep)

    return await asyncio.to_thread(work)


async def accept_pepper(settings: Settings) -> int:
    """Take data/pepper for the right one. Returns how many phone links are orphaned by it."""
    folder = settings.data_folder
    await asyncio.to_thread(refuse_half_unpacked, folder)
    check = pepper_check(read_pepper(folder))
    return await asyncio.to_thread(lineage.accept_pepper, folder / "jide.db", check)


async def rotate_pepper(settings: Settings) -> int:
    """A new pepper, beside a running bot too. Returns how many phone links hang on the old one.

    Raises RejectedInput while an earlier rotation is open, ConfigurationError or StoreUnavailable.
    """
    folder = settings.data_folder

    def work() -> int:
        refuse_half_unpacked(folder)
        database = folder / "jide.db"
        if not database.is_file():
            raise RejectedInput(f"还没有数据库：{database} 不存在，不需要换密钥")
        peppers = read_peppers(folder)
        try:
            return lineage.rotate(
                database,
                to_ms(datetime.now(UTC)),
                version=peppers.version,
                pepper_check=pepper_check(peppers.current),
                checks_before=peppers.checks_before,
                replace=lambda: pepper_check(replace_pepper(folder).current),
            )
        except OSError as error:
            raise StoreUnavailable(f"写不了 data/pepper（{error.strerror}）") from error

    return await asyncio.to_thread(work)


async def finish_rotation(settings: Settings) -> int:
    """Drop the phone links that were not seen since the rotation. Returns how many."""
    folder = settings.data_folder
    await asyncio.to_thread(refuse_half_unpacked, folder)
    version = read_peppers(folder).version
    return await asyncio.to_thread(
        lineage.finish_rotation, folder / "jide.db", to_ms(datetime.now(UTC)), version
    )
