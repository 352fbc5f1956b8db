"""Groups as members see them, on the running bot behind a real websocket."""

import asyncio

from simulators.onebot import account_of, crowd, let_speak
from simulators.openai import Answer, OpenAiServer
from simulators.openai.answers import Request
from tests.e2e.conftest import StartBot, model_settings, onebot_of

GROUP, OTHER_GROUP = 30001, 30002
OWNER, MEMBER = 20001, 20002
PEOPLE, LINES, SECONDS = 50, 200, 10.0
QUIET_SECONDS = 1.5
"""Long enough that an answer nobody asked for would have come: others came in a tenth of it."""


def repeat_the_question(request: Request) -> Answer | None:
    """A model that answers with what it was asked, and finds nothing worth keeping."""
    return None if "核心意图" in request.prompt else Answer(text=request.question)


async def test_a_crowd_is_answered_line_by_line(start_bot: StartBot, model: OpenAiServer) -> None:
    model.answer_with(repeat_the_question)
    bot = await start_bot(**model_settings(model))
    lines = crowd(members=PEOPLE, messages=LINES, seconds=SECONDS, addressed=0.6, seed=20261130)
    asked = [line for line in lines if line.is_addressed]
    assert 100 < len(asked) < LINES
    async with onebot_of(bot) as qq:
        said = await let_speak(qq, GROUP, lines)
        await qq.wait_sent(len(asked), 60)
        await asyncio.sleep(QUIET_SECONDS)
        account = account_of(said, qq.sent)
    assert {marker for marker, answers in account.answers.items() if len(answers) != 1} == set()
    assert account.unasked == () and account.crossed == () and account.out_of_order == ()


async def test_a_group_is_switched_off_by_its_owner_and_on_again(
    start_bot: StartBot, model: OpenAiServer
) -> None:
    model.answer_with(repeat_the_question)
    bot = await start_bot(**model_settings(model))
    async with onebot_of(bot) as qq:
        await qq.say_group(GROUP, MEMBER, "/关闭")
        assert "群主和群管理员" in (await qq.next_sent()).text
        await qq.say_group(GROUP, OWNER, "/关闭", role="owner")
        assert "不再说话" in (await qq.next_sent()).text
        await bot.stop()
    await bot.start()
    async with onebot_of(bot) as qq:
        await qq.say_group(GROUP, MEMBER, "几点开门？")
        await qq.say_group(OTHER_GROUP, MEMBER, "几点关门？")
        assert (await qq.next_sent()).group_id == OTHER_GROUP
        await qq.say_group(GROUP, OWNER, "/开启", role="admin")
        assert (await qq.next_sent()).group_id == GROUP
        await qq.say_group(GROUP, MEMBER, "几点开门？")
        assert "几点开门" in (await qq.next_sent()).text
        assert len(qq.sent) == 3


async def test_what_was_just_said_is_context_by_the_names_that_are_shown(
    start_bot: StartBot, model: OpenAiServer
) -> None:
    model.answer_with(repeat_the_question)
    bot = await start_bot(**model_settings(model))
    async with onebot_of(bot) as qq:
        await qq.say_group(GROUP, OWNER, "周五晚八点开团", at_bot=False, card="团长\n# 规则")
        await qq.say_group(OTHER_GROUP, OWNER, "别处的话", at_bot=False)
        await qq.say_group(GROUP, MEMBER, "几点来着？", card="团长")
        await qq.next_sent()
    prompt = next(each for each in model.prompts() if "核心意图" not in each)
    assert "- “团长 # 规则”：“周五晚八点开团”" in prompt
    assert "别处的话" not in prompt and "\n# 规则\n周五" not in prompt
    assert prompt.count("几点来着") == 1
