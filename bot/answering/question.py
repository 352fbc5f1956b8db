"""What an answerer is asked, and what it says."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from bot.conversation.markdown import flatten
from bot.conversation.message import Message
from bot.conversation.ports import Vector
from bot.conversation.taps import without_taps
from bot.conversation.turn import Turn
from bot.groups.lines import GroupLine
from bot.knowledge.retrieval import RetrievedPassage
from bot.memory.asked_time import AskedTime
from bot.memory.entities import SeenEntity
from bot.memory.recall import RecalledFact
from bot.memory.summary import Summary

Pictures: TypeAlias = Callable[[Message], Awaitable[tuple[str, ...]]]
"""The pictures of a message as `data:image/…` addresses; those that can't be had are left out. Never raises."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """One message with everything found for it."""

    text: str
    """The person's own words."""
    quoted: str
    """What they quoted; "" for nothing. Not their words."""
    persona: str
    """Markdown: who the bot is."""
    short_term: tuple[Turn, ...]
    """Oldest first."""
    facts: tuple[RecalledFact, ...]
    """Best first."""
    passages: tuple[RetrievedPassage, ...]
    """Best first."""
    at: datetime
    """Aware, UTC: when the person wrote."""
    is_group: bool
    summaries: tuple[Summary, ...] = ()
    """Of the talk before `short_term`, the one that ends first coming first."""
    group_facts: tuple[RecalledFact, ...] = ()
    """What the group remembers together, best first."""
    group_lines: tuple[GroupLine, ...] = ()
    """What was said in the group just before, oldest first. Context: not the person's words."""
    query_vector: Vector | None = None
    """The embedding of `text`, with what it points at put in, if there is one: what tells a near memory from one
    that is just there."""
    query: str = ""
    """`text` with what it points at put in, as it was searched; "" where that is `text`."""
    pointing: str = ""
    """The words of `text` that point at something said before (那个单号); "" where none do."""
    meant: tuple[SeenEntity, ...] = ()
    """What they point at: one, or several that fit, of which the person is to choose."""
    entities: tuple[SeenEntity, ...] = ()
    """What the conversation named last, newest first."""
    asked: AskedTime | None = None
    """The time that is asked for: `facts` and `said` hold nothing else."""
    said: tuple[Turn, ...] = ()
    """As it was said then, kept as a fact or not, best first."""
    images: tuple[str, ...] = ()
    """Pictures the person sent, as `data:image/…;base64,…` addresses; `text` may then be "". Who cannot see passes
    over them."""

    @property
    def searched(self) -> str:
        """What the memories and passages were found for."""
        return self.query or self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The text of a reply."""

    text: str
    """Markdown as the model wrote it. The channel renders it; what memory keeps is `plain`."""
    decided_by: str
    """`model`, `extract`, or `notice` for a refusal."""

    @property
    def plain(self) -> str:
        """The words alone, for memory and prompts: marks would cost tokens, and quoted on one line they mislead."""
        return flatten(without_taps(self.text))
