"""Which groups the bot was told to be silent in.

Invariant: a group that nobody switched has no row, and is on.
"""

from sqlalchemy import select

from bot.conversation.ports import Clock
from bot.storage.sql.database import Database
from bot.storage.sql.schema import group_switch, to_ms
from bot.storage.sql.statements import Statement, constant, insert_into

_OFF = Statement(select(group_switch.c.place).where(group_switch.c.is_on == constant(0)))
_insert = insert_into(group_switch, "place", "is_on", "at")
_SWITCH = Statement(
    _insert.on_conflict_do_update(
        index_elements=["place"], set_={name: _insert.excluded[name] for name in ("is_on", "at")}
    )
)


class SqlGroupSwitches:
    """`bot.ports.GroupStore` over SQL."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def switched_off(self) -> frozenset[str]:
        """Raises StoreUnavailable."""
        return frozenset(row[0] for row in await self._database.read(_OFF))

    async def switch(self, place: str, *, is_on: bool) -> None:
        """Raises StoreUnavailable."""
        at = to_ms(self._clock.now())
        await self._database.write(
            lambda connection: _SWITCH.run(connection, place=place, is_on=int(is_on), at=at).rowcount
        )
