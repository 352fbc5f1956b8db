# pyright: basic
"""What is in a QQ official message: the sender's words, a quotation, pictures and files.

Invariant: a mention, a face's code, a card and a quotation are never taken for words of the sender.
"""

import base64
import json
import re
from collections.abc import Sequence
from typing import Any

from nonebot.adapters.qq.event import GuildMessageEvent

from bot.channels.qq_events import LooseC2CMessage, LooseGroupMessage
from bot.conversation.message import Kind, Media

QQMessage = LooseC2CMessage | LooseGroupMessage | GuildMessageEvent

_CARD, _QUOTING = 3, 103
"""`message_type` since 2026: an ark card; a message with a quotation."""
_CODE = re.compile(
    r"(?P<mention><@!?\w+>|<qqbot-at-user id=\"\w+\" ?/>|<qqbot-at-everyone ?/>|(?<!\w)@everyone(?!\w))"
    r"|<faceType=\d+,faceId=\"\w*\",ext=\"(?P<face>[\w+/=\-]*)\">"
    r"|<emoji:\w+>|<#\w+>"
)
"""What the platform writes into a text. What a person types in that form comes escaped, or addresses nobody."""
_ESCAPED = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""JSON may carry NUL and lone surrogates; neither SQLite nor the embedded model takes them."""
_FACE_WORDS = re.compile(r"[\w\u4e00-\u9fff]{1,12}")
_LONGEST_FACE = 400
"""Characters of a face's code: what is longer was typed by somebody to make JSON nest deeply."""
_EDGE = " \t\r\n\u3000\u00a0\u200b\u2060\ufeff"
_LONGEST_QUOTE = 1_000
"""Characters of a quoted message that are kept: it is context, not content."""


def own_words(event: QQMessage) -> str:
    """What the sender typed; of a voice message, what the platform heard. A card has no words of theirs."""
    if getattr(event, "message_type", None) == _CARD:
        return ""
    typed = _plain(event.content)
    return typed or _plain(_heard(event))


def kind_of(event: QQMessage, text: str) -> Kind:
    """What a message is, whose own words are `text`."""
    attachments = event.attachments or ()
    is_voice = bool(attachments) and all(_type(each) in ("voice", "audio") for each in attachments)
    if is_voice and not _plain(event.content):
        return Kind.VOICE
    if text:
        return Kind.TEXT
    if getattr(event, "message_type", None) == _CARD:
        return Kind.LINK if quoted_of(event) else Kind.UNSUPPORTED
    if attachments:
        return Kind.IMAGE if all(_type(each) == "image" for each in attachments) else Kind.UNSUPPORTED
    return Kind.UNSUPPORTED if getattr(event, "embeds", None) or getattr(event, "ark", None) else Kind.TEXT


def media_of(event: QQMessage) -> tuple[Media, ...]:
    """The pictures. The platform's addresses may lack a scheme."""
    pictures = (each.url for each in event.attachments or () if _type(each) == "image" and each.url)
    return tuple(Media(url=f"https:{url}" if url.startswith("//") else url) for url in pictures)


def quoted_of(event: QQMessage) -> str:
    """The words of the message that is quoted, or of the card that is shared."""
    if isinstance(event, GuildMessageEvent):
        return _plain(event.reply.content)[:_LONGEST_QUOTE] if event.reply else ""
    if event.message_type == _CARD:
        card = event.ark_data.prompt if event.ark_data else None
        return _plain(card or event.content)[:_LONGEST_QUOTE]
    elements = event.msg_elements or ()
    if event.message_type != _QUOTING or not elements:
        return ""
    # The platform says which one is meant; where it doesn't, there is one.
    sought = [mark.partition("=")[2] for mark in _marks(event) if mark.startswith("ref_msg_idx=")]
    meant = [each for each in elements if each.msg_idx and each.msg_idx in sought] or elements
    return "\n".join(filter(None, (_plain(each.content) for each in meant)))[:_LONGEST_QUOTE]


def _marks(event: LooseC2CMessage | LooseGroupMessage) -> Sequence[str]:
    return event.message_scene.ext if event.message_scene else ()


def _plain(content: str | None) -> str:
    """A text without codes. A mention leaves one space, so that words on both sides of it stay apart."""
    words = ""
    at = 0
    for code in _CODE.finditer(content or ""):
        words = _joined(words, (content or "")[at : code.start()])
        if code["mention"] and words and not words[-1].isspace():
            words += " "
        words += _face(code["face"]) if code["face"] else ""
        at = code.end()
    words = _joined(words, (content or "")[at:])
    for escaped, sign in _ESCAPED.items():
        words = words.replace(escaped, sign)
    return _UNSTORABLE.sub("", words).strip(_EDGE)


def _joined(words: str, more: str) -> str:
    return words + (more.lstrip(" ") if words.endswith(" ") else more)


def _face(ext: str) -> str:
    """A face in words, 「[汪汪]」; "" where the platform gives none."""
    if len(ext) > _LONGEST_FACE:
        return ""
    try:
        named: Any = json.loads(
            base64.b64decode(ext + "=" * (-len(ext) % 4), altchars=b"-_" if "-" in ext else None)
        )
    except ValueError:
        return ""
    text = named.get("text") if isinstance(named, dict) else None
    found = _FACE_WORDS.search(text) if isinstance(text, str) else None
    return f"[{found[0]}]" if found else ""


def _heard(event: QQMessage) -> str:
    texts = [getattr(each, "asr_refer_text", None) for each in event.attachments or ()]
    return "\n".join(filter(None, texts))


def _type(attachment: Any) -> str:
    """`image` of `image/jpeg`. A guild names no type, and takes pictures alone."""
    named = getattr(attachment, "content_type", None)
    return "image" if named is None else named.partition("/")[0]
