# pyright: basic
"""OneBot's messages as clients really send them: looser than NoneBot's models, and read at less cost.

Invariant: what the upstream models take, these take with the same result.
"""

# The looser models widen what the upstream ones declare, which is the whole point of them.
# pyright: reportIncompatibleVariableOverride=false

from typing import Any

from nonebot.adapters.onebot.v11 import GroupMessageEvent, MessageEvent, MessageSegment, PrivateMessageEvent
from nonebot.adapters.onebot.v11 import Message as Segments
from nonebot.adapters.onebot.v11.event import Anonymous, Sender
from nonebot.exception import NoLogException
from pydantic import model_validator
from typing_extensions import override


class _ReadOnce(MessageEvent):
    """Upstream validates each segment twice, with a validator made anew for each: a third of a message's cost at
    the door. Its description renders the message as rich text, for a line that the house's log doesn't take."""

    @model_validator(mode="before")
    @classmethod
    @override
    def check_message(cls, values: dict[str, Any]) -> dict[str, Any]:
        said = values.get("message")
        if said is None:
            return values
        return {**values, "message": _segments(said), "original_message": _segments(said)}

    @override
    def get_event_description(self) -> str:
        return f"Message {self.message_id}"

    @override
    def get_log_string(self) -> str:
        """No line is made of it."""
        raise NoLogException("OneBot V11")

    @override
    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.message_id}>"


def _segments(said: Any) -> Any:
    """A list of well-formed segments as they are; anything else is left for upstream to judge."""
    if not isinstance(said, list) or not all(map(_is_segment, said)):
        return said
    return Segments([MessageSegment(each["type"], dict(each.get("data") or {})) for each in said])


def _is_segment(each: Any) -> bool:
    return (
        isinstance(each, dict)
        and isinstance(each.get("type"), str)
        and isinstance(each.get("data", {}), dict | None)
    )


class LooseSender(Sender):
    """A sender as implementations really send it."""

    user_id: int | str | None = None
    age: int | str | None = None
    level: int | str | None = None


class LooseAnonymous(Anonymous):
    """An anonymous member whose id may be a string."""

    id: int | str


class LooseGroupMessage(_ReadOnce, GroupMessageEvent):
    """A group message with ids of any kind and without fields that nobody reads."""

    user_id: int | str
    group_id: int | str
    message_id: int | str
    sub_type: str = "normal"
    raw_message: str = ""
    font: int = 0
    sender: LooseSender = LooseSender()
    anonymous: LooseAnonymous | None = None


class LoosePrivateMessage(_ReadOnce, PrivateMessageEvent):
    """A private message with ids of any kind and without fields that nobody reads."""

    user_id: int | str
    message_id: int | str
    sub_type: str = "friend"
    raw_message: str = ""
    font: int = 0
    sender: LooseSender = LooseSender()
