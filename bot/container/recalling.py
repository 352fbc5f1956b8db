"""What finds memories, put together from the settings: for the answers, and for who asks why.

Invariant: nothing is opened or started here.
"""

from dataclasses import dataclass

from bot.container.models import Models
from bot.container.stores import Stores
from bot.conversation.ports import Clock
from bot.explaining import Explaining
from bot.memory.asked_time import AskedTimes
from bot.memory.consolidation import ProductNames
from bot.memory.literal import literal
from bot.memory.ports import TurnWindow
from bot.memory.recall import Recall
from bot.memory.sizing import Sizing
from bot.memory.talk import TALK_WEIGHT
from bot.metrics import Metrics
from bot.pacing import Pace
from bot.pointing import Pointing
from bot.renewing import Renewing
from bot.settings import Settings
from bot.storage.vectors.person_index import PersonIndex


def make_renewing(stores: Stores, models: Models, pace: Pace, metrics: Metrics) -> Renewing:
    return Renewing(
        vectors=stores.vectors, facts=stores.facts, embedder=models.embedder, pace=pace, metrics=metrics
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalling:
    settings: Settings
    stores: Stores
    models: Models
    products: ProductNames
    renewing: Renewing
    clock: Clock

    def pointing(self) -> Pointing:
        return Pointing(
            self.stores.entities,
            self.settings.memory.recall_k,
            self.products,
            AskedTimes(self.stores.turn_log),
            Sizing(self.models.memory if self.settings.memory.recall_k_by_model else None),
        )

    def recall(self) -> Recall:
        embedder = self.models.embedder
        index = PersonIndex(
            self.stores.facts, self.clock, model_id=lambda: embedder.model_id if embedder is not None else ""
        )
        is_literal = self.settings.memory.ranker == "literal"
        return Recall(
            facts=self.stores.facts,
            index=index,
            clock=self.clock,
            ranker=literal if is_literal else None,
            # The formula weighs one question, and no talk beside it.
            talk_weight=0.0 if is_literal else TALK_WEIGHT,
            on_other_model=self.renewing.prefer,
        )

    def explaining(self, window: TurnWindow) -> Explaining:
        return Explaining(
            pointing=self.pointing(),
            recall=self.recall(),
            embedder=self.models.embedder,
            closed=self.stores.closed_facts,
            window=window,
            budget_tokens=self.settings.memory.recall_budget_tokens,
        )
