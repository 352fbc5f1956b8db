"""What ties a database to the data folder it lies in: the pepper of its hashes, and what it has forgotten.

Invariant: asked before anything is served, so a file that was put back by hand, or beside another pepper,
is noticed before it answers anybody.
"""

import sqlite3
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import bindparam, delete, func, select

from bot.conversation.errors import ConfigurationError, RejectedInput, StoreUnavailable
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.audit import record_within
from bot.storage.sql.replaying import Replay, replay
from bot.storage.sql.schema import phone_link
from bot.storage.sql.snapshot import opened, rebuild
from bot.storage.sql.stamps import FORGOTTEN, PEPPER, read_stamp, write_stamp
from bot.storage.sql.statements import Statement

_PHONES = Statement(select(func.count()).select_from(phone_link))
_OLD = Statement(
    select(func.count()).select_from(phone_link).where(phone_link.c.key_version != bindparam("version"))
)
_DROP_OLD = Statement(delete(phone_link).where(phone_link.c.key_version != bindparam("version")))


@dataclass(frozen=True, slots=True, kw_only=True)
class PepperUse:
    """What hangs on the pepper."""

    is_the_same: bool
    phones: int
    """Phone links that only the pepper they were made with can find."""


def bind(
    database: Path, ledger: ForgetLedger, pepper_check: int, checks_before: Collection[int] = ()
) -> Replay:
    """Check the pepper, note what was committed, forget again what the database has not forgotten.

    Blocks; writes nothing where all is as it was. Raises ConfigurationError (another pepper, a damaged
    ledger) or StoreUnavailable.
    """
    with opened(database) as connection:
        connection.execute("PRAGMA foreign_keys = ON").fetchall()
        connection.execute("BEGIN IMMEDIATE")
        use = pepper_use(connection, pepper_check, checks_before)
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
        if done.entries:
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


def rotate(
    database: Path,
    now: int,
    *,
    version: int,
    pepper_check: int,
    checks_before: Collection[int],
    replace: Callable[[], int],
) -> int:
    """Have the pepper replaced, while nobody else writes. Returns how many phone links hang on the old ones.

    `version`: of the present pepper. `replace` makes the new one and returns its check.

    Raises RejectedInput while an earlier change is not finished; ConfigurationError for another pepper.
    """
    with opened(database) as connection:
        connection.execute("BEGIN IMMEDIATE")
        use = pepper_use(connection, pepper_check, checks_before)
        if not use.is_the_same and use.phones:
            raise ConfigurationError("data/pepper", "不是这个数据库原来用的那一个", "先执行 jide doctor")
        if waiting := _waiting(connection, version):
            raise RejectedInput(
                f"上一次换密钥还没有做完：还有 {waiting} 个手机号在用旧密钥，它们的主人再验证一次就会换过来。"
                "不想再等，就执行 jide rotate pepper --finish"
            )
        write_stamp(connection, PEPPER, replace())
        _note(connection, now, f"密钥 {version} → {version + 1}，手机号 {use.phones} 个")
        connection.execute("COMMIT")
    return use.phones


def finish_rotation(database: Path, now: int, version: int) -> int:
    """Drop the links that only older peppers can find. Returns how many."""
    with opened(database) as connection:
        connection.execute("BEGIN IMMEDIATE")
        dropped = _DROP_OLD.run(connection, version=version).rowcount
        _note(connection, now, f"密钥 {version}，删去旧密钥的手机号 {dropped} 个")
        connection.execute("COMMIT")
        # A deleted hash must not wait in the log for a thief who has the old pepper.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return dropped


def _waiting(connection: sqlite3.Connection, version: int) -> int:
    row = _OLD.first(connection, version=version)
    return row[0] if row else 0


def _note(connection: sqlite3.Connection, now: int, detail: str) -> None:
    record_within(
        connection, at=now, actor=None, action="rotate-pepper", subject=None, reason="命令行", detail=detail
    )


def pepper_use(
    connection: sqlite3.Connection, pepper_check: int, checks_before: Collection[int] = ()
) -> PepperUse:
    """A database that has none noted takes any; one from before the pepper was replaced takes its heir."""
    noted = read_stamp(connection, PEPPER)
    phones = _PHONES.first(connection)
    return PepperUse(
        is_the_same=noted in (None, pepper_check, *checks_before), phones=phones[0] if phones else 0
    )
