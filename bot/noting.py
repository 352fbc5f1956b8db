"""What is noted of a message while it is answered, where somebody began to: why it was answered so.

Invariant: outside `noted` nothing is kept or computed, and nothing noted here changes an answer.
"""

import contextlib
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from bot.answering.question import Question
from bot.conversation.errors import StoreUnavailable
from bot.conversation.ports import ChatLine
from bot.conversation.scope import Scope
from bot.memory.query import Query
from bot.memory.time_zh import Window
from bot.memory.trace import Trace
from bot.metrics import StageTimes
from bot.pointing import Pointed


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """One search of memory, as it was made."""

    scope: Scope
    query: Query
    k: int
    window: Window | None
    also_told: bool = False
    """What is told of the window at another time competes too."""
    is_group: bool = False
    """群公共记忆 rather than the person's own."""


Tracing: TypeAlias = Callable[[Looked], Awaitable[Trace]]
"""The same search with all that was weighed. Raises StoreUnavailable."""


@dataclass(slots=True, kw_only=True)
class Notes:
    """Of one message; what wasn't come to stays as it is."""

    trace: Tracing
    pointed: Pointed | None = None
    question: Question | None = None
    looked: list[Looked] = field(default_factory=list[Looked])
    traces: tuple[tuple[Looked, Trace], ...] = ()
    prompt: tuple[ChatLine, ...] = ()
    pictures: int = 0
    """How many the message showed: they themselves are not kept."""
    times: StageTimes | None = None


_NOTES: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def noted(notes: Notes) -> Generator[None]:
    """Around the answering of one message."""
    token = _NOTES.set(notes)
    try:
        yield
    finally:
        _NOTES.reset(token)


def note_looked(scope: Scope, query: Query, k: int, pointed: Pointed, *, is_group: bool) -> None:
    """A search of memory was made."""
    if (notes := _NOTES.get()) is not None:
        notes.looked.append(
            Looked(
                scope=scope,
                query=query,
                k=k,
                window=pointed.window,
                also_told=pointed.is_of_deeds,
                is_group=is_group,
            )
        )


async def note_question(pointed: Pointed, question: Question, times: StageTimes) -> None:
    """All that was found for the message. The searches are traced now, before the answer changes what is remembered;
    the time that takes is a stage of its own."""
    if (notes := _NOTES.get()) is None:
        return
    with times.stage("note"):
        notes.pointed = pointed
        notes.pictures = len(question.images)
        notes.question = replace(question, images=(), query_vector=None)
        # A message that has to be decided anew looks again.
        looked_for, notes.looked, notes.traces = notes.looked, [], ()
        with contextlib.suppress(StoreUnavailable):
            notes.traces = tuple([(looked, await notes.trace(looked)) for looked in looked_for])


def note_prompt(lines: Sequence[ChatLine]) -> None:
    """What a model is asked."""
    if (notes := _NOTES.get()) is not None:
        notes.prompt = tuple(replace(line, images=()) for line in lines)


def note_times(times: StageTimes) -> None:
    """The message has got its end."""
    if (notes := _NOTES.get()) is not None:
        notes.times = times
