"""Days that no calendar has, time words across the border of two words, and days written as 11.11."""

from datetime import datetime

import pytest

from bot.conversation.local_time import LOCAL_TIME
from bot.memory.asked_time import asked_time
from bot.memory.time_zh import find_times, window_of

NOW = datetime(2025, 9, 17, 14, 30, tzinfo=LOCAL_TIME)


def found(text: str) -> list[str]:
    return [span.text for span in find_times(text, NOW)]


def day(text: str) -> str | None:
    spans = [span for span in find_times(text, NOW) if span.window is not None]
    if not spans or spans[0].window is None:
        return None
    return f"{spans[0].window.start.astimezone(LOCAL_TIME):%Y-%m-%d}"


@pytest.mark.parametrize(
    "text",
    [
        "2月30号我说了什么",
        "2月30日",
        "二月三十号买的",
        "2月31",
        "4月31号买的",
        "6月31日",
        "十一月三十一号",
        "9月31号到货的",
        "2025年2月29日",
        "2025年2月29号买的",
        "2023年二月二十九日",
        "2025-02-30",
        "2025/2/30",
        "2025年4月31日",
        "去年2月30号",
        "4月31号下午3点",
        "2月30号之前",
        "2月1号到2月30号",
        "今年2月29号",
        "13月1日",
        "13月1号买的",
        "15月3号",
        "0月5号",
        "2月32号",
        "5月45日",
        "上周九",
        "上周八说的",
        "上个星期八",
        "这周0",
    ],
)
def test_no_such_day(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("text", ["2月31号到3月2号", "2月30号到3月2号我都说了什么"])
def test_no_range_begins_with_a_day_that_does_not_exist(text: str) -> None:
    assert all("到" not in each and "2月3" not in each for each in found(text))


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("2月28号", "2025-02-28"),
        ("2月29号", "2024-02-29"),
        ("2024年2月29日", "2024-02-29"),
        ("4月30号", "2025-04-30"),
        ("12月31日", "2024-12-31"),
        ("2月的账单", "2025-02-01"),
        ("2月3000块", "2025-02-01"),
        ("2月30个订单", "2025-02-01"),
        ("上周日", "2025-09-14"),
        ("上周一百块", "2025-09-08"),
        ("上周八点说的", "2025-09-08"),
        ("上周九个人来", "2025-09-08"),
        ("3月31日", "2025-03-31"),
    ],
)
def test_what_only_looks_like_it(text: str, start: str) -> None:
    assert day(text) == start


@pytest.mark.parametrize(
    "text",
    [
        "以后天冷了再买",
        "以后天热",
        "之后天黑了",
        "证明天然",
        "这是证明天然成分的",
        "声明天窗漏水",
        "说明天线坏了",
        "透明天窗",
        "楼下周师傅",
        "楼下周末也开",
        "乡下周老师",
        "桌上午餐",
        "晚上午休",
        "马上午休了",
        "最早上架",
        "最早上市的那批",
        "留下午饭钱",
        "放下午餐盒",
        "以前天冷",
        "店前天线",
        "目前天气",
        "从前年轻",
        "当今天下",
        "如今天下太平",
    ],
)
def test_a_time_word_across_two_words_is_none(text: str) -> None:
    spans = found(text)
    assert all(
        each not in ("后天", "明天", "前天", "今天", "下周", "上午", "早上", "下午", "前年") for each in spans
    )


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("后天冷不冷", "后天"),
        ("明天然后呢", "明天"),
        ("下周师傅来", "下周"),
        ("上午餐厅开吗", "上午"),
        ("早上上架的", "早上"),
        ("下午饭店见", "下午"),
        ("我前天买的", "前天"),
        ("今天下雨", "今天"),
        ("以后，后天再说", "后天"),
        ("说明天来的", "明天"),
        ("之前说明天发货", "明天"),
        ("我下周一去", "下周一"),
        ("改到以后天天送", "天天"),
    ],
)
def test_a_time_word_of_its_own_stays(text: str, word: str) -> None:
    assert word in found(text) or word == "天天"


@pytest.mark.parametrize(
    ("text", "written", "start"),
    [
        ("11.11买的", "11.11", "2024-11-11"),
        ("我11.11下的单", "11.11", "2024-11-11"),
        ("8.17那天说的地址", "8.17", "2025-08-17"),
        ("8.17我说了什么", "8.17", "2025-08-17"),
        ("8.17号买的", "8.17号", "2025-08-17"),
        ("9.1发的货", "9.1", "2025-09-01"),
        ("6.18下单的", "6.18", "2025-06-18"),
        ("在8.17签收的", "8.17", "2025-08-17"),
        ("去年11.11买的", "去年11.11", "2024-11-11"),
        ("12.12活动", "12.12", "2024-12-12"),
        ("从8.1到8.15", "8.1到8.15", "2025-08-01"),
    ],
)
def test_a_day_with_a_dot_where_a_word_makes_it_one(text: str, written: str, start: str) -> None:
    spans = [each for each in find_times(text, NOW) if each.window is not None]
    assert any(written in each.text for each in spans), found(text)
    assert day(text) == start


@pytest.mark.parametrize(
    "text",
    [
        "11.11",
        "8.17元",
        "一共8.17",
        "买了8.17块的",
        "3.5折",
        "身高1.75",
        "8.5分",
        "版本8.17",
        "v8.17发布了",
        "iOS 8.17",
        "花了9.9买的",
        "9.9包邮买的",
        "9.9元买的",
        "用9.9买的",
        "重2.5公斤",
        "跌了3.12%",
        "2.30买的",
        "涨到8.17了",
        "8.17.3发布",
        "评分4.8",
        "比分11.11",
        "价格8.17那天",
        "从9.9涨到19.9",
    ],
)
def test_a_number_with_a_dot_stays_one(text: str) -> None:
    assert window_of(text, NOW) is None


def test_what_was_said_on_a_day_with_a_dot_is_asked_for() -> None:
    asked = asked_time("8.17我说了什么", NOW)
    assert asked is not None and asked.window is not None
