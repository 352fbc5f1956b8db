"""Sums of money are found as people write them, and what only looks like one is left alone."""

from decimal import Decimal

import pytest

from bot.memory.entities import find_sums, folded
from bot.memory.entities.numerals import read


def sums(text: str) -> list[tuple[str, str]]:
    plain = folded(text)
    return [(plain.piece(each.start, each.end), each.normalised) for each in find_sums(plain.text)]


@pytest.mark.parametrize(
    ("text", "piece", "normalised"),
    [
        ("花了三百块", "三百块", "CNY 300"),
        ("三块五", "三块五", "CNY 3.5"),
        ("给了3万5", "3万5", "CNY 35000"),
        ("退我两百五", "两百五", "CNY 250"),
        ("一千二买的", "一千二", "CNY 1200"),
        ("一共¥299", "¥299", "CNY 299"),
        ("￥1,299.00吧", "￥1,299.00", "CNY 1299"),
        ("３００元", "３００元", "CNY 300"),
        ("9块9包邮", "9块9", "CNY 9.9"),
        ("9.9包邮", "9.9", "CNY 9.9"),
        ("预算1.2万", "1.2万", "CNY 12000"),
        ("金额：300元。", "300元", "CNY 300"),
        ("五毛", "五毛", "CNY 0.5"),
        ("2毛5", "2毛5", "CNY 0.25"),
        ("五块二毛", "五块二毛", "CNY 5.2"),
        ("12块8毛5", "12块8毛5", "CNY 12.85"),
        ("两块五一斤", "两块五", "CNY 2.5"),
        ("一分钱没退", "一分钱", "CNY 0.01"),
        ("二十来块", "二十来块", "CNY 20-30"),
        ("一百来块", "一百来块", "CNY 100-200"),
        ("三百多块钱", "三百多块钱", "CNY 300-400"),
        ("几块钱", "几块钱", "CNY 1-10"),
        ("大概两三百块", "两三百块", "CNY 200-300"),
        ("100-200元", "100-200元", "CNY 100-200"),
        ("两到三万港元", "两到三万港元", "HKD 20000-30000"),
        ("从8500到3万", "", ""),
        ("预算8500到3万", "8500到3万", "CNY 8500-30000"),
        ("50刀", "50刀", "USD 50"),
        ("$50", "$50", "USD 50"),
        ("HK$200", "HK$200", "HKD 200"),
        ("200HKD", "200HKD", "HKD 200"),
        ("港币两千", "港币两千", "HKD 2000"),
        ("1000日元", "1000日元", "JPY 1000"),
        ("€30", "€30", "EUR 30"),
        ("RMB 300", "RMB 300", "CNY 300"),
        ("300rmb", "300rmb", "CNY 300"),
        ("八千块的工资", "八千块", "CNY 8000"),
        ("工资八千", "八千", "CNY 8000"),
        ("赔我500吧", "500", "CNY 500"),
        ("退款299", "299", "CNY 299"),
        ("月薪15k", "15k", "CNY 15000"),
        ("壹仟玖佰圆整", "壹仟玖佰圆整", "CNY 1900"),
        ("300。5块", "300。5块", "CNY 300.5"),
        ("房租两千八一个月", "两千八", "CNY 2800"),
        ("价格是1k多", "1k多", "CNY 1000-2000"),
        ("I paid 300 dollars", "300 dollars", "USD 300"),
    ],
)
def test_sums(text: str, piece: str, normalised: str) -> None:
    assert sums(text) == ([(piece, normalised)] if piece else [])


@pytest.mark.parametrize(
    "text",
    [
        "520",
        "666",
        "2333",
        "考了98分",
        "比分3:2",
        "3比2",
        "iOS 17.2",
        "版本v2.3.1",
        "身高175",
        "1米75",
        "尺码42",
        "三块蛋糕",
        "买了两块手表",
        "我们一块去吧",
        "第一块",
        "2024元旦",
        "一元二次方程",
        "一毛不拔",
        "三角形",
        "八角",
        "走了一万五步",
        "一千二百人",
        "你真是个二百五",
        "花了3天",
        "买2件",
        "万一",
        "一千零一夜",
        "二零二四年",
        "收到1",
        "5分钟",
    ],
)
def test_what_is_no_money(text: str) -> None:
    assert sums(text) == []


def test_two_prices_are_two() -> None:
    assert sums("原价399现价299") == [("399", "CNY 399"), ("299", "CNY 299")]
    assert sums("满300减50") == [("300", "CNY 300"), ("50", "CNY 50")]
    assert sums("付了300，200块退了") == [("300", "CNY 300"), ("200块", "CNY 200")]


def test_a_currency_alone_only_as_the_whole_answer() -> None:
    assert sums("人民币 美元") == [("人民币", "CNY"), ("美元", "USD")]
    assert sums("美元涨了吗") == []


@pytest.mark.parametrize(
    ("run", "low", "high"),
    [
        ("六十四万零一百四十三", 640143, None),
        ("3千万亿", 3 * 10**15, None),
        ("两个亿", 2 * 10**8, None),
        ("三点五万", 35000, None),
        ("十几", 10, 20),
        ("三十几", 30, 40),
        ("几十万", 10**5, 10**6),
        ("1.2万多", 12000, 13000),
        ("一千零五", 1005, None),
        ("一千五", 1500, None),
        ("十七八", 17, 18),
        ("3亿5000万", 350000000, None),
    ],
)
def test_numerals(run: str, low: int, high: int | None) -> None:
    number = read(run)
    assert number is not None
    assert (number.low, number.high) == (Decimal(low), None if high is None else Decimal(high))


@pytest.mark.parametrize("run", ["千", "万", "二〇二四", "三百千", "一三五", "", "多"])
def test_no_numeral(run: str) -> None:
    assert read(run) is None
