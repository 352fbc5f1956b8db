"""The platform behind the client: the messages there are, and answers to the bot's API calls.

Invariant: no I/O; every message that arrives anywhere has an id that `get_msg` finds.
"""

import secrets
import time
from dataclasses import dataclass
from typing import Any

from simulators.onebot.segments import Segment, as_string, plain_text, text

_NO_SUCH_MESSAGE = 100
_UNKNOWN_ACTION = 1404
"""OneBot 11, communication/ws.md."""
_SENDS = frozenset({"send_msg", "send_private_msg", "send_group_msg"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message the bot sent."""

    message_id: int
    group_id: int | None
    """None in a private chat."""
    user_id: int | None
    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        return plain_text(self.segments)

    @property
    def mentions(self) -> tuple[str, ...]:
        return tuple(segment["data"]["qq"] for segment in self.segments if segment["type"] == "at")


class Platform:
    """One logged-in account."""

    def __init__(self, self_id: int, nickname: str) -> None:
        self.self_id = self_id
        self.nickname = nickname
        self._messages: dict[int, dict[str, Any]] = {}
        # Ids go on where another process left them, as far as anyone can tell.
        self._next_id = secrets.randbelow(2**30)

    def user_message(
        self,
        user_id: int,
        segments: list[Segment],
        *,
        group_id: int | None = None,
        sender: dict[str, Any],
        sent_at: int | None = None,
        is_string: bool = False,
    ) -> dict[str, Any]:
        """The event of a message somebody wrote. `sent_at` is in seconds."""
        message_id = self._new_id()
        event: dict[str, Any] = {
            "time": int(time.time()) if sent_at is None else sent_at,
            "self_id": self.self_id,
            "post_type": "message",
            "message_type": "private" if group_id is None else "group",
            "sub_type": "friend" if group_id is None else "normal",
            "message_id": message_id,
            "user_id": user_id,
            "message": as_string(segments) if is_string else segments,
            "message_format": "string" if is_string else "array",
            "raw_message": as_string(segments),
            "font": 14,
            "sender": {"user_id": user_id, **sender},
        }
        if group_id is not None:
            event["group_id"] = group_id
        self._messages[message_id] = {**event, "real_id": message_id}
        return event

    def notice(self, notice_type: str, **fields: Any) -> dict[str, Any]:
        """The event of something that happened."""
        return {
            "time": int(time.time()),
            "self_id": self.self_id,
            "post_type": "notice",
            "notice_type": notice_type,
            **fields,
        }

    def lifecycle(self) -> dict[str, Any]:
        """What a client says first on a new connection."""
        return {
            "time": int(time.time()),
            "self_id": self.self_id,
            "post_type": "meta_event",
            "meta_event_type": "lifecycle",
            "sub_type": "connect",
        }

    def deliver(self, action: str, params: dict[str, Any]) -> SentMessage | None:
        """Put a message the bot sends where it belongs. None for an action that sends nothing."""
        if action not in _SENDS:
            return None
        message = params.get("message", "")
        segments = [text(message)] if isinstance(message, str) else list(message)
        is_private = action == "send_private_msg" or params.get("message_type") == "private"
        sent = SentMessage(
            message_id=self._new_id(),
            group_id=None if is_private else params.get("group_id"),
            user_id=params.get("user_id"),
            segments=tuple(segments),
        )
        self._messages[sent.message_id] = {
            "time": int(time.time()),
            "message_type": "private" if is_private else "group",
            "message_id": sent.message_id,
            "real_id": sent.message_id,
            "sender": {"user_id": self.self_id, "nickname": self.nickname},
            "message": segments,
        }
        return sent

    def answer(self, action: str, params: dict[str, Any], sent: SentMessage | None) -> dict[str, Any]:
        """The answer to an API call that is not scripted to fail."""
        if sent is not None:
            return ok({"message_id": sent.message_id})
        if action == "get_msg":
            message = self._messages.get(int(params.get("message_id", 0)))
            return failed(_NO_SUCH_MESSAGE, "message not found") if message is None else ok(message)
        fixed: dict[str, Any] = {
            "get_login_info": {"user_id": self.self_id, "nickname": self.nickname},
            "get_version_info": {
                "app_name": "simulator",
                "app_version": "1.0",
                "protocol_version": "v11",
            },
            "get_status": {"online": True, "good": True},
            "get_friend_list": [],
            "get_group_list": [],
        }
        return ok(fixed[action]) if action in fixed else failed(_UNKNOWN_ACTION, f"不支持的 API {action}")

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id


def ok(data: Any) -> dict[str, Any]:
    """A successful answer, with the fields NapCat adds."""
    return {"status": "ok", "retcode": 0, "data": data, "message": "", "wording": ""}


def failed(retcode: int, message: str) -> dict[str, Any]:
    return {
        "status": "failed",
        "retcode": retcode,
        "data": None,
        "message": message,
        "wording": message,
    }
