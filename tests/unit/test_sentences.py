"""Where a text that is still being written may be shown up to."""

import pytest

from bot.answering.sentences import MOST_TRIED, sentence_ends


def shown(text: str) -> str:
    """The longest beginning that may be shown."""
    return text[: next(sentence_ends(text), 0)]


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("", ""),
        ("没有说完", ""),
        ("第一句。", "第一句。"),
        ("第一句。第二", "第一句。"),
        ("真的？！好", "真的？！"),
        ("第一句。\n\n第二句。\n第", "第一句。\n\n第二句。"),
        ("他说：“好。行", ""),
        ("他说：“好。行。”然后", "他说：“好。行。”"),
        ("（见说明。）好", "（见说明。）"),
        ("（见说明。", ""),
        ('他说"好。"然后', '他说"好。"'),
        ('他说"好。', ""),
        # ASCII marks need what follows them.
        ("Hello. World", "Hello."),
        ("Hello.", ""),
        ("Really?\nYes", "Really?"),
        ("价格 3.", ""),
        ("价格 3.5 元", ""),
        ("See a.cn or b.cn/?x=1!2", ""),
        ("见 https://a.cn/x?y=问。好", "见 https://a.cn/x?y=问。"),
        ("See e.g. this, Mr. Li, J. Smith, no. 5 etc. and", ""),
        ("1. Open", ""),
        ("Version 2. 5 is", ""),
        # Emphasis, code and links stay whole.
        ("**重要。", ""),
        ("**重要。*", ""),
        ("**重要。**", ""),
        ("**重要。**\n", "**重要。**"),
        ("`代码。`", ""),
        ("**重要。**然后", "**重要。**"),
        ("重要。**第二", "重要。"),
        ("*好。真*的", ""),
        ("_好。真_，的。x", "_好。真_，的。"),
        ("~~旧。价~~ 现价。x", "~~旧。价~~ 现价。"),
        ("2 * 3。x", "2 * 3。"),
        ("a*b。x", "a*b。"),
        ("用 `a。b", ""),
        ("用 `a。b`。x", "用 `a。b`。"),
        ("用 ``a`。b``。x", "用 ``a`。b``。"),
        ("[好。", ""),
        ("[好。](https://a.cn/", ""),
        ("[好。](https://a.cn/)。x", "[好。](https://a.cn/)。"),
        ("<a href='x'>好。</a>", ""),
        ("<a href='x'>好。</a>完。", "<a href='x'>好。</a>完。"),
        ("<a\n好。", ""),
        ("1 < 2。x", "1 < 2。"),
        # Blocks.
        ("```\n好。", ""),
        ("```py\nx。\n```\n好。x", "```py\nx。\n```\n好。"),
        ("```\nx。\n> ```\n好。", ""),
        ("````\nx。\n```\n好。", ""),
        ("> ```\n> x。\n> ```\n> 好。x", "> ```\n> x。\n> ```\n> 好。"),
        ("- ```\n  x。\n  ```\n好。", ""),
        ("~~~\nx。\n```\n好。", ""),
        ("```x```。好。", ""),
        ("前。\n| 好。 | b |\n", "前。"),
        ("前。\n| 好。 | b |\n|--|--|\n| 1。 | 2 |\n好。", "前。"),
        ("| a | b |\n|--|--|\n\n好。x", "| a | b |\n|--|--|\n\n好。"),
        ("前。\n## 好吗？\n", "前。"),
        # Lists and paragraphs without a full stop.
        ("步骤：\n1. 打开\n2. 点", "步骤：\n1. 打开"),
        ("步骤：\n- 打开\n- 点\n", "步骤：\n- 打开"),
        ("步骤：\n- 打开\n- 点\n\n", "步骤：\n- 打开\n- 点"),
        ("步骤：\n\n1", ""),
        ("- 打开\n  再点", ""),
        ("- 包括：\n- 二", ""),
        ("您好，张先生\n\n有", "您好，张先生"),
        ("您好，张先生\n有", ""),
        ("**步骤**\n\n1", ""),
        ("前。\n\n---\n\n后", "前。"),
        ("好。\r\n", "好。"),
    ],
)
def test_the_longest_beginning(text: str, beginning: str) -> None:
    assert shown(text) == beginning


def test_places_come_from_the_last_on() -> None:
    assert list(sentence_ends("一。二。三。四")) == [6, 4, 2]


def test_a_text_made_to_cost_time_shows_nothing() -> None:
    assert shown("“" + "好。" * MOST_TRIED) == ""
    assert len(list(sentence_ends("好。" * 1000))) == MOST_TRIED
