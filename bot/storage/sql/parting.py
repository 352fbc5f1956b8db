"""What accounts that were one person may hold of each other once they are not.

Invariant: after a parting neither side is shown by a reply that waited, nor the model by an earlier answer, a fact that
only the other side holds. Questions stay: they are each account's own words.
"""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import bindparam, or_, select, update

from bot.conversation.scope import AccountId
from bot.storage.sql.blanking import drop_replies
from bot.storage.sql.schema import account, fact, shelf, turn
from bot.storage.sql.shelves import as_list, listed
from bot.storage.sql.statements import Row, Statement

_START = 2
"""Characters. Shorter pieces of a fact are part of nearly every answer."""
_SPEAKER = re.compile("^(?:我们|咱们|本人|我|俺|咱)的?")
"""An answer says 「您」 instead."""

_SHELVES = Statement(
    select(shelf.c.id)
    .join_from(shelf, account, account.c.id == shelf.c.account_id)
    .where(or_(account.c.id.in_(listed("accounts")), account.c.parked_of.in_(listed("accounts"))))
)
_TEXTS = Statement(select(fact.c.text).distinct().where(fact.c.shelf_id.in_(listed("shelves"))))
_ANSWERS = Statement(
    select(turn.c.id, turn.c.answer).where(turn.c.shelf_id.in_(listed("shelves")), turn.c.answer != "")
)
_BLANK_ANSWERS = Statement(update(turn).where(turn.c.id.in_(listed("ids"))).values(answer=bindparam("blank")))


def take_apart(connection: sqlite3.Connection, one: Sequence[AccountId], other: Sequence[AccountId]) -> None:
    """Of two sides that are one person until now: nothing that waits is shown, no answer quotes the other's facts.

    The caller raises the epochs, so that what is being answered is decided once more and no window is read again.
    """
    if not one or not other:
        return
    drop_replies(connection, as_list((*one, *other)))
    shelves = [
        as_list(row[0] for row in _SHELVES.rows(connection, accounts=as_list(each))) for each in (one, other)
    ]
    pieces = [_pieces(_TEXTS.rows(connection, shelves=each)) for each in shelves]
    for mine, theirs in ((0, 1), (1, 0)):
        _blank_quoting(connection, shelves[mine], pieces[theirs] - pieces[mine])


def _blank_quoting(connection: sqlite3.Connection, shelves: str, pieces: Iterable[str]) -> None:
    by_start: dict[str, list[str]] = defaultdict(list)
    for piece in pieces:
        by_start[piece[:_START]].append(piece)
    if not by_start:
        return
    answers = _ANSWERS.rows(connection, shelves=shelves)
    quoting = as_list(turn_id for turn_id, answer in answers if _quotes(answer, by_start))
    _BLANK_ANSWERS.run(connection, ids=quoting, blank="")


def _pieces(rows: Iterable[Row]) -> set[str]:
    """What an answer would repeat of each fact."""
    told = {_SPEAKER.sub("", text).rstrip("。！!.；;，, ") for (text,) in rows}
    return {piece for piece in told if len(piece) >= _START}


def _quotes(answer: str, by_start: Mapping[str, Sequence[str]]) -> bool:
    """In one pass, however many pieces there are: years of answers are looked through while all other writes wait."""
    return any(
        answer.startswith(piece, at)
        for at in range(len(answer) - _START + 1)
        for piece in by_start.get(answer[at : at + _START], ())
    )
