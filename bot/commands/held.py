"""「继续」: hand over the next page of a held answer.

Invariant: pages go out in order, only to the person they were written for, and never from a private
chat, or another group, into a group.
"""

from bot.commands.context import Asker, CommandReply
from bot.conversation.taps import as_shown, clean, shown_bytes
from bot.conversation.text import clip
from bot.conversation.wording import Wording
from bot.ports import Delivery, DeliveryStore, Taken

QUESTION_CHARACTERS = 8
"""Enough to know one's own question again, and short: channels leave room for this much on a first page."""
NAMED_PAGE_BYTES = 2_000
"""The page limit of the narrowest channel (WeChat: DESIGN.md, "Pages"). A page that would grow beyond
it with its heading goes without, or the rest of it would come after the pages that follow."""


class HeldAnswers:
    """Pages that wait for their reader."""

    def __init__(self, deliveries: DeliveryStore, wording: Wording) -> None:
        self._deliveries = deliveries
        self._wording = wording

    async def next_page(self, asker: Asker, *, is_plain: bool) -> CommandReply | None:
        """None: nothing is held and the person may have meant something else."""
        # In a group what was asked there, and nothing else; in private all that waits.
        place = asker.scope.place if asker.is_in_group else None
        held = await self._deliveries.oldest_held(asker.account.id, place)
        if held is None or not held.remaining:
            return None if is_plain else CommandReply(text=self._wording.say("held_nothing"))
        is_among_others = await self._deliveries.has_several_held(asker.account.id)
        text = self._handed_over(held, is_among_others=is_among_others)
        return CommandReply(text=text, taken=Taken(inbox_id=held.inbox_id, page=held.next_page, at=held.at))

    def _handed_over(self, held: Delivery, *, is_among_others: bool) -> str:
        """The page as it was stored, with which it is and, the first time or where others are held too, what it answers.

        It was rendered for its channel when it was stored, so it is marked as not to be rendered again.
        """
        page = as_shown(held.remaining[0])
        marked = self._wording.mark_page(page, held.next_page + 1, len(held.pages))
        question = clip(clean(held.question), QUESTION_CHARACTERS)
        if question and (held.next_page == 0 or is_among_others):
            named = self._wording.say("held_first", question=question, page=marked)
            if shown_bytes(named) <= NAMED_PAGE_BYTES:
                return named
        # The operator's own wording of the mark may be longer than channels leave room for.
        return marked if shown_bytes(marked) <= NAMED_PAGE_BYTES else page
