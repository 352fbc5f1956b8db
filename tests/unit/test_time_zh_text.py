"""Where times stand in running text, what kind they are, and what only looks like one."""

from datetime import datetime

import pytest

from bot.conversation.local_time import LOCAL_TIME
from bot.memory.time_zh import Kind, find_times, window_of
from bot.memory.time_zh.amounts import read_amount
from bot.memory.time_zh.letters import fold
from bot.memory.time_zh.numerals import Count, count, ordinal

NOW = datetime(2026, 11, 30, 14, 36, tzinfo=LOCAL_TIME)


def _texts(text: str) -> list[str]:
    return [span.text for span in find_times(text, NOW)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我5号订的，10号才到，昨晚八点才拆", ["5号", "10号", "昨晚八点"]),
        ("从上周一到昨天我都在出差，后天回来", ["从上周一到昨天", "后天"]),
        ("去年3月份左右买的，今年三月就坏了", ["去年3月份左右", "今年三月"]),
        ("国庆那几天堵车，双十一那天又加班", ["国庆那几天", "双十一那天"]),
        ("周一周二都行，周三不行", ["周一", "周二", "周三"]),
        ("昨天、今天、明天", ["昨天", "今天", "明天"]),
        ("我2018年毕业，18年开始工作", ["2018年", "18年开始"]),
        ("上個週三下午兩點開會", ["上個週三下午兩點"]),
        ("今天天气不错", ["今天"]),
        ("我今年18岁", ["今年"]),
        ("我要5点钟出发，有8点的票吗", ["5点钟", "8点"]),
        ("元旦晚会上见", ["元旦"]),
        ("今日我们去参观今日头条", ["今日"]),
        ("《明日之后》明日上线", ["明日"]),
        ("我们十一放假，十一个人去", ["十一放假"]),
        ("上周一下午问的，双十一晚上下的单", ["上周一下午", "双十一晚上"]),
        ("4月5号链接打不开，十二月十一号链接好了", ["4月5号", "十二月十一号"]),
        ("早上下单，晚上发货", ["早上", "晚上"]),
        ("国庆上下班高峰", ["国庆"]),
        ("我刚买的手机坏了", ["刚"]),
        ("刚才好像没发出去", ["刚才"]),
        ("昨天刚买的", ["昨天"]),
        ("六一下单的裙子", ["六一"]),
        ("618买的，这个618块", ["618"]),
        ("前两天买的，头两天还好好的", ["前两天", "头两天"]),
        ("昨儿个夜里问的", ["昨儿个夜里"]),
    ],
)
def test_times_of_a_sentence(text: str, expected: list[str]):
    assert _texts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "我叫周一鸣，住三号楼",
        "她叫周三",
        "三天两头生病",
        "天天加班",
        "马上到",
        "手机13800138000",
        "固话010-8888-6666",
        "一共¥299，打3.5折",
        "这个2021元",
        "用的是Python 3.11.4",
        "升级到v2.10.5",
        "服务器192.168.255.255",
        "比分3:2",
        "比分是21:15",
        "国足输了10:12",
        "看今日头条",
        "订单号20231105123456",
        "尾号1105",
        "我在三号线5号口等",
        "孩子上3年级2班",
        "我有两点建议",
        "走快一点",
        "一点都不好吃",
        "有一点贵",
        "十分好吃",
        "周围没人",
        "5月饼",
        "早上好",
        "小时候住乡下",
        "有一天你会懂",
        "我早就说了",
        "在中秋路吃月饼",
        "今后请多关照",
        "这个季节的花",
        "一本日记",
        "三点一线",
        "打8点5折",
        "圣诞树下",
        "玩了一下午",
        "等了整晚上",
        "一号链接还有货吗",
        "半天没人理",
        "小年轻不懂",
        "下单了吗",
        "刚好够用",
        "刚刚好",
        "金刚侠",
        "小刚说的",
        "三八线",
        "订单618开头",
        "618号房间",
        "将才难得",
        "才将它退回",
        "公开年报",
        "黄金周边",
        "听日本歌",
        "前儿童",
        "大年纪",
        "夜儿子",
        "陈国庆",
        "五一广场",
        "离我最近的门店",
        "最近距离",
        "元旦快乐",
        "周末班",
        "周日常",
        "初三学生用的",
        "他上初一",
        "初次见面",
        "早九晚五",
        "牛头年画",
        "",
    ],
)
def test_what_only_looks_like_a_time(text: str):
    assert _texts(text) == []


@pytest.mark.parametrize(
    ("text", "expected", "back"),
    [
        ("上次你说的补偿呢", "上次", 1),
        ("我上回问过的", "上回", 1),
        ("上一次聊到哪了", "上一次", 1),
        ("上上次也是这样", "上上次", 2),
    ],
)
def test_an_earlier_talk(text: str, expected: str, back: int):
    (span,) = find_times(text, NOW)
    assert (span.text, span.kind, span.sessions_back, span.window) == (expected, Kind.SESSION, back, None)


@pytest.mark.parametrize("text", ["马上回", "路上回你", "海上回音", "网上回复", "上回家的车", "上次数太多"])
def test_no_earlier_talk(text: str):
    assert [span for span in find_times(text, NOW) if span.kind is Kind.SESSION] == []


def test_at_home_in_the_morning_is_no_earlier_talk():
    assert _texts("我早上回家") == ["早上"]


@pytest.mark.parametrize(
    "expression",
    [
        "三天",
        "两个半小时",
        "半小时",
        "一年又一个月21天",
        "17个多月",
        "36天5小时30分",
        "五个工作日",
        "90日",
        "6天5晚",
        "3~6个月",
        "100到200个小时",
        "35,000个钟头",
    ],
)
def test_a_length_has_no_place_in_the_calendar(expression: str):
    spans = find_times(expression, NOW)
    assert {span.kind for span in spans} == {Kind.DURATION}
    assert spans[0].start == 0
    assert window_of(expression, NOW) is None


@pytest.mark.parametrize(
    "expression",
    [
        "每天",
        "每周一",
        "每周一下午八点",
        "每个星期",
        "每年9月",
        "每月4号",
        "每隔三天",
        "每个工作日的下午三点",
        "每个周末九点",
        "每年春节",
        "每半个钟头",
        "每天晚上8点到9点",
    ],
)
def test_a_repetition(expression: str):
    span = find_times(expression, NOW)[0]
    assert (span.kind, span.window) == (Kind.RECURRENCE, None)


@pytest.mark.parametrize(
    "expression", ["2月30日", "13月5日", "25点", "2023-13-01", "农历2150年正月初一", "第60周"]
)
def test_no_such_day(expression: str):
    whole = [
        span for span in find_times(expression, NOW) if span.text == expression and span.kind is Kind.WINDOW
    ]
    assert whole == []


def test_offsets_hold_in_full_width_and_traditional_text():
    text = "２０２４年５月我們去過，後天再去"
    spans = find_times(text, NOW)
    assert [text[span.start : span.end] for span in spans] == ["２０２４年５月", "後天"]
    assert len(fold("İ𝟙～週ẞ")) == len("İ𝟙～週ẞ")


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("三", Count(3, 3)), ("十五", Count(15, 15)), ("两万四千", Count(24000, 24000)), ("3.5", Count(3.5, 3.5)),
        ("几", Count(3, 9)),
        ("两三", Count(2, 3)), ("十几", Count(10, 20)), ("三五", Count(3, 5)), ("几十", Count(20, 100)), ("半", Count(0.5, 0.5)),
        ("十二三", Count(12, 13)), ("百千", None),
    ],
)  # fmt: skip
def test_numbers_before_a_unit(written: str, number: Count | None):
    assert count(written) == number


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("07", 7),
        ("二〇二三", 2023),
        ("十", 10),
        ("二十三", 23),
        ("零九", 9),
        ("二十三十", None),
        ("½", None),
        ("²", None),
    ],
)
def test_numbers_of_a_date(written: str, number: int | None):
    assert ordinal(written) == number


def test_a_length_said_vaguely_knows_its_bounds():
    amount = read_amount("一个多月")
    assert amount is not None
    assert amount.before(NOW).date().isoformat() == "2026-10-30"
    assert amount.before(NOW, longest=True).date().isoformat() == "2026-09-30"
