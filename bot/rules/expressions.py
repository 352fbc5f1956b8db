"""Regular expressions of the operator's, many at once, on RE2.

Invariant: no expression runs on a backtracking engine; one that RE2 refuses is refused here, in words; an
expression is only left untried where it can't match, since a word that it requires isn't there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from bot.conversation.phrases import Phrases
from bot.rules.literals import fold_literal, required_words

SET_MEMORY_BYTES = 256 << 20
"""RE2's budget for the expressions without required words, matched as one `RE2::Set`: a ceiling for what a
strange text may take, not what is taken. Where it runs out, each is tried by itself."""
MEMORY_BYTES = 1 << 20
"""RE2's budget for each expression by itself; where it runs out RE2 goes on without its cache, three
times as slow and still linear."""
MOST_INSTRUCTIONS = 20_000
"""Of one expression, as RE2 compiles it. Time is at most this × the bytes of the text × ~3 ns (measured
on expressions made to be slow): 90 ms for 500 Chinese characters, in a thread."""

_PROBLEMS = (
    ("missing )", "缺少右括号 )"),
    ("unexpected )", "多了右括号 )"),
    ("missing ]", "缺少右方括号 ]"),
    ("trailing \\", "末尾多了一个 \\"),
    ("no argument for repetition", "*、+、? 前面没有可以重复的内容"),
    ("bad repetition operator", "重复符号写法不对"),
    ("invalid repetition size", "重复次数太大，最多 1000"),
    ("invalid perl operator", "不支持 (?=…)、(?!…) 这类写法"),
    ("invalid escape sequence", "反斜杠后的写法不支持"),
    ("invalid character class range", "方括号里的范围不对"),
    ("too large", "太大了，减小 {} 里的次数，或拆成几条"),
)
"""The beginnings of RE2's messages (`RE2::ErrorCode` in its re2.cc), for people who write rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where an expression matched, in characters."""

    index: int
    """The expression's place in the list it came in."""
    start: int
    end: int


class Expressions:
    """Finds which of many expressions match anywhere in a text, case folded."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Raises ValueError with a reason in 简体中文."""
        self._regexes = [_compile(pattern) for pattern in patterns]
        self.instructions = sum(regex.programsize for regex in self._regexes)
        """Of all programs together: what the worst text can cost is in proportion."""
        self._words = Phrases()
        self._wordless: list[int] = []
        self._set = re2.Set.SearchSet(_options(SET_MEMORY_BYTES))
        for index, pattern in enumerate(patterns):
            words = required_words(pattern)
            for word in words or ():
                self._words.add(word, index)
            if words is None:
                self._wordless.append(index)
                self._set.Add(pattern)
        self._always = self._set.Add("")
        try:
            self._set.Compile()
        except re2.error as error:
            raise ValueError("没有固定文字的正则太多或太大，请减少一些") from error

    def search(self, text: str) -> Iterator[Found]:
        """In the order they came in. `text` holds no lone surrogate."""
        for index in sorted(self._with_words(text).union(self._without_words(text))):
            found = self._regexes[index].search(text)
            if found is not None:
                yield Found(index=index, start=found.start(), end=found.end())

    def _with_words(self, text: str) -> set[int]:
        """The expressions of whose required words the text holds one."""
        found = {word for _, word in self._words.found_in(fold_literal(text))}
        return {index for word in found for index in self._words.owners(word)}

    def _without_words(self, text: str) -> list[int]:
        """What the set says matched; everything when it ran out of memory, which it says by not even
        reporting the expression that always matches."""
        if not self._wordless:
            return []
        matched = self._set.Match(text) or []
        if self._always not in matched:
            return self._wordless
        return [self._wordless[number] for number in matched if number != self._always]


def check_expression(pattern: str) -> None:
    """Raise ValueError with a reason in 简体中文 when a pattern can't be used."""
    if _compile(pattern).search("") is not None:
        raise ValueError(f"正则“{pattern}”连空文字也匹配，会抢答所有消息；请写得更具体")


def _options(memory_bytes: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    options.max_mem = memory_bytes
    return options


def _compile(pattern: str) -> "re2._Regexp":  # pyright: ignore[reportPrivateUsage]
    try:
        regex = re2.compile(pattern, _options(MEMORY_BYTES))
    except re2.error as error:
        reason = error.args[0]
        english = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        chinese = next((chinese for start, chinese in _PROBLEMS if start in english), english)
        raise ValueError(f"正则“{pattern}”不能用：{chinese}。要按字面匹配请用 contains 或 exact") from error
    if regex.programsize > MOST_INSTRUCTIONS:
        raise ValueError(f"正则“{pattern}”太大了：减小 {{}} 里的次数，或拆成几条")
    return regex
