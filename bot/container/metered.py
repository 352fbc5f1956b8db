"""The stores whose work is counted and timed as it happens.

Invariant: nothing here changes what a caller gets, waits for or is raised.
"""

from collections.abc import Sequence

from bot.conversation.message import AccountKey
from bot.conversation.ports import Clock, Matrix
from bot.conversation.scope import Scope
from bot.memory.entities import SeenEntity
from bot.memory.fact import NewFact
from bot.memory.summary import NewSummary
from bot.metrics import Metrics
from bot.ports import DeliveryState
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.database import Database
from bot.storage.sql.deliveries import SqlDeliveries
from bot.storage.sql.facts import SqlFacts


class MeteredFacts(SqlFacts):
    """Times what stores memory."""

    def __init__(
        self, database: Database, clock: Clock, ledger: ForgetLedger | None = None, *, metrics: Metrics
    ) -> None:
        super().__init__(database, clock, ledger)
        self._seconds = metrics.memory_upsert_seconds

    async def keep(
        self,
        scope: Scope,
        facts: Sequence[NewFact],
        vectors: Matrix | None,
        model_id: str,
        *,
        source_turn: int | None,
        job: int | None = None,
        entities: Sequence[SeenEntity] = (),
        summary: NewSummary | None = None,
    ) -> tuple[int, ...]:
        with self._seconds.time():
            return await super().keep(
                scope,
                facts,
                vectors,
                model_id,
                source_turn=source_turn,
                job=job,
                entities=entities,
                summary=summary,
            )

    async def add_vectors(
        self, scope: Scope, fact_ids: Sequence[int], vectors: Matrix, model_id: str
    ) -> None:
        with self._seconds.time():
            await super().add_vectors(scope, fact_ids, vectors, model_id)


class MeteredDeliveries(SqlDeliveries):
    """Counts replies that would have been second ones, and those nobody knows of."""

    def __init__(self, database: Database, clock: Clock, *, metrics: Metrics) -> None:
        super().__init__(database, clock)
        self._duplicates = metrics.duplicate_replies
        self._unknown = metrics.unknown_replies

    async def begin_sending(self, inbox_id: int) -> bool:
        has_begun = await super().begin_sending(inbox_id)
        if not has_begun:
            self._duplicates.inc()
        return has_begun

    async def seal(self, channel: str, app_id: str, key: str, body: bytes, *, carries_answer: bool) -> bytes:
        sealed = await super().seal(channel, app_id, key, body, carries_answer=carries_answer)
        if sealed != body:
            self._duplicates.inc()
        return sealed

    async def mark_delivery(self, inbox_id: int, state: DeliveryState, next_page: int) -> None:
        await super().mark_delivery(inbox_id, state, next_page)
        if state is DeliveryState.UNKNOWN:
            self._unknown.inc()

    async def crashed_sendings(self) -> tuple[AccountKey, ...]:
        crashed = await super().crashed_sendings()
        self._unknown.inc(len(crashed))
        return crashed
