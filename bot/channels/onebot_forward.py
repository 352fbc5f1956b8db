# pyright: basic
"""Which pages of a reply go out as messages of their own, and which inside merged forwards (合并转发).

Invariant: pure; the batches, in order, are all pages, each once.
"""

from collections.abc import Iterator, Sequence

from nonebot.adapters.onebot.v11 import Message, MessageSegment

MOST_MESSAGES = 3
"""A reply of more pages would fill the screen: what follows its first page is folded."""
MOST_NODES = 20
"""In one forward. Long ones are refused or lost (PROTOCOLS.md §3: split)."""


def batches(pages: int) -> Iterator[range]:
    """Which pages are sent together; one alone is a message, several are a forward."""
    if pages <= MOST_MESSAGES:
        yield from alone(range(pages))
        return
    yield range(1)
    rest = pages - 1
    forwards = -(-rest // MOST_NODES)
    begin = 1
    for number in range(forwards):
        # Of nearly the same length: none with a single page.
        end = 1 + rest * (number + 1) // forwards
        yield range(begin, end)
        begin = end


def alone(batch: range) -> Iterator[range]:
    """The same pages, each a message."""
    for page in batch:
        yield range(page, page + 1)


def nodes(pages: Sequence[str], *, self_id: str, name: str) -> Message:
    """The bot's own words as a forward. Clients differ in how they call who spoke."""
    who = {"user_id": self_id, "nickname": name, "uin": self_id, "name": name}
    return Message(
        MessageSegment("node", {**who, "content": Message(MessageSegment.text(page))}) for page in pages
    )
