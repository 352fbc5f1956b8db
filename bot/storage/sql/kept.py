"""What is kept of the playground's people, for the page that shows it.

Invariant: lists accounts of the playground alone; facts are read by the accounts of one person.
"""

from collections.abc import Sequence

from sqlalchemy import bindparam, func, or_, select

from bot.conversation.message import PLAYGROUND
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.playground.kept import Going, KeptFact, Player
from bot.storage.sql.account_statements import ACCOUNTS
from bot.storage.sql.database import Database
from bot.storage.sql.fact_reading import read_fact
from bot.storage.sql.joining import account_of
from bot.storage.sql.schema import account, fact, from_ms, shelf, turn
from bot.storage.sql.statements import Statement, constant
from bot.storage.sql.word_forgetting import ToForget, would_forget
from identity.directory import GROUP_CHANNEL

_FACT_COUNT = (
    select(func.count())
    .select_from(fact.join(shelf))
    .where(shelf.c.account_id == account.c.id)
    .scalar_subquery()
)
_TURN_COUNT = (
    select(func.count())
    .select_from(turn.join(shelf))
    .where(shelf.c.account_id == account.c.id)
    .scalar_subquery()
)
_ANY_GROUP = constant(GROUP_CHANNEL.format(channel="*"))
_PLAYED = (
    ACCOUNTS.add_columns(_FACT_COUNT, _TURN_COUNT)
    .where(
        or_(
            account.c.app_id == constant(PLAYGROUND),
            account.c.app_id.op("GLOB")(constant(f"{PLAYGROUND}-*")),
        ),
        account.c.parked_of.is_(None),
    )
    .order_by(account.c.id.desc())
    .limit(bindparam("limit"))
)
_PLAYERS = Statement(_PLAYED.where(account.c.channel.op("NOT GLOB")(_ANY_GROUP)))
_GROUPS = Statement(_PLAYED.where(account.c.channel.op("GLOB")(_ANY_GROUP)))
_FACTS = Statement(
    select(
        fact.c.id,
        fact.c.kind,
        fact.c.text,
        fact.c.importance,
        fact.c.said_at,
        account.c.channel,
        fact.c.said_again_at,
        account.c.id,
        shelf.c.place,
        fact.c.valid_to,
        fact.c.superseded_by,
        fact.c.expires_at,
    )
    .select_from(fact.join(shelf).join(account))
    .where(account.c.person_id == bindparam("person"))
    .order_by(fact.c.said_at.desc(), fact.c.id.desc())
)


class SqlKept:
    """`bot.playground.kept.KeptStore` over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def players(self, limit: int) -> tuple[Player, ...]:
        return await self._played(_PLAYERS, limit)

    async def groups(self, limit: int) -> tuple[Player, ...]:
        return await self._played(_GROUPS, limit)

    async def _played(self, statement: Statement, limit: int) -> tuple[Player, ...]:
        rows = await self._database.read(statement, limit=limit)
        return tuple(Player(account=account_of(row[:-2]), facts=row[-2], turns=row[-1]) for row in rows)

    async def would_forget(
        self, scope: Scope, facts: Sequence[int], words: Sequence[str], turns: Sequence[int]
    ) -> Going:
        """In a thread: every turn of theirs is looked through."""
        asking = ToForget(facts=tuple(facts), words=tuple(words), turns=tuple(turns))
        going = await self._database.view(lambda connection: would_forget(connection, scope, asking))
        return Going(facts=going[0], turns=going[1], has_made=going[2])

    async def kept_facts(self, person: PersonId) -> tuple[KeptFact, ...]:
        rows = await self._database.read(_FACTS, person=person)
        return tuple(
            KeptFact(
                fact=read_fact(row[:7]),
                account=AccountId(row[7]),
                place=row[8],
                valid_to=None if row[9] is None else from_ms(row[9]),
                replaced_by=row[10],
                expires_at=None if row[11] is None else from_ms(row[11]),
            )
            for row in rows
        )
