"""Does an answer of the bot's leave something open, so that one word may reply to it?

Invariant: pure; linear time; what is asked before the last two sentences is no longer open.
"""

import re

LONGEST_END = 160
"""Characters of the end that are read."""

_SENTENCE = re.compile(r"[^。！!？?；;\n~～…]+[。！!？?；;~～…]*")
_ASKS = re.compile(r"[？?][”」’\"')）\s~～]*$|[吗呢么][。.~～！!…\s]*$")
_REQUESTS = re.compile(
    r"(?:请|麻烦|烦请|劳烦|辛苦|需要|还要|要)[您你]?[^，,。！!？?]{0,12}(?:告诉|告知|提供|发(?!货|出|放|票|送|现|生|了|布)|回复|回个|回我|输入|选|填|报(?!警|销|名)|说|确认|补充|留(?!意)|描述|拍)"
    r"|(?:告诉|告知|发给|报给|回复|回我|说给|发)我|(?:回复?|输入|选择?|发送?)\s?[“「\"‘'0-9A-Za-z]|[0-9A-Za-z]\s?还是\s?[0-9A-Za-z]"
)


def asks(answer: str) -> bool:
    """Its last two sentences ask something, or ask for something to be told."""
    end = answer[-LONGEST_END:].rstrip()
    return any(
        _ASKS.search(sentence) or _REQUESTS.search(sentence) for sentence in _SENTENCE.findall(end)[-2:]
    )
