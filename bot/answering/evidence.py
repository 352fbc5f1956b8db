"""Does a memory or a passage answer the question? The decision that keeps unrelated memories unsaid.

Invariant: pure; three signs together decide (distance above the background, shared words, shared topic),
and an id that differs decides alone. docs/decisions/0030-recall-fusion.md has the measured precision.
"""

import math
import re

from bot.answering.background import Level
from bot.knowledge.retrieval import RetrievedPassage
from bot.memory.content_words import codes, coverage
from bot.memory.fact import Fact, FactKind
from bot.memory.lexical import LASTING
from bot.memory.questions import is_about_bot, is_about_oneself
from bot.memory.recall import RecalledFact
from bot.memory.topics import topics_asked, topics_told

WORD_WEIGHT = 1.0
TOPIC_WEIGHT = 2.2
OFF_TOPIC_WEIGHT = 0.8
"""In units of the background's spread, by logistic regression on tests/data/memory_fits.tsv, rounded:
a shared topic is worth 2.2 units of nearness, all words shared 1; another topic costs 0.8."""
MEMORY_LIMIT = 3.2
"""A memory must be this far above the background, all signs added."""
PASSAGE_LIMIT = 2.5
"""The regression gives 2.3 for one passage; the best of many is nearer by chance, so a little more."""
FEW_PASSAGES = 50
MORE_FOR_TENFOLD = 0.4
"""Up to `FEW_PASSAGES` the limit stands; ten times as many raise it by this, for the same reason. Chosen on 45
questions and 30 unrelated ones to 4,761 passages: docs/decisions/0090."""

WORDLESS_TOPIC = 0.41
"""Without vectors a shared topic is enough where the question is for the person, not about the shop."""
MEMORY_WORDS = 0.4
PASSAGE_WORDS = 0.3
"""Without vectors: the share of the question's words that must be found."""
PROMPT_SLACK = 0.5
PROMPT_SLACK_WORDS = 0.2
"""How much weaker than a quotation a passage may be that only enters a prompt, where the model judges again:
with vectors, and by words alone. Chosen on the same questions: no right passage is lost."""

_FOR_ME = re.compile(r"我|推荐|适合|送什么|选|给|该")

CERTAIN = 10.0
"""The strength of what needs no measuring."""


def memory_strength(question: str, recalled: RecalledFact, level: Level | None) -> float:
    """How surely a memory answers the question; > 0 fits. Compares within one question."""
    text = recalled.fact.text
    if is_about_bot(question):
        return -CERTAIN
    if (by_code := _by_code(question, text)) is not None:
        return by_code
    strength = _strength(question, text, recalled.dense, level)
    return strength + CERTAIN if _says_who(question, recalled.fact) else strength


def passage_strength(question: str, retrieved: RetrievedPassage, level: Level | None) -> float:
    """How surely a passage answers the question; > 0 fits. Compares within one question."""
    if retrieved.is_named:
        return CERTAIN
    text = f"{retrieved.passage.heading}\n{retrieved.passage.text}"
    if (by_code := _by_code(question, text)) is not None and by_code > 0:
        return by_code
    words = coverage(question, text)
    if level is None or retrieved.dense is None:
        return words - PASSAGE_WORDS
    return level.margin(retrieved.dense) + WORD_WEIGHT * words - _passage_limit(retrieved.among)


def _passage_limit(among: int) -> float:
    return PASSAGE_LIMIT + MORE_FOR_TENFOLD * math.log10(max(among / FEW_PASSAGES, 1))


def is_worth_reading(question: str, retrieved: RetrievedPassage, level: Level | None) -> bool:
    """Whether a passage may enter a prompt. What a rule or a name gave always may."""
    if retrieved.is_named or retrieved.is_given:
        return True
    is_measured = level is not None and retrieved.dense is not None
    slack = PROMPT_SLACK if is_measured else PROMPT_SLACK_WORDS
    return passage_strength(question, retrieved, level) > -slack


def _strength(question: str, text: str, dense: float | None, level: Level | None) -> float:
    asked, told = topics_asked(question), topics_told(text)
    is_shared = bool(asked & told)
    words = coverage(question, text)
    if level is None or dense is None:
        is_shared = is_shared and bool(_FOR_ME.search(question))
        return words + WORDLESS_TOPIC * is_shared - MEMORY_WORDS
    is_elsewhere = bool(asked and told) and not is_shared
    signs = WORD_WEIGHT * words + TOPIC_WEIGHT * is_shared - OFF_TOPIC_WEIGHT * is_elsewhere
    return level.margin(dense) + signs - MEMORY_LIMIT


def _says_who(question: str, fact: Fact) -> bool:
    """It answers 「还记得我吗」. Where a topic is asked too (我叫什么), a preference must be on it."""
    if not is_about_oneself(question) or fact.kind not in LASTING:
        return False
    asked = topics_asked(question)
    return fact.kind is FactKind.IDENTITY or not asked or bool(asked & topics_told(fact.text))


def _by_code(question: str, text: str) -> float | None:
    """An id in the question decides where the text has ids too: the same one, or another's."""
    asked, held = codes(question), codes(text)
    if not asked or not held:
        return None
    return CERTAIN if asked & held else -CERTAIN
