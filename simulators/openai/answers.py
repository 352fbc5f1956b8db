"""What the server will say: single answers, rules, a function; and what it was asked.

Invariant: for one request the first of these that has something to say is taken: a rule whose text
occurs in the prompt, the queue, the function, the default answer.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One recorded request."""

    path: str
    """`/v1/chat/completions`, `/v1/embeddings`, `/v1/models` or whatever else was asked."""
    body: dict[str, Any]
    """The JSON object, {} when there was none."""
    authorization: str = ""
    """The header, as sent."""

    @property
    def prompt(self) -> str:
        """The lines of a chat, `role: text` each; "" for anything else."""
        return "\n".join(f"{line.get('role')}: {_text_of(line.get('content'))}" for line in self._lines)

    @property
    def _lines(self) -> list[dict[str, Any]]:
        """Whatever is not a line is left out: the request is recorded as it came."""
        lines = self.body.get("messages")
        return [line for line in lines if isinstance(line, dict)] if isinstance(lines, list) else []

    @property
    def question(self) -> str:
        """The text of the last user line."""
        lines = [line for line in self._lines if line.get("role") == "user"]
        return _text_of(lines[-1].get("content")) if lines else ""

    @property
    def images(self) -> tuple[str, ...]:
        """The addresses of all pictures, in order."""
        parts = [part for line in self._lines for part in _parts_of(line.get("content"))]
        shown = [part.get("image_url") for part in parts if part.get("type") == "image_url"]
        return tuple(str(each.get("url")) for each in shown if isinstance(each, dict))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One scripted answer, to a chat or to an embedding request."""

    text: str = ""
    """The assistant's words. Embedding requests ignore it."""
    status: int = 200
    """From 400 on an error body with `code` and `message` is sent instead of `text`."""
    code: str = ""
    message: str = ""
    finish_reason: str = "stop"
    delay_seconds: float = 0.0
    """Before the first byte."""
    retry_after: str = ""
    """Value of a Retry-After header."""
    raw: str | None = None
    """Exactly this body, whatever it is; `text` and the error fields are then ignored."""
    cut: bool = False
    """Send half, then close the connection: half the body, or half the events of a stream."""
    piece_characters: int = 4
    """Of one event of a stream; small, so that even a short answer comes in several."""
    first_piece_seconds: float = 0.0
    """Between the first byte of a stream and its first piece of text."""
    pieces_per_second: float = 0.0
    """After the first piece. 0: all at once."""
    total_seconds: float = 0.0
    """From the request to the end, the pieces spread evenly; takes the place of `pieces_per_second`."""
    stall_seconds: float = 0.0
    """Silence in the middle of a stream, beyond all that."""
    garbage: tuple[str, ...] = ()
    """Lines between the first events of a stream, one by one, as they stand."""
    ignores_stream: bool = False
    """One JSON document, whatever was asked for."""

    def pauses(self, pieces: int) -> list[float]:
        """Seconds before each of `pieces` pieces of a stream whose first byte has been sent."""
        first = self.first_piece_seconds
        step = 1 / self.pieces_per_second if self.pieces_per_second else 0.0
        if self.total_seconds:
            left = max(self.total_seconds - self.delay_seconds, 0.0)
            first = min(first, left)
            step = (left - first) / max(pieces - 1, 1)
            if pieces == 1:
                first = left
        pauses = [first, *[step] * (pieces - 1)][:pieces]
        if pauses:
            pauses[pieces // 2] += self.stall_seconds
        return pauses

    @classmethod
    def failure(cls, status: int, code: str = "", message: str = "") -> "Answer":
        return cls(status=status, code=code, message=message or f"scripted {status}")

    @classmethod
    def from_json(cls, value: object) -> "Answer":
        """A string, or an object with the names of the fields above.

        Raises:
            ValueError: anything else, so that a misspelt script fails loudly.
        """
        if isinstance(value, str):
            return cls(text=value)
        known = {field.name for field in fields(cls)}
        if not isinstance(value, Mapping) or not known.issuperset(value):
            raise ValueError(f"an answer is a string or an object with {sorted(known)}, not {value!r}")
        given: dict[str, Any] = {**value}
        if "garbage" in given:
            given["garbage"] = tuple(given["garbage"])
        return cls(**given)


Says: TypeAlias = str | Answer
"""A plain string is an Answer with that text."""


def as_answer(says: Says) -> Answer:
    return Answer(text=says) if isinstance(says, str) else says


def echo(request: Request) -> Answer:
    """The default answer: shows that the question came through."""
    return Answer(text=f"收到：{request.question}")


@dataclass(slots=True)
class Script:
    """The answers for one endpoint."""

    queue: deque[Answer] = field(default_factory=deque[Answer])
    """Each is given once, in order."""
    rules: list[tuple[str, Answer]] = field(default_factory=list[tuple[str, Answer]])
    """(text, answer): given as often as the text occurs in a prompt. The first match wins."""
    function: Callable[[Request], Says | None] | None = None
    default: Callable[[Request], Answer] = echo

    def next_answer(self, request: Request) -> Answer:
        for text, answer in self.rules:
            if text in request.prompt:
                return answer
        if self.queue:
            return self.queue.popleft()
        says = self.function(request) if self.function is not None else None
        return self.default(request) if says is None else as_answer(says)

    def clear(self) -> None:
        self.queue.clear()
        self.rules.clear()
        self.function = None


def _parts_of(content: object) -> list[dict[str, Any]]:
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _text_of(content: object) -> str:
    """The words of a line; `[image]` where it shows one."""
    if not isinstance(content, list):
        return str(content)
    return "".join(str(part.get("text", f"[{_kind_of(part)}]")) for part in _parts_of(content))


def _kind_of(part: dict[str, Any]) -> str:
    return str(part.get("type", "")).removesuffix("_url")
