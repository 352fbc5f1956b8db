"""More memories for questions that ask for more, by rule or by what a model says of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.complexity import k_of, read_k


@pytest.mark.parametrize(
    ("question", "k"),
    [
        ("我的尺码是多少", 3),
        ("我叫什么", 3),
        ("我对什么过敏", 3),
        ("", 3),
        ("？？", 3),
        ("为什么我的退款还没有到账呢，已经过去很久了", 5),
        ("推荐点零食", 5),
        ("上周三我说的单号", 6),
        ("前几天聊的是什么", 6),
        ("对比A款和B款", 8),
        ("哪款更便宜", 8),
        ("都有哪些订单", 10),
        ("总结一下我买过什么", 10),
        ("一共花了多少钱", 10),
        ("你还记得我吗", 10),
        ("帮我看看订单到哪了，另外退款处理了吗，还有优惠券能用吗", 8),
    ],
)
def test_by_rule(question: str, k: int) -> None:
    assert k_of(question) == k


@pytest.mark.parametrize(
    ("answer", "k"),
    [
        ("问题类型：简单 检索条目数量：3", 3),
        ("问题类型：复杂\n检索条目数量：10条", 10),
        ("**问题类型**：聚合，**检索条目数量**：8", 8),
        ("检索条目数量: 50", 10),
        ("检索条目数量：1", 3),
        ("检索条目数量：五", 5),
        ("检索条目数量：十二", 10),
        ("问题类型: 普通", 5),
        ("问题类型：复杂", 10),
        ('{"k": 5}', 5),
        ("问题类型：对比", 8),
        ("问题类型：比较", 8),
        ("检索条目数量：９", 9),
        ("检索条目数量：９９", 10),
        ("问题类型：简单　检索条目数量：５", 5),
        ("检索条目数量：-5", None),
        ("问题类型：复杂 检索条目数量：-5", 10),
        ("问题类型：简单/普通/复杂", None),
        ("问题类型：简单、普通或复杂 检索条目数量：3/5/10", None),
        ("问题类型：简单 | 普通 检索条目数量：10|5", None),
        ("乱七八糟", None),
        ("", None),
        ("问题类型：", None),
    ],
)
def test_by_a_model(answer: str, k: int | None) -> None:
    assert read_k(answer) == k


@given(st.text() | st.text(alphabet="问题类型检索条目数量：:0123456789十二 *"))
def test_always_within_bounds(text: str) -> None:
    assert 3 <= k_of(text) <= 10
    assert read_k(text) in (None, *range(3, 11))
