"""Who asked that nothing new be remembered of them: of all their accounts, from then on.

Invariant: a person is paused while any of their accounts is, so that joining another account ends no pause.
"""

import sqlite3

from sqlalchemy import bindparam, select, update

from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId, PersonId
from bot.storage.sql.database import Database
from bot.storage.sql.schema import account, to_ms
from bot.storage.sql.statements import Statement

_PAUSED = Statement(
    select(account.c.id)
    .where(account.c.person_id == bindparam("person"), account.c.paused_at.is_not(None))
    .limit(1)
)
_mine = account.alias("mine")
_PAUSED_FOR = Statement(
    select(account.c.id)
    .join_from(_mine, account, account.c.person_id == _mine.c.person_id)
    .where(_mine.c.id == bindparam("account"), account.c.paused_at.is_not(None))
    .limit(1)
)
_PAUSE = Statement(
    update(account)
    .where(account.c.person_id == bindparam("person"), account.c.paused_at.is_(None))
    .values(paused_at=bindparam("at"))
)
_RESUME = Statement(
    update(account)
    .where(account.c.person_id == bindparam("person"), account.c.paused_at.is_not(None))
    .values(paused_at=None)
)


def is_paused_for(connection: sqlite3.Connection, account_id: AccountId) -> bool:
    """The person behind an account."""
    return _PAUSED_FOR.first(connection, account=account_id) is not None


class SqlPauses:
    """`bot.ports.PauseStore` over SQL."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def is_paused(self, person: PersonId) -> bool:
        return bool(await self._database.peek(_PAUSED, person=person))

    async def pause(self, person: PersonId) -> None:
        at = to_ms(self._clock.now())
        await self._database.write(lambda connection: _PAUSE.run(connection, person=person, at=at).rowcount)

    async def resume(self, person: PersonId) -> None:
        await self._database.write(lambda connection: _RESUME.run(connection, person=person).rowcount)
