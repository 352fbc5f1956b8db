"""Accounts that were one person part: what the other was about to read of them is not shown, now or later."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from bot.conversation.message import Kind
from identity.directory import Proof
from simulators.openai.answers import Answer, Request
from tests.integration.living_house import PAGE_BREAK, QQ, WECHAT, LivingHouse, OpenHouse, neighbourhood

TOLD, FACT = "我的鞋码是四十二", "鞋码是四十二"
"""As it is stored, and as an answer says it."""
OWN = "住在苏州"
QUESTION = "买多大的鞋合适"
NEXT_QUESTION = "明天带什么出门"
PHONE = "13800138000"


def think(request: Request) -> Answer:
    """Four pages; the last repeats what the prompt knows."""
    known = [f"您{each}" for each in (FACT, OWN) if each in request.prompt]
    return Answer(text=PAGE_BREAK.join(("第一页。", "第二页。", "第三页。", "，".join(known) or "不清楚。")))


@pytest.fixture
async def living(tmp_path: Path) -> AsyncGenerator[LivingHouse]:
    """One person, who told a fact on either side."""
    async with neighbourhood(tmp_path) as open_house:
        yield await linked(open_house)


async def linked(open_house: OpenHouse) -> LivingHouse:
    living = await open_house()
    living.model.answer_with(think)
    for channel in (WECHAT, QQ):
        await living.greet("li", channel=channel)
        await living.house.directory.prove_phone(await living.account("li", channel), PHONE, Proof.IMPORT)
    await living.say(f"记住{TOLD}", channel=QQ)
    await living.say(f"记住我{OWN}", channel=WECHAT)
    await living.house.worker.work_off()
    return living


async def unlinks(living: LivingHouse) -> None:
    await living.say("/解绑", channel=QQ)
    assert "已解绑" in await living.say("确认", channel=QQ)


async def other_unlinks(living: LivingHouse) -> None:
    await living.say("/解绑", channel=WECHAT)
    assert "已解绑" in await living.say("确认", channel=WECHAT)


async def unsubscribes(living: LivingHouse) -> None:
    await living.say("", kind=Kind.UNFOLLOW, channel=QQ)


async def is_undone(living: LivingHouse) -> None:
    accounts = living.house.stores.accounts
    (merge,) = await accounts.merges((await living.account("li", WECHAT)).person)
    assert await accounts.undo_merge(merge.id) is not None


Parting = Callable[[LivingHouse], Awaitable[None]]
partings = pytest.mark.parametrize("part", [unlinks, other_unlinks, unsubscribes, is_undone])


async def next_pages(living: LivingHouse, channel: str = WECHAT) -> str:
    return "\n".join([await living.say("继续", channel=channel) for _ in range(3)])


async def test_while_they_are_one_all_of_it_is_read(living: LivingHouse) -> None:
    """What the tests below would show if nothing were done."""
    await living.say(QUESTION, channel=WECHAT)
    assert FACT in await next_pages(living)
    assert FACT in (await living.recent(channel=WECHAT))[-1].answer


@partings
async def test_pages_that_waited_are_gone(living: LivingHouse, part: Parting) -> None:
    assert await living.say(QUESTION, channel=WECHAT) == "第一页。"
    await part(living)
    assert "delivery" not in living.tables_with("第二页")
    assert "第二页" not in await living.say("继续", channel=WECHAT), "it is talk like any other"
    assert FACT not in await next_pages(living)


@pytest.mark.parametrize("part", [unlinks, unsubscribes, is_undone])
async def test_an_answer_under_way_is_made_once_more(living: LivingHouse, part: Parting) -> None:
    async with living.thinking() as asked:
        answering = asyncio.create_task(living.say(QUESTION, channel=WECHAT))
        await asked.wait()
        await part(living)
    assert await answering == "第一页。"
    rest = await next_pages(living)
    assert FACT not in rest and OWN in rest
    (turn,) = [each for each in await living.recent(channel=WECHAT) if each.question == QUESTION]
    assert FACT not in turn.answer


@partings
async def test_an_earlier_answer_reaches_no_later_prompt(living: LivingHouse, part: Parting) -> None:
    await living.say(QUESTION, channel=WECHAT)
    await living.say(QUESTION, channel=QQ)
    await part(living)
    sides = [(WECHAT, FACT), (QQ, OWN)]
    # Who unsubscribed is still the person who told the other: what they are told is not put away.
    for channel, others in sides[:1] if part is unsubscribes else sides:
        await living.say(NEXT_QUESTION, channel=channel)
        prompt = next(each for each in reversed(living.model.prompts()) if NEXT_QUESTION in each)
        assert others not in prompt
        turns = [each for each in await living.recent(channel=channel) if each.question == QUESTION]
        assert [each.answer for each in turns] == [""]


@partings
async def test_answers_that_quote_what_is_ones_own_stay(living: LivingHouse, part: Parting) -> None:
    await living.say(f"记住{TOLD}", channel=WECHAT)
    await living.house.worker.work_off()
    await living.say(QUESTION, channel=WECHAT)
    answer = (await living.recent(channel=WECHAT))[-1].answer
    assert FACT in answer
    await part(living)
    (turn,) = [each for each in await living.recent(channel=WECHAT) if each.question == QUESTION]
    assert turn.answer == answer


async def test_an_account_that_is_alone_keeps_what_waits(living: LivingHouse) -> None:
    await unlinks(living)
    assert await living.say(QUESTION, channel=WECHAT) == "第一页。"
    assert "没有" in await living.say("/解绑", channel=QQ)
    await unsubscribes(living)
    assert OWN in await next_pages(living)
