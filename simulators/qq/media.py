"""Files for v2 messages: uploaded first, named by their file_info then.

Invariant: a file_info is good in the scene that it was uploaded for, until its end.

Source: QQ 机器人文档 · 富媒体消息 (rich-media.md). How long one lives is told with it; a day is assumed.
"""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from .account import Scene
from .errors import ApiRefusal

LIVES_SECONDS = 86_400
_TYPES = (1, 2, 3, 4)
"""图片, 视频, 语音, 文件."""


class Media:
    def __init__(self) -> None:
        self._files: dict[str, tuple[Scene, str, float]] = {}

    def upload(self, scene: Scene, fields: Mapping[str, Any], now: float) -> dict[str, Any]:
        """The URL is not fetched. Raises ApiRefusal 12002."""
        source = _source(fields)
        if fields.get("file_type") not in _TYPES or not source:
            raise ApiRefusal(12002)
        info = secrets.token_urlsafe(24)
        self._files[info] = (scene, source, now + LIVES_SECONDS)
        return {"file_uuid": secrets.token_hex(16), "file_info": info, "ttl": LIVES_SECONDS}

    def source(self, file_info: str, scene: Scene, now: float) -> str:
        """Raises ApiRefusal 304080."""
        uploaded_for, source, ends_at = self._files.get(file_info, (None, "", 0.0))
        if uploaded_for is not scene or now >= ends_at:
            raise ApiRefusal(304080)
        return source


def _source(fields: Mapping[str, Any]) -> str:
    if fields.get("url"):
        return str(fields["url"])
    data = fields.get("file_data")
    return f"file:{hashlib.sha256(str(data).encode()).hexdigest()[:16]}" if data else ""
