"""Any text is read in bounded time, without an error, into spans that lie in it."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.memory.time_zh import Kind, find_times, window_of

_WORDS = st.sampled_from(
    [
        "上",
        "下",
        "前",
        "后",
        "大",
        "今",
        "昨",
        "明",
        "年",
        "月",
        "日",
        "号",
        "周",
        "天",
        "星期",
        "点",
        "半",
        "分",
        "秒",
        "时",
        "刻",
        "初",
        "底",
        "末",
        "旬",
        "季度",
        "小时",
        "分钟",
        "个",
        "多",
        "来",
        "几",
        "左右",
        "内",
        "以来",
        "以前",
        "之后",
        "到",
        "至",
        "-",
        "~",
        "和",
        "之间",
        "从",
        "每",
        "最近",
        "过去",
        "未来",
        "农历",
        "正月",
        "腊月",
        "闰",
        "春节",
        "国庆",
        "除夕",
        "清明",
        "晚上",
        "早上",
        "中午",
        "凌晨",
        "世纪",
        "年代",
        "第",
        "最后",
        "的",
        ":",
        ".",
        "/",
        "0",
        "1",
        "2",
        "9",
        "12",
        "31",
        "2023",
        "9999",
        "〇",
        "二",
        "十",
        "百",
        "万",
        "两",
        ",",
        "，",
        "２",
        "週",
        "上次",
        "\0",
    ]
)
_TEXTS = st.one_of(st.text(max_size=80), st.lists(_WORDS, max_size=24).map("".join))
_REFERENCES = st.datetimes(
    min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29), timezones=st.just(UTC)
)


@settings(max_examples=600, deadline=None)
@given(_TEXTS, _REFERENCES)
def test_spans_lie_in_the_text_and_windows_are_not_empty(text: str, reference: datetime):
    end = 0
    for span in find_times(text, reference):
        assert end <= span.start < span.end <= len(text)
        assert span.text == text[span.start : span.end]
        assert (span.window is not None) == (span.kind is Kind.WINDOW)
        if span.window:
            assert span.window.start < span.window.end
            assert span.window.start.tzinfo is UTC
            assert span.window.end.tzinfo is UTC
        end = span.end
    window_of(text, reference)


@settings(max_examples=100, deadline=None)
@given(st.lists(_WORDS, max_size=24).map("".join))
def test_the_same_words_mean_the_same_again(text: str):
    reference = datetime(2026, 11, 30, 6, 36, tzinfo=UTC)
    assert find_times(text, reference) == find_times(text, reference)


@pytest.mark.parametrize(
    "piece",
    [
        "一",
        "1",
        "年",
        "一年",
        "1年又",
        "上",
        "十一月",
        "每",
        "1:",
        "两三个多",
        "最近",
        "从一月到",
        "12-",
        " 的",
        "二〇",
    ],
)
def test_a_long_repetition_takes_time_linear_in_its_length(piece: str):
    reference = datetime(2026, 11, 30, 6, 36, tzinfo=UTC)
    find_times(piece * 10, reference)
    start = time.thread_time()
    find_times(piece * 2000, reference)
    assert time.thread_time() - start < 1.5
