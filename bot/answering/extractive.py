"""Answer without a model: quote the memory or passage that fits, say what it is, and never invent.

Invariant: every quotation is a piece of what was recalled or retrieved, and nothing is quoted that does
not fit the question; where nothing fits, the answer says so.
"""

import re
from dataclasses import dataclass, replace

from bot.answering.background import Background
from bot.answering.drafts import Draft
from bot.answering.evidence import is_worth_reading, memory_strength, passage_strength
from bot.answering.links import without_links
from bot.answering.question import Answer, Question
from bot.answering.span import shown_span
from bot.answering.telling import of_the_same, only_tells
from bot.conversation.local_time import local_date
from bot.conversation.markdown import flatten
from bot.conversation.masking import mask_secrets
from bot.conversation.ports import Embedder
from bot.conversation.text import clip
from bot.conversation.turn import Turn
from bot.conversation.wording import Wording
from bot.knowledge.ingest import MARKDOWN_SUFFIXES
from bot.knowledge.passage import Passage
from bot.memory.content_words import coverage
from bot.memory.entities import EntityType, SeenEntity
from bot.memory.fact import Fact, FactKind
from bot.memory.questions import is_about_oneself, is_question
from bot.memory.said import is_about_something

MOST_MEMORIES = 3
NEAR_BEST = 1.5
"""Memories this much weaker than the best (in units of the background's spread) are left out."""
NEAR_BEST_OF_ONESELF = 6.0
"""「还记得我吗」 is answered by who the person is as well as by what fits best."""
LONGEST_QUOTE = 300
"""Characters of a passage or a turn: with its frame it stays on one page of 2,000 bytes."""

_SENTENCE = re.compile(r"[^。！？!?\n]+[。！？!?]*\n*|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """What fits a question, best first."""

    facts: tuple[Fact, ...]
    passages: tuple[Passage, ...]
    said: tuple[Turn, ...] = ()
    """Of a time that is asked for, where no fact of it fits."""

    promised: tuple[SeenEntity, ...] = ()
    """By the bot: what the question points at, kept as a memory yet or not."""

    @property
    def is_empty(self) -> bool:
        return not (self.facts or self.passages or self.said or self.promised)


class ExtractiveAnswerer:
    """The answerer of a house without a model, and of one whose model is away."""

    def __init__(
        self, *, wording: Wording, embedder: Embedder | None = None, background: Background | None = None
    ) -> None:
        """`embedder`: the one that made the question's vectors; without it words decide alone."""
        self._wording = wording
        self._background = background or Background(embedder)

    async def warm(self) -> None:
        """Prepare the background before the first question. Raises EmbedderUnavailable."""
        await self._background.warm()

    async def answer(self, question: Question, draft: Draft | None = None) -> Answer:
        """Quote what fits, or say that one isn't sure. It is there at once, so no draft is kept."""
        if len(question.meant) > 1:
            which = "\n".join(f"- {self._quoted(each.value)}" for each in question.meant)
            text = self._wording.say("which_one", words=self._quoted(question.pointing), choices=which)
            return Answer(text=text, decided_by="extract")
        extract = await self.extract(question)
        if extract.is_empty:
            return Answer(text=self.unsure(question, "answer_unsure"), decided_by="extract")
        return Answer(text=self.quote(question, extract, "extract_intro"), decided_by="extract")

    def unsure(self, question: Question, key: str) -> str:
        """That nothing fits: nothing of the time that is asked for, or else the catalogue's words by its key. Who asked
        nothing has been heard."""
        if only_tells(question.text):
            return self._wording.say("answer_heard")
        asked = question.asked
        if asked is None or asked.window is None or question.facts or question.said or question.meant:
            return self._wording.say(key)
        words, time = self._quoted(asked.words), shown_span(asked.window)
        return self._wording.say("nothing_said_then", words=words, time=time)

    async def extract(self, question: Question) -> Extract:
        """What fits the question; empty when nothing does."""
        level = await self._background.level(question.query_vector)
        remembered = (*question.facts, *question.group_facts)
        facts = [(memory_strength(question.searched, each, level), each.fact) for each in remembered]
        # In the order of retrieval, which compares passages better than their single strengths do.
        fitting = [each for each in question.passages if passage_strength(question.searched, each, level) > 0]
        named = [each.passage for each in fitting if each.is_named]
        others = [each.passage for each in fitting if not each.is_named]
        near = NEAR_BEST_OF_ONESELF if is_about_oneself(question.searched) else NEAR_BEST
        best = _best(facts, near)
        if question.asked is not None and not is_about_something(question.asked.rest):
            best = tuple(each.fact for each in remembered[:MOST_MEMORIES])
        tells = only_tells(question.text)
        if tells:
            best = of_the_same(question.text, best)
        told = [turn for turn in question.said if not is_question(turn.question)]
        said = () if best or tells else tuple(told[-MOST_MEMORIES:])
        promised = tuple(each for each in question.meant if each.type is EntityType.PROMISE)
        best = tuple(each for each in best if each.text not in {promise.value for promise in promised})
        return Extract(facts=best, passages=(*named, *others[:1]), said=said, promised=promised)

    async def readable(self, question: Question) -> Question:
        """The question with those passages alone that are worth a model's reading."""
        if not question.passages:
            return question
        level = await self._background.level(question.query_vector)
        return replace(
            question,
            passages=tuple(
                each for each in question.passages if is_worth_reading(question.searched, each, level)
            ),
        )

    def quote(self, question: Question, extract: Extract, intro: str) -> str:
        """The reply: an introduction from the catalogue by its key, then the quotations."""
        lines = [self._wording.say(intro)]
        of_group = {each.fact.id for each in question.group_facts}
        for promise in extract.promised:
            text, date = self._quoted(promise.value), local_date(promise.seen_at)
            lines.append(self._wording.say("extract_promise", text=text, date=date))
        for fact in extract.facts:
            key = "extract_promise" if fact.kind is FactKind.PROMISE else "extract_memory"
            key = "extract_group_memory" if fact.id in of_group else key
            text, date = self._quoted(fact.text), local_date(fact.said_at)
            lines.append(self._wording.say(key, text=text, date=date))
        for turn in extract.said:
            text, date = self._quoted(clip(turn.question, LONGEST_QUOTE)), local_date(turn.at)
            lines.append(self._wording.say("extract_memory", text=text, date=date))
        for passage in extract.passages:
            text = without_secrets(_excerpt(_shown(passage), question.text))
            lines.append(self._wording.say("extract_passage", text=text, source=passage.document))
        return "\n".join(lines)

    def _quoted(self, text: str) -> str:
        """A memory as it may be shown: on one line, without links and secrets."""
        line = " ".join(without_secrets(text).split())
        return without_links(line, self._wording.say("link_hidden"))


def without_secrets(text: str) -> str:
    """Masked, for what was stored before a pattern was known."""
    return mask_secrets(text)[0]


def _best(found: list[tuple[float, Fact]], near: float) -> tuple[Fact, ...]:
    """What fits and is near the best, strongest first."""
    fitting = sorted((pair for pair in found if pair[0] > 0), key=lambda pair: -pair[0])[:MOST_MEMORIES]
    return tuple(fact for strength, fact in fitting if strength >= fitting[0][0] - near)


def _shown(passage: Passage) -> str:
    """Its text as a chat shows it."""
    is_markdown = passage.document.lower().endswith(MARKDOWN_SUFFIXES)
    return flatten(passage.text) if is_markdown else passage.text


def _excerpt(text: str, question: str) -> str:
    """A passage, or of a long one the sentences from the one that shares most with the question."""
    text = text.strip()
    if len(text) <= LONGEST_QUOTE:
        return text
    sentences: list[str] = _SENTENCE.findall(text)
    scores = [coverage(question, sentence) for sentence in sentences]
    first = scores.index(max(scores))
    excerpt = sentences[first].strip()[:LONGEST_QUOTE]
    for sentence in sentences[first + 1 :]:
        if len(excerpt) + len(sentence) > LONGEST_QUOTE:
            break
        excerpt += sentence
    return f"{'…' if first else ''}{excerpt.strip()}…"
