"""What a migration of the settings' database did, for the operator who asked for it.

Invariant: it is the migration of a start, with the same backup before it; only looked at from outside.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from bot.container.house import House
from bot.conversation.errors import RejectedInput
from bot.settings import Settings
from bot.storage.archive import DATABASE
from bot.storage.sql.backup import AUTOMATIC, FOLDER
from bot.storage.sql.migrating import stored_revision
from bot.storage.sql.snapshot import opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """A database of the newest schema."""

    path: Path
    before: str | None
    """The revision it had; None for a new one."""
    after: str | None
    backup: Path | None
    """Of the state before; None where nothing was to be done."""


async def migrate(settings: Settings) -> Migrated:
    """Raises ConfigurationError (of a newer program, no database) or StoreUnavailable."""
    path = settings.data_folder / DATABASE
    before, backups = await asyncio.to_thread(_seen, path)
    house = House(settings)
    try:
        await asyncio.to_thread(house.prepare)
    finally:
        await house.close()
    after, made = await asyncio.to_thread(_seen, path)
    return Migrated(path=path, before=before, after=after, backup=max(made - backups, default=None))


def _seen(path: Path) -> tuple[str | None, set[Path]]:
    """The revision and the automatic backups. A file that cannot be read is for the migration to refuse."""
    backups = set((path.parent / FOLDER).glob(f"{AUTOMATIC}*.tar.gz"))
    if not path.is_file():
        return None, backups
    try:
        with opened(path) as connection:
            return stored_revision(connection), backups
    except RejectedInput:
        return None, backups
