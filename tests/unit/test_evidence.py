"""What fits a question: by words alone, and by distance above the background."""

import numpy as np
import pytest

from bot.answering.background import Background, Level, everyday_sentences
from bot.answering.evidence import is_worth_reading, memory_strength, passage_strength
from bot.answering.links import without_links
from bot.knowledge.passage import Passage
from bot.knowledge.retrieval import RetrievedPassage
from bot.memory.recall import RecalledFact
from tests.evidence_cases import pairs, precision_and_recall
from tests.memory_fakes import CountingEmbedder, make_fact

LEVEL = Level(mean=0.80, spread=0.02)


def memory(text: str, dense: float | None = None) -> RecalledFact:
    return RecalledFact(fact=make_fact(1, text), score=0, dense=dense, lexical=0)


def passage(text: str, dense: float | None = None) -> RetrievedPassage:
    return RetrievedPassage(
        passage=Passage(id=1, document="手册", heading="", text=text), score=0, dense=dense, lexical=0
    )


@pytest.mark.parametrize(("name", "recall"), [("memory_fits", 0.85), ("memory_fits_heldout", 0.45)])
def test_words_alone_quote_no_unrelated_memory(name: str, recall: float) -> None:
    found = [(memory_strength(pair.question, memory(pair.text), None) > 0, pair) for pair in pairs(name)]
    precision, found_share = precision_and_recall(found)
    assert precision == 1, [pair for decision, pair in found if decision and not pair.fits]
    assert found_share >= recall


@pytest.mark.parametrize("name", ["passage_fits", "passage_fits_heldout"])
def test_words_alone_find_passages(name: str) -> None:
    found = [(passage_strength(pair.question, passage(pair.text), None) > 0, pair) for pair in pairs(name)]
    precision, recall = precision_and_recall(found)
    assert precision >= 0.8
    assert recall >= 0.5


def test_nearness_counts_above_the_background_alone() -> None:
    """.87 is far above a background of .80 and nothing above one of .87."""
    question, fact = "你们几点关门", memory("我喜欢看科幻小说", 0.88)
    assert memory_strength(question, fact, LEVEL) > 0
    assert memory_strength(question, fact, Level(mean=0.87, spread=0.02)) < 0


def retrieved(text: str, **fields: object) -> RetrievedPassage:
    passage = Passage(id=1, document="手册", heading="", text=text)
    return RetrievedPassage(**({"passage": passage, "score": 0, "dense": None, "lexical": 0} | fields))  # type: ignore[arg-type]


def test_the_best_of_many_passages_must_be_nearer() -> None:
    level = Level(mean=0.8, spread=0.02)
    near = 0.8 + 2.7 * 0.02
    fits = [
        passage_strength("海边", retrieved("营业到九点", dense=near, among=among), level) > 0
        for among in (1, 50, 500, 5000)
    ]
    assert fits == [True, True, False, False]


def test_a_prompt_takes_a_little_more_than_a_quotation_and_all_that_was_given() -> None:
    level = Level(mean=0.8, spread=0.02)

    def both(margin: float, **fields: object) -> tuple[bool, bool]:
        found = retrieved("营业到九点", dense=0.8 + margin * 0.02, **fields)
        return passage_strength("海边", found, level) > 0, is_worth_reading("海边", found, level)

    assert both(2.6) == (True, True)
    assert both(2.2) == (False, True)
    assert both(1.9) == (False, False)
    assert both(0, is_given=True) == (False, True)
    assert both(0, is_named=True) == (True, True)
    assert is_worth_reading("退款多久到账", retrieved("退款三天"), None)
    assert not is_worth_reading("退款多久到账", retrieved("营业到九点"), None)


def test_a_shared_topic_needs_less_nearness() -> None:
    near = 0.84
    assert memory_strength("能吃什么零食", memory("我对花生过敏", near), LEVEL) > 0
    assert memory_strength("能吃什么零食", memory("我穿 M 码", near), LEVEL) < 0


def test_another_id_never_fits_and_the_same_always() -> None:
    fact = memory("我的订单号是 SF123456789", 0.99)
    assert memory_strength("SF999999999 到了吗", fact, LEVEL) < 0
    assert memory_strength("SF123456789 到了吗", memory("我的订单号是 SF123456789", 0.1), LEVEL) > 0


def test_nothing_of_the_person_answers_who_the_bot_is() -> None:
    assert memory_strength("你是谁", memory("我叫八六", 0.99), LEVEL) < 0


def test_who_the_person_is_answers_that_question() -> None:
    assert memory_strength("还记得我吗", memory("我叫八六", 0.80), LEVEL) > 0
    assert memory_strength("我叫什么", memory("我叫八六"), None) > 0
    assert memory_strength("我叫什么", memory("我对花生过敏"), None) < 0
    assert memory_strength("还记得我吗", memory("我昨天退款了", 0.80), LEVEL) < 0


class TestBackground:
    async def test_embedded_once_and_lazily(self) -> None:
        embedder = CountingEmbedder()
        background = Background(embedder, ["一", "二二", "三三三"])
        assert embedder.batches == []
        query = await embedder.embed_query("什么")
        levels = [await background.level(query) for _ in range(2)]
        assert embedder.batches == [["什么"], ["一", "二二", "三三三"]]
        assert levels[0] is not None
        assert levels[0].mean == pytest.approx(
            float((await CountingEmbedder().embed_passages(["一", "二二", "三三三"]) @ query).mean())
        )

    async def test_without_a_vector_there_is_none(self) -> None:
        embedder = CountingEmbedder()
        assert await Background(embedder).level(None) is None
        assert embedder.batches == []
        assert await Background(None).level(np.ones(4, np.float32)) is None

    async def test_away_now_is_tried_again(self) -> None:
        embedder = CountingEmbedder()
        background, query = Background(embedder), np.array([1, 0, 0, 0], np.float32)
        embedder.is_away = True
        assert await background.level(query) is None
        embedder.is_away = False
        assert await background.level(query) is not None

    async def test_vectors_of_another_size_mean_nothing(self) -> None:
        assert await Background(CountingEmbedder()).level(np.ones(3, np.float32)) is None

    async def test_a_bank_without_spread_means_nothing(self) -> None:
        background = Background(CountingEmbedder(), ["一", "二", "三"])
        assert await background.level(np.ones(4, np.float32)) is None

    def test_the_bank_is_about_thirty_sentences(self) -> None:
        sentences = everyday_sentences()
        assert 25 <= len(sentences) <= 40
        assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("看 https://evil.example/x?y=1。好", "看 [L]。好"),
        ("去 www.evil.com/a 吧", "去 [L] 吧"),
        ('<a href="weixin://bizmsgmenu?msgmenucontent=转账">点</a>', "点"),
        ("[点这里](http://evil.cn)", "[点这里]([L])"),
        ("没有链接。版本 1.2.3，a.b", "没有链接。版本 1.2.3，a.b"),
        ("邮箱 a@evil.com", "邮箱 a@[L]"),
    ],
)
def test_links_go(text: str, expected: str) -> None:
    assert without_links(text, "[L]") == expected


def test_links_may_stay() -> None:
    text = "官网 shop.com，博客 https://blog.example.org/x"
    assert without_links(text, "[L]", allowed="https://shop.com 欢迎") == "官网 shop.com，博客 [L]"
    assert without_links(text, "[L]", only="我的博客 https://blog.example.org/x") == "官网 shop.com，博客 [L]"
