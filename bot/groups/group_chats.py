"""A group as the story meets it: which of its messages are for the bot, and what was just said in it.

Invariant: a private message passes through unchanged, and a group's message that isn't for the bot leaves nothing
but its line.
"""

from dataclasses import dataclass, replace

from bot.conversation.message import Message, Reply
from bot.groups.lines import GroupLine, GroupLines
from bot.groups.speaking import Hearing, WhenToSpeak

_NO_TALK = frozenset({"command", "human"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message as the bot takes it."""

    message: Message
    """`is_addressed`: it is answered, whether or not it was a call."""
    is_overheard: bool = False
    """Answered though nobody called: with nobody's memory, and leaving none."""


class GroupChats:
    def __init__(self, *, lines: GroupLines, speaking: WhenToSpeak) -> None:
        self._lines = lines
        self._speaking = speaking

    def hear(self, message: Message, *, has_waited: bool = False) -> Heard:
        """`has_waited`: behind an earlier message of its sender."""
        if not message.conversation.is_group:
            return Heard(message=message)
        hearing = self._speaking.judge(message, has_waited=has_waited)
        if self._speaking.is_listening(message.conversation.place):
            self._lines.note(message)
        is_answered = hearing is not Hearing.SILENT
        if is_answered is not message.is_addressed:
            message = replace(message, is_addressed=is_answered)
        return Heard(message=message, is_overheard=hearing is Hearing.OVERHEARD)

    def recent(self, message: Message) -> tuple[GroupLine, ...]:
        """What was said in the group before a message, oldest first; () in private."""
        if not message.conversation.is_group:
            return ()
        return self._lines.recent(message.conversation.place, before=message)

    def answered(self, heard: Heard, reply: Reply) -> None:
        """Note what the bot said to it. What is asked of the bot itself (记住, 忘记…) is no talk of the group's."""
        if not heard.message.conversation.is_group:
            return
        if reply.decided_by in _NO_TALK:
            self._lines.drop_message(heard.message)
        else:
            self._lines.note_own(heard.message.conversation.place, reply.text)
        if not reply.is_silent:
            self._speaking.answered(heard.message)
