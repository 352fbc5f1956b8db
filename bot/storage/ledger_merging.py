"""One forget ledger out of two: of the bot that moved in, and of the folder it moved into.

Invariant: what either forgot is forgotten afterwards, in the database that moved as in every older backup of
both; what it already forgot is not forgotten again, since more may have been said after it.

The two share a beginning where they are of one bot. What only one of them holds may bear a number of the other, so
where both went on, all of that is numbered anew, above every number that any database of theirs can hold.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.storage.ledger_lines import Forgetting, LedgerContent, write_entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A ledger, and what the database that came with the first one holds of it."""

    content: LedgerContent
    held: int
    added: tuple[Forgetting, ...] = ()
    """What only the second one had."""


def merge(ours: LedgerContent, held: int, theirs: LedgerContent, their_held: int | None) -> Merged:
    """`held`: the last forgetting in the database that came with `ours`. `their_held`: in that of `theirs`;
    None where it is lost, and then the last line of `theirs` counts as committed."""
    known = {each.number: each for each in ours.effective(held)}
    last_of_theirs = theirs.last if their_held is None else their_held
    found = {each.number: each for each in theirs.effective(last_of_theirs)}
    added = tuple(each for number, each in found.items() if known.get(number) != each)
    left = tuple(each for number, each in known.items() if found.get(number) != each)
    if not added:
        return Merged(content=ours, held=held)
    if not left and all(each.number > held for each in added):
        done = theirs.done | ours.done | {max(found)}
        return Merged(content=replace(theirs, done=done), held=held, added=added)
    base = max(ours.last, theirs.last, held, their_held or 0)
    has_forgotten = [each for each in left if each.number <= held]
    has_not = [each for each in left if each.number > held]
    common = [each for number, each in known.items() if found.get(number) == each]
    renumbered = _renumbered([*has_forgotten, *has_not, *added], base, common[-1].number if common else 0)
    return Merged(
        content=LedgerContent(forgettings=(*common, *renumbered), done=frozenset({renumbered[-1].number})),
        held=base + len(has_forgotten) if has_forgotten else held,
        added=added,
    )


def dump(content: LedgerContent) -> bytes:
    """As `ForgetLedger` reads it."""
    lines: list[dict[str, Any]] = [write_entry(each) for each in content.forgettings]
    lines += [{"done": number} for number in sorted(content.done)]
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def _renumbered(forgettings: Sequence[Forgetting], base: int, after: int) -> list[Forgetting]:
    befores: Iterable[int] = (after, *range(base + 1, base + len(forgettings)))
    return [
        replace(each, number=base + place, after=before)
        for place, (each, before) in enumerate(zip(forgettings, befores, strict=True), 1)
    ]
