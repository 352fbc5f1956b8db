"""Whatever a document holds, its words are all in its passages, in order, and none is too long."""

from hypothesis import assume, given
from hypothesis import strategies as st

from bot.knowledge.blocks import BlockKind, blocks_of
from bot.knowledge.splitting import LONGEST, split

WORDS = st.one_of(
    st.text(alphabet="退货天，。！ abc\u3000😀|-", max_size=60),
    st.text(alphabet="长句没有标点", min_size=380, max_size=900),
    st.text(alphabet=st.characters(categories=["L", "P", "S", "Zs"]), max_size=20),
    st.just(""),
)
MARKS = st.sampled_from(
    ["# 店", "## 退货", "### 七天", "===", "---", "```", "| a | b |", "|---|---|", "- 项", "1. 步骤", "> 引"]
)


def words(text: str) -> str:
    return "".join(text.split())


NUMBERS = st.sampled_from(
    [
        "第一章 总则",
        "一、退货",
        "（一）时限",
        "1. 步骤",
        "1.1 安装",
        "1.2登录",
        "  缩进",
        "\u3000\u3000首行缩进",
        "短行",
    ]
)
PLAIN = st.lists(st.one_of(WORDS, NUMBERS), max_size=30).map("\n".join)


@given(PLAIN)
def test_every_character_of_plain_text_is_in_a_block(text: str) -> None:
    assert words("".join(block.text for block in blocks_of(text, is_markdown=False))) == words(text)


@given(PLAIN)
def test_plain_passages_are_short_and_say_something(text: str) -> None:
    assert all(words(each.text) and len(each.text) <= LONGEST for each in split(text, is_markdown=False))


@given(st.lists(WORDS, max_size=30).map("\n".join))
def test_text_without_headings_is_kept_whole_and_in_order(text: str) -> None:
    assume(all(block.kind is not BlockKind.HEADING for block in blocks_of(text, is_markdown=False)))
    shown = "".join(passage.heading + passage.text for passage in split(text, is_markdown=False))
    assert words(shown) == words(text)


@given(st.lists(st.one_of(WORDS, MARKS), max_size=30).map("\n".join))
def test_any_markdown_is_cut_to_length(text: str) -> None:
    for passage in split(text, is_markdown=True):
        assert passage.text.strip()
        assert len(passage.text) <= LONGEST


@given(st.lists(st.text(alphabet="正文，。", min_size=1, max_size=500), min_size=1, max_size=8))
def test_every_section_of_markdown_is_kept(bodies: list[str]) -> None:
    text = "\n".join(f"## 第{number}节\n{body}" for number, body in enumerate(bodies))
    for number, body in enumerate(bodies):
        found = [p.text for p in split(text, is_markdown=True) if p.heading == f"第{number}节"]
        assert words("".join(found)) == words(body)
