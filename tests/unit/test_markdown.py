"""Markdown as a chat shows it: marks go; words, look-alikes and code stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.markdown import flatten
from bot.conversation.taps import TAP_END, TAP_START, as_shown


def tagged(words: str, address: str) -> str:
    return f"{{{words}|{address}}}"


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("*强调*，_下划线_，__粗__，***都***", "强调，下划线，粗，都"),
        ("*a* *b* *c*", "a b c"),
        ("这是*中文*强调", "这是中文强调"),
        ("**重点：**内容，**“引号”**也是", "重点：内容，“引号”也是"),
        ("**a *b* c** 与 *a **b** c*", "a b c 与 a b c"),
        ("~~旧价~~ `代码`", "旧价 代码"),
        (r"\*星\* 1\. 点", "*星* 1. 点"),
        ("## 标题 #1\n### 又一个 ##\n正文", "标题 #1\n又一个\n正文"),
        ("标题\n====\n又一个\n---\n正文", "标题\n又一个\n正文"),
        ("上\n\n---\n\n***\n下", "上\n\n下"),
        ("> 引文\n>> 再引\n> - 项\n>直接", "引文\n再引\n- 项\n直接"),
        ("1. 一\n   - 甲\n   * 乙\n\t+ 丙\n2) 二", "1. 一\n   - 甲\n   - 乙\n\t+ 丙\n2) 二"),
        ("- [ ] 做\n* [x] 完", "☐ 做\n☑ 完"),
        ("- **重**：`a_b`", "- 重：a_b"),
        ("| 房型 | 价格 |\n|:---|---:|\n| 大床 | **300** |\n完", "房型 | 价格\n大床 | 300\n完"),
        (
            "房型 | 价格 | 早餐\n---|---|---\n大床 | 300 | 含\n双床 | | 不\\|含 | 多",
            "房型：大床；价格：300；早餐：含\n房型：双床；早餐：不|含；多",
        ),
        ("| a | b | c |\n|---|---|---|", "a | b | c"),
        (f"{'长' * 21}|b|c\n-|-|-\n1|2|3", "1；b：2；c：3"),
        ("一<br>二<br/>三<p>四</p>", "一\n二\n三\n四"),
        ("第一行\r\n第二行\r第三行  ", "第一行\n第二行\n第三行"),
        ("\n\n  首行\n尾行\n\n", "  首行\n尾行"),
    ],
)
def test_marks_go(markdown: str, expected: str) -> None:
    assert flatten(markdown) == expected


@pytest.mark.parametrize(
    "text",
    [
        "c++ 和 c#",
        "2 * 3 * 4 = 24",
        "2**3**4 与 a*b*c",
        "file_name_1 和 __init 和 __init__",
        "**不闭合",
        "** 空 **",
        "[注] (无链接)",
        "[A](推荐) 与 f[0](x)",
        "[未完",
        "a | b",
        "a | b\nc | d",
        "#话题#",
        "#标签",
        "1 < 2 > 0",
        ">=5 的，\n>100 元的",
        r"C:\Users",
        "~ 100 元",
        "====",
        "`半个",
        "1. 一\n2. 二\n- 三",
        "https://e.cn/a_b_c*d*?x=**y**",
        "",
    ],
)
def test_look_alikes_stay(text: str) -> None:
    assert flatten(text) == text


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("`**不是粗**`", "**不是粗**"),
        ("`` a`b `` 和 ` c `", "a`b 和 c"),
        ("```sh\nls -l\n# 注释\n\n*x*\n```\n完", "ls -l\n# 注释\n\n*x*\n完"),
        ("~~~\n```\n~~~", "```"),
        ("1. 步骤\n   ```py\n   def f():\n       return **kw\n   ```", "1. 步骤\ndef f():\n    return **kw"),
        ("> ```\n> a * b\n> ```\n> 完", "a * b\n完"),
        ("```\n没有闭合 **x**", "没有闭合 **x**"),
        ("````\n```\n````", "```"),
    ],
)
def test_code_stays_word_for_word(markdown: str, expected: str) -> None:
    assert flatten(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("看[订单页](https://a.cn/x_y)申请", "看{订单页|https://a.cn/x_y}申请"),
        ('[页](https://x.cn "题") [页]( <https://x.cn/a> )', "{页|https://x.cn} {页|https://x.cn/a}"),
        ("[维基](https://w.org/A_(b)_c)", "{维基|https://w.org/A_(b)_c}"),
        ("[**粗** `a_b`](https://x.cn)", "{粗 a_b|https://x.cn}"),
        ("**[粗](https://x.cn)**", "{粗|https://x.cn}"),
        ("[](https://x.cn)", "{https://x.cn|https://x.cn}"),
        ("[![图](https://i.cn/a.png)](https://x.cn)", "{图|https://x.cn}"),
        ("![门店](https://i.cn/a.png) ![门](a.png)", "{门店|https://i.cn/a.png} 门"),
        ("<https://x.cn/a> <mailto:a@b.cn> <a@b.cn>", "https://x.cn/a a@b.cn a@b.cn"),
        ('<a href="https://x.cn/?a=1&b=2">买</a>', "{买|https://x.cn/?a=1&b=2}"),
        ("<A class=x HREF='http://x.cn'>买</A>", "{买|http://x.cn}"),
        ('<a href="weixin://x">甲</a> <a>乙</a> <a href="https://x.cn"></a>', "甲 乙"),
        ("[甲](javascript:x) [乙](weixin://x?y=1) [丙](data:text/html,x)", "甲 乙 丙"),
        (
            "[电话](tel:10086) [信](mailto:a@b.cn) [文](docs/a.md)",
            "电话（10086） 信（a@b.cn） 文（docs/a.md）",
        ),
        ("**https://x.cn/a_b** 和（https://x.cn）", "https://x.cn/a_b 和（https://x.cn）"),
    ],
)
def test_links_take_the_form_of_their_channel(markdown: str, expected: str) -> None:
    assert flatten(markdown, link=tagged) == expected


def test_without_a_form_links_are_words() -> None:
    assert flatten("[页](https://x.cn) [https://x.cn](https://x.cn)") == "页（https://x.cn） https://x.cn"


def test_taps_stay_and_what_is_shown_already_is_left_alone() -> None:
    tap = f"{TAP_START}继续{TAP_END}"
    page = '  **码** `x`\n<a href="https://x.cn">y</a>' + tap
    assert flatten(f"关于“*问*”：\n{as_shown(page)}\n**回复**“{tap}”") == f"关于“问”：\n{page}\n回复“{tap}”"
    assert flatten(as_shown(page)) == page
    assert flatten("半\ufdd2个\ufdee**粗**") == "半个粗"


@given(
    st.lists(
        st.sampled_from(
            [
                "退款",
                "a1",
                " ",
                "\n",
                "*",
                "**",
                "_",
                "`",
                "```",
                "[",
                "](",
                ")",
                "|",
                "#",
                "\\",
                "> ",
                "- ",
                "|-|",
                "<a>",
            ]
        )
    )
)
def test_no_word_is_lost(pieces: list[str]) -> None:
    text = "".join(piece for piece in pieces)

    def words(text: str) -> str:
        return "".join(character for character in text.replace("<a>", "") if character.isalnum())

    # What stands behind an opening fence is the name of a language: no word of the text.
    fenced = "```" in text
    assert words(flatten(text)) == words(text) or fenced


@given(st.text(max_size=200) | st.lists(st.sampled_from("*_`~[]()<>a|#>-\\\n !:/"), max_size=60).map("".join))
def test_any_text_can_be_read(text: str) -> None:
    shown = flatten(text)
    assert not set(map(chr, range(0xFDD2, 0xFDF0))) & set(shown)
    assert len(shown) <= 15 * len(text) + 1
