"""「忘记…」 finds what is meant, and nothing else."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.conversation.scope import PersonId, Scope
from bot.conversation.turn import Turn
from bot.memory.forget import Forget, Found, meant, named, thing_named
from bot.memory.forget_request import Means, read_request
from tests.memory_fakes import NOW, SCOPE, FactsInMemory, make_fact

TEXTS = [
    "我叫八六",
    "我对花生过敏",
    "我穿 M 码",
    "我的订单号是 SF123456789",
    "我下周三要去北京出差",
    "我住在北京朝阳区",
    "我养了一只猫",
    "我退款三百块",
    "我2012年毕业",
    "我不吃香菜",
]
FACTS = [make_fact(number, text, days_ago=20 - number) for number, text in enumerate(TEXTS)]


class Turns:
    """A `TurnLog` over a list."""

    def __init__(self, *turns: Turn) -> None:
        self.turns = turns

    async def times(self, scope: Scope, limit: int) -> tuple[datetime, ...]:
        return tuple(sorted((turn.at for turn in self.turns), reverse=True))[:limit]

    async def between(self, scope: Scope, start: datetime, end: datetime, limit: int) -> tuple[Turn, ...]:
        return tuple(turn for turn in self.turns if start <= turn.at < end)


def said(turn_id: int, question: str, answer: str = "好的", **ago: float) -> Turn:
    return Turn(id=turn_id, question=question, answer=answer, at=NOW - timedelta(**ago))


async def find(words: str, texts: Sequence[str] = TEXTS, *turns: Turn, scope: Scope = SCOPE) -> Found:
    facts = FactsInMemory()
    facts.hold(
        SCOPE, *[make_fact(number, text, days_ago=20 - number) for number, text in enumerate(texts, 1)]
    )
    return await Forget(facts, Turns(*turns)).find(scope, words, NOW)


def texts_of(found: Found) -> list[str]:
    return [fact.text for fact in found.facts]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("花生", ["我对花生过敏"]),
        ("我对花生过敏", ["我对花生过敏"]),
        ("尺码", ["我穿 M 码"]),
        ("我刚才说的尺码", ["我穿 M 码"]),
        ("M码", ["我穿 M 码"]),
        ("我的名字", ["我叫八六"]),
        ("ｓｆ１２３４５６７８９", ["我的订单号是 SF123456789"]),
        ("我的单号SF123456789", ["我的订单号是 SF123456789"]),
        ("北京", ["我下周三要去北京出差", "我住在北京朝阳区"]),
        ("北京出差的事", ["我下周三要去北京出差"]),
        ("我下周三要去北京出差", ["我下周三要去北京出差"]),
        ("猫", ["我养了一只猫"]),
        ("300块", ["我退款三百块"]),
        ("关于香菜的事", ["我不吃香菜"]),
        ("我不吃香菜这件事", ["我不吃香菜"]),
        ("刚才说的", ["我不吃香菜"]),
        ("2012", ["我2012年毕业"]),
        ("第3条", ["我穿 M 码"]),
        ("3", ["我穿 M 码"]),
        ("#3", ["我穿 M 码"]),
    ],
)
async def test_finds_what_is_meant(words: str, found: list[str]) -> None:
    assert texts_of(await find(words)) == found


@pytest.mark.parametrize(
    "words",
    ["的", "什么", "12", "天气", "零食", "那件事", "", "  ", "SF12345678", "我的单号SF999999", "。", "99"],
)
async def test_finds_nothing_where_nothing_is_named(words: str) -> None:
    """零食 is near to 过敏 in meaning: nearness deletes nothing."""
    found = await find(words)
    assert found.facts == () or not found.is_sure


@pytest.mark.parametrize(
    ("words", "means"),
    [
        ("我", Means.ALL),
        ("全部", Means.ALL),
        ("你记得的，全部", Means.ALL),
        ("我说过的所有话", Means.ALL),
        ("我说的", Means.LAST),
        ("这个", Means.LAST),
        ("刚才的对话", Means.TIME),
        ("昨天聊的，全部", Means.TIME),
        ("所有花生的事", Means.THING),
        ("我上周三说的10号的票", Means.THING),
    ],
)
def test_what_sort_of_thing_is_meant(words: str, means: Means) -> None:
    assert read_request(words, NOW).means is means


async def test_everything_of_a_time_goes_and_nothing_else() -> None:
    turns = (
        said(1, "上周的话", days=7),
        said(2, "昨天的话", days=1),
        said(3, "昨天的另一句", hours=30),
        said(4, "今天的话", hours=1),
    )
    found = await find("昨天说的", TEXTS, *turns)
    assert set(found.turns) == {2, 3}
    assert texts_of(found) == [
        fact.text for fact in FACTS if fact.said_at.date() == (NOW - timedelta(days=1)).date()
    ]


async def test_a_thing_of_a_time() -> None:
    texts = ["我住在杭州", *["别的"] * 10, "我住在广州", *["别的"] * 5, "我住在北京"]
    turns = (said(1, "地址是广州", days=8), said(2, "说说天气", days=8), said(3, "我的地址呢", hours=2))
    found = await find("上周说的地址", texts, *turns)
    assert texts_of(found) == ["我住在广州"]
    assert (found.turns, found.words) == ((1,), ()), "what was said at other times about the same stays"


async def test_a_time_of_what_happened_is_no_time_of_saying() -> None:
    texts = [*["别的"] * 18, "我上周去医院检查了"]
    assert texts_of(await find("我上周去医院的事", texts)) == ["我上周去医院检查了"]
    assert (await find("上周说的医院", texts)).facts == ()


async def test_the_last_statement_is_the_last_turn_also_where_nothing_was_kept_of_it() -> None:
    turns = (said(1, "我住北京", days=3), said(2, "今天好热", minutes=2))
    found = await find("我刚才说的", TEXTS, *turns)
    assert (found.turns, found.facts) == ((2,), ())


async def test_the_last_statement_takes_what_was_kept_of_it_and_no_other() -> None:
    facts = FactsInMemory()
    facts.hold(
        SCOPE, make_fact(1, "我叫八六", days_ago=4 / 1440), make_fact(2, "我穿 M 码", days_ago=3 / 1440)
    )
    turns = Turns(said(1, "我叫八六", minutes=4), said(2, "我穿 M 码", minutes=3))
    found = await Forget(facts, turns).find(SCOPE, "刚才说的", NOW)
    assert (texts_of(found), found.turns) == (["我穿 M 码"], (2,))


async def test_the_talk_going_on() -> None:
    turns = (said(1, "昨天的", days=1), said(2, "一", minutes=20), said(3, "二", minutes=5))
    assert (await find("刚才的对话", [], *turns)).turns == (2, 3)
    assert (await find("上次聊的", [], *turns)).turns == (1,)


async def test_a_number_that_is_also_a_word_is_asked_about() -> None:
    texts = ["我叫八六", "我穿 1 号", "我养了两只猫"]
    assert (await find("1", texts)).is_sure is False
    assert (await find("第1条", texts)).is_sure is True
    assert texts_of(await find("第1条", texts)) == ["我叫八六"]


async def test_what_only_touches_a_topic_is_asked_about() -> None:
    found = await find("我家住哪", TEXTS)
    assert texts_of(found) == ["我住在北京朝阳区"]
    assert not found.is_sure


async def test_just_now_of_nobody_is_nothing() -> None:
    assert (await find("刚才说的", [])).facts == ()


async def test_deletes_in_the_scope_alone() -> None:
    facts, other = FactsInMemory("我对花生过敏", "我叫八六"), replace(SCOPE, person=PersonId(2))
    facts.hold(other, "我爱吃花生")
    forget = Forget(facts, Turns())
    forgotten = await forget.forget(SCOPE, await forget.find(SCOPE, "花生", NOW))
    assert [fact.text for fact in forgotten.facts] == ["我对花生过敏"]
    assert forgotten.receipt.facts == 1
    assert facts.texts() == ["我叫八六"]
    assert facts.texts(other) == ["我爱吃花生"]


async def test_nothing_found_deletes_nothing() -> None:
    facts = FactsInMemory("我对花生过敏")
    forget = Forget(facts, Turns())
    forgotten = await forget.forget(SCOPE, await forget.find(SCOPE, "天气", NOW))
    assert forgotten.is_nothing
    assert facts.texts() == ["我对花生过敏"]


def test_a_code_is_that_code_and_no_other() -> None:
    facts = [make_fact(1, "我的单号是SF123456"), make_fact(2, "我的单号是SF654321")]
    assert meant("单号sf123456", facts) == (facts[0],)


def test_what_is_named_as_it_may_stand_in_a_turn() -> None:
    def of(words: str) -> tuple[str, ...]:
        return named(thing_named(words), words)

    assert of("核桃酥") == ("核桃酥",)
    assert of("我刚才说的核桃酥") == ("核桃酥",)
    assert of("IPhone 15") == ("IPhone 15", "iphone 15")
    assert of("我的单号SF123456") == ("sf123456",)
    assert of("刚才说的") == of("我") == of("") == ()
