"""Entities: the order ids, dates, sums, goods, issues, feelings and contacts a message holds, by exact rules.

Invariant: pure. Seven types, no eighth; what no rule is sure of is left to a model.
"""

from bot.memory.entities.amounts import Sum, find_sums
from bot.memory.entities.dates import DateFinder, no_dates
from bot.memory.entities.entity import NAMED_TYPES, TAIL_MARK, Entity, EntityType, SeenEntity
from bot.memory.entities.extract import extract
from bot.memory.entities.folding import folded
from bot.memory.entities.phones import find_phones, normalised_phone
from bot.memory.entities.recent import (
    LIVE_ENTITIES,
    SAME_WITHIN,
    is_repeated,
    live_entities,
    newest_distinct,
    with_ends_known,
)

__all__ = [
    "LIVE_ENTITIES",
    "NAMED_TYPES",
    "SAME_WITHIN",
    "TAIL_MARK",
    "DateFinder",
    "Entity",
    "EntityType",
    "SeenEntity",
    "Sum",
    "extract",
    "find_phones",
    "find_sums",
    "folded",
    "is_repeated",
    "live_entities",
    "newest_distinct",
    "no_dates",
    "normalised_phone",
    "with_ends_known",
]
