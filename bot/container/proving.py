"""How phones are proven in this house: by code, by mini-program, or not at all.

Invariant: what the operator has not set up is not there.
"""

from collections.abc import Callable

from bot.channels.code_webhook import CodeWebhook
from bot.console.phone_door import PhoneDoor
from bot.container.channels import Channels
from bot.container.stores import Stores
from bot.conversation.ports import Clock
from bot.settings import Settings
from identity.directory import Directory
from identity.mini_program import MiniProgramPhones
from identity.phone import PhoneKeys
from identity.phone_codes import PhoneCodes


def phone_codes(
    settings: Settings,
    stores: Stores,
    *,
    directory: Directory,
    keys: PhoneKeys,
    keyed_hash: Callable[[bytes], bytes],
    clock: Clock,
) -> PhoneCodes | None:
    """None without a webhook."""
    identity = settings.identity
    if not identity.otp_webhook:
        return None
    return PhoneCodes(
        store=stores.phone_codes,
        sender=CodeWebhook(url=identity.otp_webhook, secret=identity.otp_secret, clock=clock),
        accounts=stores.accounts,
        directory=directory,
        keys=keys,
        keyed_hash=keyed_hash,
        clock=clock,
    )


def phone_door(settings: Settings, channels: Channels, directory: Directory) -> PhoneDoor | None:
    """None without a token, or a mini-program."""
    token, program = settings.identity.port_token, channels.mini_program
    if not token or program is None:
        return None
    phones = MiniProgramPhones(logins=program, phones=program, directory=directory, channel="wechat")
    return PhoneDoor(phones, token)
