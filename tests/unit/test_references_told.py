"""What a whole question means of what a person really wrote: numbers typed out, goods named together, bare ends."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.memory.entities import SeenEntity, live_entities
from bot.memory.naming import named_in, promised_in
from bot.memory.references import (
    Ambiguous,
    Resolved,
    find_reference,
    is_reproach,
    may_point,
    rewrite,
    understand,
)

NOW = datetime(2026, 3, 1, 4, tzinfo=UTC)
ONE = ("我下了单，单号SF1111111111111",)
TWO = ("单号SF1111111111111是保温杯的", "还有一单 YT2222222222222，羽绒服")


def told(*messages: str) -> tuple[SeenEntity, ...]:
    """As the messages of one conversation, two minutes apart."""
    return tuple(
        each
        for place, message in enumerate(messages)
        for each in named_in(message, NOW + timedelta(minutes=2 * place))
    )


def meant(text: str, *messages: str) -> str | tuple[str, ...] | None:
    found = understand(text, told(*messages))
    if isinstance(found, Ambiguous):
        return tuple(each.value for each in found.candidates)
    return found and found.value


@pytest.mark.parametrize(
    "text",
    [
        "SF9999999999999到哪了",
        "单号SF9999999999999到哪了",
        "单号：SF9999999999999，到哪了？",
        "帮我查下SF9999999999999",
        "顺丰SF9999999999999到哪了",
        "顺丰的那个SF9999999999999到哪了",
        "YT9999999999999到哪了",
        "JD9999999999999到哪了",
        "EMS9999999999到哪了",
        "ＳＦ９９９９９９９９９９９９９到哪了",
        "订单 240917-123456789012345 发货了吗",
        "我的订单12345678901234什么时候发货",
        "那个单号SF9999999999999到哪了",
        "我另一单JD9999999999999到哪了",
        "第一单SF9999999999999到哪了",
        "尾号9999的那单，SF9999999999999，到哪了",
        "我又下了一单，单号是SF9999999999999",
    ],
)
@pytest.mark.parametrize("known", [ONE, TWO, ("单号JD1111111111111",), ("单号EMS1111111111",)])
def test_a_number_told_whole_is_no_other_known_one(text: str, known: tuple[str, ...]) -> None:
    assert meant(text, *known) is None
    assert find_reference(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("不是SF1111111111111，是SF9999999999999", "SF9999999999999"),
        ("不是SF1111111111111，是YT2222222222222", "YT2222222222222"),
        ("我说的是YT2222222222222，不是SF1111111111111", "YT2222222222222"),
        ("不是那个SF1111111111111，查YT2222222222222", "YT2222222222222"),
        ("别查SF1111111111111，我要查SF9999999999999", "SF9999999999999"),
        ("不是SF1111111111111那单，另外那单到哪了", "YT2222222222222"),
        ("不是SF1111111111111，那个单号到哪了", "YT2222222222222"),
        ("除了SF1111111111111，另一单到哪了", "YT2222222222222"),
        ("不是尾号1111的，是2222的那单", "YT2222222222222"),
        ("不是尾号1111那单，是尾号2222那单", "YT2222222222222"),
        ("SF1111111111111不对，应该是SF9999999999999", "SF9999999999999"),
    ],
)
def test_the_number_denied_is_never_meant(text: str, number: str) -> None:
    found = understand(text, told(*TWO))
    assert isinstance(found, Resolved)
    assert found.value == number
    assert number in rewrite(text, found)


def test_what_is_said_instead_of_a_denied_number_alone_is_searched() -> None:
    text = "不是SF1111111111111，是SF9999999999999，到哪了"
    found = understand(text, told(*TWO))
    assert isinstance(found, Resolved)
    assert "SF1111111111111" not in rewrite(text, found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SF那个到哪了", "SF1111111111111"),
        ("sf 的到哪了", "SF1111111111111"),
        ("顺丰的呢", "SF1111111111111"),
        ("SFX的到哪了", None),
        ("你们集中通知一下", None),
    ],
)
def test_a_courier_is_a_whole_word(text: str, value: str | None) -> None:
    assert meant(text, "单号SF1111111111111", "单号JD2222222222222", "单号ZTO333333333333") == value


def test_a_road_is_no_shop() -> None:
    assert meant("北京东路的那个呢", "单号SF1111111111111", "单号JD2222222222222") == (
        "SF1111111111111",
        "JD2222222222222",
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A款多少钱", "A款"),
        ("A款还有货吗", "A款"),
        ("a 款什么时候有货", "A款"),
        ("B款呢，多少钱", "B款"),
        ("C款多少钱", None),
    ],
)
def test_a_model_is_told_apart_from_what_was_named_beside_it(text: str, value: str | None) -> None:
    assert meant(text, "A款背包和B款背包我都想要") == value


def test_a_model_is_found_however_it_was_spaced() -> None:
    assert meant("A款有货吗", "A 款背包多少钱") == "A 款"
    assert meant("A款多少钱", "我买了A款背包") == "A款"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("蓝色的那个多少钱", "蓝色背包"),
        ("红色那个多少钱", "红色背包"),
        ("蓝色的那款还有货吗", "蓝色背包"),
        ("红色的那个质量怎么样", "红色背包"),
        ("蓝色的多少钱", "蓝色背包"),
        ("蓝的多少钱", "蓝色背包"),
        ("绿色的那款还有货吗", None),
        ("那个背包多少钱", ("蓝色背包", "红色背包")),
    ],
)
def test_two_goods_of_one_message_are_told_apart(text: str, value: str | tuple[str, ...] | None) -> None:
    assert meant(text, "我买了蓝色背包和红色背包") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("保温杯的单号是多少", "SF1111111111111"),
        ("羽绒服到哪了", "YT2222222222222"),
        ("羽绒服那单发货了吗", "YT2222222222222"),
        ("那个单号到哪了", ("SF1111111111111", "YT2222222222222")),
    ],
)
@pytest.mark.parametrize(
    "message",
    [
        "保温杯是SF1111111111111，羽绒服是YT2222222222222",
        "SF1111111111111是保温杯的，YT2222222222222是羽绒服的",
        "SF1111111111111买的保温杯和YT2222222222222买的羽绒服",
    ],
)
def test_two_orders_of_one_message_are_told_apart_by_their_own_words(
    message: str, text: str, value: str | tuple[str, ...]
) -> None:
    assert meant(text, message) == value


BOTH = "单号SF1111111111111和YT2222222222222都没到"


@pytest.mark.parametrize("text", ["那个单号到哪了", "它到哪了", "那单发货了吗"])
def test_an_end_that_was_asked_for_is_the_whole_number(text: str) -> None:
    assert meant(text, BOTH, "尾号2222的到哪了") == "YT2222222222222"
    assert meant(text, "尾号2222的到哪了", BOTH) == ("SF1111111111111", "YT2222222222222")
    twins = "单号SF1111111112222和YT2222222222222都没到"
    assert meant(text, twins, "尾号2222的到哪了") == ("SF1111111112222", "YT2222222222222")


def test_an_end_is_no_further_order() -> None:
    assert meant("第二个单号", BOTH, "尾号2222的到哪了") == "YT2222222222222"
    assert meant("第三个单号", "单号SF1111111111111", "尾号1111的到哪了", "单号YT2222222222222") is None
    assert [each.value for each in live_entities(told(BOTH, "尾号2222的"))] == [
        "YT2222222222222",
        "SF1111111111111",
    ]


def test_an_end_of_no_known_number_stays() -> None:
    assert meant("那个单号到哪了", "单号SF1111111111111", "尾号9999的到哪了") == "9999"


CONTACTS = "单号SF1111111111111，电话13812345678，邮箱li@example.com，微信号wxid_abc123"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("那个地址", None),
        ("那个地址能改吗", None),
        ("我之前说的那个地址还在吗", None),
        ("之前留的地址", None),
        ("上次那个地址到哪里了", None),
        ("那个电话", "13812345678"),
        ("那个手机号", "13812345678"),
        ("之前留的电话号码", "13812345678"),
        ("那个邮箱", "li@example.com"),
        ("那个微信", "wxid_abc123"),
        ("那个QQ号", None),
    ],
)
def test_a_way_to_reach_somebody_is_of_its_own_sort(text: str, value: str | None) -> None:
    assert meant(text, CONTACTS) == value


@pytest.mark.parametrize(
    "text",
    [
        "您忘了吗",
        "您忘了",
        "您又忘了？",
        "您是不是忘了",
        "您不记得了？",
        "您记性真差",
        "你忘啦",
        "你忘咯",
        "你忘光了",
        "你又忘啦",
        "你怎么什么都不记得",
        "你怎么全都不记得了",
        "你什么都忘了",
        "你都不记得我说过什么",
        "你是不是失忆了",
        "你失忆了",
        "你们忘了吗",
        "我昨天不是告诉你了吗",
        "我上周不是跟您说过了吗",
        "前天我不是发给你了吗",
        "我昨天告诉过你",
        "我说过我对花生过敏",
        "我早就说了",
        "我跟您说过的",
        "妳忘了",
        "你忘記了",
        "我不是說過嗎",
        "您不記得了嗎",
        "你把我忘了",
    ],
)
def test_reproaches_however_polite(text: str) -> None:
    assert is_reproach(text)


@pytest.mark.parametrize(
    "text",
    [
        "这话我说过吗",
        "我说过吗",
        "我什么时候说过",
        "我没说过",
        "我从来没跟你说过",
        "您别忘了",
        "您记得吗",
        "你没忘吧",
        "你还没忘啊",
        "我忘光了",
        "我失忆了",
        "我是不是失忆了",
        "我昨天告诉他了",
        "我不是告诉他了吗",
        "我妈不记得了",
        "如果你忘了怎么办",
        "我记性不好",
        "密码忘了",
        "我跟朋友说过你们家",
    ],
)
def test_no_reproaches_of_the_bot(text: str) -> None:
    assert not is_reproach(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("那個單號到哪了", "YT2222222222222"),
        ("之前說的訂單", "YT2222222222222"),
        ("順豐那個到哪了", "SF1111111111111"),
        ("尾號1111的那單", "SF1111111111111"),
        ("後四位2222的訂單", "YT2222222222222"),
        ("第一個單號", "SF1111111111111"),
        ("最後那個單號", "YT2222222222222"),
        ("那個電話", "13812345678"),
        ("不是SF1111111111111，另外那個單號", "YT2222222222222"),
    ],
)
def test_traditional_characters_point_as_well(text: str, value: str) -> None:
    assert meant(text, *TWO, "電話13812345678") == value
    assert may_point(text)


@pytest.mark.parametrize(
    "text",
    [
        "你说过要回电话的，怎么没打",
        "您说过给我回电话的",
        "你说要回电话的",
        "你说了要打电话给我的",
        "不是说好给我回电话吗",
        "你答應我的呢",
    ],
)
def test_a_call_back_that_was_promised_is_pointed_at(text: str) -> None:
    known = promised_in("我明天上午给您回电话。", NOW)
    found = understand(text, known)
    assert isinstance(found, Resolved)
    assert found.value == "我明天上午给您回电话"
