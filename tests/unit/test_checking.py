"""「让我查一下」 is said once, before the answer, to a reproach, and only where it is switched on."""

import asyncio

import pytest

from bot.checking import AFTER_SECONDS, CheckingLine
from bot.conversation.message import Message
from bot.conversation.wording import Wording
from tests.story_fakes import message


class Said:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.waited: list[float] = []
        self.is_due = asyncio.Event()

    async def say(self, message: Message, text: str) -> None:
        self.lines.append(text)

    async def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        await self.is_due.wait()

    def line(self, *, is_on: bool = True) -> CheckingLine:
        return CheckingLine(self.say, Wording.load("zh_CN"), is_on=is_on, wait=self.wait)


async def test_a_late_answer_is_announced() -> None:
    said = Said()
    async with said.line().during(message("1"), is_reproach=True):
        said.is_due.set()
        while not said.lines:
            await asyncio.sleep(0)
    assert (said.lines, said.waited) == (["让我查一下。"], [AFTER_SECONDS])


async def test_an_answer_in_time_is_not() -> None:
    said = Said()
    async with said.line().during(message("1"), is_reproach=True):
        await asyncio.sleep(0)
    said.is_due.set()
    await asyncio.sleep(0)
    assert (said.lines, said.waited) == ([], [AFTER_SECONDS])


@pytest.mark.parametrize(("is_on", "is_reproach"), [(False, True), (True, False)])
async def test_nothing_is_said_without_setting_or_reproach(is_on: bool, is_reproach: bool) -> None:
    said = Said()
    said.is_due.set()
    async with said.line(is_on=is_on).during(message("1"), is_reproach=is_reproach):
        await asyncio.sleep(0)
    assert (said.lines, said.waited) == ([], [])
