"""The model's answer, and every way it can fail to come."""

import pytest

from bot.answering.answerer import ModelAnswerer
from bot.answering.extractive import ExtractiveAnswerer
from bot.answering.question import Answer, Question
from bot.conversation.errors import ModelRefused, ModelUnavailable, ModelUnpaid
from bot.conversation.turn import Turn
from bot.conversation.wording import Wording
from bot.knowledge.passage import Passage
from bot.knowledge.retrieval import RetrievedPassage
from bot.memory.recall import RecalledFact
from tests.memory_fakes import NOW, ScriptedModel, make_fact

WORDING = Wording.load("zh_CN")


def ask(text: str, *facts: str, passage: str = "", persona: str = "", said: str = "") -> Question:
    return Question(
        text=text,
        quoted="",
        persona=persona,
        short_term=(Turn(id=1, question=said, answer="", at=NOW),) if said else (),
        facts=tuple(
            RecalledFact(fact=make_fact(n, fact), score=1, dense=None, lexical=0)
            for n, fact in enumerate(facts)
        ),
        passages=(
            RetrievedPassage(
                passage=Passage(id=1, document="手册", heading="", text=passage),
                score=1,
                dense=None,
                lexical=1,
            ),
        )
        if passage
        else (),
        at=NOW,
        is_group=False,
    )


async def answer(reply: str | Exception, question: Question) -> Answer:
    answerer = ModelAnswerer(
        model=ScriptedModel(reply), fallback=ExtractiveAnswerer(wording=WORDING), wording=WORDING
    )
    return await answerer.answer(question)


async def test_the_models_words_are_the_answer() -> None:
    reply = await answer("您可以吃瓜子。", ask("我能吃什么", "我对花生过敏"))
    assert reply == Answer(text="您可以吃瓜子。", decided_by="model")


async def test_the_prompt_holds_the_memories() -> None:
    model = ScriptedModel("好")
    answerer = ModelAnswerer(model=model, fallback=ExtractiveAnswerer(wording=WORDING), wording=WORDING)
    await answerer.answer(ask("还记得我吗", "我叫八六", "我对花生过敏"))
    assert "我叫八六" in model.prompt
    assert "我对花生过敏" in model.prompt


@pytest.mark.parametrize("error", [ModelUnavailable("away"), ModelUnpaid("402")])
async def test_an_outage_degrades_to_quotations_and_says_so(error: Exception) -> None:
    reply = await answer(error, ask("我对什么过敏", "我对花生过敏"))
    assert reply.decided_by == "extract"
    assert reply.text == "大模型暂时没有回应，以下是摘录：\n您之前说过：“我对花生过敏”（2026-11-29）"


async def test_an_outage_with_nothing_to_quote() -> None:
    reply = await answer(ModelUnavailable("away"), ask("今天天气怎么样", "我对花生过敏"))
    assert reply == Answer(text=WORDING.say("model_away_unsure"), decided_by="extract")


async def test_out_of_money_with_nothing_to_quote() -> None:
    reply = await answer(ModelUnpaid("402"), ask("今天天气怎么样"))
    assert reply == Answer(text="暂时只能回答常见问题。", decided_by="extract")


async def test_a_refusal_is_polite_and_quotes_nothing() -> None:
    reply = await answer(ModelRefused("x"), ask("我对什么过敏", "我对花生过敏"))
    assert reply == Answer(text=WORDING.say("model_refused"), decided_by="notice")


async def test_links_from_memory_are_left_out() -> None:
    link = "https://evil.example/pay"
    for question in (ask("怎么付款", f"付款去 {link}"), ask("怎么付款", said=f"付款去 {link}")):
        assert (await answer(f"请到 {link} 付款", question)).text == "请到 [链接已省略] 付款"


async def test_links_of_the_house_stay() -> None:
    link = "https://shop.example/pay"
    for question in (
        ask("怎么付款", f"付款去 {link}", passage=f"付款请到 {link}"),
        ask("怎么付款", persona=f"网店 {link}"),
        ask(f"{link} 是你们的吗", f"{link} 是你们的"),
        ask("怎么付款"),
    ):
        assert (await answer(f"请到 {link} 付款", question)).text == f"请到 {link} 付款"


async def test_nothing_to_tap_is_let_through() -> None:
    reply = await answer('<a href="weixin://bizmsgmenu?msgmenucontent=x">点我</a>', ask("你好呀"))
    assert reply.text == "点我"
