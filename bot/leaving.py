"""Unsubscribing: what somebody's account held is put away, and is theirs again if they come back in time.

Invariant: from the moment they leave nothing of it is recalled; it comes back only when they say so, and what is
overdue is deleted as at a clearing. Other accounts of the same person go on as they were.
"""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Protocol

from loguru import logger

from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import Message, Reply
from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId
from bot.conversation.wording import Wording
from bot.groups.lines import GroupLines
from bot.memory.fact import ForgetReceipt
from bot.memory.ports import TurnWindow
from identity.model import Account

SWEEP_SECONDS = 600.0
"""A few minutes' lateness after a week matters to nobody."""
_YES = frozenset({"恢复", "/恢复", "restore", "/restore"})
_NO = frozenset({"不用", "/不用", "/no"})


class ParkingStore(Protocol):
    async def park(self, account: AccountId) -> tuple[str, ...]:
        """Put away what an account remembers, in every place, and drop its work: jobs, replies, what is kept
        for retries. Returns the places it had memory in. Raises StoreUnavailable."""
        ...

    async def has_parked(self, account: AccountId) -> bool: ...

    async def restore(self, account: AccountId) -> bool:
        """Give all of it back to the account, whoever its person is now. False: there was nothing."""
        ...

    async def discard(self, account: AccountId, until: datetime | None = None) -> ForgetReceipt:
        """Delete what the account parked (until then, where given), noted in the ledger and gone from the file."""
        ...

    async def overdue(self, until: datetime) -> tuple[AccountId, ...]:
        """Accounts with something that was parked until then."""
        ...


class Leaving:
    """Of all channels."""

    def __init__(
        self,
        *,
        parking: ParkingStore,
        window: TurnWindow,
        lines: GroupLines,
        keep: timedelta,
        wording: Wording,
        clock: Clock,
    ) -> None:
        """`keep`: how long what is parked stays; zero deletes it when somebody leaves."""
        self._parking = parking
        self._window = window
        self._lines = lines
        self._keep = keep
        self._wording = wording
        self._clock = clock

    async def leave(self, account: Account) -> None:
        """Raises StoreUnavailable."""
        places = await self._parking.park(account.id)
        self._lines.drop_account(account.key)
        await self._drop_windows(account, {"", *places})
        if not self._keep:
            await self._parking.discard(account.id)

    async def offer(self, account: Account) -> str:
        """What to ask somebody who came back; "" where nothing waits for them."""
        return self._wording.say("restore_ask") if await self._parking.has_parked(account.id) else ""

    async def answer(self, message: Message, account: Account | None) -> Reply | None:
        """To 「恢复」 or 「不用」, in private and while something waits for it; None otherwise."""
        if account is None or message.conversation.is_group:
            return None
        words = message.text.strip().casefold()
        if words not in _YES | _NO or not await self._parking.has_parked(account.id):
            return None
        if words in _NO:
            await self._parking.discard(account.id)
            return Reply(text=self._wording.say("restore_declined"), decided_by="command")
        await self._parking.restore(account.id)
        return Reply(text=self._wording.say("restore_done"), decided_by="command")

    async def sweep(self) -> int:
        """Delete what is overdue; returns of how many accounts. Raises StoreUnavailable."""
        until = self._clock.now() - self._keep
        accounts = await self._parking.overdue(until)
        for account in accounts:
            await self._parking.discard(account, until)
        return len(accounts)

    async def keep_sweeping(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.sweep()
            except StoreUnavailable as error:
                logger.warning("过期的封存记忆没能删除，稍后再试：{}", error)
            await asyncio.sleep(SWEEP_SECONDS)

    async def _drop_windows(self, account: Account, places: Iterable[str]) -> None:
        for place in places:
            try:
                await self._window.drop(account.scope(place))
            except StoreUnavailable as error:
                # The epoch has passed, so nothing reads it again; it only lives until its TTL.
                logger.warning("取消关注后短期记忆的缓存没能刷新，等它过期：{}", error)
