"""The rolling summary of a talk: what it is, and when the older turns of a talk are to be condensed into one.

Invariant: pure; the turns themselves stay as they are, and the newest few are never condensed. A summary is of one
account's turns in one place, and names the first and the last of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.conversation.tokens import estimate_tokens
from bot.conversation.turn import Turn

MOST_CONDENSED = 60
"""Turns read to make one: where a summary is made late (after an upgrade, or after words in it were forgotten), what
is older stays in the turns alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was said in some turns, in short."""

    text: str
    from_turn: int
    """Id of the first turn it condenses."""
    to_turn: int
    """Id of the last."""
    at: datetime
    """Aware, UTC: when the last of them was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSummary:
    """A summary to be stored, and what it was made of: should any of that be gone meanwhile, it is not stored."""

    text: str
    turns: tuple[int, ...]
    """Ids of the turns it takes up, in order; not empty."""
    previous: Summary | None
    """The one it takes the place of."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentTalk:
    """The last turns of a scope, and what summaries say of those before."""

    turns: tuple[Turn, ...] = ()
    """Oldest first."""
    summaries: tuple[Summary, ...] = ()
    """One for each account of the person that has one, the one that ends first coming first."""
    condensed: frozenset[int] = field(default_factory=frozenset[int])
    """Ids of those of `turns` that the summaries tell of."""

    @property
    def fresh(self) -> tuple[Turn, ...]:
        """The turns that no summary tells of."""
        if not self.condensed:
            return self.turns
        return tuple(turn for turn in self.turns if turn.id not in self.condensed)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTalk:
    """One account's turns in one place that no summary tells of yet."""

    turns: tuple[Turn, ...]
    """Oldest first, the newest `MOST_CONDENSED`."""
    previous: Summary | None = None
    """Of the turns before."""
    is_lost: bool = False
    """There was a summary, until words in it were forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueSummary:
    """Turns to be condensed now."""

    turns: tuple[Turn, ...]
    """Oldest first, not empty."""
    previous: Summary | None = None
    """What is to go on in the new one."""
    can_wait: bool = False
    """It rides along when a model is asked anyway, and is not worth a call of its own."""

    def made(self, text: str) -> NewSummary:
        last = self.turns[-1]
        return NewSummary(
            text=text, turns=tuple(turn.id for turn in self.turns), previous=self.previous, at=last.at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRule:
    """When turns are condensed, and how many stay."""

    after_turns: int
    """So many that no summary tells of are due."""
    keeps: int
    """The newest so many are not condensed. At least 1."""
    budget_tokens: int
    """Fewer are due when together they are longer than this."""

    def due(self, talk: OpenTalk) -> DueSummary | None:
        """None: not yet."""
        turns = talk.turns
        if len(turns) <= self.keeps:
            return None
        is_full = len(turns) >= self.after_turns
        if not (is_full or talk.is_lost or self._is_long(turns)):
            return None
        return DueSummary(turns=turns[: -self.keeps], previous=talk.previous, can_wait=not is_full)

    def _is_long(self, turns: Sequence[Turn]) -> bool:
        # A token is a character at least.
        if sum(len(turn.question) + len(turn.answer) for turn in turns) <= self.budget_tokens:
            return False
        return _tokens(turns) > self.budget_tokens


def _tokens(turns: Sequence[Turn]) -> int:
    return sum(estimate_tokens(turn.question) + estimate_tokens(turn.answer) for turn in turns)
