"""Which entities of a conversation are kept, and which of them a prompt shows.

Invariant: pure; the order of time is kept, and of two that are one the first stays.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.memory.entities.entity import TAIL_MARK, EntityType, SeenEntity

SAME_WITHIN = timedelta(seconds=60)
"""The same thing said again within a minute is not said anew."""
LIVE_ENTITIES = 10
"""Of a conversation, in its prompt."""


def newest_distinct(entities: Iterable[SeenEntity]) -> tuple[SeenEntity, ...]:
    """Oldest first, without those said again within `SAME_WITHIN` of the time before."""
    kept: list[SeenEntity] = []
    last: dict[tuple[EntityType, str], datetime] = {}
    for entity in sorted(entities, key=lambda each: each.seen_at):
        key = (entity.type, entity.normalised)
        before = last.get(key)
        if before is None or entity.seen_at - before > SAME_WITHIN:
            last[key] = entity.seen_at
            kept.append(entity)
    return tuple(kept)


def is_repeated(entity: SeenEntity, earlier: Iterable[SeenEntity]) -> bool:
    """It was seen within `SAME_WITHIN` before: nothing new to store."""
    return any(
        (each.type, each.normalised) == (entity.type, entity.normalised)
        and timedelta(0) <= entity.seen_at - each.seen_at <= SAME_WITHIN
        for each in earlier
    )


def live_entities(entities: Iterable[SeenEntity], limit: int = LIVE_ENTITIES) -> tuple[SeenEntity, ...]:
    """The newest `limit` of a conversation, each once at its latest, newest first; none that is over."""
    latest: dict[tuple[EntityType, str], SeenEntity] = {}
    standing = [each for each in entities if not each.is_over]
    for entity in with_ends_known(sorted(standing, key=lambda each: each.seen_at)):
        latest[entity.type, entity.normalised] = entity
    newest = sorted(latest.values(), key=lambda each: each.seen_at, reverse=True)
    return tuple(newest[: max(limit, 0)])


def with_ends_known(entities: Sequence[SeenEntity]) -> Iterator[SeenEntity]:
    """A bare end (尾号8832) as the whole number that ends so, as each of several; as it is where none is known."""
    whole = {
        (each.type, each.normalised): each for each in entities if not each.normalised.startswith(TAIL_MARK)
    }
    for entity in entities:
        tail = entity.normalised.removeprefix(TAIL_MARK)
        known = (
            [each for (kind, number), each in whole.items() if kind is entity.type and number.endswith(tail)]
            if tail != entity.normalised
            else []
        )
        if not known:
            yield entity
        for each in known:
            yield replace(each, seen_at=entity.seen_at, context=entity.context)
