"""What comes in and what goes out: the frozen `Message` and `Reply` both channels speak.

Invariant: a Message never changes after its channel made it, and survives a round trip through JSON
(the inbox stores it so that an accepted message outlives a killed process).
"""

import json
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

PLAYGROUND = "playground"
"""The app_id of the try-out accounts."""


def is_playground(app_id: str) -> bool:
    """An account that is only played: it and real ones never meet, and its people can never become superusers."""
    return app_id == PLAYGROUND or app_id.startswith(f"{PLAYGROUND}-")


class Kind(StrEnum):
    """What a message is, in our words rather than a platform's."""

    TEXT = "text"
    VOICE = "voice"
    """Voice; `text` holds the platform's recognition and may be empty."""
    CLICK = "click"
    """A tapped menu entry; `text` holds its key."""
    FOLLOW = "follow"
    """The person followed the account (`text`: the scene of the QR code they came by, or ""), or the bot
    joined the group."""
    UNFOLLOW = "unfollow"
    REVOKE = "revoke"
    """The person withdrew their authorisation or deleted their platform account: erase."""
    SCAN = "scan"
    """A person who follows already scanned a QR code of the account; `text` holds its scene."""
    IMAGE = "image"
    """A picture; `media` says where it is."""
    LOCATION = "location"
    """A place the person chose to send; `text` holds its name and may be empty. Coordinates are not kept."""
    LINK = "link"
    """A shared page: `quoted` holds its title and description, which are not the person's words."""
    UNSUPPORTED = "unsupported"
    """Something with no text we can read: a file, a video, a sticker, a future type."""


class Role(StrEnum):
    """Standing in a group, as the platform states it. A missing role is `MEMBER`."""

    MEMBER = "member"
    ADMIN = "admin"
    OWNER = "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountKey:
    """One person's account on one platform: `openid` is only unique per (channel, app_id)."""

    channel: str
    """`wechat`, `onebot`: the platform, lower case."""
    app_id: str
    """The official account's appid, or the QQ bot's own id."""
    openid: str

    @property
    def address(self) -> str:
        """`channel:openid`, the form of SUPERUSERS entries and of /我的编号."""
        return f"{self.channel}:{self.openid}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One person's private chat (`group` is "") or one group, in one channel."""

    channel: str
    app_id: str
    group: str = ""

    @property
    def is_group(self) -> bool:
        return bool(self.group)

    @property
    def place(self) -> str:
        """Where memory belongs: "" for private, else `channel:app_id:group`."""
        return f"{self.channel}:{self.app_id}:{self.group}" if self.group else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """Something that can be fetched while the platform keeps it (WeChat: three days)."""

    url: str = ""
    """http or https, "" where the platform gave none. Whoever fetches it checks the host first: in WeChat's
    plain mode it is only as genuine as the address the posts come to is secret."""
    media_id: str = ""
    """For the platform's own download, which needs its permission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One thing a person said or did."""

    key: str
    """Identity among the messages of (channel, app_id); the same on a platform's retries."""
    kind: Kind
    sender: AccountKey
    conversation: Conversation
    text: str
    """The sender's own words: no mention of the bot, no quotation, no card, white space trimmed."""
    sent_at: datetime
    """Aware, UTC, by the platform's clock."""
    is_addressed: bool = True
    """Private, or in a group: mentioned, replied to, called by nickname or prefix."""
    quoted: str = ""
    """What the sender quoted. Context only: never the sender's words."""
    mentioned: tuple[AccountKey, ...] = ()
    """People mentioned, the bot excepted."""
    unionid: str = ""
    """Across one owner's apps, where the event carries one. "" matches nothing."""
    role: Role = Role.MEMBER
    media: tuple[Media, ...] = ()
    """What an IMAGE shows."""
    shown_name: str = ""
    """What the group calls the sender: for display alone. Anybody may have any name."""
    aside: str = field(default="", repr=False)
    """What was said and must be nowhere but in the answering: a phone, a one-time code. `text` holds a mark in its
    place. Never stored, so it is "" in a message that outlived its process."""

    @property
    def is_anonymous(self) -> bool:
        """Anonymous group members have no identity: nothing of theirs is remembered."""
        return not self.sender.openid


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the bot says to one Message. An empty `text` is silence."""

    text: str
    decided_by: str
    """The stage that answered: `trivial`, `command`, `faq`, `model`, `extract`, `notice`, `apology`, `nobody`."""

    @property
    def is_silent(self) -> bool:
        return not self.text


def _plain(value: Any) -> object:
    """What JSON has no word for: our dataclasses as they are, moments in seconds. Unlike `asdict` it copies
    nothing, and each message is dumped once."""
    if isinstance(value, datetime):
        return value.timestamp()
    return {name: getattr(value, name) for name in _NAMES[type(value)]}


_NAMES = {
    kind: tuple(each.name for each in fields_of(kind) if each.name != "aside")
    for kind in (AccountKey, Conversation, Media, Message)
}
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_plain)


def dump_message(message: Message) -> str:
    """Serialise for the inbox. Non-ASCII stays readable."""
    return _ENCODER.encode(message)


def load_message(dumped: str) -> Message:
    """The inverse of `dump_message`. A field that was unknown when it was written has its default.

    Raises:
        KeyError, TypeError, ValueError: not something `dump_message` wrote.
    """
    fields = json.loads(dumped)
    fields["kind"] = Kind(fields["kind"])
    fields["role"] = Role(fields["role"])
    fields["sender"] = AccountKey(**fields["sender"])
    fields["conversation"] = Conversation(**fields["conversation"])
    fields["mentioned"] = tuple(AccountKey(**account) for account in fields["mentioned"])
    fields["media"] = tuple(Media(**media) for media in fields.get("media", ()))
    fields["sent_at"] = datetime.fromtimestamp(fields["sent_at"], UTC)
    return Message(**fields)
