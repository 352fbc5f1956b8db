"""Forget again what the ledger says, in an older copy of the database.

Invariant: everything in the copy is older than the forgettings it does not hold (its number is below
theirs), so what they name is deleted whole, and no clock is asked.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import select, union, update

from bot.conversation.errors import ConfigurationError
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.memory.fact import ForgetReceipt
from bot.storage.forget_ledger import ForgetLedger, Forgetting
from bot.storage.sql import forgetting, place_clearing, summaries
from bot.storage.sql.schema import account, fact, inbox, person, shelf
from bot.storage.sql.shelves import as_list, listed
from bot.storage.sql.stamps import FORGOTTEN, read_stamp, write_stamp
from bot.storage.sql.statements import Statement
from bot.storage.sql.word_forgetting import ToForget, forget_facts

_ACCOUNTS = Statement(
    select(account.c.channel, account.c.app_id, account.c.openid, account.c.id, account.c.person_id)
)
_RAISE_EPOCHS = Statement(
    update(person).where(person.c.id.in_(listed("persons"))).values(epoch=person.c.epoch + 1)
)
_PLACES = Statement(
    union(select(shelf.c.place).where(shelf.c.place != ""), select(inbox.c.place).where(inbox.c.place != ""))
)
_MESSAGES = Statement(select(inbox.c.channel, inbox.c.app_id, inbox.c.key, inbox.c.id))
_FACTS = Statement(
    select(
        account.c.channel,
        account.c.app_id,
        account.c.openid,
        shelf.c.place,
        fact.c.text,
        fact.c.id,
        account.c.person_id,
        account.c.id,
        person.c.epoch,
    ).select_from(
        fact.join(shelf, shelf.c.id == fact.c.shelf_id)
        .join(account, account.c.id == shelf.c.account_id)
        .join(person, person.c.id == account.c.person_id)
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a replay did."""

    forgettings: int = 0
    """Entries of the ledger that the copy did not hold."""
    receipt: ForgetReceipt = field(default_factory=ForgetReceipt)
    is_ledger_short: bool = False
    """The copy holds forgettings that the ledger has not: it is another one, or lost lines."""


def replay(
    connection: sqlite3.Connection, ledger: ForgetLedger, *known: int, is_last_sure: bool = False
) -> Replay:
    """Forget in this database what it does not hold. Inside the caller's transaction.

    `known`: forgettings that other copies hold. `is_last_sure`: take the last line as committed too, where
    the database that could tell is lost. Raises ConfigurationError when the ledger is damaged, or its names
    were made with another pepper.
    """
    held = read_stamp(connection, FORGOTTEN) or 0
    content = ledger.read()
    sure = (content.last,) if is_last_sure else ()
    missing = [each for each in content.effective(held, *known, *sure) if each.number > held]
    _check_key(ledger, missing)
    is_short = held > content.last
    if not missing:
        return Replay(is_ledger_short=is_short)
    # A summary may hold what was forgotten in words of its own. They are made anew from the turns.
    summaries.forget_all(connection)
    receipt = ForgetReceipt()
    for key_id in sorted({each.key_id for each in missing}):
        named = ledger.under(key_id)
        assert named is not None, "checked above"
        receipt = _added(
            receipt, _forget(connection, named, [each for each in missing if each.key_id == key_id])
        )
    write_stamp(connection, FORGOTTEN, missing[-1].number)
    return Replay(forgettings=len(missing), receipt=receipt, is_ledger_short=is_short)


def _check_key(ledger: ForgetLedger, missing: Sequence[Forgetting]) -> None:
    strange = [each for each in missing if ledger.under(each.key_id) is None]
    if strange:
        raise ConfigurationError(
            str(ledger.path),
            f"有 {len(strange)} 条是用另一个 data/pepper 记的，对不上人",
            "把原来的 data/pepper 放回来",
        )


def _forget(
    connection: sqlite3.Connection, ledger: ForgetLedger, missing: Sequence[Forgetting]
) -> ForgetReceipt:
    """What was named with one key."""
    receipt = _clear(connection, ledger, missing)
    receipt = _added(receipt, _clear_places(connection, ledger, missing))
    receipt = _added(receipt, _forget_messages(connection, ledger, missing))
    return _added(receipt, _forget_facts(connection, ledger, missing))


def _clear(
    connection: sqlite3.Connection, ledger: ForgetLedger, missing: Sequence[Forgetting]
) -> ForgetReceipt:
    names = frozenset[str]().union(*(each.accounts for each in missing))
    if not names:
        return ForgetReceipt()
    found = [row for row in _ACCOUNTS.rows(connection) if ledger.account(*row[:3]) in names]
    # No work is under way, so nothing is barred: that would cost linked accounts their pending jobs.
    _RAISE_EPOCHS.run(connection, persons=as_list({row[4] for row in found}))
    return forgetting.clear_accounts(connection, as_list(row[3] for row in found))


def _clear_places(
    connection: sqlite3.Connection, ledger: ForgetLedger, missing: Sequence[Forgetting]
) -> ForgetReceipt:
    names = frozenset[str]().union(*(each.places for each in missing))
    receipt = ForgetReceipt()
    for (place,) in _PLACES.rows(connection) if names else ():
        if ledger.place(place) in names:
            receipt = _added(receipt, place_clearing.clear_place(connection, place))
    return receipt


def _forget_messages(
    connection: sqlite3.Connection, ledger: ForgetLedger, missing: Sequence[Forgetting]
) -> ForgetReceipt:
    messages = frozenset[str]().union(*(each.messages for each in missing))
    replies = frozenset[str]().union(*(each.replies for each in missing))
    if not messages and not replies:
        return ForgetReceipt()
    ids = {ledger.message(*row[:3]): row[3] for row in _MESSAGES.rows(connection)}
    return forgetting.forget_messages(
        connection,
        [ids[name] for name in messages if name in ids],
        [ids[name] for name in replies if name in ids],
    )


def _forget_facts(
    connection: sqlite3.Connection, ledger: ForgetLedger, missing: Sequence[Forgetting]
) -> ForgetReceipt:
    names = frozenset[str]().union(*(each.facts for each in missing))
    by_scope: dict[Scope, list[int]] = {}
    for *key, place, text, fact_id, person_id, account_id, epoch in _FACTS.rows(connection) if names else ():
        if ledger.fact((key[0], key[1], key[2]), place, text) in names:
            scope = Scope(person=PersonId(person_id), account=AccountId(account_id), epoch=epoch, place=place)
            by_scope.setdefault(scope, []).append(fact_id)
    receipt = ForgetReceipt()
    for scope, ids in by_scope.items():
        receipt = _added(receipt, forget_facts(connection, scope, ToForget(facts=ids)))
    return receipt


def _added(one: ForgetReceipt, other: ForgetReceipt) -> ForgetReceipt:
    return replace(
        one,
        facts=one.facts + other.facts,
        turns=one.turns + other.turns,
        jobs=one.jobs + other.jobs,
        deliveries=one.deliveries + other.deliveries,
        vectors=one.vectors + other.vectors,
        summaries=one.summaries + other.summaries,
        entities=one.entities + other.entities,
    )
