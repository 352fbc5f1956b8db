"""What an account leaves behind when it unsubscribes: put away, given back, or deleted.

Invariant: what is parked hangs on an account of its own (`parked_of`, `parked_at`), whose person nobody is, so every
reading by a person passes it by. The account it came from keeps its person; other accounts keep what they hold.
Facts that only the parked side had contradicted are open meanwhile, as after a parting. The ledger knows of each of these,
and of what is deleted as the account had it, so that an older copy of the database does not bring it back.
"""

import sqlite3
from datetime import datetime

from sqlalchemy import bindparam, exists, or_, select, update

from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId
from bot.memory.fact import ForgetReceipt
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.ledger_lines import ActKind
from bot.storage.sql import account_statements, segments, summaries
from bot.storage.sql.database import Database
from bot.storage.sql.forgetting import drop_work, empty_shelves
from bot.storage.sql.joining import by_id, new_person
from bot.storage.sql.noting import note_act, note_parked, write_noted
from bot.storage.sql.parting import take_apart
from bot.storage.sql.schema import account, entity, fact, inbox, person, shelf, to_ms, turn
from bot.storage.sql.scopes import find_shelf
from bot.storage.sql.shelves import REWRITTEN, as_list, listed
from bot.storage.sql.statements import Statement, insert_into
from bot.storage.sql.superseding import settle

LEFT = "_left"
"""Behind the channel of an account that stands for what another left behind."""

_RAISE_EPOCH = Statement(
    update(person)
    .where(person.c.id == bindparam("person"))
    .values(epoch=person.c.epoch + 1)
    .returning(person.c.epoch)
)
_BAR = Statement(
    update(account).where(account.c.id == bindparam("account")).values(cleared_epoch=bindparam("raised"))
)
_HOLDS_WORDS = or_(
    exists(select(fact.c.id).where(fact.c.shelf_id == shelf.c.id)),
    exists(select(turn.c.id).where(turn.c.shelf_id == shelf.c.id)),
)
_SHELVES = Statement(
    select(shelf.c.id, shelf.c.size + shelf.c.coming_size, shelf.c.place).where(
        shelf.c.account_id == bindparam("account")
    )
)
_FULL_SHELF = Statement(
    select(shelf.c.id).where(shelf.c.account_id == bindparam("account"), _HOLDS_WORDS).limit(1)
)
_EARLIER = Statement(select(account.c.id).where(account.c.parked_of == bindparam("account")))
_PARKED = Statement(
    select(account.c.id, account.c.parked_at)
    .where(account.c.parked_of == bindparam("account"), account.c.parked_at.is_not(None))
    .order_by(account.c.id)
)
_OVERDUE = Statement(
    select(account.c.parked_of)
    .distinct()
    .where(account.c.parked_of.is_not(None), account.c.parked_at <= bindparam("before"))
)
_INSERT = Statement(
    insert_into(
        account,
        *("channel", "app_id", "openid", "unionid", "person_id", "cleared_epoch", "greeted", "created_at"),
        *("parked_of", "parked_at"),
    )
)
_SETTLED = Statement(update(account).where(account.c.id == bindparam("account")).values(parked_at=None))
_TO_PARKED = Statement(
    update(shelf)
    .where(shelf.c.account_id == bindparam("account"))
    .values(account_id=bindparam("parked"), cleared_epoch=0, version=shelf.c.version + REWRITTEN)
)
_GIVE_BACK = Statement(
    update(shelf)
    .where(shelf.c.id == bindparam("shelf"))
    .values(account_id=bindparam("account"), cleared_epoch=0, version=shelf.c.version + REWRITTEN)
)
_MOVE_FACTS = Statement(
    update(fact).where(fact.c.shelf_id == bindparam("shelf")).values(shelf_id=bindparam("target"), model="")
)
_MOVE_TURNS = Statement(
    update(turn).where(turn.c.shelf_id == bindparam("shelf")).values(shelf_id=bindparam("target"))
)
_MOVE_ENTITIES = Statement(
    update(entity).where(entity.c.shelf_id == bindparam("shelf")).values(shelf_id=bindparam("target"))
)
_TOUCH = Statement(
    update(shelf).where(shelf.c.id == bindparam("shelf")).values(version=shelf.c.version + REWRITTEN)
)
_RENAME_SAYER = Statement(
    update(fact)
    .where(
        fact.c.superseded_by.is_not(None),
        fact.c.superseded_from == bindparam("before"),
        fact.c.shelf_id.in_(
            select(shelf.c.id).join(account).where(account.c.person_id.in_(listed("persons")))
        ),
    )
    .values(superseded_from=bindparam("after"))
)
_MESSAGES = Statement(
    select(inbox.c.id).where(
        inbox.c.account_id == bindparam("account"), inbox.c.accepted_at <= bindparam("until")
    )
)


class SqlParking:
    """`bot.leaving.ParkingStore` over SQL."""

    def __init__(self, database: Database, clock: Clock, ledger: ForgetLedger | None = None) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger

    async def park(self, account: AccountId) -> tuple[str, ...]:
        now = to_ms(self._clock.now())
        places = await write_noted(
            self._database, self._ledger, lambda connection: park(connection, account, now, self._ledger)
        )
        # Words that were blanked are gone from the file, as after a clearing.
        await self._database.quiesce_and_checkpoint()
        return places

    async def has_parked(self, account: AccountId) -> bool:
        def look(connection: sqlite3.Connection) -> bool:
            return any(
                _FULL_SHELF.first(connection, account=row[0])
                for row in _PARKED.rows(connection, account=account)
            )

        return await self._database.glance(look)

    async def restore(self, account: AccountId) -> bool:
        return await write_noted(
            self._database, self._ledger, lambda connection: give_back(connection, account, self._ledger)
        )

    async def discard(self, account: AccountId, until: datetime | None = None) -> ForgetReceipt:
        before = None if until is None else to_ms(until)

        receipt = await write_noted(
            self._database,
            self._ledger,
            lambda connection: discard(connection, account, before, self._ledger),
        )
        await self._database.quiesce_and_checkpoint()
        return receipt

    async def overdue(self, until: datetime) -> tuple[AccountId, ...]:
        rows = await self._database.read(_OVERDUE, before=to_ms(until))
        return tuple(AccountId(row[0]) for row in rows)


def park(
    connection: sqlite3.Connection, account: AccountId, now: int, ledger: ForgetLedger | None = None
) -> tuple[str, ...]:
    """See `ParkingStore.park`. Noted also where there is nothing: an older copy may have something."""
    known = by_id(connection, account)
    note_act(connection, ledger, ActKind.PARKED, [account], at=now)
    raised = _RAISE_EPOCH.first(connection, person=known.person)
    assert raised is not None, "every account has a person"
    _BAR.run(connection, account=account, raised=raised[0])
    drop_work(connection, as_list([account]))
    together = account_statements.OF_PERSON.rows(connection, person=known.person)
    take_apart(connection, [account], [AccountId(row[0]) for row in together if row[0] != account])
    if _FULL_SHELF.first(connection, account=account) is None:
        return ()
    places = tuple(row[2] for row in _SHELVES.rows(connection, account=account))
    alone = new_person(connection, now)
    number = len(_EARLIER.rows(connection, account=account)) + 1
    made = _INSERT.run(
        connection,
        channel=known.key.channel + LEFT,
        app_id=known.key.app_id,
        openid=f"{known.key.openid}#{number}",
        unionid="",
        person_id=alone,
        cleared_epoch=0,
        greeted=0,
        created_at=now,
        parked_of=account,
        parked_at=now,
    )
    parked = AccountId(made.lastrowid or 0)
    persons = (known.person, alone)
    _RENAME_SAYER.run(connection, before=account, after=parked, persons=as_list(persons))
    _TO_PARKED.run(connection, account=account, parked=parked)
    settle(connection, persons)
    return places


def give_back(connection: sqlite3.Connection, account: AccountId, ledger: ForgetLedger | None = None) -> bool:
    """See `ParkingStore.restore`."""
    known = by_id(connection, account)
    waiting = [row[0] for row in _PARKED.rows(connection, account=account)]
    had_words = False
    if waiting:
        note_act(connection, ledger, ActKind.RETURNED, [account])
    for parked in waiting:
        had_words = had_words or _FULL_SHELF.first(connection, account=parked) is not None
        for shelf_id, _, place in _SHELVES.rows(connection, account=parked):
            _hand_over(connection, shelf_id, account, place)
        _SETTLED.run(connection, account=parked)
        _RENAME_SAYER.run(connection, before=parked, after=account, persons=as_list([known.person]))
    if waiting:
        _RAISE_EPOCH.run(connection, person=known.person).fetchall()
        settle(connection, [known.person])
    return had_words


def _hand_over(connection: sqlite3.Connection, shelf_id: int, account: AccountId, place: str) -> None:
    """The shelf itself, or what it holds where the account has begun another there: its vectors are made anew."""
    target = find_shelf(connection, account, place)
    if target is None:
        _GIVE_BACK.run(connection, shelf=shelf_id, account=account)
        return
    segments.drop(connection, shelf_id)
    _MOVE_FACTS.run(connection, shelf=shelf_id, target=target)
    _MOVE_TURNS.run(connection, shelf=shelf_id, target=target)
    _MOVE_ENTITIES.run(connection, shelf=shelf_id, target=target)
    # Neither summary tells of the turns of both.
    summaries.forget_shelves(connection, as_list([shelf_id, target]))
    _TOUCH.run(connection, shelf=target)
    empty_shelves(connection, [(shelf_id, 0)])


def overdue(connection: sqlite3.Connection, until: int) -> list[AccountId]:
    """See `ParkingStore.overdue`."""
    return [AccountId(row[0]) for row in _OVERDUE.rows(connection, before=until)]


def discard(
    connection: sqlite3.Connection,
    account: AccountId,
    until: int | None = None,
    ledger: ForgetLedger | None = None,
) -> ForgetReceipt:
    """See `ParkingStore.discard`."""
    parked = _PARKED.rows(connection, account=account)
    gone = [row for row in parked if until is None or row[1] <= until]
    if not gone:
        return ForgetReceipt()
    shelves = [row for each in gone for row in _SHELVES.rows(connection, account=each[0])]
    if ledger is not None:
        has_more = len(gone) < len(parked) or _FULL_SHELF.first(connection, account=account) is not None
        note_parked(
            connection,
            ledger,
            account,
            as_list(each[0] for each in gone),
            shelves=as_list(row[0] for row in shelves),
            messages=_written_until(connection, account, gone[-1][1]) if has_more else None,
            until=until,
        )
    receipt = empty_shelves(connection, shelves)
    for each in gone:
        _SETTLED.run(connection, account=each[0])
    return receipt


def _written_until(connection: sqlite3.Connection, account: AccountId, moment: int) -> list[int]:
    return [row[0] for row in _MESSAGES.rows(connection, account=account, until=moment)]
