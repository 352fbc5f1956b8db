"""「忘了告诉你…」 tells something; it orders nothing."""

from datetime import UTC, datetime

import pytest

from bot.commands.parsing import Command, parse
from bot.memory.clauses import forgot_to_tell
from bot.memory.statements import stated_facts

NOW = datetime(2025, 11, 29, 18, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("忘记了告诉你我的生日是5月3日", "我的生日是5月3日"),
        ("忘记了告诉你我不吃羊肉", "我不吃羊肉"),
        ("忘了说，我对虾过敏", "我对虾过敏"),
        ("忘记跟你讲我住在杭州", "我住在杭州"),
        ("我忘了告诉你我的生日是5月3日", "我的生日是5月3日"),
        ("对了，忘记和你说我对花生过敏", "我对花生过敏"),
        ("忘了先跟您说一声我的鞋码是42", "我的鞋码是42"),
        ("忘记通知你我搬家了", "我搬家了"),
        ("忘了在备注里写我不吃辣", "我不吃辣"),
        ("忘补充一句我对花粉过敏", "我对花粉过敏"),
        ("不好意思忘了讲，我是左撇子", "我是左撇子"),
        ("忘了告诉你的是我对虾过敏", "我对虾过敏"),
        ("差点忘了说我不吃羊肉", "我不吃羊肉"),
        ("忘了说我妈的生日是5月3日", "我妈的生日是5月3日"),
        ("忘了把我的地址告诉你，我住在西湖区", "我住在西湖区"),
    ],
)
def test_what_was_forgotten_to_be_told_is_told_now(text: str, told: str) -> None:
    assert parse(text) is None
    assert [fact.text for fact in stated_facts(text, NOW, is_group=False)] == [told]


@pytest.mark.parametrize(
    "text",
    [
        "忘了告诉他我离婚了",
        "忘了提交作业",
        "忘记说过的话",
        "忘了跟你提过的事",
        "忘了说话",
        "别忘了跟你说我的生日",
    ],
)
def test_what_was_forgotten_otherwise_is_no_telling(text: str) -> None:
    assert forgot_to_tell(text) == 0


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("忘记我告诉你的生日", "我告诉你的生日"),
        ("忘掉跟你说过的地址", "跟你说过的地址"),
        ("请忘了告诉你的地址", "告诉你的地址"),
        ("忘了我跟你说的地址吧", "我跟你说的地址吧"),
    ],
)
def test_what_was_told_is_still_forgotten(text: str, what: str) -> None:
    call = parse(text)
    assert call is not None
    assert (call.command, call.argument, call.is_asking) == (Command.FORGET, what, False)


@pytest.mark.parametrize(
    "text",
    [
        "忘了我的生日",
        "忘记了我的生日",
        "忘了我对虾过敏",
        "忘记浇我的花",
        "忘记说过我对虾过敏",
        "忘记跟你说我住杭州的事",
    ],
)
def test_what_its_speaker_may_have_forgotten_is_asked_back(text: str) -> None:
    call = parse(text)
    assert call is not None
    assert (call.command, call.is_certain, call.is_asking) == (Command.FORGET, False, True)
