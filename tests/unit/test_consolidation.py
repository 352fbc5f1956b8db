"""A turn becomes memory once, also without an embedder, and a failed judgement keeps nothing."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

import pytest

from bot.conversation.errors import JideError, ModelUnavailable, TransientError
from bot.conversation.turn import Turn
from bot.memory.consolidation import BACKLOG_BATCH, Consolidation
from bot.memory.entities import EntityType
from bot.memory.fact import FactKind
from bot.memory.judge import Judge, Judgement, ModelJudge, RuleJudge
from bot.memory.summary import DueSummary
from tests.memory_fakes import NOW, SCOPE, CountingEmbedder, FactsInMemory, ScriptedModel


def turn(question: str, answer: str = "好的，我叫小助手") -> Turn:
    return Turn(id=7, question=question, answer=answer, at=NOW)


def make(
    facts: FactsInMemory, embedder: CountingEmbedder | None = None, judge: Judge | None = None
) -> Consolidation:
    return Consolidation(judge=judge or RuleJudge(), facts=facts, embedder=embedder)


async def consolidate(consolidation: Consolidation, question: str) -> None:
    await consolidation.consolidate(SCOPE, turn(question), job=3, is_group=False)


async def test_facts_vectors_and_job_go_together() -> None:
    facts, embedder = FactsInMemory(), CountingEmbedder()
    await consolidate(make(facts, embedder), "我对花生过敏")
    assert facts.texts() == ["我对花生过敏"]
    assert facts.kept_with == [(True, "count-1")]
    assert facts.finished == [3]
    assert embedder.batches == [["我对花生过敏"]]


async def test_the_answer_says_nothing_of_the_person() -> None:
    facts = FactsInMemory()
    answer = "我住在杭州，对花生过敏，订单SF1234567890123是您的"
    await make(facts).consolidate(SCOPE, turn("你好呀", answer), job=3, is_group=False)
    assert (facts.texts(), facts.named) == ([], [])


@pytest.mark.parametrize("question", ["嗯嗯", "我对花生过敏"])
async def test_what_the_bot_promised_is_kept_as_that(question: str) -> None:
    facts, embedder = FactsInMemory(), CountingEmbedder()
    promising = turn(question, "好的，给您补偿20元，三天内到账。")
    await make(facts, embedder).consolidate(SCOPE, promising, job=3, is_group=False)
    held = facts.held[SCOPE.person, SCOPE.place]
    promised = [fact.text for fact in held if fact.kind is FactKind.PROMISE]
    assert promised == ["给您补偿20元，三天内到账"] == embedder.batches[0][-1:]
    assert [each.value for each in facts.named if each.type is EntityType.PROMISE] == promised
    assert facts.finished == [3]


async def test_the_job_is_finished_when_nothing_is_kept() -> None:
    facts = FactsInMemory()
    await consolidate(make(facts), "今天天气怎么样")
    assert facts.finished == [3]


@pytest.mark.parametrize("has_embedder", [True, False])
async def test_without_vectors_the_facts_are_kept_all_the_same(has_embedder: bool) -> None:
    facts, embedder = FactsInMemory(), CountingEmbedder()
    embedder.is_away = True
    await consolidate(make(facts, embedder if has_embedder else None), "我对花生过敏")
    assert facts.texts() == ["我对花生过敏"]
    assert facts.kept_with == [(False, "")]
    assert facts.finished == [3]


async def test_the_backlog_drains_when_the_embedder_is_back() -> None:
    facts, embedder = FactsInMemory(), CountingEmbedder()
    embedder.is_away = True
    consolidation = make(facts, embedder)
    await consolidate(consolidation, "我对花生过敏")
    embedder.is_away = False
    await consolidate(consolidation, "我穿 M 码")
    assert set(facts.vectors) == {1, 2}


async def test_a_long_backlog_goes_in_batches() -> None:
    facts, embedder = FactsInMemory(*(f"我喜欢第{number}号" for number in range(70))), CountingEmbedder()
    assert await make(facts, embedder).embed_backlog(SCOPE) == 70
    assert [len(batch) for batch in embedder.batches] == [BACKLOG_BATCH, BACKLOG_BATCH, 6]


async def test_vectors_the_store_refuses_are_not_made_for_ever() -> None:
    facts, embedder = FactsInMemory("我对花生过敏"), CountingEmbedder()
    facts.refuses_vectors = True
    await make(facts, embedder).embed_backlog(SCOPE)
    assert len(embedder.batches) == 2


async def test_jobs_done_together_ask_the_model_one_at_a_time() -> None:
    class Slow:
        def __init__(self) -> None:
            self.asking = self.most = 0

        async def judge(
            self,
            text: str,
            said_at: datetime,
            *,
            is_group: bool,
            due: DueSummary | None = None,
            known: Sequence[str] = (),
        ) -> Judgement:
            self.asking += 1
            self.most = max(self.most, self.asking)
            await asyncio.sleep(0)
            self.asking -= 1
            return Judgement(keep=False, reason="")

    judge, facts = Slow(), FactsInMemory()
    consolidation = make(facts, judge=judge)
    await asyncio.gather(*(consolidate(consolidation, f"我穿 {size} 码") for size in range(5)))
    assert judge.most == 1
    assert facts.finished == [3] * 5


async def test_an_outage_of_the_model_is_raised_and_finishes_nothing() -> None:
    facts = FactsInMemory()
    judge = ModelJudge(ScriptedModel(ModelUnavailable("away")))
    with pytest.raises(ModelUnavailable):
        await consolidate(make(facts, judge=judge), "我对花生过敏")
    assert (facts.finished, facts.texts()) == ([], [])


async def test_nonsense_is_an_error_that_counts() -> None:
    """Not a TransientError: a model that always talks nonsense must not keep a job for ever."""
    facts = FactsInMemory()
    with pytest.raises(JideError) as raised:
        await consolidate(make(facts, judge=ModelJudge(ScriptedModel("???"))), "我对花生过敏")
    assert not isinstance(raised.value, TransientError)
    assert (facts.finished, facts.texts()) == ([], [])


async def test_the_backlog_of_everybody_drains() -> None:
    facts, embedder = FactsInMemory("我穿 M 码", "我对花生过敏"), CountingEmbedder()
    assert await make(facts, embedder).embed_waiting() == 2
    assert await make(facts, embedder).embed_waiting() == 0
    assert await make(FactsInMemory("我穿 M 码")).embed_waiting() == 0


async def test_what_is_named_is_kept_without_a_fact_or_a_model() -> None:
    facts = FactsInMemory()
    await consolidate(make(facts), "订单SF1234567890123是哪天的？")
    assert facts.texts() == []
    assert [(each.value, each.seen_at) for each in facts.named] == [("SF1234567890123", NOW)]


async def test_what_the_model_names_is_held_against_the_words() -> None:
    facts = FactsInMemory()
    answer = (
        '{"keep": false, "facts": [], "entities": [{"type": "product_name", "value": "小蓝瓶"},'
        ' {"type": "product_name", "value": "小红瓶"}]}'
    )
    await consolidate(make(facts, judge=ModelJudge(ScriptedModel(answer))), "小蓝瓶快用完了")
    assert [each.value for each in facts.named] == ["小蓝瓶"]


async def test_noise_names_nothing_and_asks_nobody() -> None:
    facts = FactsInMemory()
    for noise in ("啊", "。" * 23):
        await consolidate(make(facts, judge=ModelJudge(ScriptedModel())), noise)
    assert (facts.named, facts.texts()) == ([], [])


@pytest.mark.parametrize("answer", ["???", ModelUnavailable("away")])
async def test_what_rules_find_waits_for_no_model(answer: str | Exception) -> None:
    facts = FactsInMemory()
    with pytest.raises(JideError):
        await consolidate(make(facts, judge=ModelJudge(ScriptedModel(answer))), "我的单号是SF1234567890123")
    assert ([each.value for each in facts.named], facts.finished) == (["SF1234567890123"], [])
