"""Pack the data folder that the settings name, and unpack a bundle into it.

Invariant: nothing of the house is opened: a bot may be running beside a move, and may not beside an unpacking.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.conversation.errors import RejectedInput
from bot.moving.chunks import read_header
from bot.moving.header import Header, Seal, new_seal, open_seal
from bot.secrets_file import Peppers, keep_also, known_peppers, pepper_check, read_peppers
from bot.settings import Settings
from bot.storage.archive import Manifest
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import packing, unpacking
from bot.storage.sql.half_placed import refuse_half_unpacked
from bot.storage.sql.snapshot import Progress
from bot.storage.sql.unpacking import Placed


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A finished bundle."""

    bytes: int
    manifest: Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """A bundle that was put in place."""

    manifest: Manifest
    placed: Placed


class _NowClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


def check_target(target: Path, *, overwrites: bool) -> None:
    """Raises RejectedInput where nothing may be written."""
    packing.refuse_existing(target, overwrites=overwrites)


async def move(
    settings: Settings, target: Path, passphrase: str, on_progress: Progress, *, overwrites: bool
) -> Moved:
    """Raises RejectedInput, ConfigurationError or StoreUnavailable: then there is no bundle."""

    def work() -> Moved:
        refuse_half_unpacked(settings.data_folder)
        on_progress("算密钥", 0, 1)
        seal = new_seal(passphrase)
        on_progress("算密钥", 1, 1)
        with packing.gathered(settings.data_folder, _NowClock(), on_progress) as found:
            peppers = read_peppers(found.secrets)
            packing.check_pepper(found.database, pepper_check(peppers.current), peppers.checks_before)
            packing.write_bundle(found, target, seal, on_progress, overwrites=overwrites)
            return Moved(bytes=target.stat().st_size, manifest=found.manifest)

    return await asyncio.to_thread(work)


def look_at(bundle: Path) -> Header:
    """Before anybody is asked for a passphrase. Raises RejectedInput."""
    try:
        with bundle.open("rb") as file:
            return read_header(file)
    except OSError as error:
        raise RejectedInput(f"读不了 {bundle}（{error.strerror}）") from error


def refuse_half_moved(settings: Settings) -> None:
    """Before anything is made in the data folder. Raises ConfigurationError."""
    refuse_half_unpacked(settings.data_folder)


def settle_interrupted(settings: Settings) -> None:
    """Put back what a killed unpacking moved. Raises StoreUnavailable."""
    unpacking.settle_interrupted(settings.data_folder, datetime.now(UTC))


def occupants(settings: Settings) -> tuple[str, ...]:
    """What of a bot is in the data folder already."""
    return unpacking.occupants(settings.data_folder)


async def unpack(
    settings: Settings, bundle: Path, passphrase: str, on_progress: Progress, *, overwrites: bool
) -> Unpacked:
    """Raises RejectedInput, ConfigurationError or StoreUnavailable: the data folder is then as it was."""
    folder = settings.data_folder

    def work() -> Unpacked:
        on_progress("算密钥", 0, 1)
        seal: Seal = open_seal(look_at(bundle), passphrase)
        on_progress("算密钥", 1, 1)
        now = datetime.now(UTC)
        with unpacking.unpacked(bundle, seal, folder, now, on_progress, overwrites=overwrites) as stage:
            peppers = read_peppers(stage.secrets)
            packing.check_pepper(stage.database, pepper_check(peppers.current), peppers.checks_before)
            ledger = _ledger(stage.secrets, peppers)
            theirs = ForgetLedger(folder / packing.LEDGER, b"", _NowClock())
            added = stage.merge_ledgers(ledger, theirs)
            others = known_peppers(folder)
            if others is not None and any(ledger.under(each.key_id) is None for each in added):
                ledger = _ledger(stage.secrets, keep_also(stage.secrets, others))
            return Unpacked(manifest=stage.manifest, placed=stage.place(ledger, on_progress))

    return await asyncio.to_thread(work)


def _ledger(folder: Path, peppers: Peppers) -> ForgetLedger:
    return ForgetLedger(folder / packing.LEDGER, peppers.current, _NowClock(), peppers.keys_before)
