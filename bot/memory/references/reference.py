"""The words of this package: a reference, and what it resolves to.

Invariant: pure data.
"""

from dataclasses import dataclass

from bot.memory.entities.entity import EntityType, SeenEntity


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Words that point at something said before, and all they say of it."""

    start: int
    end: int
    """Its place in the text."""
    words: str
    """As it was written: 上次说的补偿."""
    type: EntityType | None
    """None: the words don't say (它, 那个)."""
    ordinal: int | None = None
    """1 for the first, -1 for the last, -2 for the one before it."""
    tail: str | None = None
    """The last digits of an id."""
    carrier: str | None = None
    """A courier or shop: 顺丰."""
    attributes: tuple[str, ...] = ()
    """What else it says: 杯子, 红色."""
    hints: tuple[str, ...] = ()
    """Words likely, but not sure, to stand beside what is meant: 补偿 for a sum."""
    is_earlier: bool = False
    """上次, 上回: of an earlier session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What a reference means."""

    value: str
    """As it was written when it was seen."""
    entity: SeenEntity
    reference: Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguous:
    """Several fit equally well: the person is asked."""

    candidates: tuple[SeenEntity, ...]
    """At least two, oldest first."""
    reference: Reference
