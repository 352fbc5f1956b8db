"""What a summary says that is so no longer: the pieces that say what a later statement put an end to.

Invariant: pure; only whole clauses are left out, and nothing is put in their place: what holds now is a memory.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.memory.claims import read_claims
from bot.memory.claims.claim import Claim
from bot.memory.grounding import in_first_person
from bot.memory.normalise import searchable
from bot.memory.summary import RecentTalk, Summary

SHORTEST_PIECE = 3
"""Characters: a shorter one stands in too many statements."""
_SENTENCE = re.compile(r"[^。；;！!？?\n]+[。；;！!？?]?")
_CLAUSE = re.compile(r"[^，,、]+[，,、]?")
_DAY = re.compile(r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}[：:]?\s*")
_BREAKS = "，,、；; "


def without_outdated(talk: RecentTalk, closed: Sequence[str]) -> RecentTalk:
    """`closed`: texts of the facts that hold no longer. A summary of which nothing is left is left out."""
    if not (talk.summaries and closed):
        return talk
    over = _Over(closed)
    kept = (replace(each, text=_kept(each, over)) for each in talk.summaries)
    return replace(talk, summaries=tuple(each for each in kept if each.text))


class _Over:
    def __init__(self, closed: Sequence[str]) -> None:
        self._texts = tuple(map(_squeezed, closed))
        self._claims = frozenset(claim for text in closed for claim in _claims(text))

    def says(self, piece: str) -> bool:
        """Whether a piece of a summary says what is over."""
        words = _squeezed(piece)
        if len(words) < SHORTEST_PIECE:
            return False
        if any(words in text or text in words for text in self._texts):
            return True
        claims = _claims(in_first_person(piece))
        return bool(claims) and claims <= self._claims


def _kept(summary: Summary, over: _Over) -> str:
    lines = (_line(line, over) for line in summary.text.split("\n"))
    return "\n".join(line for line in lines if line)


def _line(line: str, over: _Over) -> str:
    """Of one day, or of a model's text."""
    day = _DAY.match(line)
    begin = day.group() if day else ""
    told = "".join(_sentence(each, over) for each in _SENTENCE.findall(line[len(begin) :]))
    return begin + told.strip(_BREAKS) if told.strip(_BREAKS) else ""


def _sentence(sentence: str, over: _Over) -> str:
    if over.says(sentence):
        return ""
    clauses = _CLAUSE.findall(sentence)
    kept = [each for each in clauses if not over.says(each)]
    if len(kept) == len(clauses):
        return sentence
    end = sentence[-1] if sentence[-1] in "。；;！!？?" else ""
    return "".join(kept).rstrip(f"{_BREAKS}。！!？?") + end if kept else ""


def _claims(text: str) -> frozenset[Claim]:
    return frozenset(replace(claim, needs_change=False) for claim in read_claims(text).claims)


def _squeezed(text: str) -> str:
    return re.sub(r"[\s。；;！!？?，,、]", "", searchable(text))
