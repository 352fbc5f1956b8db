"""「忘记…」 finds what is meant, and nothing else."""

from dataclasses import replace

import pytest

from bot.conversation.scope import PersonId
from bot.memory.forget import Forget, meant, named
from tests.memory_fakes import SCOPE, FactsInMemory, make_fact

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
        ("北京", ["我下周三要去北京出差", "我住在北京朝阳区"]),
        ("北京出差的事", ["我下周三要去北京出差"]),
        ("猫", ["我养了一只猫"]),
        ("300块", ["我退款三百块"]),
        ("关于香菜的事", ["我不吃香菜"]),
        ("刚才说的", ["我不吃香菜"]),
        ("2012", ["我2012年毕业"]),
    ],
)
def test_finds_what_is_meant(words: str, found: list[str]) -> None:
    assert [fact.text for fact in meant(words, FACTS)] == found


@pytest.mark.parametrize(
    "words", ["我", "的", "什么", "12", "天气", "零食", "那件事", "全部", "", "  ", "SF12345678", "。"]
)
def test_finds_nothing_where_nothing_is_named(words: str) -> None:
    """零食 is near to 过敏 in meaning: nearness deletes nothing."""
    assert meant(words, FACTS) == ()


def test_just_now_of_nobody_is_nothing() -> None:
    assert meant("刚才说的", []) == ()


async def test_deletes_in_the_scope_alone() -> None:
    facts, other = FactsInMemory("我对花生过敏", "我叫八六"), replace(SCOPE, person=PersonId(2))
    facts.hold(other, "我爱吃花生")
    forgotten = await Forget(facts).forget(SCOPE, "花生")
    assert [fact.text for fact in forgotten.facts] == ["我对花生过敏"]
    assert forgotten.receipt.facts == 1
    assert facts.texts() == ["我叫八六"]
    assert facts.texts(other) == ["我爱吃花生"]


async def test_nothing_found_deletes_nothing() -> None:
    facts = FactsInMemory("我对花生过敏")
    forgotten = await Forget(facts).forget(SCOPE, "天气")
    assert forgotten.receipt.total == 0
    assert facts.texts() == ["我对花生过敏"]


def test_what_is_named_as_it_may_stand_in_a_turn() -> None:
    assert named("核桃酥") == ("核桃酥",)
    assert named("我刚才说的核桃酥") == ("核桃酥",)
    assert named("IPhone 15") == ("IPhone 15", "iphone 15")
    assert named("刚才说的") == named("我") == named("") == ()
