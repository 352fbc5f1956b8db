"""Forget again what the ledger says, in an older copy of the database, and do again what else it notes.

Invariant: everything in the copy is older than the forgettings it does not hold (its number is below
theirs), so what they name is deleted whole, and no clock is asked but for what is overdue.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import select, union, update

from bot.conversation.errors import ConfigurationError
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.memory.fact import ForgetReceipt
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.ledger_lines import ActKind, Forgetting
from bot.storage.sql import forgetting, parking, place_clearing, replaying_acts, summaries
from bot.storage.sql.schema import account, fact, inbox, person, shelf, to_ms
from bot.storage.sql.shelves import as_list, listed
from bot.storage.sql.stamps import FORGOTTEN, read_stamp, write_stamp
from bot.storage.sql.statements import Statement
from bot.storage.sql.word_forgetting import ToForget, forget_facts

_ACCOUNTS = Statement(select(account.c.channel, account.c.app_id, account.c.openid, account.c.id))
_PERSONS = Statement(select(account.c.id, account.c.person_id).where(account.c.id.in_(listed("accounts"))))
_LEFT_BEHIND = Statement(
    select(account.c.id, account.c.person_id).where(account.c.parked_of.in_(listed("accounts")))
)
_RAISE_EPOCHS = Statement(
    update(person).where(person.c.id.in_(listed("persons"))).values(epoch=person.c.epoch + 1)
)
_PLACES = Statement(
    union(select(shelf.c.place).where(shelf.c.place != ""), select(inbox.c.place).where(inbox.c.place != ""))
)
_MESSAGES = Statement(select(inbox.c.channel, inbox.c.app_id, inbox.c.key, inbox.c.id))
# What is parked is named as of the account that left it, too: it may have had it back when it forgot.
_origin = account.alias("origin")
_FACTS = Statement(
    select(
        account.c.channel,
        account.c.app_id,
        account.c.openid,
        _origin.c.channel,
        _origin.c.openid,
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
        .outerjoin(_origin, _origin.c.id == account.c.parked_of)
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a replay did."""

    entries: int = 0
    """Lines of the ledger that the copy did not hold."""
    forgettings: int = 0
    """Of these, the ones that delete something."""
    receipt: ForgetReceipt = field(default_factory=ForgetReceipt)
    left: int = 0
    """Accounts that were made newcomers again."""
    parted: int = 0
    """Accounts that went into another person."""
    parked: int = 0
    """Accounts that had unsubscribed, and not asked for it back."""
    is_ledger_short: bool = False
    """The copy holds forgettings that the ledger has not: it is another one, or lost lines."""


def replay(
    connection: sqlite3.Connection,
    ledger: ForgetLedger,
    *known: int,
    is_last_sure: bool = False,
    overdue_at: int | None = None,
) -> Replay:
    """Forget in this database what it does not hold. Inside the caller's transaction.

    `known`: forgettings that other copies hold. `is_last_sure`: take the last line as committed too, where
    the database that could tell is lost. `overdue_at`: delete what was parked until then; None leaves it to the
    next start, in milliseconds.

    Raises ConfigurationError when the ledger is damaged or of a newer program, or its names were made with another
    pepper; StoreUnavailable when what is overdue cannot be noted in it.
    """
    held = read_stamp(connection, FORGOTTEN) or 0
    content = ledger.read()
    sure = (content.last,) if is_last_sure else ()
    missing = [each for each in content.effective(held, *known, *sure) if each.number > held]
    _check_key(ledger, missing)
    done = Replay(is_ledger_short=held > content.last)
    if missing:
        done = _do_again(connection, ledger, missing, done)
        write_stamp(connection, FORGOTTEN, missing[-1].number)
    if overdue_at is not None:
        for each in parking.overdue(connection, overdue_at):
            receipt = parking.discard(connection, each, overdue_at, ledger)
            done = replace(done, receipt=done.receipt + receipt)
    return done


def _do_again(
    connection: sqlite3.Connection,
    ledger: ForgetLedger,
    missing: Sequence[Forgetting],
    done: Replay,
) -> Replay:
    by_key = {key_id: _under(ledger, key_id) for key_id in sorted({each.key_id for each in missing})}
    named = {key_id: _accounts(connection, under) for key_id, under in by_key.items()}
    acts = replaying_acts.known((each.act, named[each.key_id]) for each in missing if each.act is not None)
    # A summary may hold what was forgotten in words of its own. They are made anew from the turns.
    summaries.forget_all(connection)
    left, parted = replaying_acts.settle_persons(connection, to_ms(ledger.clock.now()), acts)
    receipt = ForgetReceipt()
    for key_id, under in by_key.items():
        lines = [each for each in missing if each.key_id == key_id]
        receipt += _forget(connection, under, lines, named[key_id])
    parked, discarded = replaying_acts.settle_parking(connection, acts)
    return replace(
        done,
        entries=len(missing),
        forgettings=sum(each.deletes for each in missing),
        receipt=receipt + discarded,
        left=left,
        parted=parted,
        parked=parked,
    )


def _under(ledger: ForgetLedger, key_id: str) -> ForgetLedger:
    under = ledger.under(key_id)
    assert under is not None, "checked before"
    return under


def _accounts(connection: sqlite3.Connection, ledger: ForgetLedger) -> dict[str, AccountId]:
    return {ledger.account(*row[:3]): AccountId(row[3]) for row in _ACCOUNTS.rows(connection)}


def _check_key(ledger: ForgetLedger, missing: Sequence[Forgetting]) -> None:
    strange = [each for each in missing if ledger.under(each.key_id) is None]
    if strange:
        raise ConfigurationError(
            str(ledger.path),
            f"有 {len(strange)} 条是用另一个 data/pepper 记的，对不上人",
            "把原来的 data/pepper 放回来",
        )


def _forget(
    connection: sqlite3.Connection,
    ledger: ForgetLedger,
    missing: Sequence[Forgetting],
    named: Mapping[str, AccountId],
) -> ForgetReceipt:
    """What was named with one key."""
    return (
        _clear(connection, missing, named)
        + _clear_places(connection, ledger, missing)
        + _forget_messages(connection, ledger, missing)
        + _forget_facts(connection, ledger, missing)
    )


def _clear(
    connection: sqlite3.Connection, missing: Sequence[Forgetting], named: Mapping[str, AccountId]
) -> ForgetReceipt:
    names = frozenset[str]().union(*(each.accounts for each in missing))
    if not names:
        return ForgetReceipt()
    # What is parked may stand under another name there. One that was deleted by itself names what it means.
    whole = frozenset[str]().union(*(each.accounts for each in missing if _is_of_persons(each)))
    ids = as_list(named[name] for name in names if name in named)
    left_behind = _LEFT_BEHIND.rows(
        connection, accounts=as_list(named[name] for name in whole if name in named)
    )
    rows = _PERSONS.rows(connection, accounts=ids) + left_behind
    # No work is under way, so nothing is barred: that would cost linked accounts their pending jobs.
    _RAISE_EPOCHS.run(connection, persons=as_list({row[1] for row in rows}))
    return forgetting.clear_accounts(connection, as_list({row[0] for row in rows}))


def _is_of_persons(each: Forgetting) -> bool:
    """Whether it clears persons, and not what an account had parked: older lines do not say."""
    return each.version > 1 and (each.act is None or each.act.kind is not ActKind.DISCARDED)


def _clear_places(
    connection: sqlite3.Connection, ledger: ForgetLedger, missing: Sequence[Forgetting]
) -> ForgetReceipt:
    names = frozenset[str]().union(*(each.places for each in missing))
    receipt = ForgetReceipt()
    for (place,) in _PLACES.rows(connection) if names else ():
        if ledger.place(place) in names:
            receipt += place_clearing.clear_place(connection, place)
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
    for channel, app_id, openid, *origin, place, text, fact_id, person_id, account_id, epoch in (
        _FACTS.rows(connection) if names else ()
    ):
        keys = [(channel, app_id, openid)]
        if origin[0] is not None:
            keys.append((origin[0], app_id, origin[1]))
        if any(ledger.fact(key, place, text) in names for key in keys):
            scope = Scope(person=PersonId(person_id), account=AccountId(account_id), epoch=epoch, place=place)
            by_scope.setdefault(scope, []).append(fact_id)
    receipt = ForgetReceipt()
    for scope, ids in by_scope.items():
        receipt += forget_facts(connection, scope, ToForget(facts=ids))
    return receipt
