"""Order ids, contacts, goods, issues and feelings of a message, each at its place in the original."""

import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.entities import (
    EntityType,
    SeenEntity,
    extract,
    is_repeated,
    live_entities,
    newest_distinct,
    no_dates,
)

NOW = datetime(2026, 3, 1, 4, tzinfo=UTC)
CATALOGUE = ("iPhone 15", "iPhone 15 Pro", "云朵拖鞋")
IMAGINABLE = st.text() | st.text(alphabet="0123456789.,，-+()转xX@单号电话尾块元三百万点\\u微信v:：那件 \n")


def found(text: str, kind: EntityType) -> list[str]:
    return [each.normalised for each in extract(text, NOW, CATALOGUE, dates=no_dates) if each.type is kind]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("我的订单号是2024031512345678", ["2024031512345678"]),
        ("顺丰SF1234567890123", ["SF1234567890123"]),
        ("帮我查一下单号 yt2233445566778", ["YT2233445566778"]),
        ("JDVA12345678901到哪了", ["JDVA12345678901"]),
        ("JT3012345678901", ["JT3012345678901"]),
        ("DPK360123456789", ["DPK360123456789"]),
        ("EA123456789CN", ["EA123456789CN"]),
        ("中通 73123456789012", ["73123456789012"]),
        ("拼多多240315-123456789012345", ["240315123456789012345"]),
        ("6912345678901234567", ["6912345678901234567"]),
        ("单号A12345", ["A12345"]),
        ("快递单号是 SF 1234 5678 9012 3", ["SF1234567890123"]),
        ("单号是13812341234", ["13812341234"]),
        ("订单号123456和789012", ["123456", "789012"]),
        ("单号：A12345、B12345", ["A12345", "B12345"]),
        ("订单号 1234 5678 9012 3456", ["1234567890123456"]),
        ("2024031512345这个订单", ["2024031512345"]),
        ("12345678这单", ["12345678"]),
        ("订单号：１２３４５６７８", ["12345678"]),
        ("单号是123456\\u3002谢谢", ["123456"]),
        ("充电宝——JT6197490880656", ["JT6197490880656"]),
        ("单号：ＳＦ１２３４５６７８９０１２３，谢谢", ["SF1234567890123"]),
        ("\\u5355\\u53f7\\uff1aSF1234567890123\\u3002", ["SF1234567890123"]),
        ("尾号8832那单", ["*8832"]),
        ("后四位 4321", ["*4321"]),
        ("8832结尾的那个订单", ["*8832"]),
        ("订单2024-03-15下的", []),
        ("我订单金额299.00元", []),
        ("订单12000元", []),
        ("iPhone15的订单", []),
        ("银行卡尾号8832", []),
        ("卡号6222021234567890123", []),
        ("身份证11010519491231002X", []),
        ("https://a.com/order/123456789012345678?id=99", []),
        ("序列号 SN12345678", []),
        ("验证码123456", []),
        ("520", []),
        ("2333", []),
    ],
)
def test_order_ids(text: str, ids: list[str]) -> None:
    assert found(text, EntityType.ORDER_ID) == ids


@pytest.mark.parametrize(
    ("text", "contacts"),
    [
        ("我电话13812345678", ["13812345678"]),
        ("138-1234-5678", ["13812345678"]),
        ("138 1234 5678", ["13812345678"]),
        ("+86 138 1234 5678", ["13812345678"]),
        ("0086-13812345678", ["13812345678"]),
        ("手机号138****1234", ["138****1234"]),
        ("138xxxx1234", ["138****1234"]),
        ("010-62288559", ["01062288559"]),
        ("（021）68804868", ["02168804868"]),
        ("0755-82345678转801", ["075582345678x801"]),
        ("400-820-8820", ["4008208820"]),
        ("打95588问过了", ["95588"]),
        ("电话：6228 8559", ["62288559"]),
        ("+44 7700 900397", ["+447700900397"]),
        ("手机尾号8832", ["*8832"]),
        ("我的微信号是zhang_san88", ["wx:zhang_san88"]),
        ("vx: abc12345", ["wx:abc12345"]),
        ("加V：abc12345", ["wx:abc12345"]),
        ("加我abc123456", ["wx:abc123456"]),
        ("wxid_abcdef123456", ["wx:wxid_abcdef123456"]),
        ("QQ123456789", ["qq:123456789"]),
        ("qq号是 10001", ["qq:10001"]),
        ("邮箱Zhang@qq.com", ["zhang@qq.com"]),
        ("邮箱 zhang＠qq。com", ["zhang@qq.com"]),
        ("电话打不通，订单123456789", []),
        ("这个不是电话：1234567", []),
        ("微信支付300元", []),
        ("手机2999元", []),
        ("192.168.1.100", []),
        ("2023-10-15 12:30", []),
        ("还有95000元", []),
    ],
)
def test_contacts(text: str, contacts: list[str]) -> None:
    assert found(text, EntityType.CONTACT_INFO) == contacts


@pytest.mark.parametrize(
    ("text", "goods"),
    [
        ("iphone15pro多少钱", ["iPhone 15 Pro"]),
        ("IPHONE 15 有货吗", ["iPhone 15"]),
        ("iphone 150", []),
        ("云朵拖鞋", ["云朵拖鞋"]),
        ("A 款有货吗", ["a款"]),
        ("这款呢", []),
        ("那件红色的卫衣起球了", ["红色卫衣"]),
        ("买了一双运动鞋", ["运动鞋"]),
        ("手机号是多少", []),
        ("那件事怎么样了", []),
    ],
)
def test_goods(text: str, goods: list[str]) -> None:
    assert found(text, EntityType.PRODUCT_NAME) == goods


@pytest.mark.parametrize(
    ("text", "issues", "emotions"),
    [
        ("我要投诉，太生气了", ["投诉"], ["愤怒"]),
        ("好生气", [], []),
        ("还没退款", ["退款"], []),
        ("急急急，今天必须发货，气死我了", ["发货"], ["着急", "愤怒"]),
        ("我要投诉\\u3002太生气了", ["投诉"], ["愤怒"]),
        ("我不是要投诉", [], []),
        ("我不投诉，谢谢", [], []),
        ("我不投诉了", [], []),
        ("没有投诉过，太生气了", [], []),
        ("不会去投诉你们", [], []),
        ("再不处理就投诉", ["投诉"], []),
        ("杯子没漏水", [], []),
        ("没有发现划痕", [], []),
        ("不掉色也不起球", [], []),
        ("漏水了", ["质量问题"], []),
        ("怎么还没退款", ["退款"], []),
        ("你们为什么不退款", ["退款"], []),
        ("我先不退款了", [], []),
        ("我要投诉，不生气", ["投诉"], []),
        ("杯子漏水", ["质量问题"], []),
    ],
)
def test_issues_and_feelings(text: str, issues: list[str], emotions: list[str]) -> None:
    assert found(text, EntityType.ISSUE_TYPE) == issues
    assert found(text, EntityType.EMOTION) == emotions


def test_places_are_those_of_the_original() -> None:
    text = "单号SF1234567890123\\u3002退了３００块\\uff0c电话１３８１２３４５６７８…"
    pieces = [(each.value, each.normalised) for each in extract(text, NOW, dates=no_dates)]
    assert pieces == [
        ("SF1234567890123", "SF1234567890123"),
        ("３００块", "CNY 300"),
        ("１３８１２３４５６７８", "13812345678"),
    ]
    assert all(text[each.start : each.end] == each.value for each in extract(text, NOW, dates=no_dates))


def test_dates_are_read_by_whoever_reads_dates() -> None:
    def reader(text: str, reference: datetime) -> list[tuple[int, int, str]]:
        assert reference == NOW
        return [(text.index("昨天"), text.index("昨天") + 2, "a/b")]

    (day,) = [each for each in extract("昨天退的", NOW, dates=reader) if each.type is EntityType.DATE]
    assert (day.value, day.normalised) == ("昨天", "a/b")


def test_the_houses_reader_tells_windows_only() -> None:
    days = [each for each in extract("上周三说三天到", NOW) if each.type is EntityType.DATE]
    assert [each.value for each in days] == ["上周三"]
    assert days[0].normalised == "2026-02-17T16:00:00+00:00/2026-02-18T16:00:00+00:00"


@given(IMAGINABLE)
def test_any_text_is_read(text: str) -> None:
    for each in extract(text, NOW, CATALOGUE, dates=no_dates):
        assert text[each.start : each.end] == each.value != ""
        assert each.normalised
        assert 0 < each.certainty <= 1


@pytest.mark.parametrize(
    "piece",
    ["1", "1 ", "1-", "a@", "电话", "单号", "(1)", "一", "那件", "退我", "+1 ", "1，", "\\u3002", "A"],
)
def test_time_is_linear(piece: str) -> None:
    """Twenty thousand characters take as long as four thousand do: no more are read, and those in no time."""
    begun = time.thread_time()
    extract(piece * (20_000 // len(piece)), NOW, CATALOGUE, dates=no_dates)
    assert time.thread_time() - begun < (2.0 if sys.gettrace() else 0.5)


def seen(value: str, seconds: float, kind: EntityType = EntityType.ORDER_ID) -> SeenEntity:
    return SeenEntity(type=kind, value=value, normalised=value, seen_at=NOW + timedelta(seconds=seconds))


def test_the_same_within_a_minute_is_one() -> None:
    told = [seen("A", 0), seen("A", 60), seen("A", 61), seen("B", 30), seen("A", 30, EntityType.PRODUCT_NAME)]
    assert [(each.value, each.seen_at.second) for each in newest_distinct(told)] == [
        ("A", 0),
        ("B", 30),
        ("A", 30),
        ("A", 1),
    ]
    assert is_repeated(seen("A", 60), [seen("A", 0)])
    assert not is_repeated(seen("A", 61), [seen("A", 0)])
    assert not is_repeated(seen("B", 1), [seen("A", 0)])


def test_ten_live_the_newest_first() -> None:
    told = [seen(str(number), number * 100) for number in range(14)] + [seen("3", 5_000)]
    assert [each.value for each in live_entities(told)] == ["3", *map(str, range(13, 4, -1))]
    assert live_entities(told, 0) == ()


@pytest.mark.parametrize("text", ["现在还没发", "型号是XR-2000", "等了三天", "每天都来"])
def test_what_is_no_date(text: str) -> None:
    assert [each for each in extract(text, NOW) if each.type is EntityType.DATE] == []
