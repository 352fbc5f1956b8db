"""The official accounts of the playground: one of each kind that behaves differently.

Invariant: each has an app_id of the playground's own, and secrets that only the data folder knows.
"""

import base64
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.conversation.message import PLAYGROUND
from bot.playground.doors import PREFIX
from simulators.wechat import AccountType


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedAccount:
    """One account, as the platform and the bot both know it."""

    app_id: str
    type: AccountType
    token: str = field(repr=False)
    aes_key: str = field(default="", repr=False)
    """"" is plain mode."""
    app_secret: str = field(default="", repr=False)
    """"" : no API."""
    path: str
    """In the bot's application."""
    door: str
    """On the loopback port."""

    @property
    def is_safe(self) -> bool:
        return bool(self.aes_key)


_KINDS: Final[Mapping[str, tuple[AccountType, bool]]] = {
    PLAYGROUND: (AccountType.UNVERIFIED_SUBSCRIPTION, False),
    f"{PLAYGROUND}-aes": (AccountType.UNVERIFIED_SUBSCRIPTION, True),
    f"{PLAYGROUND}-subscription": (AccountType.VERIFIED_SUBSCRIPTION, False),
    f"{PLAYGROUND}-service": (AccountType.VERIFIED_SERVICE, True),
}
"""By app_id: the type, and whether it is in safe mode. A type's permissions and the mode are all that differs."""


def played_accounts(token: str, key: str, *, tryout_path: str) -> tuple[PlayedAccount, ...]:
    """`token`: of the account `PLAYGROUND`; the other secrets come out of `key`, which is secret itself.

    `tryout_path`: where the application serves `PLAYGROUND` to this machine anyway, or "".
    """
    return tuple(
        PlayedAccount(
            app_id=app_id,
            type=type_,
            token=token if app_id == PLAYGROUND else derived(key, app_id, "token").hex(),
            aes_key=_aes_key(derived(key, app_id, "aes")) if is_safe else "",
            app_secret=derived(key, app_id, "secret").hex() if type_.is_verified else "",
            path=tryout_path if tryout_path and app_id == PLAYGROUND else f"{PREFIX}wechat/{app_id}",
            door=f"{PREFIX}wechat/{app_id}",
        )
        for app_id, (type_, is_safe) in _KINDS.items()
    )


def derived(key: str, app_id: str, what: str) -> bytes:
    """32 bytes; the same for the same key, so that nothing more has to be kept."""
    return hmac.digest(key.encode(), f"playground:v1:{app_id}:{what}".encode(), "sha256")


def _aes_key(key: bytes) -> str:
    """EncodingAESKey: 43 letters and digits, the base64 of 32 bytes."""
    # `+` and `/` are no part of one; a letter in their place keeps the length, and the rest its chance.
    return base64.b64encode(key, b"Aa").decode().removesuffix("=")
