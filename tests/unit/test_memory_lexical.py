"""Keyword search over facts: content words, exact words, topics."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

from bot.conversation.lexical import Bm25
from bot.memory import lexical, searched
from bot.memory.answer_forms import forms_asked
from bot.memory.content_words import codes, content_terms, coverage, single_characters
from bot.memory.fact import Fact
from bot.memory.fact_rows import FactRows
from bot.memory.lexical import SMALL_PART, FactIndex, rows_to_read
from bot.memory.normalise import searchable
from bot.memory.questions import is_about_bot, is_about_oneself, is_question, is_simple
from bot.memory.time_zh import Window
from bot.memory.told_times import times_told
from bot.memory.topics import told_words, topic_named, topics, topics_asked, topics_told
from tests.memory_fakes import make_fact
from tests.plain_forms import has_form

TEXTS = [
    "我对花生过敏",
    "我的订单号是 SF123456789",
    "我退款三百块",
    "我养了一只猫，叫团子",
    "我下周三要去北京出差",
]


def index(*texts: str) -> FactIndex:
    return FactIndex([make_fact(number, text) for number, text in enumerate(texts, 1)])


def best(question: str) -> str | None:
    scores = index(*TEXTS).scores(question)
    return TEXTS[int(scores.argmax())] if scores.max() > 0 else None


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("花生能吃吗", "我对花生过敏"),
        ("sf123456789 到哪了", "我的订单号是 SF123456789"),
        ("ＳＦ１２３４５６７８９", "我的订单号是 SF123456789"),
        ("300块的退款", "我退款三百块"),
        ("我家的猫叫什么", "我养了一只猫，叫团子"),
        ("什么时候去北京", "我下周三要去北京出差"),
        ("怎么办", None),
        ("你还记得我吗", None),
    ],
)
def test_finds_by_what_is_asked_for(question: str, found: str | None) -> None:
    assert best(question) == found


def test_letters_and_digits_match_whole() -> None:
    exact = index("单号 SF123456789", "单号 SF1234567890").exact_matches("SF123456789 呢")
    assert exact.tolist() == [1, 0]


def test_no_exact_word_asked_is_no_match() -> None:
    assert index(*TEXTS).exact_matches("花生").tolist() == [0] * 5


def test_topics_join_what_shares_no_word() -> None:
    shared = index("我对花生过敏", "我穿 M 码").shared_topics("推荐点零食")
    assert shared[0] > 0
    assert shared[1] == 0


def test_an_empty_index_answers() -> None:
    empty = index()
    assert (
        len(empty.scores("花生")) == len(empty.exact_matches("a1b2")) == len(empty.shared_topics("吃")) == 0
    )


def test_a_later_index_reads_only_what_is_new() -> None:
    first = FactIndex([make_fact(1, "我对花生过敏")])
    facts = FactRows.of([make_fact(1, "我对花生过敏"), make_fact(2, "我穿 M 码")])
    second = FactIndex(facts, first)
    assert rows_to_read(facts, first) == 1
    assert rows_to_read(facts, None) == rows_to_read(facts[1:], first) + 1 == 2
    assert second.scores("花生").argmax() == 0


def told(count: int) -> list[Fact]:
    return [make_fact(number, f"我的第{number}件事是 A{number * 7} 号") for number in range(1, count + 1)]


def test_an_index_that_grew_answers_as_one_made_anew() -> None:
    facts = told(3_300)
    grown = FactIndex([])
    for count in (*range(1, 300), 310, 800, 1_450, 2_800, 3_299, 3_300):
        grown = FactIndex(facts[:count], grown)
    assert len(grown.parts) > 1
    anew = FactIndex(facts)
    for question in ("第 3 件事", "A21 是哪件事", "A21 和 A28", "怎么办"):
        assert grown.scores(question) == pytest.approx(anew.scores(question), rel=1e-5)
        assert grown.covered(question) == pytest.approx(anew.covered(question), rel=1e-5)
        assert grown.exact_matches(question).tolist() == anew.exact_matches(question).tolist()
    assert grown.ids.tolist() == anew.ids.tolist() == list(range(1, 3_301))


def test_a_memory_is_read_once_however_many_follow() -> None:
    facts, grown, read = FactRows.of(told(3 * SMALL_PART)), FactIndex([]), 0
    for count in range(1, len(facts) + 1):
        read += rows_to_read(facts[:count], grown)
        grown = FactIndex(facts[:count], grown)
        assert len(grown.parts) <= 2
    assert read == len(facts)


def test_what_was_forgotten_or_said_again_is_read_anew() -> None:
    facts = told(100)
    index = FactIndex(facts)
    without = FactIndex([*facts[:50], *facts[51:]], index)
    assert without.exact_matches("A357").sum() == 0
    later = facts[0].said_at + timedelta(days=3)
    again = replace(facts[0], said_again_at=later)
    raised = FactIndex([again, *facts[1:]], index)
    assert raised.last_said_at[0] == later.timestamp()
    assert raised.facts[0] == again


def test_the_scores_are_those_of_bm25() -> None:
    texts = [fact.text for fact in told(70)]
    ours = FactIndex(told(70)).scores("A21 那件事")
    plain = Bm25(f"{searchable(text)} {' '.join(single_characters(searchable(text)))}" for text in texts)
    theirs = plain.scores(" ".join(content_terms("A21 那件事")))
    assert ours == pytest.approx(theirs, rel=1e-4)


def test_the_times_that_facts_name_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def find(text: str, reference: datetime) -> tuple[Window, ...]:
        read.append(text)
        return times_told(text, reference)

    monkeypatch.setattr(lexical, "times_told", find)
    facts = [make_fact(number, f"昨天买了第{number}双鞋") for number in range(1, 5)]
    first = FactIndex(facts[:3])
    (yesterday,) = first.times_told(1)
    assert yesterday.end - yesterday.start == timedelta(days=1)
    grown = FactIndex(facts, first)
    assert (grown.times_told(1), grown.times_told(3) != ()) == ((yesterday,), True)
    assert read == [facts[1].text, facts[3].text]
    without = FactIndex([facts[0], facts[2], facts[3]], grown)
    assert without.known_times.keys() == {4}
    without.times_told(2)
    assert read == [facts[1].text, facts[3].text]


def test_a_topic_is_found_by_each_of_its_words() -> None:
    for number, topic in enumerate(topics()):
        asked = next(word for word in topic.names + topic.asked if number in topics_asked(word))
        words = told_words(number)
        facts = [f"嗯{word}嗯" for word in words] + [*words, "嗯"]
        shared = index(*facts).shared_topics(asked)
        of_topic = [number in topics_told(text) for text in facts]
        assert [share > 0 for share in shared[: len(words)]] == [True] * len(words)
        assert not any(of_topic[-1:]) or shared[-1] > 0


@pytest.mark.parametrize("question", ["单号是多少", "几点的车", "寄到哪儿"])
def test_a_form_is_found_in_the_index_as_in_the_text(question: str) -> None:
    facts = [
        "在家",
        "周三下午两点",
        "7月到",
        "七月到",
        "SF12345",
        "12b",
        "望京小区",
        "下午",
        "送到了",
        "送上到",
        "什么也没有",
    ]
    (form,) = forms_asked(question)
    assert index(*facts).forms(question).tolist() == [float(has_form(text, form)) for text in facts]


def test_long_words_are_told_apart() -> None:
    long = "a1" * 50
    facts = index(long, f"{long}x", f"b{long[1:]}", long[:-2])
    assert facts.exact_matches(long).tolist() == [1, 0, 0, 0]


def test_rows_are_found_by_their_ids() -> None:
    facts = [make_fact(9, "花生"), make_fact(3, "虾"), make_fact(5, "蛋")]
    assert FactIndex(facts).rows_of(np.array([5, 4, 9, 77])).tolist() == [2, -1, 0, -1]
    assert FactIndex([]).rows_of(np.array([5])).tolist() == [-1]


def test_a_text_with_the_sign_that_parts_texts() -> None:
    index_ = index("花生\\u0000过敏", "我穿 M 码", "四\x00五")
    assert index_.covered("花生").tolist() == [1, 0, 0]
    assert index_.covered("穿 M 码")[1] > 0


def test_function_words_are_no_content() -> None:
    assert content_terms("怎么办？") == {}
    assert content_terms("什么意思") == {}
    assert content_terms("我家的猫呢")["猫"] > 0


def test_coverage_is_a_share() -> None:
    assert coverage("花生过敏", "我对花生过敏") == 1
    assert coverage("怎么办", "我对花生过敏") == 0
    assert 0 < coverage("花生和牛奶", "我对花生过敏") < 1


def test_codes_are_long_words_with_digits() -> None:
    assert codes("SF123456789 iPhone 15 hello 2026") == {"sf123456789", "2026"}


def test_the_topic_table_is_whole() -> None:
    assert all(topic.names and topic.told for topic in topics())
    names = [name for topic in topics() for name in topic.names]
    assert len(names) == len(set(names))
    assert topic_named("尺码") & topics_told("我穿 M 码")
    assert not topic_named("零食")
    assert topics_asked("能吃什么零食") & topics_told("我对花生过敏")


@pytest.mark.parametrize(
    "text", ["还记得我吗", "我是谁", "我叫什么", "你知道我什么", "你了解我多少", "who am I"]
)
def test_about_oneself(text: str) -> None:
    assert is_about_oneself(text)
    assert not is_about_bot(text)
    assert not is_simple(text)


@pytest.mark.parametrize("text", ["你是谁", "你叫什么名字？", "请问你是机器人吗", "你多大了"])
def test_about_the_bot(text: str) -> None:
    assert is_about_bot(text)
    assert not is_about_oneself(text)


@pytest.mark.parametrize("text", ["今天天气怎么样", "你知道我们店在哪吗", "记得带伞"])
def test_about_neither(text: str) -> None:
    assert not is_about_oneself(text)
    assert not is_about_bot(text)


@pytest.mark.parametrize("text", ["运费多少", "我喜欢红色，对吗", "好吗", "在哪", "what is this", "可以吗？"])
def test_questions(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["我对花生过敏", "我叫八六", "哪怕下雨我也去", "I like tea"])
def test_statements_are_no_questions(text: str) -> None:
    assert not is_question(text)


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("我的尺码是多少？", True),
        ("我对什么过敏，能吃什么", False),
        ("我买过的东西都有哪些", False),
        ("字" * 17, False),
    ],
)
def test_simple_questions_ask_one_thing(text: str, simple: bool) -> None:
    assert is_simple(text) is simple


@pytest.mark.parametrize("word", ["abc", "sf1234567890", "a" * 63, "x1" * 50, "straße9"])
def test_a_word_asked_for_has_the_code_of_the_same_word_in_a_text(word: str) -> None:
    points = np.array([*map(ord, word)], np.uint64)
    assert searched._word_codes(points, np.zeros(1, np.intp)).tolist() == [searched._word_code(word)]
