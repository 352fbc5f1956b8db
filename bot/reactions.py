"""What the bot says to what has no words: follows, scans, places, links, things it cannot read.

Invariant: no model is asked here, and nothing of it enters the conversation.
"""

from bot.conversation.message import Kind, Message, Reply
from bot.conversation.scope import Scope
from bot.conversation.wording import Wording
from bot.decision import SILENCE
from bot.erasing import Erasing
from bot.first_contact import FirstContact
from bot.quick_replies import QuickReplies
from identity.model import Account

_NOTICES = {
    Kind.VOICE: "voice_unheard",
    Kind.IMAGE: "image_unread",
    Kind.LOCATION: "location_received",
    Kind.LINK: "link_received",
    Kind.UNSUPPORTED: "unsupported",
}


class Reactions:
    def __init__(
        self,
        *,
        first_contact: FirstContact,
        quick_replies: QuickReplies,
        erasing: Erasing,
        wording: Wording,
    ) -> None:
        self._first_contact = first_contact
        self._quick_replies = quick_replies
        self._erasing = erasing
        self._wording = wording

    async def react(self, message: Message, account: Account | None, scope: Scope | None) -> Reply:
        match message.kind:
            case Kind.FOLLOW:
                welcome = self._first_contact.welcome(message)
                scene = await self._of_scene(message)
                return Reply(text=f"{welcome.text}\n\n{scene}", decided_by="welcome") if scene else welcome
            case Kind.SCAN:
                scene = await self._of_scene(message)
                return Reply(text=scene, decided_by="faq") if scene else SILENCE
            case Kind.UNFOLLOW:
                return SILENCE
            case Kind.REVOKE:
                if account is not None:
                    await self._erasing.person(account.person)
                return SILENCE
            case Kind.TEXT | Kind.CLICK:
                return self._quick_replies.bare_mention(scope, is_group=message.conversation.is_group)
            case _:
                return Reply(text=self._wording.say(_NOTICES[message.kind]), decided_by="notice")

    async def _of_scene(self, message: Message) -> str:
        """What a rule answers to the scene of a scanned code; "" where none does."""
        if not message.text:
            return ""
        hit = await self._quick_replies.faq_hit(message, ())
        return hit.answer if hit is not None and hit.verbatim else ""
