"""What the lines of the forget ledger say.

Invariant: a line is read as it was written, whatever version wrote it; one of a newer version is refused and not
half understood. Names are keyed hashes.

Version 1, without a `v`: what is to be deleted, `accounts` to `replies`. Version 2: an act may stand beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

FORMAT = 2
"""Of the lines that are written."""


class TooNew(ValueError):
    """A line of a newer version."""


class ActKind(StrEnum):
    """What somebody did besides forgetting. Acts count in the order of their lines."""

    LEFT = "left"
    """`who` are newcomers: alone, and nothing is kept of who they were."""
    PARTED = "parted"
    """`who` is alone, with what is its own."""
    TOGETHER = "together"
    """`who` are one person, of whom some had parted."""
    KEPT = "kept"
    """An admin keeps the persons of `who` and of `others` apart."""
    PARKED = "parked"
    """`who` unsubscribed, at the moment `at`."""
    RETURNED = "returned"
    """`who` has what it had parked again."""
    DISCARDED = "discarded"
    """What `who` had parked until the moment `at`, or all of it, is deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Of accounts, by name."""

    kind: ActKind
    who: frozenset[str]
    others: frozenset[str] = frozenset()
    at: int | None = None
    """Milliseconds, as the database has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """One line: what is to be forgotten, or done, in a database that does not hold it yet."""

    number: int
    after: int
    key_id: str
    """Which key its names were made with."""
    at: str
    """ISO 8601; for people, nothing is decided by it."""
    version: int = 1
    accounts: frozenset[str] = field(default_factory=frozenset[str])
    """Everything of these accounts."""
    places: frozenset[str] = field(default_factory=frozenset[str])
    """Everything of everybody in these groups."""
    facts: frozenset[str] = field(default_factory=frozenset[str])
    messages: frozenset[str] = field(default_factory=frozenset[str])
    """What was said and answered with these."""
    replies: frozenset[str] = field(default_factory=frozenset[str])
    """Of messages: the reply's words alone. The turn stays, in a place where nobody forgot it."""
    act: Act | None = None

    @property
    def deletes(self) -> bool:
        return bool(self.accounts or self.places or self.facts or self.messages or self.replies)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerContent:
    """The whole file, read."""

    forgettings: tuple[Forgetting, ...] = ()
    """By number."""
    done: frozenset[int] = frozenset()

    @property
    def last(self) -> int:
        return self.forgettings[-1].number if self.forgettings else 0

    def effective(self, *known: int) -> tuple[Forgetting, ...]:
        """The forgettings that were committed: each `done` number, each of `known` (the numbers that
        databases hold), and those that they came after."""
        by_number = {each.number: each for each in self.forgettings}
        found: set[int] = set()
        for start in (*self.done, *known):
            number = start
            while number in by_number and number not in found:
                found.add(number)
                number = by_number[number].after
        return tuple(by_number[number] for number in sorted(found))


def read_entry(entry: Mapping[str, Any]) -> Forgetting:
    """Raises TooNew, or ValueError, KeyError or TypeError for what is no line of ours."""
    version = int(entry.get("v", 1))
    if version > FORMAT:
        raise TooNew(version)
    return Forgetting(
        number=int(entry["n"]),
        after=int(entry["after"]),
        key_id=str(entry["key"]),
        at=str(entry["at"]),
        version=version,
        accounts=frozenset(entry.get("accounts", ())),
        places=frozenset(entry.get("places", ())),
        facts=frozenset(entry.get("facts", ())),
        messages=frozenset(entry.get("messages", ())),
        replies=frozenset(entry.get("replies", ())),
        act=_read_act(entry) if "act" in entry else None,
    )


def write_entry(each: Forgetting) -> dict[str, Any]:
    """The inverse of `read_entry`."""
    line: dict[str, Any] = {"n": each.number, "after": each.after, "at": each.at, "key": each.key_id}
    if each.version > 1:
        line["v"] = each.version
    named = {
        "accounts": each.accounts,
        "places": each.places,
        "facts": each.facts,
        "messages": each.messages,
        "replies": each.replies,
    }
    if each.act is not None:
        line["act"] = each.act.kind.value
        named |= {"who": each.act.who, "others": each.act.others}
        if each.act.at is not None:
            line["ms"] = each.act.at
    return line | {kind: sorted(names) for kind, names in named.items() if names}


def _read_act(entry: Mapping[str, Any]) -> Act:
    at = entry.get("ms")
    return Act(
        kind=ActKind(entry["act"]),
        who=frozenset(entry.get("who", ())),
        others=frozenset(entry.get("others", ())),
        at=None if at is None else int(at),
    )
