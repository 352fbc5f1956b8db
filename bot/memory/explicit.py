"""「记住：…」: recognise that a person asks to have something remembered, and what.

Invariant: pure; a question about remembering (「记住了吗」) asks nothing to be kept.
"""

import re
from datetime import datetime

from bot.memory.fact import NewFact
from bot.memory.questions import is_question
from bot.memory.statements import asked_facts

_VERB = r"(?:记住|记下来|记下|记一下|记着|牢记|记牢|别忘了|不要忘记|别忘记|记得)"
_SEPARATOR = r"(?:一下|哦|啊|了|吧)?\s*[:：,，、\n]\s*"
_OWN = r"(?=我|俺|本人|咱|以后叫|今天|明天|后天|每|下周|周[一二三四五六日末])"
_ASKING = r"(?:请你?|麻烦你?|拜托你?|帮我|帮忙|给我|替我|你要|您要|你一定要|要|一定要|务必)"

_BEFORE = re.compile(
    rf"^(?:{_VERB}{_SEPARATOR}|{_ASKING}+{_VERB}(?:一下|哦|啊)?[\s:：,，、]*|(?:记住|记一下|记下){_OWN}"
    r"|(?:please\s+)?(?:remember|note)(?:\s+that\b|\s*[:,，：])\s*|(?:please\s+)?remember\s+(?=(?:i|my|i'm|we)\b))"
    r"(?P<what>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_AFTER = re.compile(
    rf"[,，。;；!！\s]+(?:{_ASKING}*(?:记住|记下来|记下|记一下)|请记得|please remember(?: (?:that|this|it))?)"
    r"(?:一下|吧|哦|啊|哈|好吗)?[。.!！~～]*$",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"[,，。;；\s]+(?:好吗|好不好|可以吗|行吗|行不行|好么|ok吗|谢谢你?|多谢|拜托了?)[?？。.!！~～]*$"
)
_LONGEST_TAIL = 40
"""Characters of the end where `_AFTER` and `_COURTESY` look: over a long text of blanks a search that
must reach the end takes quadratic time."""
_NOTHING = re.compile(
    r"^(?:我|我们|了|这个?|这些|这件事|这点|它|吧|哦|啊|没有?|没|me|this|it)?[了吧哦啊的]?[。.!！?？~～\s]*$"
)


def explicit_memory(text: str) -> str | None:
    """What a person asks to have remembered, in their words, or None.

    Recognised before (「记住：…」「记住我…」「帮我记一下…」「remember that …」) and after (「…，请记住」).
    Whether it may be kept is for `facts_of_explicit` to say.
    """
    said = _without_end(text.strip(), _COURTESY)
    if found := _BEFORE.match(said):
        what = found["what"].strip()
    else:
        what = _without_end(said, _AFTER)
        if what == said:
            return None
    if _NOTHING.match(what) or is_question(what):
        return None
    return what


def facts_of_explicit(text: str, said_at: datetime, *, is_group: bool = False) -> tuple[NewFact, ...]:
    """The facts in what somebody asked to have remembered, with or without the 「记住」 before it.

    「我叫八六，我对花生过敏」 are two. Orders to the bot are refused as memories, questions aren't
    facts, and claims about others aren't kept from a group: () when nothing else is there.
    """
    return asked_facts(explicit_memory(text) or text.strip(), said_at, is_group=is_group)


def _without_end(text: str, end: re.Pattern[str]) -> str:
    found = end.search(text, max(0, len(text) - _LONGEST_TAIL))
    return text[: found.start()].strip() if found else text
