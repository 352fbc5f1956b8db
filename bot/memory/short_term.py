"""Short-term memory: the last turns of a scope, from the cache when it can be trusted, else from SQL.

Invariant: a cached window is shown only if this process filled it, and no call to the cache failed since.
So what an outage left stale, or a forgetting could not reach, is never shown.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from loguru import logger

from bot.conversation.errors import StoreUnavailable
from bot.conversation.in_turn import InTurn
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.conversation.tokens import estimate_tokens
from bot.conversation.turn import Turn
from bot.memory.outdated import without_outdated
from bot.memory.ports import OutdatedReader, TurnWindow, WindowCache
from bot.memory.summary import RecentTalk

PAUSE_SECONDS = 5.0
"""A hung cache costs its deadline once in this long, not once per message."""
FILLED_LIMIT = 20_000
"""Windows remembered as filled, about 10 MB. Dropping one from the list costs one read of SQL."""

_Place: TypeAlias = tuple[PersonId, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filled:
    """A window this process put into the cache."""

    newest: int
    """Id of its newest turn: a cache that came back from an old snapshot has an older one."""
    accounts: frozenset[AccountId]
    """Accounts for which it was read. One that joined the person later brings turns of its own."""


class ShortTermMemory:
    """`TurnWindow` over SQL, with or without a cache before it."""

    def __init__(
        self,
        turns: TurnWindow,
        cache: WindowCache | None,
        *,
        budget_tokens: int,
        most_turns: int | None = None,
        outdated: OutdatedReader | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`most_turns`: fewer than are read, where they are read for summaries too. A turn that no summary tells of is
        shown beyond it, once there is one. `outdated`: what no summary is to say any more."""
        self._outdated = outdated
        self._turns = turns
        self._cache = cache
        self._budget_tokens = budget_tokens
        self._most_turns = most_turns
        self._monotonic = monotonic
        self._is_cache_away = False
        self._asks_again_at = 0.0
        self._filled: OrderedDict[_Place, _Filled] = OrderedDict()
        self._in_turn = InTurn[_Place]()
        """Refills and appends of one window take turns, else a refill may overwrite a newer turn."""

    @property
    def is_degraded(self) -> bool:
        """A cache is configured and did not answer last time."""
        return self._is_cache_away

    async def recent(self, scope: Scope) -> RecentTalk:
        """Within the limits of turns and tokens. Raises StoreUnavailable if SQL does."""
        if self._cache is None:
            talk = await self._turns.recent(scope)
        else:
            talk = await self._cached(scope) or await self._read_and_refill(scope)
        if talk.summaries and self._outdated is not None:
            talk = without_outdated(talk, await self._outdated.outdated_texts(scope))
        return self._limited(talk)

    async def append(self, scope: Scope, turn: Turn) -> None:
        """Add a committed turn to the cached window. Never raises for the cache: SQL has the turn."""
        await self._turns.append(scope, turn)
        if self._cache is None:
            return
        place = _place(scope)
        async with self._in_turn.of(place):
            cache = self._reachable()
            # Until the cache has answered, the window is not to be trusted: this may be cancelled.
            filled = self._filled.pop(place, None)
            if cache is None:
                return
            try:
                existed = await cache.append(scope, turn)
            except StoreUnavailable as error:
                self._note_failure(error)
                return
            self._note_answer()
            if existed and filled is not None:
                newest = max(filled.newest, turn.id)
                self._note_filled(place, _Filled(newest=newest, accounts=filled.accounts))

    async def drop(self, scope: Scope, *, for_good: bool = False) -> None:
        """Forget the cached windows of the person.

        Never raises for the cache: what it could not be told to drop is no longer trusted by any
        process, and dies with its TTL.
        """
        await self._turns.drop(scope)
        place = _place(scope)
        async with self._in_turn.of(place):
            self._filled.pop(place, None)
            if self._cache is None:
                return
            # Asked even in a pause: deleting is worth its deadline.
            try:
                await self._cache.drop(scope, for_good=for_good)
            except StoreUnavailable as error:
                self._note_failure(error)
            else:
                self._note_answer()

    def _limited(self, talk: RecentTalk) -> RecentTalk:
        turns = talk.turns
        if self._most_turns is not None:
            fresh = len(talk.fresh) if talk.summaries else 0
            turns = turns[-max(self._most_turns, fresh) :]
        turns = within_budget(turns, self._budget_tokens)
        return talk if turns is talk.turns else replace(talk, turns=turns)

    async def _cached(self, scope: Scope) -> RecentTalk | None:
        """The window if it can be trusted."""
        filled = self._filled.get(_place(scope))
        if filled is None or scope.account not in filled.accounts:
            return None
        cache = self._reachable()
        if cache is None:
            return None
        try:
            talk = await cache.recent(scope)
        except StoreUnavailable as error:
            self._note_failure(error)
            return None
        self._note_answer()
        # Asked again: a drop or a failure may have come between.
        filled = self._filled.get(_place(scope))
        is_whole = bool(talk.turns) and filled is not None and talk.turns[-1].id >= filled.newest
        return talk if is_whole else None

    async def _read_and_refill(self, scope: Scope) -> RecentTalk:
        place = _place(scope)
        async with self._in_turn.of(place):
            talk = await self._turns.recent(scope)
            cache = self._reachable() if talk.turns else None
            if cache is None:
                return talk
            before = self._filled.pop(place, None)
            try:
                await cache.refill(scope, talk)
            except StoreUnavailable as error:
                self._note_failure(error)
                return talk
            self._note_answer()
            accounts = before.accounts if before else frozenset[AccountId]()
            self._note_filled(place, _Filled(newest=talk.turns[-1].id, accounts=accounts | {scope.account}))
            return talk

    def _reachable(self) -> WindowCache | None:
        """The cache, unless it failed a moment ago. After the pause one caller tries it."""
        if self._is_cache_away:
            now = self._monotonic()
            if now < self._asks_again_at:
                return None
            self._asks_again_at = now + PAUSE_SECONDS
        return self._cache

    def _note_failure(self, error: StoreUnavailable) -> None:
        if not self._is_cache_away:
            logger.warning("短期记忆的缓存（Redis）用不了，先用数据库：{}", error)
        self._is_cache_away = True
        self._asks_again_at = self._monotonic() + PAUSE_SECONDS
        self._filled.clear()

    def _note_answer(self) -> None:
        if self._is_cache_away:
            logger.info("短期记忆的缓存（Redis）恢复了")
        self._is_cache_away = False

    def _note_filled(self, place: _Place, filled: _Filled) -> None:
        self._filled[place] = filled
        self._filled.move_to_end(place)
        if len(self._filled) > FILLED_LIMIT:
            self._filled.popitem(last=False)


def within_budget(turns: tuple[Turn, ...], budget_tokens: int) -> tuple[Turn, ...]:
    """The newest turns that fit, oldest first. The newest stays even if it alone is too long: without
    it 「那个呢」 has no answer."""
    if sum(len(turn.question) + len(turn.answer) for turn in turns) <= budget_tokens:
        return turns  # a token is a character at least
    spent = 0
    for count, turn in enumerate(reversed(turns)):
        spent += estimate_tokens(turn.question) + estimate_tokens(turn.answer)
        if spent > budget_tokens and count:
            return turns[-count:]
    return turns


def _place(scope: Scope) -> _Place:
    return scope.person, scope.place, scope.epoch
