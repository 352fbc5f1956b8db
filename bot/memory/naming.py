"""What a message names, to be known again when it is pointed at: by rules, and by what a model read in it.

Invariant: everything named stands in the person's own words, secrets masked; where a rule and the model read the
same words, the rule's reading stays.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from bot.conversation.masking import mask_secrets
from bot.conversation.turn import Turn
from bot.memory.entities import Entity, EntityType, SeenEntity, extract, folded, newest_distinct
from bot.memory.entities.wording import may_show_feeling
from bot.memory.judgement_format import ReadEntity

LONGEST_CONTEXT = 300
"""Characters of a message kept beside what it names."""
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
    masked, _ = mask_secrets(text)
    by_rules = extract(masked, at, products)
    context = masked[:LONGEST_CONTEXT]
    both = sorted((*by_rules, *_grounded(masked, at, read, by_rules)), key=lambda each: each.start)
    return tuple(
        SeenEntity(type=each.type, value=each.value, normalised=each.normalised, seen_at=at, context=context)
        for each in both[:MOST_NAMED]
    )


def seen_lately(
    stored: Sequence[SeenEntity], turns: Iterable[Turn], products: Sequence[str] = ()
) -> tuple[SeenEntity, ...]:
    """What is stored, and what the last turns named and no worker has kept yet; oldest first."""
    kept = {(each.type, each.normalised, each.seen_at) for each in stored}
    fresh = [
        each
        for turn in turns
        for each in named_in(turn.question, turn.at, products=products)
        if (each.type, each.normalised, each.seen_at) not in kept
    ]
    return newest_distinct((*stored, *fresh))


def _grounded(
    said: str, at: datetime, read: Iterable[ReadEntity], by_rules: Sequence[Entity]
) -> list[Entity]:
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
