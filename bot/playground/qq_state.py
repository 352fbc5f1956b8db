"""What the QQ stages show: the members, and of each thing they did what the bot answered, and when.

Invariant: frozen, and no more than who sits before QQ would see, but for what decided, which is the bot's.
"""

from dataclasses import dataclass
from enum import StrEnum

from bot.conversation.message import Role


class Place(StrEnum):
    """Where something is said."""

    GROUP = "group"
    PRIVATE = "private"


class Act(StrEnum):
    """What was done."""

    TEXT = "text"
    JOIN = "join"
    """Somebody joins the group."""
    LEAVE = "leave"
    MUTE = "mute"
    """The bot may say nothing in the group."""
    UNMUTE = "unmute"
    REMOVE = "remove"
    """The bot is removed from the group."""
    INVITE = "invite"
    """The bot is brought into the group."""
    BEFRIEND = "befriend"
    """Somebody adds the bot as a friend."""
    UNASKED = "unasked"
    """The bot says something by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    name: str
    role: Role
    card: str
    """群名片; "" is none."""
    is_here: bool
    """In the group. In private everybody is."""

    @property
    def shown(self) -> str:
        """What the group calls them."""
        return self.card or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How often a message may still be answered (被动回复)."""

    used: int
    most: int
    minutes: int
    """In which it can be, since it was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One message of the bot."""

    ref: str
    """What quotes it."""
    at: float
    """Unix seconds."""
    after_seconds: float
    text: str
    mentions: tuple[str, ...] = ()
    """Who is mentioned, as the group calls them."""
    is_folded: bool = False
    """合并转发: `text` holds its nodes, a line each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One act of a member, and all that came of it so far."""

    number: int
    """Counts from 1 on each stage."""
    place: Place
    who: str
    """By name; "" for what happened to the bot itself."""
    shown: str
    """What the group called them then."""
    role: Role
    act: Act
    text: str
    ref: str
    """What quotes it; "" for what cannot be quoted."""
    at: float
    """Unix seconds."""
    is_addressed: bool
    """With a mention of the bot, or in private."""
    quoted: str
    """The words that it quotes; "" without a quotation."""
    quoted_shown: str
    """Who is quoted; "" for the bot."""
    key: str
    """As the bot knows the message; "" for what it takes for none."""
    answers: tuple[Answer, ...]
    decided_by: str
    """The stage of the bot that decided; "" while it is at it, or where it is not known."""
    is_lost: bool
    """The bot did not take it."""
    window: Window | None = None
    """Of the official bot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A group, or a private chat, as it is now."""

    members: tuple[Member, ...]
    lines: tuple[Line, ...]
    """The oldest first."""
    is_bot_here: bool
    is_bot_muted: bool
    now: float
    """Unix seconds, by the clock of all that is told here."""
