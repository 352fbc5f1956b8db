"""The text of a rolling summary: what a model is given to make one, whether its text holds, and one made by rules.

Invariant: pure; secrets are masked; a text with a number or code that nobody wrote is no summary, and what rules
make is the person's own words.
"""

import re
from collections.abc import Iterable

from bot.conversation.local_time import local_date
from bot.conversation.masking import mask_secrets
from bot.conversation.text import clean, clip
from bot.conversation.turn import Turn
from bot.memory.clauses import clauses_of
from bot.memory.entities import EntityType, SeenEntity
from bot.memory.grounding import new_codes, said_share
from bot.memory.naming import named_in
from bot.memory.statements import stated_facts
from bot.memory.summary import DueSummary
from bot.memory.third_parties import is_about_others

LONGEST_SUMMARY = 600
"""Characters: it stands in every prompt of the person."""
LONGEST_SAID = 400
"""Characters of one side of a turn that a model is given."""
LONGEST_GIVEN = 8_000
"""Characters of all turns together; the newest that fit."""
MOST_OF_A_DAY = 12
"""Pieces of one day in a summary made by rules."""
LONGEST_PIECE = 60
SHARED = 0.15
"""Of a summary's character pairs, how many were said. One in other words has a third; an excuse, or what belongs to
another talk, has hardly any."""

_SENTENCE = re.compile(r"[^。！？!?；;\n]*[。！？!?；;\n]+")
_NAMED = {
    EntityType.ORDER_ID: "提到单号",
    EntityType.PRODUCT_NAME: "提到商品",
    EntityType.AMOUNT: "提到金额",
    EntityType.ISSUE_TYPE: "说到",
}
"""What is told of beside the statements, and the words before it."""
_EARLIER = "（更早的从略）"


def given(due: DueSummary, *, is_group: bool) -> dict[str, object]:
    """What a model condenses: `earlier_summary` and `earlier_turns`, masked, oldest first."""
    turns: list[dict[str, str]] = []
    length = 0
    for turn in reversed(due.turns):
        one = {
            "date": local_date(turn.at),
            "user": clip(_masked(_told(turn.question, is_group=is_group)), LONGEST_SAID),
            "bot": clip(_masked(turn.answer), LONGEST_SAID),
        }
        length += sum(map(len, one.values()))
        if length > LONGEST_GIVEN and turns:
            break
        turns.append(one)
    return {
        "earlier_summary": due.previous.text if due.previous else "",
        "earlier_turns": turns[::-1],
    }


def checked(text: str, due: DueSummary) -> str:
    """A model's summary as it may be kept; "" for what is none."""
    text = clean(_masked(text))
    if len(text) > LONGEST_SUMMARY:
        text = _whole_sentences(text)
    before = due.previous.text if due.previous else ""
    said = (f"{local_date(turn.at)} {turn.question} {turn.answer}" for turn in due.turns)
    source = " ".join((before, *said))
    return "" if new_codes(text, source) or said_share(text, source) < SHARED else text


def by_rules(due: DueSummary, *, is_group: bool) -> str:
    """What the person stated and named, each day on a line of its own; how much was asked where that is all."""
    lines = due.previous.text.split("\n") if due.previous else []
    known = "\n".join(lines)
    by_day: dict[str, list[str]] = {}
    for turn in due.turns:
        pieces = by_day.setdefault(local_date(turn.at), [])
        pieces += [
            each for each in _pieces(turn, is_group=is_group) if each not in known and each not in pieces
        ]
    told = [f"{day}：{'；'.join(pieces[-MOST_OF_A_DAY:])}" for day, pieces in by_day.items() if pieces]
    days = list(by_day)
    return _fitting([*lines, *(told or [f"{days[-1]}：聊了 {len(due.turns)} 轮，没有说到自己的事"])])


def _pieces(turn: Turn, *, is_group: bool) -> Iterable[str]:
    said = _masked(turn.question)
    stated = [clip(fact.text, LONGEST_PIECE) for fact in stated_facts(said, turn.at, is_group=is_group)]
    told = "".join(stated)
    named = [
        _NAMED[each.type] + clip(_name(each), LONGEST_PIECE)
        for each in named_in(said, turn.at)
        if each.type in _NAMED and each.value not in told
    ]
    return (*stated, *named)


def _name(seen: SeenEntity) -> str:
    return seen.normalised if seen.type is EntityType.ISSUE_TYPE else seen.value


def _fitting(lines: list[str]) -> str:
    """The newest lines that fit, and word of those that do not."""
    lines = [line for line in lines if line != _EARLIER]
    kept = list(lines)
    while len(kept) > 1 and sum(len(line) + 1 for line in kept) + len(_EARLIER) > LONGEST_SUMMARY:
        del kept[0]
    if len(kept) < len(lines):
        kept.insert(0, _EARLIER)
    return "\n".join(kept)[:LONGEST_SUMMARY]


def _told(text: str, *, is_group: bool) -> str:
    """In a group without claims about third parties, which are nobody's to keep."""
    if not is_group:
        return text
    return "，".join(clause.text for clause in clauses_of(text) if not is_about_others(clause.text))


def _whole_sentences(text: str) -> str:
    """From the start, those that fit; "" where the first is longer than all."""
    end = 0
    for sentence in _SENTENCE.finditer(text):
        if sentence.end() > LONGEST_SUMMARY:
            break
        end = sentence.end()
    return text[:end]


def _masked(text: str) -> str:
    return mask_secrets(text)[0]
