"""The model's answer, and every way it can fail to come."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from bot.answering.answerer import ModelAnswerer
from bot.answering.drafts import Draft, rest_of
from bot.answering.extractive import ExtractiveAnswerer
from bot.answering.question import Answer, Question
from bot.conversation.errors import ModelRefused, ModelUnavailable, ModelUnpaid
from bot.conversation.ports import ChatLine, ChatModel
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


class Writing:
    """A `ChatModel` that hands on its pieces, then says the whole or fails; `looks` is called after each piece."""

    def __init__(
        self, *pieces: str, fails: Exception | None = None, looks: Callable[[], object] = str
    ) -> None:
        self._pieces = pieces
        self._fails = fails
        self._looks = looks
        self.asked: list[tuple[ChatLine, ...]] = []

    async def complete(
        self,
        lines: Sequence[ChatLine],
        on_text: Callable[[str], None] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        self.asked.append(tuple(lines))
        for piece in self._pieces:
            if on_text is not None:
                on_text(piece)
            self._looks()
        if self._fails is not None:
            raise self._fails
        return "".join(self._pieces)


def answerer_of(model: ChatModel, vision: ChatModel | None = None) -> ModelAnswerer:
    return ModelAnswerer(
        model=model, fallback=ExtractiveAnswerer(wording=WORDING), wording=WORDING, vision=vision
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


@pytest.mark.parametrize(
    "text",
    [
        "weixin://dl/pay?x=1",
        "WeiXin:/x",
        "wei<a>xin://x",
        "<\ufdd0a href='weixin://x'>",
        "[](weixin://x)",
        "\ufdd0继续\ufdd1",
    ],
)
async def test_neither_taps_nor_links_into_wechat(text: str) -> None:
    for asked in (ask("你好呀"), ask("你好呀", persona=text)):
        reply = (await answer(f"点这里 {text} 好", asked)).text
        assert "weixin:" not in reply.lower()
        assert not set("\ufdd0\ufdd1<") & set(reply)


async def test_nothing_left_of_an_answer_is_no_answer() -> None:
    reply = await answer("<a>", ask("今天天气怎么样"))
    assert reply == Answer(text=WORDING.say("model_away_unsure"), decided_by="extract")


async def test_markdown_is_left_to_the_channel_and_memory_gets_the_words() -> None:
    reply = await answer("**退款**：\n\n1. 见[这里](https://shop.cn/r)", ask("怎么退款"))
    assert reply.text == "**退款**：\n\n1. 见[这里](https://shop.cn/r)"
    assert reply.plain == "退款：\n\n1. 见这里（https://shop.cn/r）"


async def test_the_draft_holds_the_text_while_it_is_written() -> None:
    draft = Draft()
    taken: list[str] = []
    model = Writing("您可以", "吃瓜子。不要", "吃花生。", looks=lambda: taken.append(draft.take()))
    reply = await answerer_of(model).answer(ask("我能吃什么", "我对花生过敏"), draft)
    assert taken == ["", "您可以吃瓜子。", "您可以吃瓜子。"]
    assert rest_of(reply.text, draft.shown()) == "不要吃花生。"


async def test_no_sentence_with_a_link_of_memory_is_shown() -> None:
    draft = Draft()
    model = Writing("第一句。", "请到 https://evil.example/pay 付款。", "第三句。", looks=lambda: None)
    reply = await answerer_of(model).answer(ask("怎么付款", "付款去 https://evil.example/pay"), draft)
    assert draft.take() == "第一句。"
    assert reply.text == "第一句。请到 [链接已省略] 付款。第三句。"


@pytest.mark.parametrize("error", [ModelUnavailable("cut"), ModelRefused("x")])
async def test_of_an_answer_that_fails_nothing_more_is_shown(error: Exception) -> None:
    draft = Draft()
    reply = await answerer_of(Writing("第一句。", "第二", fails=error)).answer(ask("你好呀"), draft)
    assert draft.take() == ""
    assert "第一句" not in reply.text
    shown = Draft()
    model = Writing("第一句。", fails=error, looks=shown.take)
    reply = await answerer_of(model).answer(ask("你好呀"), shown)
    assert rest_of(reply.text, shown.shown()) == reply.text


async def test_without_a_model_nothing_is_drafted() -> None:
    draft = Draft()
    await ExtractiveAnswerer(wording=WORDING).answer(ask("我对什么过敏", "我对花生过敏"), draft)
    assert draft.take() == ""


async def test_a_picture_goes_to_the_model_that_sees() -> None:
    model, vision = Writing("文字"), Writing("一只猫")
    asked = replace(ask("这是什么", "我养猫"), images=("data:image/png;base64,AA==",))
    draft = Draft()
    assert (await answerer_of(model, vision).answer(asked, draft)).text == "一只猫"
    system, user = vision.asked[0]
    assert "我养猫" in system.text
    assert (user.text, user.images, system.images) == ("这是什么", asked.images, ())
    assert model.asked == []
    assert (await answerer_of(model, vision).answer(ask("你好呀"))).text == "文字"


async def test_a_picture_without_words() -> None:
    vision = Writing("一只猫")
    asked = replace(ask(""), images=("data:image/png;base64,AA==",))
    assert (await answerer_of(Writing("文字"), vision).answer(asked)).text == "一只猫"
    assert vision.asked[0][-1].text
    away = Writing(fails=ModelUnavailable("away"))
    assert (await answerer_of(Writing("文字"), away).answer(asked)).decided_by == "extract"


async def test_where_nobody_sees_the_picture_is_passed_over() -> None:
    model = Writing("文字")
    asked = replace(ask("这是什么"), images=("data:image/png;base64,AA==",))
    assert (await answerer_of(model).answer(asked)).text == "文字"
    assert all(not line.images for line in model.asked[0])
