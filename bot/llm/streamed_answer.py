"""A streamed completion, read as it comes: text is handed on at once, the whole is a document in the end.

Invariant: pure, no I/O; what is handed on, joined, is the text of `document` (but for white space at its end),
and never holds a thought, a NUL or half a surrogate pair.
"""

import json
from collections.abc import Callable
from typing import cast

from bot.llm.event_stream import DONE, EventStream
from bot.llm.plain_text import without_unsafe_characters

LARGEST_BODY = 32 * 1024 * 1024
"""Bytes. An event of one token takes 200 to 2,000; this is a server that doesn't end."""
OPENING, CLOSING = "<think>", "</think>"
"""Reasoning models on plain servers put their thoughts before the answer; nobody should be sent those."""
_NO_FINISH = ("", "null")
"""Some servers write the word where others leave the field out."""


class Unreadable(Exception):
    """The stream holds what cannot be the whole answer: a broken piece, or no end to it."""


class StreamedAnswer:
    """Reads the body of one response, whether it is a stream or, where `stream` was ignored, one document."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._events = EventStream()
        self._on_text = on_text
        self._text = _VisibleText()
        self._pieces: list[str] = []
        self._refusal = ""
        self._finish_reason: str | None = None
        self._usage: object = None
        self._error: object = None
        self._is_done = False
        self._body: bytearray | None = bytearray()
        """As it came, until an event shows that it is a stream."""
        self._size = 0

    @property
    def has_begun(self) -> bool:
        """Something was handed on: to ask again would say it twice."""
        return bool(self._pieces)

    @property
    def is_complete(self) -> bool:
        """The server said that this is all, or that it failed."""
        return self._is_done or self._finish_reason is not None or self._error is not None

    def feed(self, data: bytes) -> None:
        """Raises Unreadable."""
        self._size += len(data)
        if self._body is not None:
            self._body += data
        for event in self._events.feed(data):
            self._take(event)
        if self._events.is_broken or self._size > LARGEST_BODY:
            raise Unreadable

    def document(self) -> object:
        """The whole as a completion that wasn't streamed, once the response has ended.

        Raises:
            Unreadable: it was cut: no half answer passes for a whole one.
            ValueError, RecursionError: neither a stream nor JSON.
        """
        for event in self._events.finish():
            self._take(event)
        if self._events.is_broken and self._body is None:
            raise Unreadable
        if self._body is not None:
            return json.loads(bytes(self._body))
        if self._error is not None:
            return self._error
        if not self.is_complete:
            raise Unreadable
        self._hand_on(self._text.rest())
        message = {"content": "".join(self._pieces), "refusal": self._refusal or None}
        choice = {"message": message, "finish_reason": self._finish_reason}
        return {"choices": [choice], "usage": self._usage}

    def _take(self, event: object) -> None:
        self._body = None
        if event == DONE:
            self._is_done = True
            return
        fields = _mapping(event)
        if fields.get("error") or ("choices" not in fields and fields.get("message")):
            self._error = fields
        # Some name it with each event, counting up; others null but in the last.
        self._usage = fields.get("usage") or self._usage
        choices = fields.get("choices")
        if not isinstance(choices, list) or not choices:
            return
        choice = _mapping(cast("list[object]", choices)[0])
        delta = _mapping(choice.get("delta"))
        if not delta and not self._pieces:
            # One event with the whole answer; behind a stream it would only repeat it.
            delta = _mapping(choice.get("message"))
        if refusal := delta.get("refusal"):
            self._refusal += _text_of(refusal)
        if content := delta.get("content"):
            self._hand_on(self._text.add(_text_of(content)))
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason not in _NO_FINISH:
            self._finish_reason = reason

    def _hand_on(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._on_text(text)


class _VisibleText:
    """Lets through what may be sent: from the first character that is neither a thought nor blank."""

    def __init__(self) -> None:
        self._half_pair = ""
        self._held = ""
        self._has_started = False

    def add(self, piece: str) -> str:
        """What of it may be handed on now."""
        piece = self._whole_pairs(self._half_pair + piece)
        if self._has_started:
            return piece
        self._held = (self._held + piece).lstrip()
        while self._held.startswith(OPENING):
            end = self._held.find(CLOSING)
            if end < 0:
                # Enough to find the closing mark when the rest of it comes.
                self._held = OPENING + self._held[len(OPENING) :][-len(CLOSING) + 1 :]
                return ""
            self._held = self._held[end + len(CLOSING) :].lstrip()
        if OPENING.startswith(self._held):  # also when it is empty
            return ""
        return self._start()

    def rest(self) -> str:
        """At the end: 「<thi」 is no thought then."""
        return "" if self._has_started or self._held.startswith(OPENING) else self._start()

    def _start(self) -> str:
        held, self._held = self._held, ""
        self._has_started = bool(held)
        return held

    def _whole_pairs(self, text: str) -> str:
        r"""An emoji may come as `\ud83d` in one piece and `\ude00` in the next."""
        self._half_pair = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
        text = text.removesuffix(self._half_pair)
        if text.isascii():
            return text.replace("\x00", "")
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
        return without_unsafe_characters(text)


def _mapping(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _text_of(content: object) -> str:
    """A string, or a list of parts with texts."""
    if isinstance(content, str):
        return content
    parts = cast("list[object]", content) if isinstance(content, list) else []
    texts = (_mapping(part).get("text") for part in parts)
    return "".join(text for text in texts if isinstance(text, str))
