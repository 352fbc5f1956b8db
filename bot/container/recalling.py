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
from bot.pointing import Pointing
from bot.settings import Settings
from bot.storage.vectors.person_index import PersonIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalling:
    settings: Settings
    stores: Stores
    models: Models
    products: ProductNames
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
        if self.settings.memory.ranker == "literal":
            # The formula weighs one question, and no talk beside it.
            return Recall(
                facts=self.stores.facts, index=index, clock=self.clock, ranker=literal, talk_weight=0.0
            )
        return Recall(facts=self.stores.facts, index=index, clock=self.clock)

    def explaining(self, window: TurnWindow) -> Explaining:
        return Explaining(
            pointing=self.pointing(),
            recall=self.recall(),
            embedder=self.models.embedder,
            closed=self.stores.closed_facts,
            window=window,
            budget_tokens=self.settings.memory.recall_budget_tokens,
        )
