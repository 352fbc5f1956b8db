"""Server-sent events as chat servers write them: bytes in, the payloads of `data:` lines out.

Invariant: pure; whatever comes in, nothing is raised, and memory stays bounded by `LONGEST_LINE`.
Form: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation.
"""

import json
import re

LONGEST_LINE = 1024 * 1024
"""Bytes. A piece of an answer takes a few hundred, with log probabilities some thousand."""
DONE = "[DONE]"

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
"""Not `splitlines`: a JSON string may hold U+2028 or U+0085 as they are. A CR at the very end may be half of a
CR LF."""
_BOM = b"\xef\xbb\xbf"


class EventStream:
    """Reads one response. Each payload is yielded as soon as its line is whole: some servers leave out
    the empty line that ends an event."""

    def __init__(self) -> None:
        self._rest = b""
        self._is_first = True
        self._unparsed: list[str] = []
        self.is_broken = False
        """A payload that begins like an object is none: a piece of the answer is lost."""

    def feed(self, data: bytes) -> list[object]:
        """The decoded payloads that became whole, and `DONE`."""
        *lines, rest = _LINE_END.split(self._rest + data)
        if len(rest) > LONGEST_LINE:
            rest, self.is_broken = b"", True
        self._rest = rest
        found: list[object] = []
        for line in lines:
            self._read_line(line, found)
        return found

    def finish(self) -> list[object]:
        """What is left when the response ended: a last line may lack its end."""
        rest, self._rest = self._rest, b""
        found: list[object] = []
        for line in (rest, b""):
            self._read_line(line, found)
        return found

    def _read_line(self, raw: bytes, found: list[object]) -> None:
        if self._is_first:
            raw, self._is_first = raw.removeprefix(_BOM), False
        if raw.startswith(b"data:"):
            self._read_payload(raw[5:].decode("utf-8", "replace").strip(), found)
        elif self._unparsed and not raw.strip():
            self._drop_unparsed()

    def _read_payload(self, payload: str, found: list[object]) -> None:
        """Alone, or with the `data:` lines before it: an event may spread one document over several."""
        if payload == DONE:
            self._drop_unparsed()
            found.append(DONE)
            return
        for text in (payload, "\n".join((*self._unparsed, payload))) if self._unparsed else (payload,):
            try:
                found.append(json.loads(text))
            except (ValueError, RecursionError):
                continue
            if text == payload:
                self._drop_unparsed()
            self._unparsed.clear()
            return
        self._unparsed.append(payload)

    def _drop_unparsed(self) -> None:
        """「ping」 and the like are passed over; a broken object is not."""
        self.is_broken = self.is_broken or any(each.startswith("{") for each in self._unparsed)
        self._unparsed.clear()
