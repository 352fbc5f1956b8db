"""The one call of a judgement also condenses the turns that are due; a bad answer costs no memory."""

import json
from dataclasses import replace

import pytest

from bot.conversation.errors import JideError, ModelRefused, ModelUnavailable
from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.memory.consolidation import Consolidation, Summaries
from bot.memory.judge import Judge, ModelJudge, RuleJudge, asks_something
from bot.memory.summary import DueSummary, OpenTalk, RecentTalk, Summary, SummaryRule
from tests.memory_fakes import NOW, SCOPE, FactsInMemory, ScriptedModel

SAID = ("我对花生过敏", "燕麦饼干里有花生吗", "那来两盒")
TOLD = "用户对花生过敏，问过燕麦饼干里有没有花生，要了两盒。"
BY_RULES = "2026-11-29：我对花生过敏"


def turn(number: int, question: str) -> Turn:
    return Turn(id=number, question=question, answer="好的", at=NOW)


DUE = DueSummary(turns=tuple(turn(number, text) for number, text in enumerate(SAID, 1)))


def answer(summary: str = TOLD, *facts: str, keep: bool | None = None) -> str:
    told = {"keep": bool(facts) if keep is None else keep, "reason": "", "summary": summary, "facts": facts}
    return json.dumps(told, ensure_ascii=False)


async def summary_of(reply: str | Exception, said: str = "我穿 M 码", due: DueSummary | None = DUE) -> str:
    return (await ModelJudge(ScriptedModel(reply)).judge(said, NOW, is_group=False, due=due)).summary


class TestModel:
    async def test_one_call_serves_facts_and_summary(self) -> None:
        model = ScriptedModel(answer(TOLD, "我穿 M 码"))
        due = replace(DUE, previous=Summary(text="更早的", from_turn=1, to_turn=1, at=NOW))
        judgement = await ModelJudge(model).judge("我穿 M 码", NOW, is_group=False, due=due)
        assert (judgement.summary, [fact.text for fact in judgement.facts]) == (TOLD, ["我穿 M 码"])
        ((_, user),) = model.asked
        asked = json.loads(user.text)
        assert (asked["said"], asked["earlier_summary"]) == ("我穿 M 码", "更早的")
        assert [each["user"] for each in asked["earlier_turns"]] == list(SAID)

    async def test_earlier_turns_ground_no_fact(self) -> None:
        model = ScriptedModel(answer(TOLD, "我对花生过敏"))
        judgement = await ModelJudge(model).judge("我穿 M 码", NOW, is_group=False, due=DUE)
        assert (judgement.facts, judgement.summary) == ((), TOLD)

    @pytest.mark.parametrize(
        "reply",
        [
            answer(""),
            answer("抱歉，我无法帮助您。"),
            answer("用户的单号是SF9999999999999，对花生过敏。"),
            ModelRefused("no"),
            '{"keep": false, "reason": "", "summary": "用户对花生过',
            "核心意图：提问 是否需要存入长期记忆：否 原因：闲聊 摘要：用户对花生过",
        ],
    )
    async def test_the_persons_words_stand_in_for_what_is_no_summary(self, reply: str | Exception) -> None:
        assert await summary_of(reply) == BY_RULES

    async def test_one_in_the_format_of_lines_is_taken(self) -> None:
        lines = f"核心意图：提问 是否需要存入长期记忆：否 原因：闲聊 摘要：{TOLD}"
        assert await summary_of(lines) == TOLD

    async def test_small_talk_and_noise_cost_no_call_however_much_is_due(self) -> None:
        for said in ("谢谢", "啊", "。" * 23, "？？？", "在吗？"):
            assert await summary_of(AssertionError("called"), said) == ""

    async def test_who_only_asks_is_condensed_once_it_cannot_wait(self) -> None:
        asked = "燕麦饼干多少钱一盒？"
        assert await summary_of(AssertionError("called"), asked, due=None) == ""
        assert await summary_of(AssertionError("called"), asked, replace(DUE, can_wait=True)) == ""
        judged = await ModelJudge(ScriptedModel(answer(TOLD, asked))).judge(
            asked, NOW, is_group=False, due=DUE
        )
        assert (judged.summary, judged.keep, judged.facts) == (TOLD, False, ())

    async def test_what_can_wait_rides_along(self) -> None:
        assert await summary_of(answer(), due=replace(DUE, can_wait=True)) == TOLD

    def test_what_asks_something(self) -> None:
        assert asks_something("几点开门？") and asks_something("退款多久到账呢")
        assert not any(map(asks_something, ("", "？", "在吗", "怎么办？", "我对花生过敏，能吃什么？")))


class Reader:
    """A `SummaryReader`, and the window that is dropped."""

    def __init__(self, *said: str) -> None:
        self.talk = OpenTalk(turns=tuple(turn(number, text) for number, text in enumerate(said, 1)))
        self.dropped: list[Scope] = []

    async def open_talk(self, scope: Scope) -> OpenTalk | None:
        return self.talk

    async def recent(self, scope: Scope) -> RecentTalk:
        raise AssertionError("not read")

    async def append(self, scope: Scope, turn: Turn) -> None:
        raise AssertionError("not written")

    async def drop(self, scope: Scope, *, for_good: bool = False) -> None:
        self.dropped.append(scope)


def make(facts: FactsInMemory, reader: Reader, judge: Judge, after_turns: int = 4) -> Consolidation:
    rule = SummaryRule(after_turns=after_turns, keeps=1, budget_tokens=10_000)
    return Consolidation(
        judge=judge,
        facts=facts,
        embedder=None,
        summaries=Summaries(reader=reader, rule=rule, window=reader),
    )


class TestConsolidation:
    async def consolidate(
        self, consolidation: Consolidation, said: str = "我穿 M 码", tries: int = 0
    ) -> None:
        await consolidation.consolidate(SCOPE, turn(4, said), job=3, is_group=False, tries=tries)

    async def test_it_is_kept_with_the_job_and_the_window_is_dropped(self) -> None:
        facts, reader = FactsInMemory(), Reader(*SAID, "我穿 M 码")
        await self.consolidate(make(facts, reader, ModelJudge(ScriptedModel(answer(TOLD, "我穿 M 码")))))
        (kept,) = facts.summaries
        assert (kept.text, kept.turns, kept.previous) == (TOLD, (1, 2, 3), None)
        assert (facts.texts(), facts.finished, reader.dropped) == (["我穿 M 码"], [3], [SCOPE])

    async def test_before_it_is_due_there_is_none(self) -> None:
        facts, reader = FactsInMemory(), Reader(*SAID)
        model = ScriptedModel(answer("一句话", "我穿 M 码"))
        await self.consolidate(make(facts, reader, ModelJudge(model)))
        assert (facts.summaries, reader.dropped) == ([], [])
        assert json.loads(model.asked[0][-1].text) == {"said": "我穿 M 码"}

    async def test_without_a_model_rules_make_it(self) -> None:
        facts = FactsInMemory()
        await self.consolidate(make(facts, Reader(*SAID, "谢谢"), RuleJudge()), "谢谢")
        assert [each.text for each in facts.summaries] == [BY_RULES]

    async def test_noise_leaves_it_due(self) -> None:
        facts = FactsInMemory()
        await self.consolidate(make(facts, Reader(*SAID, "啊"), ModelJudge(ScriptedModel())), "啊")
        assert (facts.summaries, facts.finished) == ([], [3])

    async def test_an_answer_nobody_can_read_is_asked_again_without_it(self) -> None:
        """Else a talk that confuses a model would cost every memory after it."""
        facts, model = FactsInMemory(), ScriptedModel("???", answer("一句话", "我穿 M 码"))
        consolidation = make(facts, Reader(*SAID, "我穿 M 码"), ModelJudge(model))
        with pytest.raises(JideError):
            await self.consolidate(consolidation)
        assert (facts.summaries, facts.finished) == ([], [])
        await self.consolidate(consolidation, tries=1)
        assert json.loads(model.asked[1][-1].text) == {"said": "我穿 M 码"}
        assert ([each.text for each in facts.summaries], facts.texts()) == ([BY_RULES], ["我穿 M 码"])

    async def test_an_outage_keeps_nothing(self) -> None:
        facts, model = FactsInMemory(), ScriptedModel(ModelUnavailable("away"))
        with pytest.raises(ModelUnavailable):
            await self.consolidate(make(facts, Reader(*SAID, "我穿 M 码"), ModelJudge(model)))
        assert (facts.summaries, facts.finished) == ([], [])
