"""Which turns of a time serve a question about it: what was said and not kept as a fact is found all the same.

Invariant: pure; only what was handed over is chosen from, and it is chosen as it was said.
"""

import re
from collections.abc import Sequence

from bot.conversation.lexical import largest
from bot.conversation.turn import Turn
from bot.memory.content_words import content_terms
from bot.memory.few_texts import FewTexts, terms_of
from bot.memory.normalise import searchable

LOOKED_THROUGH = 300
"""Turns of a window: a day of lively talk, or the end of a longer time."""
MOST_SAID = 3
"""Beside the facts, which say the same in fewer words."""
MOST_IN_ALL = 8
"""Where everything of that time is asked for (「前几天我说过什么」)."""
_OF_ALL = re.compile(
    r"告诉|记得|记住|来着|总结|回忆|想想|一下|什么|哪些|内容|事情|东西|咱们|我们|[我你您咱说讲聊提谈问跟和给让帮把对都还再又过了的到啥哪些事话做干吗呢么嘛吧啊有没是得出]"
)
"""Words of asking and telling: a question made of these alone asks for everything."""
LONGEST_TURN = 500
"""Characters of a question or an answer that are looked at."""


def choose_said(turns: Sequence[Turn], question: str) -> tuple[Turn, ...]:
    """Those that share the question's words, best first; the last ones, in order, where it has none."""
    if not is_about_something(question):
        return tuple(turns[-MOST_IN_ALL:])
    texts = [
        terms_of(searchable(f"{turn.question[:LONGEST_TURN]} {turn.answer[:LONGEST_TURN]}")) for turn in turns
    ]
    scores = FewTexts(texts).scores_of(content_terms(question))
    best: list[int] = largest(scores, MOST_SAID).tolist()
    return tuple(turns[row] for row in best if scores[row] > 0)


def is_about_something(question: str) -> bool:
    """「我说过什么」 asks for all that was said."""
    return any(map(str.isalnum, _OF_ALL.sub("", question)))
