"""Make an older copy of a database safe to go on from.

Invariant: afterwards nothing of the past is said again by itself, and no id or epoch that the state before
the restore gave out is given out to somebody else: Redis keys, exports and the audit log name rows by id.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import bindparam, delete, update

from bot.storage.sql.schema import account, confirmation, delivery, inbox, person
from bot.storage.sql.stamps import FORGOTTEN, read_stamp
from bot.storage.sql.statements import Statement, constant

LEAP = 100_000
"""Beyond the copy's own ids and epochs, where the state before is lost: more than a house gives out
between two backups."""

_CLOSE = Statement(
    update(inbox)
    .where(inbox.c.state == constant("accepted"))
    .values(state=constant("closed"), error=constant(""))
)
_DROP_PAYLOADS = Statement(update(inbox).where(inbox.c.payload.is_not(None)).values(payload=None))
_UNSURE = Statement(
    update(delivery)
    .where(
        (delivery.c.state == constant("sending"))
        | ((delivery.c.state == constant("held")) & (delivery.c.next_page == constant(0)))
    )
    .values(state=constant("unknown"))
)
_CLOSE_ALL = Statement(update(account).where(account.c.is_open != constant(0)).values(is_open=0))
_DROP_CONFIRMATIONS = Statement(delete(confirmation))
_RAISE_ALL = Statement(update(person).values(epoch=person.c.epoch + bindparam("leap")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What the state before the restore had given out."""

    is_lost: bool
    forgotten: int = 0
    """The last forgetting it held."""
    sequences: Mapping[str, int] = field(default_factory=dict[str, int])
    """The last id given out, by table."""
    epoch: int = 0
    """The highest of any person."""


def past_of(live: sqlite3.Connection) -> Past:
    """Of a database that may be empty, older or newer. sqlite3.Error means: lost."""
    try:
        names = {row[0] for row in live.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"person", "stamp", "sqlite_sequence"} <= names:
            return Past(is_lost=True)
        return Past(
            is_lost=False,
            forgotten=read_stamp(live, FORGOTTEN) or 0,
            sequences=dict(live.execute("SELECT name, seq FROM sqlite_sequence").fetchall()),
            epoch=live.execute("SELECT max(epoch) FROM person").fetchone()[0] or 0,
        )
    except sqlite3.Error:
        return Past(is_lost=True)


def settle(copy: sqlite3.Connection, past: Past) -> None:
    """Inside the caller's transaction.

        Messages that waited when the copy was made were answered since, or are too old to answer; replies that
        waited may have been sent: none is sent by itself, 「继续」 still fetches them. Who opened their private memory may
    have closed it since.
    """
    _CLOSE.run(copy)
    _DROP_PAYLOADS.run(copy)
    _UNSURE.run(copy)
    _DROP_CONFIRMATIONS.run(copy)
    _CLOSE_ALL.run(copy)
    least = LEAP if past.is_lost else 0
    leap = max(least, past.epoch + 1)
    _RAISE_ALL.run(copy, leap=leap)
    for name, seq in copy.execute("SELECT name, seq FROM sqlite_sequence").fetchall():
        beyond = max(seq + least, past.sequences.get(name, 0))
        copy.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (beyond, name))
    for name in past.sequences.keys() - {
        row[0] for row in copy.execute("SELECT name FROM sqlite_sequence").fetchall()
    }:
        copy.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, past.sequences[name]))
