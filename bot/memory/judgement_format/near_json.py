"""Nearly-JSON read in one pass: any quotation marks, commas and colons, comments, Python's words, missing ends.

Invariant: total and linear; a value that was cut off is left out, and a string that ends where the text ends is
marked `Unsure`: it may be half of one.
"""

import re
from dataclasses import dataclass
from typing import Any

DEEPEST = 8
"""Levels: an answer has three."""

_TRIVIA = re.compile(r"(?:[\s*`\ufeff\u200b]+|//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*)+", re.DOTALL)
_SPACE = re.compile(r"[\s*`]*")
_DOUBLE, _SINGLE, _CORNER = '"“”＂„‟', "'‘’＇", "「」『』"
_OPENERS = {mark: family for family in (_DOUBLE, _SINGLE, _CORNER) for mark in family if mark not in "」』"}
_PARTNER = {"“": '”“"', "”": '”“"', "‘": "’‘'", "’": "’‘'", "「": "」", "『": "』"}
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY = "{｛", "}｝", "[［【", "]］】"
_COLONS, _COMMAS = ":：=", ",，;；、"
_NAMES = (
    r"[A-Za-z_][A-Za-z0-9_\-]{0,30}"
    r"|核心意图|意图|是否[\u4e00-\u9fff]{0,10}记忆|原因|理由|摘要|总结|概括|事实|记忆|实体|类型|类别|重要[性度]|内容|文本|值|保留"
)
_KEY = re.compile(
    rf"[\s*`]*([\"“”＂„‟'‘’＇「『]?)[*`]{{0,3}}(?:{_NAMES})[*`]{{0,3}}[\"“”＂„‟'‘’＇」』]?\s*[:：=]"
)
_BARE_KEY = re.compile(r"([A-Za-z_\u4e00-\u9fff][\w\-]{0,40})[\s*`]*(?=[:：=])")
_BARE = re.compile(r"[^,，;；}\]｝］\n\"“”{\[｛［]{1,200}")
_ITEM = re.compile(r"[\s*`]*(?:[\"“”＂'‘’「『{｛\[［\]］0-9\-]|$)")
_STOPS = {family: re.compile("[\\\\" + re.escape(family) + "]") for family in (_DOUBLE, _SINGLE, _CORNER)}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_UNICODE = re.compile(r"u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?")
_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "undefined": None,
    "是": True,
    "否": False,
}
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(?:[eE][-+]?[0-9]{1,3})?")


class Unsure(str):
    """A string whose closing mark is the last thing of a text that was cut off: it may have gone on."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """An object, and whether the text ended before it did."""

    value: dict[str, Any]
    is_cut: bool


class _End(Exception):
    """The text ended within a value."""


class _Nonsense(Exception):
    """There is nothing to be read here."""


def read_object(text: str, start: int) -> Reading | None:
    """The object that begins at `start`; None where what stands there is none."""
    reader = _Reader(text, start)
    try:
        value, is_whole = reader.object(0)
    except (_Nonsense, _End):
        return None
    return Reading(value, not is_whole)


class _Reader:
    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place

    def object(self, depth: int) -> tuple[dict[str, Any], bool]:
        """Its complete pairs, and whether it was closed."""
        if depth > DEEPEST:
            raise _Nonsense
        self.place += 1
        pairs: dict[str, Any] = {}
        while True:
            self.skip(_COMMAS)
            character = self.here()
            if not character:
                return pairs, False
            if character in _CLOSE_OBJECT:
                self.place += 1
                return pairs, True
            if character in _CLOSE_ARRAY:
                return pairs, True  # Its own mark is missing: this one is the list's.
            try:
                key = self.key()
                value, is_whole = self.value(depth, is_item=False)
            except _End:
                return pairs, False
            if is_whole or not pairs.get(key):
                pairs[key] = value
            if not is_whole:
                return pairs, False

    def array(self, depth: int) -> tuple[list[Any], bool]:
        """Its complete items and, where the text ends in the last one's closing marks, that one."""
        if depth > DEEPEST:
            raise _Nonsense
        self.place += 1
        items: list[Any] = []
        while True:
            self.skip(_COMMAS)
            character = self.here()
            if not character:
                return items, False
            if character in _CLOSE_ARRAY:
                self.place += 1
                return items, True
            if character in _CLOSE_OBJECT or _KEY.match(self.text, self.place):
                return items, True  # Its own mark is missing.
            try:
                value, is_whole = self.value(depth, is_item=True)
            except _End:
                return items, False
            if is_whole or (isinstance(value, dict) and self.ends_with_value()):
                items.append(value)
            if not is_whole:
                return items, False

    def ends_with_value(self) -> bool:
        """Nothing but closing marks is missing: the text doesn't end after a comma, in a key or in a value."""
        return self.text.rstrip()[-1:] not in (*_COMMAS, *_COLONS) and self.is_after_value

    def key(self) -> str:
        self.is_after_value = False
        character = self.here()
        if character in _OPENERS:
            key = self.string("key")
        else:
            bare = _BARE_KEY.match(self.text, self.place)
            if bare is None:
                if _BARE.fullmatch(self.text, self.place):
                    raise _End
                raise _Nonsense
            key, self.place = bare[1], bare.end()
        self.skip("")
        if not self.here():
            raise _End
        if self.here() not in _COLONS:
            raise _Nonsense
        while self.here() and self.here() in _COLONS + ">":
            self.place += 1
        return key.strip("*` \n").lower()

    def value(self, depth: int, *, is_item: bool) -> tuple[Any, bool]:
        """A value and whether it is whole; raises _End where nothing of it can be kept."""
        self.skip("")
        character = self.here()
        if not character:
            raise _End
        self.is_after_value = False
        if character in _OPEN_OBJECT:
            return self.object(depth + 1)
        if character in _OPEN_ARRAY:
            return self.array(depth + 1)
        value = self.string("item" if is_item else "value") if character in _OPENERS else self.bare()
        self.is_after_value = True
        return value, True

    def bare(self) -> Any:
        """A number, a word, or a string without marks."""
        found = _BARE.match(self.text, self.place)
        if found is None:
            raise _Nonsense
        word = found.group().split("//")[0].strip("* `\t\r")
        self.place = found.end()
        if word.lower() in _WORDS:
            return _WORDS[word.lower()]
        if _NUMBER.fullmatch(word):
            return float(word)
        if self.place >= len(self.text):
            raise _End
        return word

    def string(self, context: str) -> str:
        opener = self.here()
        family = _OPENERS[opener]
        partners = _PARTNER.get(opener, opener)
        self.place += 1
        pieces: list[str] = []
        while found := _STOPS[family].search(self.text, self.place):
            pieces.append(self.text[self.place : found.start()])
            self.place = found.end()
            mark = found.group()
            if mark == "\\":
                pieces.append(self.escaped())
            elif self.closes(mark in partners, context):
                body = "".join(pieces)
                is_last = not self.text[self.place :].strip()
                return Unsure(body) if is_last and context != "key" else body
            else:
                pieces.append(mark)
        raise _End

    def escaped(self) -> str:
        if unicode := _UNICODE.match(self.text, self.place):
            first = int(unicode[1], 16)
            is_pair = unicode[2] is not None and 0xD800 <= first <= 0xDBFF
            self.place = unicode.end() if is_pair else self.place + 5
            units = bytes.fromhex(unicode[1] + (unicode[2] if is_pair else ""))
            return units.decode("utf-16-be", "replace")
        character = self.text[self.place : self.place + 1]
        if not character:
            raise _End
        self.place += 1
        return _ESCAPES.get(character, character)

    def closes(self, is_partner: bool, context: str) -> bool:
        """Structure follows the mark that was just read."""
        spaces = _SPACE.match(self.text, self.place)
        after = spaces.end() if spaces else self.place
        character = self.text[after : after + 1]
        if not character:
            return is_partner
        if context == "key":
            return character in _COLONS
        if character in _CLOSE_OBJECT + _CLOSE_ARRAY or self.text.startswith(("//", "/*"), after):
            return True
        if character in ",，;；":
            follows = _ITEM if context == "item" else _AFTER_COMMA
            return bool(follows.match(self.text, after + 1)) or (
                context == "item" and bool(_KEY.match(self.text, after + 1))
            )
        is_new_line = "\n" in self.text[self.place : after]
        return (is_new_line or context == "value") and bool(
            _KEY.match(self.text, after) or (context == "item" and _ITEM.match(self.text, after))
        )

    def skip(self, more: str) -> None:
        while True:
            trivia = _TRIVIA.match(self.text, self.place)
            if trivia:
                self.place = trivia.end()
            if self.here() and self.here() in more:
                self.place += 1
            elif not trivia:
                return

    def here(self) -> str:
        return self.text[self.place : self.place + 1]

    is_after_value = False


_AFTER_COMMA = re.compile(rf"{_KEY.pattern}|[\s*`,，]*(?:[}}｝]|$)|\s*(?://|/\*|#)")
