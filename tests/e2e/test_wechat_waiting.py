"""Answers that take longer than WeChat waits: every cell is played at once, against one running bot."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from simulators.openai import Answer, OpenAiServer
from simulators.wechat import Seen, WeChatServer
from tests.e2e.bot_process import BotProcess
from tests.e2e.conftest import model_settings, wechat_of

SECOND_CHANCE_SECONDS = 7.0
"""Beyond the first delivery's five, within the second's."""
TOO_LATE_SECONDS = 17.0
"""Beyond all three deliveries, which end at 14.5 s."""

SEVEN = "退货的运费谁来出呢"
LATE = "会员的积分怎么换礼品"
PENDING = "旧款的充电器还能买到吗"
QUICK = "周末几点开门呢"
FIRST = "海外的订单怎么报关"
ANSWERS = {
    SEVEN: Answer(text="运费由卖家出。", delay_seconds=SECOND_CHANCE_SECONDS),
    LATE: Answer(text="一百分换一只杯子。", delay_seconds=TOO_LATE_SECONDS),
    PENDING: Answer(text="旧款已经停产。", delay_seconds=TOO_LATE_SECONDS),
    FIRST: Answer(text="由承运人代为报关。", delay_seconds=SECOND_CHANCE_SECONDS),
    QUICK: Answer(text="周末九点开门。"),
}
LATE_ID = 5_000_000_001


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """What the people saw, in the order they asked."""

    seven: Seen
    late: Seen
    late_again: Seen
    """A fourth delivery, while the answer was still being made."""
    late_answer: Seen
    late_afterwards: Seen
    """A fifth, when it had been fetched."""
    pending: Seen
    between: Seen
    pending_answer: Seen
    first: Seen
    second: Seen


@pytest_asyncio.fixture(scope="module")
async def cells(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cells]:
    async with OpenAiServer() as model:
        # Only what asks is answered late: the judgement of the turn afterwards holds the words too.
        model.answer_with(lambda request: _answer_to(request.question))
        bot = BotProcess(tmp_path_factory.mktemp("waiting") / "数据", **model_settings(model))
        await bot.start()
        try:
            async with wechat_of(bot) as wechat:
                yield await _play(wechat, model)
        finally:
            await bot.kill()


def _answer_to(prompt: str) -> Answer:
    """The answer to the question that stands last in the prompt; what stands before is the context."""
    asked = max(ANSWERS, key=prompt.rfind)
    is_question = "JSON" not in prompt and asked in prompt
    return ANSWERS[asked] if is_question else Answer(text="否")


async def _play(wechat: WeChatServer, model: OpenAiServer) -> Cells:
    seven, late, pending, overlapping = await asyncio.gather(
        wechat.say("oSeven", SEVEN), _late(wechat), _pending(wechat), _overlapping(wechat, model)
    )
    return Cells(
        seven=seven,
        late=late[0],
        late_again=late[1],
        late_answer=late[2],
        late_afterwards=late[3],
        pending=pending[0],
        between=pending[1],
        pending_answer=pending[2],
        first=overlapping[0],
        second=overlapping[1],
    )


async def _late(wechat: WeChatServer) -> list[Seen]:
    return [
        await wechat.say("oLate", LATE, LATE_ID),
        await wechat.say("oLate", LATE, LATE_ID),
        await wechat.say("oLate", "继续"),
        await wechat.say("oLate", LATE, LATE_ID),
    ]


async def _pending(wechat: WeChatServer) -> list[Seen]:
    return [
        await wechat.say("oPending", PENDING),
        await wechat.say("oPending", QUICK),
        await wechat.say("oPending", "继续"),
    ]


async def _overlapping(wechat: WeChatServer, model: OpenAiServer) -> tuple[Seen, Seen]:
    first = asyncio.create_task(wechat.say("oOverlapping", FIRST))
    async with asyncio.timeout(20):
        while not any(FIRST in prompt for prompt in model.prompts()):
            await asyncio.sleep(0.02)
    second = await wechat.say("oOverlapping", QUICK)
    return await first, second


async def test_an_answer_of_seven_seconds_comes_with_the_second_delivery(cells: Cells) -> None:
    assert cells.seven.text.startswith("运费由卖家出。")
    assert cells.seven.attempts == 2


async def test_the_third_delivery_of_a_later_one_says_to_ask_again(cells: Cells) -> None:
    assert cells.late.attempts == 3
    assert "回复“继续”" in cells.late.shown
    assert "一百分" not in cells.late.text


async def test_a_fourth_delivery_gets_the_same_bytes(cells: Cells) -> None:
    assert cells.late_again.bodies == cells.late.bodies[-1:]
    assert cells.late_afterwards.bodies == cells.late.bodies[-1:]


async def test_the_held_answer_is_named_by_its_question(cells: Cells) -> None:
    heading, _, answer = cells.late_answer.text.partition("\n")
    assert heading.startswith("关于“")
    assert LATE.startswith(heading.removeprefix("关于“").rstrip("”：…"))
    assert answer.startswith("一百分换一只杯子。")


async def test_a_question_behind_a_pending_one_is_answered_itself(cells: Cells) -> None:
    assert "回复“继续”" in cells.pending.shown
    assert cells.between.text.startswith("周末九点开门。")
    assert "旧款已经停产。" in cells.pending_answer.text
    assert cells.pending_answer.text.startswith("关于“")


async def test_overlapping_questions_are_each_answered(cells: Cells) -> None:
    assert cells.first.text.startswith("由承运人代为报关。")
    assert cells.second.text.startswith("周末九点开门。")
