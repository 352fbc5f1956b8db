"""What a question and a memory are about, where they share no word: 零食 and 过敏 are both about food.

Invariant: pure; a topic is evidence beside words and vectors, never the only ground to delete anything.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from bot.memory.normalise import normalise


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One line of topics.txt."""

    names: tuple[str, ...]
    """Nouns a person may use for the whole topic."""
    asked: tuple[str, ...]
    """Words of questions on it."""
    told: tuple[str, ...]
    """Words of memories on it."""


@cache
def topics() -> tuple[Topic, ...]:
    """The table, read once."""
    lines = files("bot.memory").joinpath("topics.txt").read_text("utf-8").splitlines()
    return tuple(_topic(line) for line in lines if line.strip() and not line.startswith("#"))


def topics_asked(question: str) -> frozenset[int]:
    """Numbers of the topics a question touches."""
    return _found(normalise(question), _asked_words())


def topics_told(memory: str) -> frozenset[int]:
    """Numbers of the topics a memory belongs to."""
    return _found(normalise(memory), _told_words())


def topic_named(word: str) -> frozenset[int]:
    """Numbers of the topics whose very name `word` is: empty for any other word."""
    text = normalise(word)
    return frozenset(number for number, topic in enumerate(topics()) if text in topic.names)


def _topic(line: str) -> Topic:
    names, asked, told = (tuple(part.split()) for part in line.split(";"))
    return Topic(names=names, asked=asked, told=told)


@cache
def _asked_words() -> dict[str, frozenset[int]]:
    return _by_word([topic.names + topic.asked for topic in topics()])


@cache
def _told_words() -> dict[str, frozenset[int]]:
    return _by_word([topic.names + topic.told for topic in topics()])


def _by_word(words_of: list[tuple[str, ...]]) -> dict[str, frozenset[int]]:
    numbers: dict[str, set[int]] = {}
    for number, words in enumerate(words_of):
        for word in words:
            numbers.setdefault(word, set()).add(number)
    return {word: frozenset(found) for word, found in numbers.items()}


def _found(text: str, words: dict[str, frozenset[int]]) -> frozenset[int]:
    """Look up every piece of the text: an index is built of thousands of texts, `in` for each word
    takes four times as long."""
    longest = max(map(len, words))
    pieces = {text[start : start + size] for start in range(len(text)) for size in range(1, longest + 1)}
    return frozenset[int]().union(*(words[piece] for piece in pieces & words.keys()))
