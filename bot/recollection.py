"""What of memory serves a message: the speaker's own, and in a group what the group keeps together.

Invariant: what was said in private is recalled in private alone, but for who opened theirs; what belongs to one
group is recalled in no other.
"""

from dataclasses import dataclass

from bot.conversation.message import Message
from bot.conversation.ports import Vector
from bot.conversation.scope import Scope
from bot.memory.recall import Recall, RecalledFact
from bot.metrics import Metrics
from bot.pointing import Pointed
from identity.directory import Directory
from identity.model import Account

GROUP_K = 3
"""Memories of the group beside one's own: notices and rules, of which few concern one question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollected:
    """What was found, each best first."""

    own: tuple[RecalledFact, ...] = ()
    group: tuple[RecalledFact, ...] = ()
    """群公共记忆: everybody's in this group, nobody's own."""


class Recollection:
    def __init__(self, *, recall: Recall, directory: Directory, metrics: Metrics) -> None:
        self._recall = recall
        self._directory = directory
        self._metrics = metrics

    async def recollect(
        self,
        message: Message,
        account: Account | None,
        scope: Scope | None,
        pointed: Pointed,
        query: Vector | None,
    ) -> Recollected:
        """`query`: the embedding of `pointed.query`. Raises StoreUnavailable."""
        if scope is None or account is None:
            return Recollected()
        with self._metrics.memory_recall_seconds.time():
            own = await self._from(scope, pointed.query, pointed.k, query)
            if not message.conversation.is_group:
                return Recollected(own=own)
            if account.is_open:
                private = await self._from(account.scope(""), pointed.query, pointed.k, query)
                own = tuple(sorted((*own, *private), key=lambda each: -each.score)[: pointed.k])
            return Recollected(own=own, group=await self._of_group(message, pointed.query, query))

    async def _of_group(self, message: Message, text: str, query: Vector | None) -> tuple[RecalledFact, ...]:
        conversation = message.conversation
        group = await self._directory.known_group(conversation)
        if group is None:
            return ()
        return await self._from(group.scope(conversation.place), text, GROUP_K, query)

    async def _from(self, scope: Scope, text: str, k: int, query: Vector | None) -> tuple[RecalledFact, ...]:
        recalled = await self._recall.recall(scope, text, k, query)
        if recalled.degraded:
            self._metrics.degraded_recalls.inc()
        return recalled.facts
