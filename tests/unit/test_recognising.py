"""Two orders in one message, and what is too long to be one."""

from datetime import UTC, datetime

import pytest

from bot.commands.parsing import Command
from bot.commands.recognising import LONGEST_TO_REMEMBER, recognise
from bot.memory.never import own_clauses
from bot.memory.statements import stated_facts
from tests.command_fakes import WORDING, House

NOW = datetime(2025, 11, 29, 18, 30, tzinfo=UTC)


@pytest.fixture
def house() -> House:
    return House()


@pytest.mark.parametrize(
    "text",
    [
        "忘记紫色，再记住：我喜欢绿色",
        "忘记我喜欢紫色，然后记住我喜欢绿色",
        "请忘掉紫色；记住：我喜欢绿色",
        "/忘记 紫色\n/记住 我喜欢绿色",
        "记住：我喜欢绿色，忘记紫色",
        "把紫色忘掉，记住我喜欢绿色",
    ],
)
async def test_both_are_done_and_the_forgetting_first(house: House, text: str) -> None:
    house.facts.hold(house.alice.scope(""), "我喜欢紫色", "我属虎")
    said = await house.say(house.alice, text) or ""
    assert said.index("已忘记 1 件事") < said.index("已记住：我喜欢绿色")
    assert house.facts.texts(house.alice.scope("")) == ["我属虎", "我喜欢绿色"]


async def test_what_is_told_anew_does_not_go_with_the_old(house: House) -> None:
    house.facts.hold(house.alice.scope(""), "我住在北京")
    await house.say(house.alice, "忘记我的地址，再记住：我住在上海")
    assert house.facts.texts(house.alice.scope("")) == ["我住在上海"]


async def test_while_the_forgetting_waits_nothing_is_remembered(house: House) -> None:
    house.facts.hold(house.alice.scope(""), "我属虎")
    said = await house.say(house.alice, "忘掉我的一切，再记住：我喜欢绿色") or ""
    assert WORDING.say("clear_self_ask") in said and "没有记" in said
    assert house.facts.texts(house.alice.scope("")) == ["我属虎"]


@pytest.mark.parametrize(
    "text",
    [
        "忘记带伞了，记住：明天带伞",
        "忘了说，记住：我对虾过敏",
        "别忘了记住：我对虾过敏",
        "记住：我怕忘记，所以每天记日记",
    ],
)
def test_one_order_is_not_two(text: str) -> None:
    assert [call.command for call in recognise(text) if call.command is Command.FORGET] == []


@pytest.mark.parametrize(
    "text",
    [
        "忘记" + "我" * 10_000,
        "忘记" + "x" * 10_000,
        "请你忘记" + "我的生日" * 30,
        "忘记我的生日。" + "今天天气很好" * 50,
    ],
)
async def test_what_is_too_long_to_forget_is_told_so(house: House, text: str) -> None:
    assert await house.say(house.alice, text) == WORDING.say("forget_too_long")
    assert house.facts.texts(house.alice.scope("")) == []


@pytest.mark.parametrize("before", ["记住：", "/记住 ", "请记住，"])
async def test_what_is_too_long_to_remember_is_told_so(house: House, before: str) -> None:
    text = before + "我爱苹果" * (LONGEST_TO_REMEMBER // 4)
    assert await house.say(house.alice, text) == WORDING.say("remember_too_long")
    assert house.facts.texts(house.alice.scope("")) == []


@pytest.mark.parametrize("text", ["忘了告诉你" + "我很喜欢" * 100, "忘记带伞的那天，" + "我走了很久" * 60])
def test_a_long_tale_is_no_order(text: str) -> None:
    assert recognise(text) == ()


@pytest.mark.parametrize("text", ["忘记" + "x" * 10_000, "忘记我喜欢紫色，我喜欢紫色", "请忘掉我对花生过敏"])
def test_an_order_to_forget_is_never_a_memory(text: str) -> None:
    assert own_clauses(text) == ()
    assert stated_facts(text, NOW, is_group=False) == ()


@pytest.mark.parametrize("text", ["忘记说了，我穿M码", "忘了，我穿M码"])
def test_what_is_told_late_is_a_memory(text: str) -> None:
    assert [fact.text for fact in stated_facts(text, NOW, is_group=False)] == ["我穿M码"]
