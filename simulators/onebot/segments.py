"""Message segments and their string form, CQ codes (OneBot 11, message/string.md).

Invariant: pure; what is written as a string says the same as the segments it was written from.
"""

import json
from collections.abc import Sequence
from typing import Any

Segment = dict[str, Any]
"""`{"type": …, "data": {…}}`."""


def text(words: str) -> Segment:
    return {"type": "text", "data": {"text": words}}


def at(user_id: int | str) -> Segment:
    """ "all", or with some implementations "0", is everybody."""
    return {"type": "at", "data": {"qq": str(user_id)}}


def reply(message_id: int | str) -> Segment:
    return {"type": "reply", "data": {"id": str(message_id)}}


def face(face_id: int, words: str = "") -> Segment:
    """`words`: the face's name as NapCat tells it, 「/微笑」; others tell the number alone."""
    named = {"raw": {"faceText": words}} if words else {}
    return {"type": "face", "data": {"id": str(face_id), **named}}


def market_face(summary: str) -> Segment:
    return {"type": "mface", "data": {"emoji_id": "A", "key": "B", "summary": summary}}


def card(title: str, description: str, url: str = "https://example.com/") -> Segment:
    """A page that somebody shares, as QQ writes it: JSON in a text."""
    told = {"title": title, "desc": description, "jumpUrl": url}
    written = {"app": "com.tencent.structmsg", "prompt": f"[分享]{title}", "meta": {"news": told}}
    return {"type": "json", "data": {"data": json.dumps(written, ensure_ascii=False)}}


def forwarded(forward_id: str = "F1") -> Segment:
    """合并转发, of somebody else's words."""
    return {"type": "forward", "data": {"id": forward_id}}


def image(url: str, file: str = "A.jpg", **more: Any) -> Segment:
    """As NapCat tells it: sizes are strings."""
    return {"type": "image", "data": {"file": file, "url": url, "file_size": "84729", **more}}


def plain_text(message: str | Sequence[Segment]) -> str:
    """The text of a message. A string is returned as it is: its codes count as text here."""
    if isinstance(message, str):
        return message
    return "".join(str(segment["data"]["text"]) for segment in message if segment["type"] == "text")


def as_string(segments: Sequence[Segment]) -> str:
    """Segments as a string with CQ codes."""
    return "".join(_code(segment) for segment in segments)


def _code(segment: Segment) -> str:
    if segment["type"] == "text":
        return _escaped(str(segment["data"]["text"]))
    values = "".join(
        f",{name}={_escaped(str(value)).replace(',', '&#44;')}" for name, value in segment["data"].items()
    )
    return f"[CQ:{segment['type']}{values}]"


def _escaped(words: str) -> str:
    return words.replace("&", "&amp;").replace("[", "&#91;").replace("]", "&#93;")
