"""What a posted message holds, and what the platform refuses of it.

Invariant: pure; says what people would see, or raises the code that says why not.
"""

import email.parser
import email.policy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .account import Rules, Scene
from .errors import ApiRefusal

_URL = re.compile(
    r"(?:https?://|www\.)[^\s<>\"'）】》]+"
    r"|(?<![\w@.-])(?:[a-z0-9-]+\.)+(?:com|cn|net|org|io|top|xyz|cc|me|tv|vip|info)(?![\w-])(?:/[^\s<>\"'）】》]*)?",
    re.IGNORECASE,
)
"""Bare domains too. Assumed: which endings count is not published."""
_MENTION = re.compile(r"<@!?\w+>|<#\w+>|<emoji:\d+>|<faceType=[^>]*>")
TYPING = "typing"
_KINDS = {0: "text", 2: "markdown", 3: "ark", 4: "embed", 6: TYPING, 7: "media"}
"""msg_type of the v2 interfaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    kind: str
    text: str
    media: str = ""
    """file_info of a v2 message, the URL or `file:NAME` of a guild's."""


def read_content(body: Mapping[str, Any], scene: Scene, rules: Rules) -> Content:
    """Raises ApiRefusal."""
    content = _guild_content(body) if scene.is_guild else _v2_content(body, scene)
    if content.kind == "markdown" and not rules.has_markdown:
        raise ApiRefusal(50056)
    if content.kind == "text" and not content.text.strip():
        raise ApiRefusal(50006)
    if len(content.text) > rules.longest_characters:
        raise ApiRefusal(40054007)
    if any(not url.startswith(rules.allowed_urls or "\0") for url in urls_in(content.text)):
        raise ApiRefusal(304003 if scene.is_guild else 40054010)
    return content


def urls_in(text: str) -> tuple[str, ...]:
    """What the platform takes for a URL."""
    return tuple(_URL.findall(_MENTION.sub(" ", text)))


def _v2_content(body: Mapping[str, Any], scene: Scene) -> Content:
    message_type = body.get("msg_type")
    kind = _KINDS.get(message_type) if isinstance(message_type, int) else None
    if kind is None or (kind == TYPING and scene is not Scene.C2C):
        raise ApiRefusal(12002)
    sequence = body.get("msg_seq", 1)
    if not isinstance(sequence, int) or isinstance(sequence, bool):
        raise ApiRefusal(12002)
    text = _text(body)
    if kind == "markdown":
        text = _markdown_text(body)
    media = ""
    if kind == "media":
        media = str(_mapping(body, "media").get("file_info") or "")
        if not media:
            raise ApiRefusal(304080)
    elif kind in ("ark", "embed"):
        _mapping(body, kind)
    return Content(kind=kind, text=text, media=media)


def _guild_content(body: Mapping[str, Any]) -> Content:
    text = _text(body)
    media = str(body.get("image") or "") or (f"file:{body['file_image']}" if body.get("file_image") else "")
    if body.get("markdown"):
        return Content(kind="markdown", text=_markdown_text(body))
    for kind in ("ark", "embed"):
        if body.get(kind):
            return Content(kind=kind, text=text)
    return Content(kind="media" if media else "text", text=text, media=media)


def _text(body: Mapping[str, Any]) -> str:
    text = body.get("content")
    if text is None:
        return ""
    if not isinstance(text, str):
        raise ApiRefusal(12002)
    return text


def _markdown_text(body: Mapping[str, Any]) -> str:
    text = str(_mapping(body, "markdown").get("content") or "")
    if not text.strip():
        raise ApiRefusal(50055)
    return text


def _mapping(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = body.get(name)
    if not isinstance(value, dict):
        raise ApiRefusal(12002)
    return value


def read_body(raw: bytes, content_type: str) -> dict[str, Any]:
    """A JSON object, or a form with a file. Raises ApiRefusal 12002."""
    if content_type.startswith("multipart/form-data"):
        return _form(raw, content_type)
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise ApiRefusal(12002) from error
    if not isinstance(body, dict):
        raise ApiRefusal(12002)
    return body


def _form(raw: bytes, content_type: str) -> dict[str, Any]:
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    parsed = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + raw)
    fields: dict[str, Any] = {}
    for part in parsed.iter_parts():
        name = str(part.get_param("name", header="content-disposition"))
        content = part.get_payload(decode=True)
        value = content if isinstance(content, bytes) else b""
        if part.get_content_type() == "application/json":
            fields |= read_body(value, "application/json")
        elif part.get_filename():
            fields[name] = part.get_filename()
        else:
            fields[name] = value.decode("utf-8", "replace")
    return fields
