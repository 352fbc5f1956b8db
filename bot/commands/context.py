"""What a command is given and what it gives back."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import TypeAlias

from bot.conversation.message import Message
from bot.conversation.scope import Scope
from bot.conversation.wording import Wording
from bot.ports import Taken
from identity.model import Account

StatusReport: TypeAlias = Callable[[], Awaitable[Mapping[str, str]]]
"""The state of the house for a superuser, as label → value in 简体中文, in the order to show.

A value under `DEGRADED` says what doesn't work; its absence, or "", means all is well.
"""
DEGRADED = "降级"

Away: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]
"""`async with away():` around a wait for somebody else, so that nobody waits for the one who waits."""

HUMAN = "human"
"""Decides the answer to who asks for a human: a channel may hand them over instead of saying it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """A message that may be a command. Without account and scope the sender is a stranger."""

    message: Message
    account: Account | None = None
    scope: Scope | None = None
    has_waited: bool = False
    """Behind an earlier message of the same person."""
    away: Away = nullcontext


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReply:
    """What a command says."""

    text: str
    taken: Taken | None = None
    """The page of a held delivery which this hands over."""
    decided_by: str = "command"
    hides_question: bool = False
    """What was asked is not kept beside the reply: it may name what was forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Somebody known who gave a command, and where."""

    message: Message
    account: Account
    scope: Scope
    away: Away = nullcontext

    @property
    def is_in_group(self) -> bool:
        return self.message.conversation.is_group


def channel_name(wording: Wording, channel: str) -> str:
    """What people call a channel; its own name where the catalogue has none."""
    try:
        return wording.say(f"channel_{channel}")
    except KeyError:
        return channel
