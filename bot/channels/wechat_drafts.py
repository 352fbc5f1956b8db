"""The finished part of an answer that is still being written, as WeChat shows it.

Invariant: what is given fits one passive reply with its mark, and is what the person reads first when they
fetch the rest.
"""

from bot.answering.drafts import Drafts
from bot.channels.wechat.drafts import DRAFT_BYTES
from bot.channels.wechat.links import anchor
from bot.conversation.markdown import flatten


class WeChatDrafts:
    """The adapter's `Drafts` over the house's."""

    def __init__(self, drafts: Drafts) -> None:
        self._drafts = drafts

    def take(self, app_id: str, key: str) -> str:
        return _rendered(self._drafts.take(app_id, key, _fits))


def _fits(beginning: str) -> bool:
    return len(_rendered(beginning).encode("utf-8", "replace")) <= DRAFT_BYTES


def _rendered(markdown: str) -> str:
    return flatten(markdown, link=anchor)
