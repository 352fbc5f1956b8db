"""What of memory serves a message: the speaker's own, and in a group what the group keeps together.

Invariant: what was said in private is recalled in private alone, but for who opened theirs; what belongs to one
group is recalled in no other.
"""

from dataclasses import dataclass
from itertools import compress

from bot.conversation.message import Message
from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.memory.budget import room
from bot.memory.ports import TurnLog
from bot.memory.query import Query
from bot.memory.recall import Recall, RecalledFact
from bot.memory.said import LOOKED_THROUGH, choose_said
from bot.metrics import Metrics
from bot.noting import note_looked
from bot.pointing import Pointed
from identity.directory import Directory
from identity.model import Account

GROUP_K = 3
"""Memories of the group beside one's own: notices and rules, of which few concern one question."""
RECALL_BUDGET_TOKENS = 1500
"""The setting's default: thirty-five memories of usual length, five of the longest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollected:
    """What was found, each best first."""

    own: tuple[RecalledFact, ...] = ()
    group: tuple[RecalledFact, ...] = ()
    """群公共记忆: everybody's in this group, nobody's own."""
    said: tuple[Turn, ...] = ()
    """As it was said, where a time is asked for."""


class Recollection:
    def __init__(
        self,
        *,
        recall: Recall,
        directory: Directory,
        metrics: Metrics,
        log: TurnLog | None = None,
        budget_tokens: int = RECALL_BUDGET_TOKENS,
    ) -> None:
        """`log`: where what was said in a time that is asked for can be read again. `budget_tokens`: of all
        memories of one prompt."""
        self._recall = recall
        self._budget_tokens = budget_tokens
        self._log = log
        self._directory = directory
        self._metrics = metrics

    async def recollect(
        self,
        message: Message,
        account: Account | None,
        scope: Scope | None,
        pointed: Pointed,
        query: Query,
    ) -> Recollected:
        """`query`: of `pointed.query`. Raises StoreUnavailable."""
        if scope is None or account is None:
            return Recollected()
        with self._metrics.memory_recall_seconds.time():
            own = await self._from(scope, pointed, pointed.k, query)
            said = await self._said(scope, pointed)
            if not message.conversation.is_group:
                return self._fitting(own, (), said)
            if account.is_open:
                private = await self._from(account.scope(""), pointed, pointed.k, query)
                own = tuple(sorted((*own, *private), key=lambda each: -each.score)[: pointed.k])
                said = (*said, *await self._said(account.scope(""), pointed))
            return self._fitting(own, await self._of_group(message, pointed, query), said)

    def _fitting(
        self, own: tuple[RecalledFact, ...], group: tuple[RecalledFact, ...], said: tuple[Turn, ...]
    ) -> Recollected:
        """What the prompt has room for, one's own first."""
        fits = room([each.fact for each in (*own, *group)], self._budget_tokens)
        return Recollected(
            own=tuple(compress(own, fits)), group=tuple(compress(group, fits[len(own) :])), said=said
        )

    async def _said(self, scope: Scope, pointed: Pointed) -> tuple[Turn, ...]:
        """Of the time that is asked for, also what was kept as no fact."""
        window = pointed.window
        if self._log is None or window is None:
            return ()
        turns = await self._log.between(scope, window.start, window.end, LOOKED_THROUGH)
        return choose_said(turns, pointed.query)

    async def _of_group(self, message: Message, pointed: Pointed, query: Query) -> tuple[RecalledFact, ...]:
        conversation = message.conversation
        group = await self._directory.known_group(conversation)
        if group is None:
            return ()
        return await self._from(group.scope(conversation.place), pointed, GROUP_K, query, is_group=True)

    async def _from(
        self, scope: Scope, pointed: Pointed, k: int, query: Query, *, is_group: bool = False
    ) -> tuple[RecalledFact, ...]:
        note_looked(scope, query, k, pointed, is_group=is_group)
        recalled = await self._recall.recall(
            scope, query.text, k, query.vector, pointed.window, query.talk, also_told=pointed.is_of_deeds
        )
        if recalled.degraded:
            self._metrics.degraded_recalls.inc()
        return recalled.facts
