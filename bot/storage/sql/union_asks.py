"""When a platform last said what an account's unionid is.

Invariant: only a platform's answer is noted, also that there is none; a question that got no answer leaves no trace.
"""

from datetime import datetime

from sqlalchemy import bindparam, select, update

from bot.conversation.scope import AccountId
from bot.storage.sql.database import Database
from bot.storage.sql.schema import account, from_ms, to_ms
from bot.storage.sql.statements import Statement

_ASKED_AT = Statement(select(account.c.union_asked_at).where(account.c.id == bindparam("account")))
_NOTE = Statement(
    update(account).where(account.c.id == bindparam("account")).values(union_asked_at=bindparam("at"))
)


class SqlUnionAsks:
    """`bot.union_lookup.UnionAsks` over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def asked_at(self, account: AccountId) -> datetime | None:
        rows = await self._database.peek(_ASKED_AT, account=account)
        return None if not rows or rows[0][0] is None else from_ms(rows[0][0])

    async def note(self, account: AccountId, at: datetime) -> None:
        moment = to_ms(at)
        await self._database.write(
            lambda connection: _NOTE.run(connection, account=account, at=moment).rowcount
        )
