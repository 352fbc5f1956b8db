"""A 「对」 to a plain question about the person makes a fact; nothing else that the bot says does."""

from datetime import UTC, datetime

import pytest

from bot.memory.confirming import asked_of, confirmed_by

AT = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)


def held(bot: str, person: str, *, is_group: bool = False) -> list[str]:
    return [fact.text for fact in confirmed_by(bot, person, AT, is_group=is_group).facts]


@pytest.mark.parametrize("yes", ["对", "是的", "嗯", "没错", "对的，谢谢", "嗯嗯是的", "哈哈对", "1", "是42"])
def test_a_yes_makes_the_question_a_fact(yes: str) -> None:
    assert held("您的鞋码是42，对吗？", yes) == ["我的鞋码是42"]


@pytest.mark.parametrize(
    ("bot", "fact"),
    [
        ("您穿M码吗？", "我穿M码"),
        ("好的。请问您是住在杭州吗？", "我是住在杭州"),
        ("跟您确认一下：您对花生过敏，是吗？", "我对花生过敏"),
        ("您不吃辣，对吧？", "我不吃辣"),
        ("跑鞋很轻。您平时喜欢跑步吗？", "我平时喜欢跑步"),
        ("收货地址是朝阳路8号，对吗？", "收货地址是朝阳路8号"),
    ],
)
def test_what_is_asked_is_put_into_the_persons_own_words(bot: str, fact: str) -> None:
    assert held(bot, "对") == [fact]


@pytest.mark.parametrize(
    "bot",
    [
        "要不要看看新款跑鞋？",
        "需要我帮您转人工吗？",
        "给您推荐这双跑鞋，您喜欢吗？",
        "我们周日也发货，可以吗？",
        "您可以试试M码，好吗？",
        "您看到链接了吗？",
        "您穿M还是L？",
        "您住在哪里？",
        "您叫小王是吗？您住在哪？",
        "您是管理员，对吗？",
        "如果您对花生过敏，就不能吃，对吗？",
        "您的鞋码是42。",
        "",
    ],
)
def test_an_offer_a_choice_an_order_or_no_question_makes_none(bot: str) -> None:
    assert held(bot, "对") == []


@pytest.mark.parametrize(
    "reply", ["好的", "应该是吧", "对吗？", "看情况", "对，但现在不是了", "对啊，骗你的", "再说吧", ""]
)
def test_a_doubtful_answer_makes_none(reply: str) -> None:
    assert held("您的鞋码是42，对吗？", reply) == []


@pytest.mark.parametrize("reply", ["不是", "不对", "错了", "不是的，谢谢"])
def test_a_no_denies_and_keeps_nothing(reply: str) -> None:
    confirmed = confirmed_by("您的鞋码是42，对吗？", reply, AT, is_group=False)
    assert (confirmed.facts, confirmed.denied) == ((), "我的鞋码是42")


@pytest.mark.parametrize(
    ("bot", "person", "fact"),
    [
        ("您的鞋码是42，对吗？", "不是，43", "我的鞋码是43"),
        ("您的鞋码是42，对吗？", "现在43了", "我的鞋码是43"),
        ("您的收货地址是朝阳路8号，对吗？", "不是，是建国路88号", "我的收货地址是建国路88号"),
        ("您的生日是5月12日，对吗？", "不对，5月21日", "我的生日是5月21日"),
    ],
)
def test_who_puts_it_right_keeps_the_right_value(bot: str, person: str, fact: str) -> None:
    assert held(bot, person) == [fact]


@pytest.mark.parametrize(
    ("bot", "person", "fact"),
    [
        ("您穿M还是L？", "M", "我穿M"),
        ("请问您穿多大码？", "43", "我穿43码"),
        ("怎么称呼您？", "小王", "我叫小王"),
    ],
)
def test_a_value_asked_for_is_the_persons_own(bot: str, person: str, fact: str) -> None:
    assert held(bot, person) == [fact]


@pytest.mark.parametrize(
    ("bot", "person"), [("您穿M还是L？", "对"), ("您住在哪里？", "算了"), ("怎么称呼您？", "不告诉你")]
)
def test_what_answers_nothing_makes_none(bot: str, person: str) -> None:
    assert held(bot, person) == []


def test_what_is_said_beside_the_yes_is_kept_too() -> None:
    assert held("您对花生过敏，对吗？", "对，芒果也过敏") == ["我对花生过敏", "芒果也过敏"]


def test_in_a_group_nothing_is_confirmed_of_others() -> None:
    assert held("您说的张三欠您钱，对吗？", "对", is_group=True) == []


def test_secrets_are_masked() -> None:
    (fact,) = held("您的卡号是4111111111111111，对吗？", "对")
    assert "4111" not in fact


@pytest.mark.parametrize("answer", ["您" * 5_000 + "吗？", "您的" + "是" * 5_000 + "吗？"])
def test_long_answers_are_read(answer: str) -> None:
    assert asked_of(answer) == ""


@pytest.mark.parametrize("sign", ["👌", "👍🏻", "✅", "[OK]", "👍👍"])
def test_a_sign_of_assent_is_a_yes(sign: str) -> None:
    assert held("您穿M码吗？", sign) == ["我穿M码"]


@pytest.mark.parametrize("sign", ["👎", "😂", "🙏", "🤔", "❌", "👍？"])
def test_any_other_sign_is_none(sign: str) -> None:
    assert held("您穿M码吗？", sign) == []


@pytest.mark.parametrize(
    ("bot", "reply", "fact"),
    [
        ("您住在静安，是吗？", "是静海不是静安", "我住在静海"),
        ("您的鞋是41码吧？", "41码半", "我的鞋是41码半"),
        ("要不要给您记成不吃葱？", "记吧", "不吃葱"),
        ("您主打中单吗？", "上单", "我主打上单"),
    ],
)
def test_another_value_stands_in_the_place_of_the_one_asked(bot: str, reply: str, fact: str) -> None:
    assert held(bot, reply) == [fact]


@pytest.mark.parametrize(
    ("bot", "reply"),
    [
        ("您的鞋是39码，对吗？", "39块"),
        ("要不要给您推荐一款鞋？", "推荐吧"),
        ("要不要给您记成不吃葱？", "不用"),
        ("您主打中单吗？", "赶紧发货"),
    ],
)
def test_what_names_another_kind_of_thing_puts_nothing_right(bot: str, reply: str) -> None:
    assert held(bot, reply) == []
