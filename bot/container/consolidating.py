"""What makes memories of turns, put together from the settings.

Invariant: nothing is opened or started here.
"""

from bot.container.models import Models
from bot.container.stores import Stores
from bot.memory.consolidation import Consolidation, ProductNames, Summaries
from bot.memory.heads.keeping import KeepHead
from bot.memory.judge import Judge, ModelJudge, RuleJudge, load_judge_prompt
from bot.memory.ports import TurnWindow
from bot.memory.revising import Revising
from bot.memory.summary import SummaryRule
from bot.metering import MeteredJudge
from bot.metrics import Metrics
from bot.settings import Settings


def make_consolidation(
    settings: Settings,
    stores: Stores,
    models: Models,
    metrics: Metrics,
    *,
    window: TurnWindow,
    products: ProductNames,
) -> Consolidation:
    return Consolidation(
        judge=MeteredJudge(_judge(settings, models), metrics),
        facts=stores.facts,
        embedder=models.embedder,
        products=products,
        summaries=_summaries(settings, stores, window),
        revising=Revising(stores.facts, stores.turn_log, shows_known=models.memory is not None),
    )


def _judge(settings: Settings, models: Models) -> Judge:
    if models.memory is not None:
        return ModelJudge(models.memory, load_judge_prompt(settings.data_folder / "prompts"))
    return RuleJudge(KeepHead(models.embedder) if models.embedder is not None else None)


def _summaries(settings: Settings, stores: Stores, window: TurnWindow) -> Summaries | None:
    memory = settings.memory
    if not memory.summary_after_turns:
        return None
    rule = SummaryRule(
        after_turns=memory.summary_after_turns,
        keeps=memory.summary_keeps,
        budget_tokens=memory.short_term_budget_tokens,
    )
    return Summaries(reader=stores.summaries, rule=rule, window=window)
