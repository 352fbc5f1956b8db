"""The unionid of an account whose messages carry none: asked of its platform, beside the story.

Invariant: no answer waits for it; what the platform said is asked again after a day at the earliest, and "" joins
nobody. A question that got no answer is asked again with the account's next message.
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Protocol

from loguru import logger

from bot.conversation.errors import JideError
from bot.conversation.message import AccountKey
from bot.conversation.ports import Clock
from bot.conversation.scope import AccountId
from identity.directory import Directory
from identity.model import Account

ASKED_AT_ONCE = 3
WAITING = 1_000
"""Accounts. Who finds the queue full is asked about after a later message."""
DEADLINE_SECONDS = 10.0
AGAIN_AFTER = timedelta(days=1)


class UnionIds(Protocol):
    """Of one channel."""

    async def unionid_of(self, key: AccountKey) -> str | None:
        """ "" where the platform says there is none; None where it could not be asked or may not tell."""
        ...


class UnionAsks(Protocol):
    async def asked_at(self, account: AccountId) -> datetime | None:
        """When the platform last answered."""
        ...

    async def note(self, account: AccountId, at: datetime) -> None: ...


class UnionLookup:
    def __init__(
        self, *, platforms: Mapping[str, UnionIds], asks: UnionAsks, directory: Directory, clock: Clock
    ) -> None:
        """`platforms`: by channel."""
        self._platforms = platforms
        self._asks = asks
        self._directory = directory
        self._clock = clock
        self._queue: asyncio.Queue[Account] = asyncio.Queue(WAITING)
        self._known: set[AccountId] = set()

    def wonder(self, account: Account) -> None:
        """They wrote. Returns at once."""
        if account.unionid or account.key.channel not in self._platforms or account.id in self._known:
            return
        if not self._queue.full():
            self._known.add(account.id)
            self._queue.put_nowait(account)

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as workers:
            for _ in range(ASKED_AT_ONCE):
                workers.create_task(self._keep_asking())

    async def work_off(self) -> None:
        """All that waits now."""
        while not self._queue.empty():
            await self._take(self._queue.get_nowait())

    async def _keep_asking(self) -> None:
        while True:
            await self._take(await self._queue.get())

    async def _take(self, account: Account) -> None:
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                await self._ask(account)
        except (JideError, TimeoutError) as error:
            logger.debug("no unionid for account {} now: {}", account.id, type(error).__name__)
        finally:
            self._known.discard(account.id)

    async def _ask(self, account: Account) -> None:
        last, now = await self._asks.asked_at(account.id), self._clock.now()
        if last is not None and now - last < AGAIN_AFTER:
            return
        unionid = await self._platforms[account.key.channel].unionid_of(account.key)
        if unionid is None or (await self._directory.identify(account.key)).person != account.person:
            return  # who left for good meanwhile is a stranger until they write again
        if unionid:
            await self._directory.identify(account.key, unionid)
        await self._asks.note(account.id, now)
