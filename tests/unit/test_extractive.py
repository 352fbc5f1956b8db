"""Without a model: quote what fits, say what it is, and never an unrelated memory."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.answering.extractive import LONGEST_QUOTE, ExtractiveAnswerer
from bot.answering.question import Question
from bot.conversation.turn import Turn
from bot.conversation.wording import Wording
from bot.knowledge.passage import Passage
from bot.knowledge.retrieval import RetrievedPassage
from bot.memory.asked_time import AskedTime
from bot.memory.fact import Fact, FactKind
from bot.memory.naming import promised_in
from bot.memory.recall import RecalledFact
from bot.memory.time_zh import Window
from tests.memory_fakes import NOW, CountingEmbedder, make_fact

WORDING = Wording.load("zh_CN")
UNSURE = WORDING.say("answer_unsure")


def ask(text: str, *facts: str | Fact, passages: tuple[str, ...] = ()) -> Question:
    stored = [fact if isinstance(fact, Fact) else make_fact(n, fact) for n, fact in enumerate(facts)]
    return Question(
        text=text,
        quoted="",
        persona="",
        short_term=(),
        facts=tuple(RecalledFact(fact=fact, score=1, dense=None, lexical=0) for fact in stored),
        passages=tuple(
            RetrievedPassage(
                passage=Passage(id=n, document=f"手册{n}", heading="", text=passage),
                score=1,
                dense=None,
                lexical=1,
            )
            for n, passage in enumerate(passages)
        ),
        at=NOW,
        is_group=False,
    )


async def answer(question: Question) -> str:
    reply = await ExtractiveAnswerer(wording=WORDING).answer(question)
    assert reply.decided_by == "extract"
    return reply.text


async def test_quotes_the_memory_with_its_date_and_says_what_it_is() -> None:
    text = await answer(ask("我对什么过敏", make_fact(1, "我对花生过敏", days_ago=3)))
    assert text == "目前没有接入大模型，以下是摘录：\n您之前说过：“我对花生过敏”（2026-11-26）"


async def test_a_promise_is_quoted_as_the_bots_own() -> None:
    promise = make_fact(1, "24小时内给您回电", kind=FactKind.PROMISE, days_ago=3)
    text = await answer(ask("什么时候给我回电", promise))
    assert text == "目前没有接入大模型，以下是摘录：\n我答应过您：“24小时内给您回电”（2026-11-26）"


async def test_a_promise_that_is_meant_is_quoted_once_kept_yet_or_not() -> None:
    meant = promised_in("24小时内给您回电", NOW)
    kept = make_fact(1, "24小时内给您回电", kind=FactKind.PROMISE)
    for known in ((), (kept,)):
        asked = replace(ask("你答应我的呢", *known), meant=meant, query="24小时内给您回电")
        assert (await answer(asked)).count("我答应过您：“24小时内给您回电”") == 1


async def test_dates_are_beijing_days() -> None:
    late = make_fact(1, "我对花生过敏", days_ago=timedelta(hours=-13) / timedelta(days=1))
    assert "（2026-11-30）" in await answer(ask("我对什么过敏", late))


async def test_do_you_remember_me() -> None:
    text = await answer(ask("我能吃什么零食？还记得我吗", "我叫八六", "我对花生过敏"))
    assert "“我叫八六”" in text
    assert "“我对花生过敏”" in text


async def test_quotes_the_passage_with_its_source() -> None:
    text = await answer(ask("怎么退款", passages=("营业到九点。", "退款在“我的订单”里申请。")))
    assert text.endswith("原文：“退款在“我的订单”里申请。”（出自《手册1》）")


async def test_memory_and_passage_together() -> None:
    text = await answer(ask("我的退款多久到账", "我昨天申请了退款", passages=("退款 3 天到账。",)))
    assert text.index("我昨天申请了退款") < text.index("退款 3 天到账")


async def test_never_an_unrelated_memory() -> None:
    for question in ("今天天气怎么样", "怎么办", "你是谁", "发票怎么开", "SF999999999 到了吗"):
        facts = ("我对花生过敏", "我叫八六", "我的订单号是 SF123456789")
        assert await answer(ask(question, *facts, passages=("营业到九点。",))) == UNSURE


@pytest.mark.parametrize(
    ("said", "memory"),
    [
        ("我对花生过敏", "我每天早上都喝咖啡"),
        ("我不喝咖啡了", "我对花生过敏"),
        ("我每天跑步", "我每天早上都喝咖啡"),
        ("我喜欢猫", "我喜欢吃辣"),
        ("我叫小明，你好", "我穿M码"),
        ("我住在杭州", "我老家在成都"),
        ("我穿M码", "我的鞋码是42"),
        ("我不喝咖啡了", "我每天早上都喝咖啡"),
    ],
)
async def test_who_only_tells_something_gets_no_other_memory(said: str, memory: str) -> None:
    assert await answer(ask(said, memory)) == WORDING.say("answer_heard")


async def test_who_tells_of_the_same_again_is_told_so() -> None:
    assert "我对花生过敏，吃了会肿" in await answer(ask("我对花生过敏", "我对花生过敏，吃了会肿"))


@pytest.mark.parametrize("asked", ["我能吃花生吗", "我想买双鞋", "推荐点零食", "我的快递还没到", "今晚吃啥"])
async def test_a_question_a_wish_or_a_complaint_only_told_of_is_none(asked: str) -> None:
    assert await answer(ask(asked)) == UNSURE


async def test_nothing_known_is_unsure() -> None:
    assert await answer(ask("我对什么过敏")) == UNSURE


async def test_weaker_memories_stay_unsaid() -> None:
    text = await answer(ask("SF123456789 到了吗", "我的订单号是 SF123456789", "我买了很多东西，到了再说"))
    assert text.count("您之前说过") == 1


async def test_no_link_and_no_secret_of_a_memory_is_shown() -> None:
    text = await answer(
        ask(
            "我的博客是什么",
            '我的博客是 https://evil.example/x <a href="weixin://x">点</a> 卡 4111111111111111',
        )
    )
    assert "我的博客是 [链接已省略]" in text
    assert "evil" not in text
    assert "<a" not in text
    assert "4111" not in text


async def test_braces_in_a_memory_survive() -> None:
    assert "“我喜欢 {text} $x {{date}}”" in await answer(ask("我喜欢什么", "我喜欢 {text} $x {{date}}"))


async def test_a_long_passage_is_cut_at_the_sentence_that_matters() -> None:
    passage = "很长的开头没有要点。" * 60 + "发票七天内开。" + "后面还有别的。" * 60
    text = await answer(ask("发票怎么开", passages=(passage,)))
    assert "“…发票七天内开。" in text
    assert len(text) < LONGEST_QUOTE + 60


async def test_vectors_decide_where_they_are() -> None:
    """The same words, with a question vector that is no nearer than the background: nothing is said."""
    embedder = CountingEmbedder()
    answerer = ExtractiveAnswerer(wording=WORDING, embedder=embedder)
    await answerer.warm()
    far = RecalledFact(fact=make_fact(1, "我周末喜欢爬山"), score=1, dense=-1.0, lexical=0)
    asked = ask("喜欢周末")
    near = Question(
        text=asked.text,
        quoted="",
        persona="",
        short_term=(),
        facts=(far,),
        passages=(),
        at=NOW,
        is_group=False,
        query_vector=await embedder.embed_query(asked.text),
    )
    assert (await answerer.answer(near)).text == UNSURE
    assert "爬山" in await answer(ask("喜欢周末", "我周末喜欢爬山"))


async def test_the_embedder_away_leaves_the_words() -> None:
    embedder = CountingEmbedder()
    query = await embedder.embed_query("花生")
    embedder.is_away = True
    asked = ask("花生过敏", "我对花生过敏")
    with_vector = Question(
        text=asked.text,
        quoted="",
        persona="",
        short_term=(),
        facts=asked.facts,
        passages=(),
        at=NOW,
        is_group=False,
        query_vector=query,
    )
    reply = await ExtractiveAnswerer(wording=WORDING, embedder=embedder).answer(with_vector)
    assert "我对花生过敏" in reply.text


def found(text: str, *, document: str = "手册.md", **fields: object) -> RetrievedPassage:
    passage = Passage(id=1, document=document, heading="", text=text)
    return RetrievedPassage(passage=passage, score=1, dense=None, lexical=1, **fields)  # type: ignore[arg-type]


async def test_markdown_is_quoted_as_plain_text_and_plain_text_as_it_is() -> None:
    passages = (found("**退款**见[这里](https://shop.cn/r)。"),)
    text = await answer(replace(ask("怎么退款"), passages=passages))
    assert "原文：“退款见这里（https://shop.cn/r）。”" in text
    as_written = (found("**退款**三天。", document="手册.txt"),)
    assert "“**退款**三天。”" in await answer(replace(ask("怎么退款"), passages=as_written))


async def test_a_named_product_is_quoted_and_the_fitting_passage_too() -> None:
    product = found("A 款；价格：299", document="商品目录", is_named=True)
    asked = ask("A款怎么洗")
    quoted = await answer(replace(asked, passages=(product, found("洗涤：A款手洗。"), found("A款怎么洗"))))
    assert quoted.index("A 款；价格：299") < quoted.index("洗涤：A款手洗。")
    assert quoted.count("原文") == 2
    assert "A 款；价格：299" in await answer(replace(asked, passages=(product, found("营业到九点。"))))


async def test_what_is_unrelated_does_not_reach_a_model() -> None:
    answerer = ExtractiveAnswerer(wording=WORDING)
    rule = RetrievedPassage(
        passage=Passage(id=0, document="常见问题", heading="换货", text="请看说明。"),
        score=1,
        dense=None,
        lexical=0,
        is_given=True,
    )
    product = found("A 款；价格：299", document="商品目录", is_named=True)
    passages = (rule, product, found("退款三天到账。"), found("营业到九点。"))
    readable = await answerer.readable(replace(ask("退款多久到账"), passages=passages))
    assert readable.passages == passages[:3]
    assert (await answerer.readable(ask("退款"))).passages == ()


THEN = AskedTime(
    words="昨天",
    rest="说的地址是哪个",
    window=Window(start=NOW - timedelta(days=2), end=NOW - timedelta(days=1)),
)


async def test_that_nothing_was_said_then_is_said() -> None:
    said = await answer(replace(ask("昨天说的地址是哪个"), asked=THEN))
    assert "昨天" in said and "2026-11-27 12:00" in said and "没有记下" in said


async def test_what_was_said_then_is_quoted_as_it_was_but_no_question() -> None:
    turns = tuple(
        Turn(id=number, question=text, answer="好的", at=NOW - timedelta(days=1.5))
        for number, text in enumerate(("寄到桂花巷9号", "地址是哪个？"))
    )
    said = await answer(replace(ask("昨天说的地址是哪个"), asked=THEN, said=turns))
    assert "桂花巷9号" in said and "地址是哪个" not in said


async def test_a_long_turn_is_not_quoted_whole() -> None:
    turn = Turn(id=1, question="寄到桂花巷9号" * 1_000, answer="好的", at=NOW - timedelta(days=1.5))
    said = await answer(replace(ask("昨天说的地址是哪个"), asked=THEN, said=(turn,)))
    assert "桂花巷9号" in said and len(said) < 2 * LONGEST_QUOTE


async def test_who_asks_for_all_that_was_said_then_gets_it() -> None:
    asked = replace(THEN, rest="我说过什么")
    said = await answer(replace(ask("昨天我说过什么", "我对花生过敏"), asked=asked))
    assert "花生" in said
