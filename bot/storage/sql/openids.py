"""Accounts that WeChat gave another openid, when an official account was moved to another owner.

Invariant: an account keeps its row, and so its person and memory; where the new openid wrote already, that
account joins the person of the old one. Audited; doing it again changes nothing.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Text, bindparam, column, func, select, update
from sqlalchemy.sql import Select

from bot.conversation.message import AccountKey
from bot.conversation.ports import Clock
from bot.storage.sql import account_statements as statements
from bot.storage.sql.conflicts import against_joining, note
from bot.storage.sql.database import Database
from bot.storage.sql.joining import account_of, join, record
from bot.storage.sql.rehearsing import write_or_rehearse
from bot.storage.sql.schema import account, to_ms
from bot.storage.sql.statements import Statement
from identity.lists import Moved, OpenidPair
from identity.model import Account

REASON = "changeopenid"


def _texts(name: str) -> Select[str]:
    """A list of texts, given as JSON."""
    return select(column("value", Text)).select_from(func.json_each(bindparam(name)))


_RENAME = Statement(
    update(account)
    .where(account.c.id == bindparam("account"))
    .values(openid=bindparam("new_openid"), app_id=bindparam("new_app"))
)

_APPS = Statement(
    select(account.c.app_id)
    .where(account.c.channel == bindparam("channel"))
    .group_by(account.c.app_id)
    .order_by(account.c.app_id)
)
_KNOWN = Statement(
    select(account.c.app_id, account.c.openid, account.c.person_id).where(
        account.c.channel == bindparam("channel"),
        account.c.app_id.in_(_texts("apps")),
        account.c.openid.in_(_texts("openids")),
    )
)


class SqlOpenids:
    """Re-keys accounts."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def move(
        self,
        pairs: Sequence[OpenidPair],
        channel: str,
        from_app: str,
        into_app: str,
        *,
        is_rehearsal: bool = False,
    ) -> tuple[Moved, ...]:
        """All in one transaction. `is_rehearsal`: what would come of it, with nothing changed."""
        now = to_ms(self._clock.now())
        keys = [
            (
                AccountKey(channel=channel, app_id=from_app, openid=pair.before),
                AccountKey(channel=channel, app_id=into_app, openid=pair.after),
            )
            for pair in pairs
        ]
        return await write_or_rehearse(
            self._database,
            lambda connection: tuple(_move(connection, now, before, after) for before, after in keys),
            is_rehearsal=is_rehearsal,
        )

    async def apps(self, channel: str) -> tuple[str, ...]:
        """The apps that accounts of a channel are known under."""
        return tuple(row[0] for row in await self._database.read(_APPS, channel=channel))

    async def elsewhere(
        self, pairs: Sequence[OpenidPair], channel: str, from_app: str, into_app: str
    ) -> Counter[str]:
        """Under which other apps the old openids are that `from_app` does not have: app → how many. Not those whose
        person has the new one already."""
        openids = [each for pair in pairs for each in (pair.before, pair.after)]
        apps = await self.apps(channel)
        rows = await self._database.read(
            _KNOWN, channel=channel, apps=json.dumps(apps), openids=json.dumps(openids)
        )
        persons = {(app, openid): person for app, openid, person in rows}
        found: Counter[str] = Counter()
        for pair in pairs:
            if (from_app, pair.before) in persons:
                continue
            owners = {app: persons[app, pair.before] for app in apps if (app, pair.before) in persons}
            new = persons.get((into_app, pair.after))
            found.update(app for app, person in owners.items() if person != new)
        return found


def _move(connection: sqlite3.Connection, now: int, before: AccountKey, after: AccountKey) -> Moved:
    old, new = _find(connection, before), _find(connection, after)
    if old is None:
        # Never ours, or renamed before: then the new one is there.
        return Moved.UNKNOWN if new is None else Moved.DONE
    if new is None:
        _RENAME.run(connection, account=old.id, new_openid=after.openid, new_app=after.app_id)
        record(connection, now, old, "rename-account", reason=REASON, detail=f"账号 {old.id}")
        return Moved.RENAMED
    if new.person == old.person:
        return Moved.DONE
    kind = against_joining(connection, new, old.person)
    if kind is not None:
        note(connection, now, new, old.person, kind, REASON)
        return Moved.CONFLICT
    join(connection, now, new, old.person, REASON)
    return Moved.JOINED


def _find(connection: sqlite3.Connection, key: AccountKey) -> Account | None:
    row = statements.FIND.first(connection, channel=key.channel, app_id=key.app_id, openid=key.openid)
    return None if row is None else account_of(row)
