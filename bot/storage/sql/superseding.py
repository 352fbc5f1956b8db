"""Facts that later ones contradict: closed, and open again when whoever contradicted them is somebody else.

Invariant: a fact is closed while the chain of facts that superseded it, one by the other, holds one of an account of
the same person. So a parting gives each account back what only the other had contradicted, and a later
join takes it out of view again.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import and_, bindparam, select, update

from bot.conversation.scope import PersonId, Scope
from bot.storage.sql.schema import account, fact, shelf
from bot.storage.sql.shelves import COVERED_SHELVES, REWRITTEN, as_list, asked, listed, read_covered
from bot.storage.sql.statements import Row, Statement

_named = fact.alias("named")
_LATER = Statement(
    select(fact.c.said_at, fact.c.text, shelf.c.account_id)
    .join_from(fact, shelf, shelf.c.id == fact.c.shelf_id)
    .where(fact.c.id == bindparam("fact"), fact.c.shelf_id.in_(listed("shelves")))
)
_TO_CLOSE = and_(
    fact.c.shelf_id.in_(listed("shelves")),
    fact.c.text.in_(
        select(_named.c.text).where(_named.c.id.in_(listed("ids")), _named.c.shelf_id.in_(listed("shelves")))
    ),
    fact.c.text != bindparam("later_text"),
    fact.c.valid_to.is_(None),
)
_CLOSE_TEXTS = Statement(
    update(fact)
    .where(_TO_CLOSE)
    .values(valid_to=bindparam("at"), superseded_by=bindparam("by"), superseded_from=bindparam("said_by"))
    .returning(fact.c.shelf_id)
)
_TOUCH = Statement(
    update(shelf).where(shelf.c.id.in_(listed("shelves"))).values(version=shelf.c.version + REWRITTEN)
)
_LINKS = (
    fact.c.id,
    fact.c.shelf_id,
    fact.c.text,
    fact.c.said_at,
    fact.c.valid_to,
    fact.c.superseded_by,
    fact.c.superseded_from,
    account.c.person_id,
)
_SELECT_LINKS = (
    select(*_LINKS)
    .join_from(fact, shelf, shelf.c.id == fact.c.shelf_id)
    .join(account, account.c.id == shelf.c.account_id)
)
_SUPERSEDED = Statement(
    _SELECT_LINKS.where(
        account.c.person_id.in_(listed("persons")), fact.c.superseded_by.is_not(None)
    ).order_by(fact.c.id.desc())
)
_CONTRADICTED_BEFORE = Statement(_SELECT_LINKS.where(_TO_CLOSE, fact.c.superseded_by.is_not(None)))
_HANGING = Statement(_SELECT_LINKS.where(fact.c.superseded_by.in_(listed("ids"))))
_BY_IDS = Statement(_SELECT_LINKS.where(fact.c.id.in_(listed("ids"))))
_PERSONS = Statement(select(account.c.id, account.c.person_id).where(account.c.id.in_(listed("ids"))))
_mine = account.alias("mine")
_EQUALS = Statement(
    # All that the account's person has said in this place with the same words.
    select(fact.c.id)
    .select_from(_mine)
    .join(account, account.c.person_id == _mine.c.person_id)
    .join(shelf, shelf.c.account_id == account.c.id)
    .join(fact, fact.c.shelf_id == shelf.c.id)
    .where(
        _mine.c.id == bindparam("account"),
        shelf.c.place == bindparam("place"),
        fact.c.text == bindparam("text"),
        fact.c.id != bindparam("new"),
    )
)
_CLOSED_ON = Statement(
    _SELECT_LINKS.where(
        fact.c.shelf_id == bindparam("shelf"),
        fact.c.superseded_by.is_not(None),
        fact.c.valid_to.is_not(None),
    )
)
_SET = Statement(
    update(fact)
    .where(fact.c.id == bindparam("fact"))
    .values(valid_to=bindparam("at"), superseded_by=bindparam("by"), superseded_from=bindparam("said_by"))
)
_RELINK = Statement(
    update(fact)
    .where(fact.c.shelf_id.in_(listed("shelves")), fact.c.superseded_by == bindparam("gone"))
    .values(superseded_by=bindparam("by"), superseded_from=bindparam("said_by"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Link:
    """A fact as a link of a chain."""

    id: int
    shelf: int
    text: str
    said_at: int
    valid_to: int | None
    by: int | None
    said_by: int | None
    """The account that said the fact `by`."""
    person: PersonId


def supersede(
    connection: sqlite3.Connection, scope: Scope, fact_ids: Sequence[int], by: int, at: int | None = None
) -> int:
    """Close these facts of the scope, and all of it with the same texts, because the fact `by` of the scope
    contradicts them. `at`: when it was said, in ms, where it was said more than once. Returns how many were open."""
    shelves = as_list(read_covered(COVERED_SHELVES.rows(connection, **asked(scope))).ids)
    later = _LATER.first(connection, fact=by, shelves=shelves)
    if later is None:
        return 0
    said_at, text, said_by = later
    chosen = {"ids": as_list(fact_ids), "shelves": shelves, "later_text": text}
    for row in _CONTRADICTED_BEFORE.rows(connection, **chosen):
        _keep_own(connection, _link(row))
    closed = _CLOSE_TEXTS.rows(
        connection,
        **chosen,
        at=said_at if at is None else at,
        by=by,
        said_by=said_by,
    )
    _TOUCH.run(connection, shelves=as_list({row[0] for row in closed}))
    return len(closed)


def say_too(connection: sqlite3.Connection, scope: Scope, shelf_id: int, new: int, text: str) -> None:
    """After a fact was stored: what of its shelf was closed by equal words of a linked account, or is equal and
    closed itself, is now closed by the new one, whoever parts from whom."""
    equals = _EQUALS.rows(connection, account=scope.account, place=scope.place, text=text, new=new)
    if not equals:
        return
    closed = [_link(row) for row in _CLOSED_ON.rows(connection, shelf=shelf_id)]
    links, _ = _chains(connection, closed)
    same = {row[0] for row in equals}
    for each in closed:
        if each.id in same or same & set(_beyond(each, links)):
            _keep_own(connection, each)
            _SET.run(connection, fact=each.id, at=each.valid_to, by=new, said_by=scope.account)


def _keep_own(connection: sqlite3.Connection, cut: _Link) -> None:
    """Before the chain is cut behind a fact: what an account has contradicted itself, by way of that fact, hangs on its
    own later one.

    Left as it is where the chain also holds a fact of an account that said nothing further along it: the way to what
    contradicts that one is the chain.
    """
    hanging: list[_Link] = []
    nearest = [cut]
    while nearest:
        rows = _HANGING.rows(connection, ids=as_list(each.id for each in nearest))
        known = {cut.id, *(each.id for each in hanging)}
        nearest = [each for each in map(_link, rows) if each.id not in known]
        hanging += nearest
    links, _ = _chains(connection, [cut, *hanging])
    own = [(each, _own_later(each, links)) for each in hanging]
    if all(later is not None for _, later in own):
        for each, later in own:
            assert later is not None
            _SET.run(connection, fact=each.id, at=each.valid_to, by=later[0], said_by=later[1])


def _own_later(each: _Link, links: Mapping[int, _Link]) -> tuple[int, int | None] | None:
    """The first fact of its chain that is of its own shelf, and the account of both."""
    link = each
    for number in _beyond(each, links):
        later = links.get(number)
        if later is None:
            return None
        if later.shelf == each.shelf:
            return number, link.said_by
        link = later
    return None


def bridge(connection: sqlite3.Connection, shelves: str, gone: Sequence[int]) -> None:
    """Before facts are deleted: what they superseded hangs on what superseded them."""
    ends: dict[int, _Link] = {row[0]: _link(row) for row in _BY_IDS.rows(connection, ids=as_list(gone))}
    for each in ends.values():
        end = each
        while end.by is not None and end.by in ends and ends[end.by].by is not None:
            end = ends[end.by]
        if end.by is not None:
            _RELINK.run(connection, shelves=shelves, gone=each.id, by=end.by, said_by=end.said_by)


def settle(connection: sqlite3.Connection, persons: Iterable[PersonId]) -> None:
    """After accounts moved between these persons: open and close what the invariant asks for."""
    superseded = [
        _link(row) for row in _SUPERSEDED.rows(connection, persons=as_list(set(persons)))
    ]  # the newest first
    if not superseded:
        return
    links, owners = _chains(connection, superseded)
    changed = {each.shelf for each in superseded if _settle_one(connection, each, links, owners)}
    _TOUCH.run(connection, shelves=as_list(changed))


def _settle_one(
    connection: sqlite3.Connection, each: _Link, links: Mapping[int, _Link], owners: Mapping[int, PersonId]
) -> bool:
    """Whether anything changed."""
    closed_at = _closed_at(each, links, owners)
    if (closed_at is None) == (each.valid_to is None):
        return False
    by, said_by = each.by, each.said_by
    if closed_at is None and by not in links:
        by = said_by = None  # forgotten: nothing is left to close it again
    _SET.run(connection, fact=each.id, at=closed_at, by=by, said_by=said_by)
    return True


def _beyond(each: _Link, links: Mapping[int, _Link]) -> Iterator[int]:
    """The facts of its chain, one after the other."""
    seen = {each.id}
    link: _Link | None = each
    while link is not None and link.by is not None and link.by not in seen:
        seen.add(link.by)
        yield link.by
        link = links.get(link.by)


def _closed_at(each: _Link, links: Mapping[int, _Link], owners: Mapping[int, PersonId]) -> int | None:
    """When what supersedes it now was said; None when nothing does."""
    said_by = each.said_by
    for number in _beyond(each, links):
        later = links.get(number)
        if later is None:
            # Forgotten. It closes nothing anew, and opens nothing while its account is of the person.
            is_own = said_by is not None and owners.get(said_by) == each.person
            return each.valid_to if is_own else None
        if later.person == each.person:
            return later.said_at
        said_by = later.said_by
    return None


def _chains(
    connection: sqlite3.Connection, superseded: Sequence[_Link]
) -> tuple[dict[int, _Link], dict[int, PersonId]]:
    """Every fact that the chains go through, and whose the accounts are that said them."""
    links = {each.id: each for each in superseded}
    missing = {each.by for each in superseded} - links.keys()
    while missing:
        found = [_link(row) for row in _BY_IDS.rows(connection, ids=as_list(filter(None, missing)))]
        links |= {each.id: each for each in found}
        missing = {each.by for each in found} - links.keys() - {None}
    accounts = {each.said_by for each in links.values()}
    return links, dict(_PERSONS.rows(connection, ids=as_list(filter(None, accounts))))


def _link(row: Row) -> _Link:
    fact_id, shelf_id, text, said_at, valid_to, by, said_by, person = row
    return _Link(
        id=fact_id,
        shelf=shelf_id,
        text=text,
        said_at=said_at,
        valid_to=valid_to,
        by=by,
        said_by=said_by,
        person=person,
    )
