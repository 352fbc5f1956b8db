"""The bot account that the simulator plays, and what the platform allows it.

Invariant: frozen; a number that is nowhere published says so.
"""

from dataclasses import dataclass
from enum import StrEnum


class Scene(StrEnum):
    """Where something is said."""

    C2C = "c2c"
    """单聊."""
    GROUP = "group"
    CHANNEL = "channel"
    """文字子频道."""
    DIRECT = "direct"
    """频道私信."""

    @property
    def is_guild(self) -> bool:
        return self in (Scene.CHANNEL, Scene.DIRECT)

    @property
    def is_private(self) -> bool:
        return self in (Scene.C2C, Scene.DIRECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotAccount:
    app_id: str
    secret: str
    id: str = "6158788878435714165"
    """Its id as an author and in mentions of a guild."""
    member_openid: str = "B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0B0"
    """Its id in the mentions of a group."""
    username: str = "模拟机器人"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Of passive messages, for each message or event that is answered."""

    messages: int | None
    """None: as many as one likes."""
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Source: 发送消息 (send.md), 错误码 (openapi.md), and reports where those are silent."""

    c2c: Allowance = Allowance(messages=4, seconds=3600.0)
    """The page says 5, servers have counted 4."""
    group: Allowance = Allowance(messages=5, seconds=300.0)
    guild: Allowance = Allowance(messages=None, seconds=300.0)
    longest_characters: int = 4000
    """Assumed: where 40054007 begins is not published."""
    allowed_urls: tuple[str, ...] = ()
    """消息URL配置: what a text may hold begins with one of these."""
    has_markdown: bool = False
    may_push: bool = False
    """主动消息, no longer offered since 2025-04-21."""
    is_error_ok: bool = False
    """Errors come with HTTP 200, as some do."""

    def allowance(self, scene: Scene) -> Allowance:
        if scene.is_guild:
            return self.guild
        return self.c2c if scene is Scene.C2C else self.group
