"""Do again what people did besides forgetting, in an older copy of the database: left, parted, unsubscribed.

Invariant: nobody is joined here. Accounts are together afterwards if they were in the copy and either never parted since or
came together again; whoever left is alone, whatever they linked since. Doing it to accounts that the copy does not
know does nothing.

Who is together is settled before anything is forgotten, since who forgets a text forgets it for all accounts of the
person; what is parked is settled after, since all that the copy holds is older than any of it.
"""

import itertools
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from bot.conversation.scope import AccountId, PersonId
from bot.memory.fact import ForgetReceipt
from bot.storage.ledger_lines import Act, ActKind
from bot.storage.sql import conflicts, parking
from bot.storage.sql.joining import make_newcomers, split
from bot.storage.sql.schema import account
from bot.storage.sql.statements import Statement

_PERSONS = Statement(select(account.c.id, account.c.person_id).order_by(account.c.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAct:
    """An act, of those of its accounts that the copy knows."""

    act: Act
    who: tuple[AccountId, ...]
    others: tuple[AccountId, ...] = ()


def known(acts: Iterable[tuple[Act, Mapping[str, AccountId]]]) -> list[KnownAct]:
    """In the order of their lines. With each, the copy's accounts by the names that its key makes."""
    return [
        KnownAct(
            act=act,
            who=tuple(sorted(named[name] for name in act.who if name in named)),
            others=tuple(sorted(named[name] for name in act.others if name in named)),
        )
        for act, named in acts
    ]


def settle_persons(connection: sqlite3.Connection, now: int, acts: Sequence[KnownAct]) -> tuple[int, int]:
    """Returns how many accounts were made newcomers, and how many went into another person."""
    persons: dict[AccountId, PersonId] = dict(_PERSONS.rows(connection))
    left = {each for done in acts if done.act.kind is ActKind.LEFT for each in done.who}
    make_newcomers(connection, now, sorted(left))
    parted = 0
    for person, groups in _apart(persons, left, acts).items():
        for moving in groups[1:]:
            split(connection, now, person, moving)
            parted += len(moving)
    _keep_apart(connection, now, acts)
    return len(left), parted


def settle_parking(connection: sqlite3.Connection, acts: Sequence[KnownAct]) -> tuple[int, ForgetReceipt]:
    """One after the other. Returns how many accounts unsubscribed, and what of theirs was deleted."""
    parked: set[AccountId] = set()
    receipt = ForgetReceipt()
    for done in acts:
        for each in done.who:
            match done.act.kind:
                case ActKind.PARKED:
                    parking.park(connection, each, done.act.at or 0)
                    parked.add(each)
                case ActKind.RETURNED:
                    parking.give_back(connection, each)
                    parked.discard(each)
                case ActKind.DISCARDED:
                    receipt += parking.discard(connection, each, done.act.at)
                case _:
                    pass
    return len(parked), receipt


def _apart(
    persons: Mapping[AccountId, PersonId], left: Collection[AccountId], acts: Iterable[KnownAct]
) -> dict[PersonId, list[list[AccountId]]]:
    """The persons of which somebody parted: who is together now, first those who stay."""
    labels: dict[AccountId, int] = dict(persons)
    fresh = itertools.count(-1, -1)  # no person's id
    touched: set[PersonId] = set()
    for done in acts:
        if done.act.kind is ActKind.PARTED:
            labels |= {each: next(fresh) for each in done.who}
        elif done.act.kind is ActKind.TOGETHER:
            labels |= dict.fromkeys(done.who, next(fresh))
        touched |= {persons[each] for each in done.who}
    found: dict[PersonId, dict[int, list[AccountId]]] = {each: {} for each in touched}
    for each, person in persons.items():
        if person in touched and each not in left:
            found[person].setdefault(labels[each], []).append(each)
    # Positive is the label of who never parted: the person stays theirs.
    return {
        person: [members for _, members in sorted(groups.items(), reverse=True)]
        for person, groups in found.items()
    }


def _keep_apart(connection: sqlite3.Connection, now: int, acts: Iterable[KnownAct]) -> None:
    kept = [done for done in acts if done.act.kind is ActKind.KEPT]
    persons: dict[AccountId, PersonId] = dict(_PERSONS.rows(connection)) if kept else {}
    for done in kept:
        sides = ({persons[each] for each in side} for side in (done.who, done.others))
        conflicts.keep_apart(connection, now, *sides)
