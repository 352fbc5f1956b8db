"""Read what a model answered when it was asked what to keep: JSON, nearly JSON, or the format of lines.

Invariant: pure, total and linear: whatever the text is, the result is a reading or None, never an exception. A
fact that was cut off is left out, and an answer that was cut off before its first whole fact is None.
"""

import html
import json
import re
from collections.abc import Iterator

from pydantic import ValidationError

from bot.memory.judgement_format.fields import with_our_names
from bot.memory.judgement_format.judgement import ReadJudgement
from bot.memory.judgement_format.line_format import read_lines
from bot.memory.judgement_format.near_json import Reading, Unsure, read_object

LONGEST_ANSWER = 8_000
"""Characters read: ten facts fit five times over."""
MOST_STARTS = 6
"""Braces tried: prose before the answer may hold some."""

_THINKING = re.compile(
    r"(?:<|&lt;)(think(?:ing)?)(?:>|&gt;).*?(?:(?:<|&lt;)/\1(?:>|&gt;)|$)", re.DOTALL | re.IGNORECASE
)
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_NOISE = re.compile(r"[\x00\ufeff\u200b\u200e\u200f\u2060]")
_BRACE = re.compile("[{｛]")
_KEEP = re.compile(r"keep|是否[\u4e00-\u9fff]{0,10}记忆|should_store", re.IGNORECASE)
_IS_ESCAPED = re.compile(r"[{｛\[,:]\s*(?:\\[nrt])*\s*\\+[\"']|[{\[,]\s*\\n")
_IS_JSON = re.compile(r"[{｛](?:\s|\\[nrt])*[\\\"“”＂'‘’「*&A-Za-z]")
_IS_HTML = re.compile(r"&(?:quot|#34|#x22|amp;quot|apos|#39|ldquo);", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([\"'\\/nrtbf])")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}

_DECODER = json.JSONDecoder(strict=False)


def read_judgement(answer: str) -> ReadJudgement | None:
    """The judgement in a model's answer; None when there is none to be read."""
    text = _NOISE.sub("", answer[: 4 * LONGEST_ANSWER])
    if "<" in text or "&" in text:
        text = _THINKING.sub("", text)
        thought = list(_THOUGHT.finditer(text))
        text = text[thought[-1].end() if thought else 0 :]
    text = text[:LONGEST_ANSWER]
    for form in _forms(text):
        for reading in _objects(form):
            if (judgement := _judgement(reading)) is not None:
                return judgement
    if _IS_JSON.search(text):
        return None  # Of an object that was cut off the lines would be halves.
    lines = read_lines(text)
    return _validated(lines) if lines else None


def _forms(text: str) -> Iterator[str]:
    """The text as it stands, then with one and two layers of escaping taken off."""
    yield text
    for _ in range(2):
        if _IS_HTML.search(text):
            text = html.unescape(text)
            yield text
        if _IS_ESCAPED.search(text):
            text = _ESCAPE.sub(lambda found: _LETTERS.get(found[1], found[1]), text)
            yield text


def _objects(text: str) -> Iterator[Reading]:
    """Objects that may be the answer, those read without mending first."""
    first = _BRACE.search(text)
    if first is None:
        return
    yield from _whole(text, first.start())  # Nearly all answers are this one.
    starts = _starts(text)
    for start in starts[1:]:
        yield from _whole(text, start)
    for start in starts:
        reading = read_object(text, start)
        if reading is not None:
            yield reading


def _whole(text: str, start: int) -> Iterator[Reading]:
    """The object that begins here, as JSON has it."""
    try:
        value, _ = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        yield Reading(value, False)  # pyright: ignore[reportUnknownArgumentType]


def _starts(text: str) -> list[int]:
    """The first braces, and the one before each field that says what to do."""
    starts: list[int] = []
    for brace in _BRACE.finditer(text):
        starts.append(brace.start())
        if len(starts) == MOST_STARTS // 2:
            break
    for field, _ in zip(_KEEP.finditer(text), range(MOST_STARTS // 2), strict=False):
        before = max(text.rfind("{", 0, field.start()), text.rfind("｛", 0, field.start()))
        if before >= 0:
            starts.append(before)
    return sorted(set(starts))


def _judgement(reading: Reading) -> ReadJudgement | None:
    fields = with_our_names(reading.value)
    fields["is_summary_cut"] = isinstance(fields.get("summary"), Unsure)
    if fields.get("keep") is None:
        if reading.is_cut or not fields.get("facts"):
            return None
        fields["keep"] = True  # Who lists facts wants them kept.
    judgement = _validated(fields)
    if judgement is None or not reading.is_cut or not judgement.keep:
        return judgement
    return judgement if judgement.facts else None


def _validated(fields: dict[str, object]) -> ReadJudgement | None:
    keep = fields.get("keep")
    if isinstance(keep, str):
        fields = fields | {"keep": re.split(r"[，,。；;（(]", keep, maxsplit=1)[0]}
    try:
        return ReadJudgement.model_validate(fields)
    except ValidationError:
        return None
