"""Backup, restore and a new pepper, of the data folder that the settings name.

Invariant: nothing of the house is opened: a bot may be running beside a backup, and may not beside a restore.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.secrets_file import pepper_check, read_pepper
from bot.settings import Settings
from bot.storage.archive import Manifest
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import backup, lineage, restoring
from bot.storage.sql.restoring import Restored

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
    path = target or folder / backup.FOLDER / backup.default_name(now)
    manifest = await asyncio.to_thread(backup.make_backup, folder, path, now, on_progress)
    return BackedUp(path=path, bytes=path.stat().st_size, manifest=manifest)


async def restore(settings: Settings, archive: Path, on_progress: Progress, *, uses_ledger: bool) -> Restored:
    """Raises RejectedInput, ConfigurationError or StoreUnavailable: the database is then as it was."""
    folder = settings.data_folder

    def work() -> Restored:
        ledger = ForgetLedger(folder / "forgotten.jsonl", read_pepper(folder), _NowClock())
        return restoring.restore(archive, folder, ledger, datetime.now(UTC), on_progress, replays=uses_ledger)

    return await asyncio.to_thread(work)


async def accept_pepper(settings: Settings) -> int:
    """Take data/pepper for the right one. Returns how many phone links are orphaned by it."""
    folder = settings.data_folder
    check = pepper_check(read_pepper(folder))
    return await asyncio.to_thread(lineage.accept_pepper, folder / "jide.db", check)
