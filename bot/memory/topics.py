"""What a question and a memory are about, where they share no word: 零食 and 过敏 are both about food.

Invariant: pure; a topic is evidence beside words and vectors, never the only ground to delete anything.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeAlias

from bot.memory.normalise import normalise

_Words: TypeAlias = dict[str, list[tuple[str, frozenset[int]]]]
"""By their first character: words, and the topics they tell of."""


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


def told_words(number: int) -> tuple[str, ...]:
    """By any of which a normalised memory belongs to the topic."""
    topic = topics()[number]
    return topic.names + topic.told


def topic_named(word: str) -> frozenset[int]:
    """Numbers of the topics whose very name `word` is: empty for any other word."""
    text = normalise(word)
    return frozenset(number for number, topic in enumerate(topics()) if text in topic.names)


def topic_label(memory: str) -> str:
    """What a memory is about, in one word of ours and none of its own. "" where no topic fits."""
    found = topics_told(memory)
    return topics()[min(found)].names[0] if found else ""


def _topic(line: str) -> Topic:
    names, asked, told = (tuple(part.split()) for part in line.split(";"))
    return Topic(names=names, asked=asked, told=told)


@cache
def _asked_words() -> _Words:
    return _by_word([topic.names + topic.asked for topic in topics()])


@cache
def _told_words() -> _Words:
    return _by_word([topic.names + topic.told for topic in topics()])


def _by_word(words_of: list[tuple[str, ...]]) -> _Words:
    numbers: dict[str, set[int]] = {}
    for number, words in enumerate(words_of):
        for word in words:
            numbers.setdefault(word, set()).add(number)
    by_start: _Words = {}
    for word, found in numbers.items():
        by_start.setdefault(word[0], []).append((word, frozenset(found)))
    return by_start


def _found(text: str, words: _Words) -> frozenset[int]:
    """Only words that begin with a character of the text are compared: an index is built of thousands of
    texts, and `in` for each word takes twenty times as long."""
    found: set[int] = set()
    for start, character in enumerate(text):
        if character not in words:
            continue
        for word, numbers in words[character]:
            if text.startswith(word, start):
                found |= numbers
    return frozenset(found)
