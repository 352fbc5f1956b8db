"""The platform behind the client: the messages there are, and answers to the bot's API calls.

Invariant: no I/O; every message that arrives anywhere has an id that `get_msg` finds.
"""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulators.onebot.script import MUTED, NO_PERMISSION, Failure
from simulators.onebot.segments import Segment, as_string, plain_text, text

Id = int | str
"""Numbers by the standard; some implementations write words."""

_NO_SUCH_MESSAGE = 100
_UNKNOWN_ACTION = 1404
"""OneBot 11, communication/ws.md."""
_FORWARDS = frozenset({"send_group_forward_msg", "send_private_forward_msg", "send_forward_msg"})
_SENDS = frozenset({"send_msg", "send_private_msg", "send_group_msg"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message the bot sent."""

    message_id: int
    group_id: int | None
    """None in a private chat."""
    user_id: int | None
    segments: tuple[Segment, ...]
    """Of a merged forward: its nodes."""

    @property
    def text(self) -> str:
        """Of a merged forward: what its nodes say, a line each."""
        if self.is_forward:
            return "\n".join(self.nodes)
        return plain_text(self.segments)

    @property
    def mentions(self) -> tuple[str, ...]:
        return tuple(segment["data"]["qq"] for segment in self.segments if segment["type"] == "at")

    @property
    def reply_to(self) -> str:
        """The id of the message that it quotes; "" for none."""
        return next((str(each["data"]["id"]) for each in self.segments if each["type"] == "reply"), "")

    @property
    def is_forward(self) -> bool:
        """合并转发."""
        return any(segment["type"] == "node" for segment in self.segments)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The texts in a merged forward."""
        return tuple(
            plain_text(segment["data"].get("content", ""))
            for segment in self.segments
            if segment["type"] == "node"
        )


class Platform:
    """One logged-in account."""

    def __init__(self, self_id: Id, nickname: str) -> None:
        self.self_id = self_id
        self.nickname = nickname
        self.muted: set[str] = set()
        """Groups, by the text of their ids, in which the account may say nothing."""
        self.silent: set[str] = set()
        """Groups in which nobody may, but who runs them."""
        self.admin_of: set[str] = set()
        """Groups that the account helps to run."""
        self.left: set[str] = set()
        """Groups that the account is no member of any more."""
        self._messages: dict[str, dict[str, Any]] = {}
        self._members: dict[tuple[str, str], dict[str, Any]] = {}
        # Ids go on where another process left them, as far as anyone can tell.
        self._next_id = secrets.randbelow(2**30)

    def user_message(
        self,
        user_id: Id,
        segments: list[Segment],
        *,
        group_id: Id | None = None,
        sender: dict[str, Any],
        sent_at: int | None = None,
        is_string: bool = False,
        overrides: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The event of a message somebody wrote. `sent_at` is in seconds; `overrides` replace fields."""
        message_id = self.new_id()
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
            self._members[str(group_id), str(user_id)] = event["sender"]
        event |= overrides or {}
        self._messages[str(event["message_id"])] = {**event, "real_id": message_id}
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
        return self._meta("lifecycle", sub_type="connect")

    def heartbeat(self, *, is_online: bool) -> dict[str, Any]:
        """What a client says every now and then; not online: QQ logged the account out."""
        return self._meta("heartbeat", status={"online": is_online, "good": True}, interval=30_000)

    def deliver(self, action: str, params: dict[str, Any]) -> SentMessage | None:
        """Put a message the bot sends where it belongs. None for an action that sends nothing."""
        if action not in _SENDS | _FORWARDS:
            return None
        # NapCat reads `messages`, LLOneBot `message`.
        message = params.get("messages" if action in _FORWARDS else "message") or params.get("message", "")
        segments = [text(message)] if isinstance(message, str) else list(message)
        is_private = "private" in action or params.get("message_type") == "private"
        sent = SentMessage(
            message_id=self.new_id(),
            group_id=None if is_private else params.get("group_id"),
            user_id=params.get("user_id"),
            segments=tuple(segments),
        )
        self._messages[str(sent.message_id)] = {
            "time": int(time.time()),
            "message_type": "private" if is_private else "group",
            "message_id": sent.message_id,
            "real_id": sent.message_id,
            "sender": {"user_id": self.self_id, "nickname": self.nickname},
            "message": segments,
        }
        return sent

    def refusal(self, action: str, params: Mapping[str, Any]) -> Failure | None:
        """Why the account may not send there, as long as it is so."""
        group = str(params.get("group_id", ""))
        if action not in _SENDS | _FORWARDS or not group:
            return None
        if group in self.left:
            return NO_PERMISSION
        is_silent = group in self.silent and group not in self.admin_of
        return MUTED if is_silent or group in self.muted else None

    def own_message(self, sent: SentMessage) -> dict[str, Any]:
        """The event by which a client reports what the account itself said."""
        where = {} if sent.group_id is None else {"group_id": sent.group_id}
        segments = list(sent.segments)
        return {
            "time": int(time.time()),
            "self_id": self.self_id,
            "post_type": "message_sent",
            "message_type": "private" if sent.group_id is None else "group",
            "sub_type": "friend" if sent.group_id is None else "normal",
            "message_id": sent.message_id,
            "user_id": self.self_id,
            "target_id": sent.user_id if sent.group_id is None else sent.group_id,
            "message": segments,
            "message_format": "array",
            "raw_message": as_string(segments),
            "font": 14,
            "sender": {"user_id": self.self_id, "nickname": self.nickname, "card": "", "role": "member"},
            **where,
        }

    def answer(self, action: str, params: dict[str, Any], sent: SentMessage | None) -> dict[str, Any]:
        """The answer to an API call that is not scripted to fail."""
        if sent is not None:
            return ok({"message_id": sent.message_id})
        if action == "get_msg":
            message = self._messages.get(str(params.get("message_id", 0)))
            return failed(_NO_SUCH_MESSAGE, "message not found") if message is None else ok(message)
        if action == "get_group_member_info":
            group = str(params.get("group_id", ""))
            member = self._member(group, str(params.get("user_id", "")))
            return failed(_NO_SUCH_MESSAGE, "群成员不存在") if member is None else ok(member)
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

    def _member(self, group: str, user_id: str) -> dict[str, Any] | None:
        if user_id != str(self.self_id):
            return self._members.get((group, user_id))
        role = "admin" if group in self.admin_of else "member"
        return {"user_id": self.self_id, "nickname": self.nickname, "card": "", "role": role}

    def _meta(self, meta_event_type: str, **fields: Any) -> dict[str, Any]:
        return {
            "time": int(time.time()),
            "self_id": self.self_id,
            "post_type": "meta_event",
            "meta_event_type": meta_event_type,
            **fields,
        }

    def forget(self, most: int) -> None:
        """Only the newest so many messages are found by `get_msg`."""
        for message_id in list(self._messages)[: max(len(self._messages) - most, 0)]:
            del self._messages[message_id]

    def new_id(self) -> int:
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


def begun() -> dict[str, Any]:
    """The answer of an asynchronous call (OneBot 11, api/README.md)."""
    return {"status": "async", "retcode": 1, "data": None, "message": "", "wording": ""}
