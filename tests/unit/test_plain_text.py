"""Markdown as a chat shows it: marks go, words and look-alikes stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.markdown import flatten


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**退款**在[订单页](https://a.cn/x_y)申请", "退款在订单页（https://a.cn/x_y）申请"),
        ("*强调*，_下划线_，__粗__，***都***", "强调，下划线，粗，都"),
        ("*a* *b* *c*", "a b c"),
        ("这是*中文*强调", "这是中文强调"),
        ("~~旧价~~ `代码`", "旧价 代码"),
        ("`**不是粗**`", "**不是粗**"),
        (r"\*星\* 1\. 点", "*星* 1. 点"),
        ("![门店](a.png) <https://x.cn/a>", "门店 https://x.cn/a"),
        ('[页](https://x.cn "题")', "页（https://x.cn）"),
        ("## 标题 #1\n> 引文\n>> 再引", "标题 #1\n引文\n再引"),
        ("| 房型 | 价格 |\n|:---|---:|\n| 大床 | 300 |", "房型 | 价格\n大床 | 300"),
        ("```sh\nls -l\n```\n完", "ls -l\n完"),
        ("一<br>二<br/>三", "一\n二\n三"),
        ("- 项一\n- 项二", "- 项一\n- 项二"),
    ],
)
def test_marks_go(markdown: str, expected: str) -> None:
    assert flatten(markdown) == expected


@pytest.mark.parametrize(
    "text",
    [
        "c++ 和 c#",
        "2 * 3 * 4 = 24",
        "a*b*c",
        "file_name_1 和 __init",
        "**不闭合",
        "[注] (无链接)",
        "a | b",
        "#话题#",
        "1 < 2 > 0",
        r"C:\Users",
        "~ 100 元",
        "",
    ],
)
def test_look_alikes_stay(text: str) -> None:
    assert flatten(text) == text


@given(
    st.lists(st.sampled_from(["退款", "a1", " ", "\n", "*", "**", "_", "`", "[", "](", ")", "|", "#", "\\"]))
)
def test_no_word_is_lost(pieces: list[str]) -> None:
    def words(text: str) -> str:
        return "".join(character for character in text if character.isalnum())

    assert words(flatten("".join(pieces))) == words("".join(pieces))
