"""The FAQ: which rule answers a text, and whether its answer may be sent word for word.

Invariant: pure and linear in the text (hash look-ups and RE2, never a backtracking engine), so no
rule and no message can block the event loop; a book never changes after it was made.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rapidfuzz import fuzz
from rapidfuzz import process as fuzzy_search

from bot.conversation.phrases import Phrases
from bot.conversation.text import clean, content, normalise
from bot.rules.expressions import Expressions, check_expression
from bot.rules.trivial_words import GREETINGS, PINGS

COVERAGE = 0.6
"""A rule that covers less than this share of a message's letters and digits answers something else."""
DEFAULT_THRESHOLD = 85.0
"""Similarity in percent. Below it, four-character Chinese questions that differ in one word match."""
LONGEST_QUESTION = 500
"""Characters looked at. What is longer is a story: rules may touch it, none answers it."""
LONGEST_NORMAL = 2 * LONGEST_QUESTION
"""Characters of the normalised text that are looked at: one ligature may become eighteen letters."""
LONGEST_FUZZY_QUESTION = 60
"""Content characters. Similarity of long texts says nothing, and comparing them costs the square."""
INSTRUCTIONS_ON_LOOP = 2_000
"""Of all expressions, as RE2 compiles them: at worst 10 ms for each 1,000 and `LONGEST_QUESTION` Chinese
characters, seen in two forms. About fifty usual expressions."""

_PUNCTUATION = " 。，、；：？！…～.,;:?!~\"'“”‘’「」()《》<>"
_OPENINGS = (
    *("你好", "您好", "请问下", "请问一下", "请问", "麻烦问下", "我想问下", "我想问一下", "我想问"),
    *("想问下", "想问一下", "想问", "我想知道"),
)
_ENDINGS = ("是什么", "是多少", "呢", "吗", "么", "啊", "呀", "吧", "哦", "谢谢你", "谢谢您", "谢谢")
"""Politeness around a question: neither its content nor another question."""
_NEGATION = re.compile(
    r"[不没別别无無勿甭莫未]|(?<![a-z])(?:no|not|never|cannot|without)(?![a-z])|n['’]t(?![a-z])"
)
_DIGITS = re.compile(r"[0-9]+")


class Match(StrEnum):
    """How a rule compares its patterns with a message."""

    EXACT = "exact"
    CONTAINS = "contains"
    REGEX = "regex"
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaqRule:
    """One rule of the operator's."""

    id: str
    match: Match
    patterns: tuple[str, ...]
    answer: str
    priority: int = 0
    channels: frozenset[str] = frozenset()
    """Empty: every channel."""
    threshold: float = DEFAULT_THRESHOLD
    """Percent; only for `fuzzy`."""
    line: int = 0
    """Where it begins in its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaqHit:
    """A rule that touches a message."""

    rule: FaqRule
    answer: str
    verbatim: bool
    """May be sent as it is. False: it touches the matter, so it is context for the model."""
    score: float
    """Share of the message's content it covers, or its similarity: 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A message in the forms that rules look at."""

    normal: str
    bare: str
    core: str
    raw: str


class FaqBook:
    """A set of rules made ready for matching. 10,000 rules cost about what ten do."""

    def __init__(self, rules: Sequence[FaqRule] = ()) -> None:
        """Raises ValueError, naming the pattern in 简体中文, when `check_pattern` would."""
        self.rules = tuple(rules)
        self._exact: dict[str, list[int]] = defaultdict(list)
        self._contained = Phrases()
        self._bare: dict[str, str] = {}
        self._fuzzy: list[tuple[str, int]] = []
        self._regexes: list[tuple[str, int]] = []
        for number, rule in enumerate(self.rules):
            for pattern in rule.patterns:
                check_pattern(rule.match, pattern)
                self._file(number, rule.match, pattern)
        self._fuzzy_texts = [text for text, _ in self._fuzzy]
        self._fuzzy_floor = min((self.rules[number].threshold for _, number in self._fuzzy), default=100.0)
        self._expressions = Expressions([pattern for pattern, _ in self._regexes])

    @property
    def is_heavy(self) -> bool:
        """A hostile message could cost more than the event loop can spare: match in a thread."""
        return self._expressions.instructions > INSTRUCTIONS_ON_LOOP

    def match(self, text: str, channel: str, last_answer: str = "") -> FaqHit | None:
        """The rule that fits best: one that answers before one that only touches, then by priority,
        then the most specific, then the first in the file.

        An answer equal to `last_answer`, the bot's line before, isn't `verbatim`: the same FAQ text is
        never sent twice running.
        """
        raw = clean(text[:LONGEST_QUESTION])
        normal = normalise(raw)[:LONGEST_NORMAL]
        bare = content(normal)
        question = _Question(normal=normal, bare=bare, core=_core(bare), raw=raw)
        if not question.normal:
            return None
        best: tuple[tuple[bool, int, int, float, int], FaqHit] | None = None
        for number, hit in self._hits(question):
            if hit.rule.channels and channel not in hit.rule.channels:
                continue
            rank = (
                hit.verbatim,
                hit.rule.priority,
                hit.rule.match is Match.EXACT,
                hit.score,
                -number,
            )
            if best is None or rank > best[0]:
                best = (rank, hit)
        if best is None:
            return None
        hit = best[1]
        may_answer = len(text) <= LONGEST_QUESTION and hit.answer.strip() != last_answer.strip()
        return replace(hit, verbatim=hit.verbatim and may_answer)

    def _file(self, number: int, match: Match, pattern: str) -> None:
        """Put a pattern where its kind of match looks for it."""
        match match:
            case Match.EXACT:
                self._exact[_exact_key(normalise(pattern))].append(number)
            case Match.CONTAINS:
                self._contained.add(normalise(pattern), number)
                self._bare[normalise(pattern)] = content(pattern)
            case Match.FUZZY:
                self._fuzzy.append((content(pattern), number))
            case Match.REGEX:
                self._regexes.append((pattern, number))

    def _hits(self, question: _Question) -> Iterator[tuple[int, FaqHit]]:
        for number in self._exact.get(_exact_key(question.normal), ()):
            yield number, self._hit(number, verbatim=True, score=1.0)
        yield from self._contains_hits(question)
        yield from self._regex_hits(question)
        yield from self._fuzzy_hits(question)

    def _contains_hits(self, question: _Question) -> Iterator[tuple[int, FaqHit]]:
        text = question.normal
        # Once each: what else stands in the text is the same wherever a pattern is cut out of it.
        first_places = {pattern: start for start, pattern in reversed(list(self._contained.found_in(text)))}
        for pattern, start in first_places.items():
            bare = self._bare[pattern]
            if _swallows(bare, question):
                continue
            covered = _coverage(bare, question)
            verbatim = covered >= COVERAGE and not _is_negated(
                f"{text[:start]} {text[start + len(pattern) :]}"
            )
            for number in self._contained.owners(pattern):
                yield number, self._hit(number, verbatim=verbatim, score=covered)

    def _regex_hits(self, question: _Question) -> Iterator[tuple[int, FaqHit]]:
        """Expressions see the text as written, and once more with width folded."""
        seen: set[int] = set()
        for text in dict.fromkeys((question.raw, question.normal)):
            for found in self._expressions.search(text):
                number = self._regexes[found.index][1]
                matched = content(text[found.start : found.end])
                if number in seen or _swallows(matched, question):
                    continue
                seen.add(number)
                verbatim = not _is_negated(normalise(f"{text[: found.start]} {text[found.end :]}"))
                yield number, self._hit(number, verbatim=verbatim, score=_coverage(matched, question))

    def _fuzzy_hits(self, question: _Question) -> Iterator[tuple[int, FaqHit]]:
        if not self._fuzzy or not question.bare or len(question.bare) > LONGEST_FUZZY_QUESTION:
            return
        similar = fuzzy_search.extract_iter(
            question.bare, self._fuzzy_texts, scorer=fuzz.ratio, score_cutoff=self._fuzzy_floor
        )
        for pattern, similarity, index in similar:
            number = self._fuzzy[index][1]
            if similarity < self.rules[number].threshold or _swallows(pattern, question):
                continue
            verbatim = _says_the_same(pattern, question.bare)
            yield number, self._hit(number, verbatim=verbatim, score=similarity / 100)

    def _hit(self, number: int, *, verbatim: bool, score: float) -> FaqHit:
        rule = self.rules[number]
        return FaqHit(rule=rule, answer=rule.answer, verbatim=verbatim, score=score)


def check_pattern(match: Match, pattern: str) -> None:
    """Raise ValueError with a reason in 简体中文 when a pattern can't be used."""
    if match is Match.REGEX:
        check_expression(pattern)
    elif not normalise(pattern):
        raise ValueError("pattern 是空的")
    elif match is Match.FUZZY and not content(pattern):
        raise ValueError(f"fuzzy 的“{pattern}”里没有文字或数字，请改用 exact")


def _exact_key(normal: str) -> str:
    """Punctuation at the ends is no difference, unless there is nothing else."""
    return normal.strip(_PUNCTUATION) or normal


def _coverage(bare: str, question: _Question) -> float:
    """The share of the question's content that matched content accounts for, politeness left out."""
    asked = len(question.core)
    return min(len(bare) / asked, 1.0) if asked else 1.0


def _core(bare: str) -> str:
    """Without the politeness at both ends; never empty where the text isn't."""
    core = bare
    for opening in _OPENINGS:
        core = core.removeprefix(opening)
    for ending in _ENDINGS:
        core = core.removesuffix(ending)
    return core or bare


def _is_negated(rest: str) -> bool:
    """What surrounds the matched words may turn them round: 「不用退款」, 「退款了怎么还没到账」."""
    return _NEGATION.search(rest) is not None


def _swallows(bare: str, question: _Question) -> bool:
    """A greeting that stands before something else would swallow it."""
    return bare != question.bare and (bare in GREETINGS or bare in PINGS)


def _says_the_same(pattern: str, bare: str) -> bool:
    """Similar texts mean different things when a negation or a number differs."""
    return len(_NEGATION.findall(pattern)) == len(_NEGATION.findall(bare)) and (
        _DIGITS.findall(pattern) == _DIGITS.findall(bare)
    )
