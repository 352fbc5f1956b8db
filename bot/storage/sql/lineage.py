"""What ties a database to the data folder it lies in: the pepper of its hashes, and what it has forgotten.

Invariant: asked before anything is served, so a file that was put back by hand, or beside another pepper,
is noticed before it answers anybody.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from bot.conversation.errors import ConfigurationError, StoreUnavailable
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.replaying import Replay, replay
from bot.storage.sql.schema import phone_link
from bot.storage.sql.snapshot import opened, rebuild
from bot.storage.sql.stamps import FORGOTTEN, PEPPER, read_stamp, write_stamp
from bot.storage.sql.statements import Statement

_PHONES = Statement(select(func.count()).select_from(phone_link))


@dataclass(frozen=True, slots=True, kw_only=True)
class PepperUse:
    """What hangs on the pepper."""

    is_the_same: bool
    phones: int
    """Phone links that only the pepper they were made with can find."""


def bind(database: Path, ledger: ForgetLedger, pepper_check: int) -> Replay:
    """Check the pepper, note what was committed, forget again what the database has not forgotten.

    Blocks; writes nothing where all is as it was. Raises ConfigurationError (another pepper, a damaged
    ledger) or StoreUnavailable.
    """
    with opened(database) as connection:
        connection.execute("PRAGMA foreign_keys = ON").fetchall()
        connection.execute("BEGIN IMMEDIATE")
        use = pepper_use(connection, pepper_check)
        if not use.is_the_same and use.phones:
            raise ConfigurationError(
                "data/pepper",
                f"不是这个数据库原来用的那一个，{use.phones} 个已验证的手机号会对不上",
                "把原来的 data/pepper 放回来；确实找不回来，就执行 jide identity new-pepper",
            )
        if read_stamp(connection, PEPPER) != pepper_check:
            write_stamp(connection, PEPPER, pepper_check)
        ledger.confirm(read_stamp(connection, FORGOTTEN) or 0)
        done = replay(connection, ledger)
        connection.execute("COMMIT")
        if done.forgettings:
            rebuild(connection)
            if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise StoreUnavailable("the log could not be folded in: a reader is busy")
    return done


def accept_pepper(database: Path, pepper_check: int) -> int:
    """Take the present pepper for the right one. Returns how many phone links are orphaned by it."""
    with opened(database) as connection:
        connection.execute("BEGIN IMMEDIATE")
        use = pepper_use(connection, pepper_check)
        write_stamp(connection, PEPPER, pepper_check)
        connection.execute("COMMIT")
    return 0 if use.is_the_same else use.phones


def pepper_use(connection: sqlite3.Connection, pepper_check: int) -> PepperUse:
    """A database that has none noted takes any."""
    noted = read_stamp(connection, PEPPER)
    phones = _PHONES.first(connection)
    return PepperUse(is_the_same=noted in (None, pepper_check), phones=phones[0] if phones else 0)
