"""What is said around an answer and is no part of the conversation: label, warning, apology, notice.

Invariant: none of it enters memory, and silence stays silence.
"""

from collections.abc import Callable
from datetime import timedelta

from bot.conversation.masking import MASK
from bot.conversation.message import AccountKey, Message, Reply
from bot.conversation.ports import Clock
from bot.conversation.wording import Wording
from bot.first_contact import FirstContact
from identity.model import Account

STALE_IN_PRIVATE = timedelta(minutes=30)
"""BEHAVIOUR: after an outage a late private answer begins with an apology."""


class Dressing:
    """Makes of a reply the text a person sees."""

    def __init__(
        self,
        *,
        first_contact: FirstContact,
        was_unreached: Callable[[AccountKey], bool],
        wording: Wording,
        clock: Clock,
        labels_ai: bool,
    ) -> None:
        """`labels_ai`: model answers carry 「（AI 生成）」 (labelling rules since 2025-09). `was_unreached`: an
        earlier answer could not be sent to this person, who doesn't know of it."""
        self._first_contact = first_contact
        self._was_unreached = was_unreached
        self._wording = wording
        self._clock = clock
        self._labels_ai = labels_ai

    async def dress(
        self, message: Message, account: Account | None, reply: Reply, *, is_resumed: bool
    ) -> str:
        """The whole text; "" for silence."""
        if reply.is_silent:
            return ""
        text = reply.text
        if reply.decided_by == "model" and self._labels_ai:
            text = self._wording.say("ai_label", answer=text)
        if MASK in message.text:
            text = self._wording.say("secret_hidden", answer=text)
        if is_resumed and self._clock.now() - message.sent_at > STALE_IN_PRIVATE:
            text = self._wording.say("late", answer=text)
        # A command may have been 「继续」, which hands it over.
        if self._was_unreached(message.sender) and reply.decided_by != "command":
            text = self._wording.say("unreached", answer=text)
        if account is not None:
            text = await self._first_contact.introduce(message, account, reply, text)
        return text
