# pyright: basic
"""What is in a OneBot message: the sender's words, pictures, cards, a quotation.

Invariant: pure; a mention, a card, a forward and a quotation are never taken for words of the sender, and the
array form and the string form of a message say the same.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nonebot.adapters.onebot.v11 import Message as Segments
from nonebot.adapters.onebot.v11 import MessageEvent, MessageSegment

from bot.conversation.message import Kind, Media

_SPOKEN = frozenset({"text", "at", "reply", "face", "mface", "anonymous"})
"""Segments that are words, or decorate them. Everything else is an attachment."""
_FACES = frozenset({"face", "mface"})
_CARDS = frozenset({"json", "share", "music"})
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""JSON may carry NUL and lone surrogates; neither SQLite nor the embedded model takes them."""
_FACE_WORDS = re.compile(r"[\w\u4e00-\u9fff]{1,12}")
_ADDRESS = re.compile(r"https?://[^\s/]\S*", re.IGNORECASE)
_LONGEST_ADDRESS = 4_000
_LONGEST_QUOTE = 1_000
"""Characters of a quoted message that are kept: it is context, not content."""
_LONGEST_CARD = 20_000
"""Characters of a card. Clients' are a tenth of it; a longer one may nest deeply."""


def own_words(segments: Iterable[MessageSegment]) -> str:
    """The typed text. A mention leaves one space, so that words on both sides of it stay apart; a face leaves its
    name, 「[微笑]」, where the client gives one."""
    words = ""
    for segment in segments:
        if segment.type == "text":
            typed = str(segment.data.get("text") or "")
            words += typed.lstrip() if words.endswith(" ") else typed
        elif segment.type == "at" and words and not words[-1].isspace():
            words += " "
        elif segment.type in _FACES:
            words += _face(segment.data)
    return _UNSTORABLE.sub("", words).strip()


def kind_of(text: str, segments: Segments) -> Kind:
    """What a message is, whose own words are `text`."""
    if text:
        return Kind.TEXT
    attachments = {segment.type for segment in segments if segment.type not in _SPOKEN}
    if attachments == {"image"}:
        return Kind.IMAGE
    if attachments == {"record"}:
        return Kind.VOICE
    if attachments and attachments <= _CARDS and shared(segments):
        return Kind.LINK
    return Kind.UNSUPPORTED if attachments else Kind.TEXT


def media_of(segments: Segments) -> tuple[Media, ...]:
    """The pictures that have an address; a picture may come with the name of a file of the client's alone."""
    addresses = (_address(segment.data) for segment in segments if segment.type == "image")
    return tuple(Media(url=address) for address in addresses if address)


def quoted_of(event: MessageEvent, segments: Segments) -> str:
    """The words of the message that is quoted, or else of the cards that are shared."""
    quoted = own_words(event.reply.message) or shared(event.reply.message) if event.reply is not None else ""
    return (quoted or shared(segments))[:_LONGEST_QUOTE]


def shared(segments: Segments) -> str:
    """The titles and descriptions of shared cards; "" where none has any."""
    found = (_card(segment) for segment in segments if segment.type in _CARDS)
    return _UNSTORABLE.sub("", "\n".join(filter(None, found))).strip()


def _address(data: Mapping[str, Any]) -> str:
    for name in ("url", "file"):
        value = data.get(name)
        if isinstance(value, str) and len(value) <= _LONGEST_ADDRESS and _ADDRESS.fullmatch(value):
            return _UNSTORABLE.sub("", value)
    return ""


def _face(data: Mapping[str, Any]) -> str:
    """NapCat tells a face's name in `raw`, a market face's in `summary`; the string form of `raw` is lost."""
    raw = data.get("raw")
    named = raw.get("faceText") if isinstance(raw, dict) else None
    for value in (named, data.get("summary"), data.get("text"), data.get("name")):
        found = _FACE_WORDS.search(value) if isinstance(value, str) else None
        if found:
            return f"[{found[0]}]"
    return ""


def _card(segment: MessageSegment) -> str:
    if segment.type != "json":
        return _lines(segment.data, ("title", "content"))
    written = segment.data.get("data")
    if isinstance(written, str):
        if len(written) > _LONGEST_CARD:
            return ""
        try:
            written = json.loads(written)
        except (ValueError, RecursionError):
            return ""
    if not isinstance(written, dict):
        return ""
    meta = written.get("meta")
    parts = meta.values() if isinstance(meta, dict) else ()
    told = next(
        filter(None, (_lines(part, ("title", "desc")) for part in parts if isinstance(part, dict))), ""
    )
    return told or _lines(written, ("prompt", "desc"))


def _lines(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    return "\n".join(_texts(fields, names))


def _texts(fields: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            yield value.strip()
