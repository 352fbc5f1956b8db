"""Erase all memory of somebody, or of a group, everywhere it may be: stores, windows, lines of groups.

Invariant: when a call returns, nothing of what was erased is read again by anybody.
"""

from collections.abc import Iterable
from typing import Protocol

from loguru import logger

from bot.conversation.errors import StoreUnavailable
from bot.conversation.scope import PersonId, Scope
from bot.groups.lines import GroupLines
from bot.memory.fact import ForgetReceipt
from bot.memory.ports import PersonClearer, PlaceClearer, TurnWindow
from identity.model import Account
from identity.ports import AccountStore


class Clearer(PersonClearer, PlaceClearer, Protocol):
    """The stores' part of an erasure."""


class Departures(Protocol):
    """The stores' part of a leaving for good."""

    async def depart(self, person: PersonId) -> ForgetReceipt:
        """As `clear_person`, and in the same transaction each account of the person becomes a newcomer: alone, not
        greeted, without unionid, phone or code. Work under way on any of them stores nothing afterwards."""
        ...


class Erasing:
    def __init__(
        self,
        *,
        facts: Clearer,
        departures: Departures,
        window: TurnWindow,
        lines: GroupLines,
        accounts: AccountStore,
    ) -> None:
        self._facts = facts
        self._departures = departures
        self._window = window
        self._lines = lines
        self._accounts = accounts

    async def person(self, person: PersonId, *, seen_in: Iterable[Scope] = ()) -> ForgetReceipt:
        """`seen_in`: scopes of theirs besides the private ones whose windows go at once. Raises StoreUnavailable."""
        accounts = await self._accounts.accounts_of(person)
        receipt = await self._facts.clear_person(person)
        await self._drop_traces(person, accounts, seen_in)
        return receipt

    async def departing(
        self, person: PersonId, *, seen_in: Iterable[Scope] = ()
    ) -> tuple[ForgetReceipt, int]:
        """As `person`, and who they were is forgotten too. With how many accounts they had. Raises StoreUnavailable."""
        accounts = await self._accounts.accounts_of(person)
        receipt = await self._departures.depart(person)
        await self._drop_traces(person, accounts, seen_in)
        return receipt, len(accounts)

    async def place(self, place: str) -> ForgetReceipt:
        """All that was said to the bot in one group, and 群公共记忆. Raises StoreUnavailable."""
        accounts = await self._accounts.accounts_in(place)
        receipt = await self._facts.clear_place(place)
        self._lines.drop_place(place)
        await self._drop_windows(account.scope(place) for account in accounts)
        return receipt

    async def _drop_traces(
        self, person: PersonId, accounts: Iterable[Account], seen_in: Iterable[Scope]
    ) -> None:
        for account in accounts:
            self._lines.drop_account(account.key)
        scopes = {account.scope("") for account in accounts if account.person == person}
        await self._drop_windows({*scopes, *(scope for scope in seen_in if scope.person == person)})

    async def _drop_windows(self, scopes: Iterable[Scope]) -> None:
        for scope in scopes:
            try:
                await self._window.drop(scope, for_good=True)
            except StoreUnavailable as error:
                # The epoch has passed, so nothing reads it again; it only lives until its TTL.
                logger.warning("清除后短期记忆的缓存没能刷新，等它过期：{}", error)
