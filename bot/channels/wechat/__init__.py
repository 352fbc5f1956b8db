"""A NoneBot2 adapter for WeChat official accounts (公众号), usable on its own.

Invariant: it imports nothing but NoneBot, wechatpy and its own folder.
"""

from .account import AccountError, OfficialAccount
from .adapter import Adapter
from .bot import Bot
from .drafts import Drafts
from .event import (
    ClickEvent,
    Event,
    FollowEvent,
    OtherEvent,
    RevokeEvent,
    ScanEvent,
    TextEvent,
    UnfollowEvent,
    UnsupportedEvent,
    VoiceEvent,
)
from .message import Message, MessageSegment
from .observer import Observer
from .phases import Deadlines
from .rendering import pages
from .service import CustomerService
from .store import MemoryReplyStore, ReplyStore

__all__ = [
    "AccountError",
    "Adapter",
    "Bot",
    "ClickEvent",
    "CustomerService",
    "Deadlines",
    "Drafts",
    "Event",
    "FollowEvent",
    "MemoryReplyStore",
    "Message",
    "MessageSegment",
    "Observer",
    "OfficialAccount",
    "OtherEvent",
    "ReplyStore",
    "RevokeEvent",
    "ScanEvent",
    "TextEvent",
    "UnfollowEvent",
    "UnsupportedEvent",
    "VoiceEvent",
    "pages",
]
