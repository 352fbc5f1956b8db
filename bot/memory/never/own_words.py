"""The clauses of a message that may become facts, by patterns.txt.

Invariant: what is returned is a part of `clauses_of`, in its order.
"""

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from bot.conversation.sieve import Sieve
from bot.memory.clauses import (
    Clause,
    clauses_of,
    forgot_to_tell,
    is_first_person,
    is_order,
    is_reported,
    is_supposed,
    without_lead,
)
from bot.memory.never.links import has_link
from bot.memory.never.secrets import is_secret
from bot.memory.normalise import normalise
from bot.memory.pattern_tables import rows_of

MESSAGE, REST, ONWARD, CLAUSE = "message", "rest", "onward", "clause"
PLANTED = frozenset(
    (
        "hidden",
        "quoted",
        "record",
        "spoken",
        "forwarded",
        "instruction",
        "authority",
        "right",
        "dictated",
        "bot",
        "recalled",
        "link",
        "order",
    )
)
"""Kinds that are not kept either when the person asks to have them remembered."""

SUPPOSED = "supposed"
_TO_FORGET = re.compile(
    r"(?:请|麻烦|帮我|帮忙|你|您){0,3}(?:都|全部?){0,2}(?:忘记|忘掉|忘却|forget)(?!了)\S", re.IGNORECASE
)
"""An order to forget, understood or not, or what somebody forgot to do."""
_HABIT = re.compile(r"习惯|一般|平时|从来|都会|每次")
"""「要是下雨我一般不骑车」 says what is so."""

_LATELY = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """Why something is no fact, and how far that reaches."""

    kind: str
    reach: str


def barred(text: str, *, is_asked: bool = False) -> Barred | None:
    """What bars a whole message. None: its clauses are to be looked at. `is_asked`: as `own_clauses` has it."""
    if has_link(text):
        return Barred(kind="link", reach=MESSAGE)
    return _first(text, (MESSAGE,), is_asked=is_asked)


@lru_cache(_LATELY)
def own_clauses(text: str, *, is_asked: bool = False) -> tuple[Clause, ...]:
    """The statements of a message that are the person's own and meant; no questions among them. One that follows
    on something left out begins anew.

    `is_asked`: they asked to have it remembered; then only what is planted, orders and links are left out.
    """
    if barred(text, is_asked=is_asked) is not None:
        return ()
    kept: list[Clause] = []
    is_lost = is_apart = False
    is_habit = _HABIT.search(normalise(text)) is not None
    for clause in clauses_of(text):
        is_lost = is_lost and not clause.begins_sentence
        reason = _reason(clause.text, is_asked=is_asked)
        if reason is not None and reason.kind == SUPPOSED and is_habit:
            reason = None
        if reason is not None and reason.reach == REST:
            return tuple(_before(kept, clause))
        is_lost = is_lost or (reason is not None and reason.reach == ONWARD)
        if reason is None and not is_lost and not clause.is_question:
            kept.append(replace(clause, begins_sentence=clause.begins_sentence or is_apart))
            is_apart = False
        else:
            is_apart = True
    return tuple(kept)


def _before(kept: list[Clause], order: Clause) -> list[Clause]:
    """What was said before an order that takes the rest with it, without what only begins that order."""
    while kept and not order.begins_sentence and not is_first_person(kept[-1].text):
        order = kept.pop()
    return kept


def _reason(said: str, *, is_asked: bool) -> Barred | None:
    text = without_lead(said)
    if (found := _first(text, (REST,), is_asked=is_asked)) is not None:
        return found
    if is_order(text):
        return Barred(kind="order", reach=ONWARD)
    found = _first(text, (ONWARD, CLAUSE), is_asked=is_asked)
    if found is not None or is_asked:
        return found
    if _TO_FORGET.match(text) and not forgot_to_tell(text):
        return Barred(kind="forgetting", reach=ONWARD)
    if is_secret(text):
        return Barred(kind="secret", reach=ONWARD)
    if is_reported(said):
        return Barred(kind="hearsay", reach=CLAUSE)
    return Barred(kind=SUPPOSED, reach=CLAUSE) if is_supposed(text) else None


def _first(text: str, reaches: tuple[str, ...], *, is_asked: bool) -> Barred | None:
    normal = normalise(text)
    counting, sieve = _counting(reaches, is_asked=is_asked)
    for place in sieve.fitting(text + normal):
        barring, is_raw, words = counting[place]
        if words.search(text if is_raw else normal):
            return barring
    return None


@cache
def _counting(
    reaches: tuple[str, ...], *, is_asked: bool
) -> tuple[list[tuple[Barred, bool, re.Pattern[str]]], Sieve]:
    counting = [
        each for each in _patterns() if each[0].reach in reaches and (each[0].kind in PLANTED or not is_asked)
    ]
    return counting, Sieve([words for _, _, words in counting])


@cache
def _patterns() -> tuple[tuple[Barred, bool, re.Pattern[str]], ...]:
    """The table, read once."""
    found: list[tuple[Barred, bool, re.Pattern[str]]] = []
    for reach, kind, words in rows_of("bot.memory.never", "patterns.txt", 3):
        is_raw = words.startswith("raw ")
        found.append((Barred(kind=kind, reach=reach), is_raw, re.compile(words.removeprefix("raw "))))
    return tuple(found)
