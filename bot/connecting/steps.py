"""How far the operator has come with each platform: what is set, and whether the running bot has it already.

Invariant: a secret is here as whether there is one, never as itself; `Made` alone holds those just made, once.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class WeChatSet:
    app_id: str = ""
    path: str = "/wechat"
    has_token: bool = False
    has_aes_key: bool = False
    has_secret: bool = False
    needs_restart: bool = False
    """What is saved is not what the bot runs with."""
    listens_on: str = ""
    """`127.0.0.1:8080`: where a reverse proxy leads to."""
    others: tuple[str, ...] = ()
    """App_ids of WECHAT__MORE_ACCOUNTS."""

    @property
    def is_set(self) -> bool:
        return bool(self.app_id) and self.has_token


@dataclass(frozen=True, slots=True, kw_only=True)
class OneBotSet:
    has_token: bool = False
    has_tryout: bool = False
    """The try-out token lets clients of this machine in."""
    needs_restart: bool = False
    address: str = ""
    """`ws://127.0.0.1:8080/onebot/v11/ws`."""
    is_loopback: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class QqSet:
    app_id: str = ""
    has_secret: bool = False
    is_websocket: bool = False
    is_setup_open: bool = False
    """By the setting, for as long as the bot runs."""
    needs_restart: bool = False
    path: str = "/qq/webhook"
    listens_on: str = ""

    @property
    def is_set(self) -> bool:
        return bool(self.app_id) and self.has_secret


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSet:
    base_url: str = ""
    model: str = ""
    has_key: bool = False
    needs_restart: bool = False

    @property
    def is_set(self) -> bool:
        return bool(self.base_url and self.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a saving made, to be shown until it is copied: the operator types it in at the platform. What the operator
    typed here is not in it."""

    token: str = field(default="", repr=False)
    aes_key: str = field(default="", repr=False)
    overruled: tuple[str, ...] = ()
    """Settings saved in vain: the process environment sets them too, and is stronger."""

    @property
    def has_secrets(self) -> bool:
        return bool(self.token or self.aes_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Keyword replies taken over."""

    count: int
    backup: str = ""
    """The name of the file's old copy; "" where there was none."""
    left_out: tuple[str, ...] = ()
    """Names of those chosen that no file can hold."""
    is_outdated: bool = False
    """Other replies than those chosen from were fetched since: nothing is taken over."""
