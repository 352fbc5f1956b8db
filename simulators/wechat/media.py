"""Temporary media: what the bot uploads, and what people send.

Invariant: an id is good for three days; what is stored is given back byte for byte.

Source: 微信官方文档 · 公众号 · 新增临时素材, 获取临时素材.
"""

import re
import secrets
from dataclasses import dataclass

from .clock import Clock
from .errcodes import ApiRefusal

VALID_SECONDS = 3 * 86_400.0
LARGEST = {"image": 10 << 20, "voice": 2 << 20, "video": 10 << 20, "thumb": 64 << 10}
"""Bytes, by type."""
PICTURE = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde"
    b"\x00\x00\x00\x0cIDATx\x9cc\xf8\xff\xff?\x00\x05\xfe\x02\xfe\r\xefF\xb8\x00\x00\x00\x00IEND\xaeB`\x82"
)
"""One white pixel: what a person sends who was given no picture."""
_TYPES = (
    (b"\x89PNG\r\n\x1a\n", "image", "image/png", "png"),
    (b"\xff\xd8\xff", "image", "image/jpeg", "jpg"),
    (b"GIF8", "image", "image/gif", "gif"),
    (b"#!AMR", "voice", "audio/amr", "amr"),
    (b"ID3", "voice", "audio/mpeg", "mp3"),
)
_NAME = re.compile(rb'\bname="([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Medium:
    id: str
    type: str
    """image, voice, video or thumb."""
    content: bytes
    content_type: str
    created_at: float

    @property
    def file_name(self) -> str:
        return f"{self.id}.{_kind_of(self.content)[2]}"


class Media:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._media: dict[str, Medium] = {}

    def add(self, type_: str, content: bytes) -> Medium:
        """What a person sends, or a test puts there: any bytes."""
        medium = Medium(
            id=secrets.token_urlsafe(32),
            type=type_,
            content=content,
            content_type=_kind_of(content)[1],
            created_at=self._clock.now(),
        )
        self._media[medium.id] = medium
        return medium

    def forget(self, most: int) -> None:
        """Keep the newest."""
        for id_ in tuple(self._media)[:-most]:
            del self._media[id_]

    def upload(self, type_: str, content_type: str, body: bytes) -> Medium:
        """Raises ApiRefusal: 40004, 41005, 44001, 40006, 40005."""
        if type_ not in LARGEST:
            raise ApiRefusal(40004)
        content = _part(content_type, body, b"media")
        if content is None:
            raise ApiRefusal(41005)
        if not content:
            raise ApiRefusal(44001)
        if len(content) > LARGEST[type_]:
            raise ApiRefusal(40006)
        family = "image" if type_ == "thumb" else type_
        if family != "video" and _kind_of(content)[0] != family:
            raise ApiRefusal(40005)
        return self.add(type_, content)

    def get(self, media_id: str) -> Medium:
        """Raises ApiRefusal 40007: unknown, or older than three days."""
        medium = self._media.get(media_id)
        if medium is None or self._clock.now() - medium.created_at > VALID_SECONDS:
            raise ApiRefusal(40007)
        return medium

    def has(self, media_id: str) -> bool:
        try:
            self.get(media_id)
        except ApiRefusal:
            return False
        return True


def _kind_of(content: bytes) -> tuple[str, str, str]:
    for start, family, content_type, ending in _TYPES:
        if content.startswith(start):
            return family, content_type, ending
    return "", "application/octet-stream", "bin"


def _part(content_type: str, body: bytes, name: bytes) -> bytes | None:
    """The content of one part of a multipart/form-data body (RFC 7578); None when it isn't there."""
    found = re.search(r'multipart/form-data;.*boundary="?([^";]+)"?', content_type)
    if found is None:
        return None
    for part in (b"\r\n" + body).split(b"\r\n--" + found[1].encode()):
        head, blank, content = part.partition(b"\r\n\r\n")
        named = _NAME.search(head)
        if blank and named and named[1] == name:
            return content
    return None
