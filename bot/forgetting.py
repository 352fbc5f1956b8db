"""Carry out a forgetting once it is known what is meant: in the stores, the lines of groups, the windows, on record.

Invariant: when a call returns, what was forgotten is in no store and in no line; a window that couldn't be refreshed is
said to be left.
"""

from dataclasses import dataclass

from loguru import logger

from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import AccountKey
from bot.conversation.scope import Scope
from bot.groups.lines import GroupLines
from bot.memory.fact import ForgetReceipt
from bot.memory.forget import Forget, Forgotten, Found
from bot.memory.ports import TurnWindow
from bot.ports import AuditLog
from identity.model import Account

FORGET = "forget"
"""The action in the audit log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedOut:
    forgotten: Forgotten
    is_window_left: bool = False
    """A copy of the last turns may live until it expires by itself."""


class Forgetting:
    def __init__(self, *, forget: Forget, window: TurnWindow, lines: GroupLines, audit: AuditLog) -> None:
        self._forget = forget
        self._window = window
        self._lines = lines
        self._audit = audit

    async def carry_out(
        self, account: Account, scope: Scope, found: Found, *, actor: AccountKey, asked_in: str = ""
    ) -> CarriedOut:
        """`account`: whose memory, in `scope`. `asked_in`: the key of the message that asks. Raises StoreUnavailable:
        then nothing may be said to be deleted."""
        forgotten = await self._forget.forget(scope, found, asked_in)
        # Whether or not anything was kept of it: it may have been said in a group a moment ago.
        self._lines.drop_account(account.key)
        if forgotten.is_nothing:
            return CarriedOut(forgotten=forgotten)
        await self._audit.record(actor, FORGET, account.person, "", detail_of(forgotten.receipt))
        try:
            await self._window.drop(scope, for_good=True)
        except StoreUnavailable as error:
            logger.warning("忘记后短期记忆的缓存没能刷新，等它过期：{}", error)
            return CarriedOut(forgotten=forgotten, is_window_left=True)
        return CarriedOut(forgotten=forgotten)


def detail_of(receipt: ForgetReceipt) -> str:
    """For the audit log."""
    counts = (
        f"facts={receipt.facts} turns={receipt.turns} jobs={receipt.jobs} "
        f"deliveries={receipt.deliveries} vectors={receipt.vectors}"
    )
    return f"{counts} receipt={receipt.number}" if receipt.number else counts
