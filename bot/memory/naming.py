"""What a turn names, to be known again when it is pointed at: by rules, and by what a model read in the message.

Invariant: what the person names stands in their own words, and of the bot's answer promises alone are kept, as such;
secrets are masked. Where a rule and the model read the same words, the rule's reading stays.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from bot.conversation.masking import mask_secrets
from bot.conversation.text import content
from bot.conversation.turn import Turn
from bot.memory.entities import Entity, EntityType, SeenEntity, extract, folded, newest_distinct
from bot.memory.entities.wording import may_show_feeling
from bot.memory.fact import FactKind, NewFact
from bot.memory.judgement_format import ReadEntity
from bot.memory.promises import find_promises
from bot.memory.statements import new_fact

LONGEST_CONTEXT = 300
"""Characters of a message kept beside what it names."""
PROMISE_IMPORTANCE = 0.7
"""As an order's: who was promised something asks for it."""
_LATELY = 4_096
"""Messages whose reading by rules is kept, of those that are their own context: a few hundred people's last turns, in
about 1 KB each. A turn is read when its worker comes to it and at each of the person's next messages."""
MOST_NAMED = 30
"""Of one message: who pastes a table points at none of its lines later."""
_FORMS = {
    EntityType.ORDER_ID: re.compile(r"(?=(?:.*[0-9]){3})[0-9A-Za-z*_\- ]{3,40}"),
    EntityType.DATE: re.compile(r".{1,30}"),
    EntityType.AMOUNT: re.compile(r"(?=.*[0-9零〇一二两三四五六七八九十百千万半]).{1,20}"),
    EntityType.PRODUCT_NAME: re.compile(r"(?=.*[^\W\d_]).{2,40}"),
    EntityType.ISSUE_TYPE: re.compile(r".{2,20}"),
    EntityType.EMOTION: re.compile(r".{1,20}"),
    EntityType.CONTACT_INFO: re.compile(r"[0-9A-Za-z@._+*\- ]{4,60}"),
}
"""What a model's entity of each type may look like."""


def named_in(
    text: str, at: datetime, read: Iterable[ReadEntity] = (), products: Sequence[str] = ()
) -> tuple[SeenEntity, ...]:
    """In the order they stand in. `at`: when it was said. `read`: what a model found. `products`: the house's goods."""
    by_rules = _lately if len(text) <= LONGEST_CONTEXT else _by_rules
    named = by_rules(text, at, tuple(products))
    model_read = _grounded(named.masked, at, read, named.entities)
    return _seen(named.masked, (*named.entities, *model_read), at) if model_read else named.seen


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """What rules find in one message."""

    masked: str
    entities: tuple[Entity, ...]
    seen: tuple[SeenEntity, ...]


def _by_rules(text: str, at: datetime, products: tuple[str, ...]) -> _Named:
    masked, _ = mask_secrets(text)
    entities = extract(masked, at, products)
    return _Named(masked=masked, entities=entities, seen=_seen(masked, entities, at))


_lately = lru_cache(_LATELY)(_by_rules)


def _seen(masked: str, entities: Iterable[Entity], at: datetime) -> tuple[SeenEntity, ...]:
    context = masked[:LONGEST_CONTEXT]
    in_order = sorted(entities, key=lambda each: each.start)
    return tuple(
        SeenEntity(type=each.type, value=each.value, normalised=each.normalised, seen_at=at, context=context)
        for each in in_order[:MOST_NAMED]
    )


def promised_in(answer: str, at: datetime) -> tuple[SeenEntity, ...]:
    """What the bot promised in its answer of a turn said at `at`."""
    context = mask_secrets(answer[:LONGEST_CONTEXT])[0] if (promises := find_promises(answer)) else ""
    return tuple(
        SeenEntity(
            type=EntityType.PROMISE,
            value=value,
            normalised=content(value),
            seen_at=at,
            context=context,
        )
        for value in (mask_secrets(each.text)[0] for each in promises)
    )


def promise_facts(promised: Iterable[SeenEntity]) -> tuple[NewFact, ...]:
    """The same to be recalled by what they are about; a kind of their own, since the person said none of it."""
    return tuple(
        new_fact(each.value, each.seen_at, FactKind.PROMISE, PROMISE_IMPORTANCE) for each in promised
    )


def seen_lately(
    stored: Sequence[SeenEntity], turns: Iterable[Turn], products: Sequence[str] = ()
) -> tuple[SeenEntity, ...]:
    """What is stored, and what the last turns named and no worker has kept yet; oldest first."""
    kept = {(each.type, each.normalised, each.seen_at) for each in stored}
    fresh = [
        each
        for turn in turns
        for each in (
            *named_in(turn.question, turn.at, products=products),
            *promised_in(turn.answer, turn.at),
        )
        if (each.type, each.normalised, each.seen_at) not in kept
    ]
    return newest_distinct((*stored, *fresh))


def _grounded(
    said: str, at: datetime, read: Iterable[ReadEntity], by_rules: Sequence[Entity]
) -> list[Entity]:
    read = tuple(read)
    if not read:
        return []
    taken = {place for each in by_rules for place in range(each.start, each.end)}
    known = {(each.type, each.normalised) for each in by_rules}
    shows_feeling = may_show_feeling(folded(said).text)
    found: list[Entity] = []
    for each in read:
        value = each.value.strip()
        start = said.find(value) if _FORMS[each.type].fullmatch(value) else -1
        if start < 0 or taken & set(range(start, start + len(value))):
            continue
        if each.type is EntityType.EMOTION and not shows_feeling:
            continue
        normalised = _normalised(value, each.type, at)
        if (each.type, normalised) not in known:
            known.add((each.type, normalised))
            found.append(
                Entity(
                    type=each.type,
                    value=value,
                    normalised=normalised,
                    start=start,
                    end=start + len(value),
                    certainty=0.5,
                )
            )
    return found


def _normalised(value: str, kind: EntityType, at: datetime) -> str:
    """As a rule would, where one reads it alone; else its letters without spaces."""
    alone = next((each for each in extract(value, at) if each.type is kind), None)
    return alone.normalised if alone else re.sub(r"\s", "", folded(value).text)
