"""Pictures in and out of WeChat.

Invariant: nothing longer than the caller's limit is handed on, and no host but WeChat's own is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from nonebot.drivers import Response

from .errors import ApiAway, MediaTooLarge
from .transport import read_answer, read_bytes

MEDIA_BYTES = 10 * 1024 * 1024
"""WeChat's own limit for an image."""
MEDIA_SECONDS = 20.0
PICTURE_HOSTS = (".qpic.cn",)
"""Where WeChat keeps the pictures people send. In plain mode anyone can name another address to us."""
_ENDINGS = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif"}
_ERROR_TYPES = ("text/plain", "application/json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    content: bytes = field(repr=False)
    content_type: str
    """As WeChat names it, like `image/jpeg`."""


def file_name(content_type: str) -> str:
    """WeChat judges a file by the ending of its name."""
    return f"image.{_ENDINGS.get(content_type, 'jpg')}"


def read_media(response: Response, limit_bytes: int) -> Media:
    """Raises ApiError (it comes as JSON, under either type), ApiAway for a video's address, MediaTooLarge."""
    kind = _content_type(response)
    if kind in _ERROR_TYPES:
        read_answer(response)
        raise ApiAway("不是图片")
    content = read_bytes(response)
    if len(content) > limit_bytes:
        raise MediaTooLarge(limit_bytes)
    return Media(content=content, content_type=kind)


def read_picture(response: Response, limit_bytes: int) -> Media:
    """Raises ApiAway where it is none, MediaTooLarge."""
    if not _content_type(response).startswith("image/"):
        raise ApiAway("不是图片")
    return read_media(response, limit_bytes)


def is_picture_address(url: str, hosts: Sequence[str], base: str) -> bool:
    """On one of `hosts` (a name, or its end after a dot), or under `base`."""
    if url.startswith(f"{base.rstrip('/')}/"):
        return True
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        is_plain = parts.port in (None, 80, 443) and parts.username is None
    except ValueError:
        return False
    is_listed = any(host.endswith(one) if one.startswith(".") else host == one for one in hosts)
    return parts.scheme in ("http", "https") and is_plain and is_listed


def _content_type(response: Response) -> str:
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
