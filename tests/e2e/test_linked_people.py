"""One person on WeChat and QQ before the running bot: linked, asked on either side, parted, gone and back."""

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from simulators.onebot import OneBotClient
from simulators.openai import OpenAiServer
from simulators.openai.answers import Answer, Request
from simulators.wechat import WeChatServer
from tests.e2e.bot_process import BotProcess
from tests.e2e.conftest import model_settings, onebot_of, wechat_of
from tests.integration.valkey_fixture import run_valkey

GROUP = 30001
SHOES, TOWN, PEANUTS, HIKING = "鞋码是42", "住在苏州", "对花生过敏", "喜欢爬山"
FACTS = {SHOES, TOWN, PEANUTS, HIKING}
TALK, QQ_TALK = "附近有什么好玩的", "周末去哪里钓鱼好"
"""What stands in the short-term window alone."""
MEMORY = "# 长期记忆"
MOST_WRONG = 5
_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """With an account on either side."""

    openid: str
    qq: int

    @property
    def masked_qq(self) -> str:
        return f"{str(self.qq)[:2]}…{str(self.qq)[-2:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The bot between its platforms, its model and its Redis. Who is not named is the person it is about."""

    bot: BotProcess
    wechat: WeChatServer
    qq: OneBotClient
    model: OpenAiServer
    me: Person
    stranger: Person

    async def on_wechat(self, text: str, who: Person | None = None) -> str:
        seen = await self.wechat.say((who or self.me).openid, text)
        assert not seen.is_fault
        return seen.shown

    async def on_qq(self, text: str, who: Person | None = None) -> str:
        await self.qq.say_private((who or self.me).qq, text)
        return (await self.qq.next_sent()).text

    async def in_group(self, text: str, who: Person | None = None) -> str:
        await self.qq.say_group(GROUP, (who or self.me).qq, text)
        return (await self.qq.next_sent()).text

    async def known_on_wechat(self, who: Person | None = None) -> set[str]:
        return await self._known(self.on_wechat, who)

    async def known_on_qq(self, who: Person | None = None) -> set[str]:
        return await self._known(self.on_qq, who)

    async def known_in_group(self, who: Person | None = None) -> set[str]:
        return await self._known(self.in_group, who)

    async def _known(
        self, ask: Callable[[str, Person | None], Awaitable[str]], who: Person | None
    ) -> set[str]:
        """Which of all that was ever said is in the prompt that the model gets for a question."""
        before = len(self.model.requests)
        question = "你还记得我的鞋码、住处、过敏和爱好吗？"
        await ask(question, who)
        asked = [each.prompt for each in self.model.requests[before:] if is_answer_to(question, each)]
        assert len(asked) == 1, self.model.prompts()[before:]
        prompt = asked[0]
        recalled = {fact for fact in FACTS if fact in section(MEMORY, prompt)}
        assert recalled == {fact for fact in FACTS if fact in prompt}, "nowhere else what is not recalled"
        return recalled | {talk for talk in (TALK, QQ_TALK) if talk in prompt}

    async def link(self) -> None:
        """WeChat's account asks for the code, QQ's enters it, WeChat's is shown who did and agrees."""
        code = await self.code()
        assert "回复“确认绑定”" in await self.on_qq(f"/绑定 {code}")
        assert "输入了您的绑定码" in await self.on_wechat("/绑定")
        assert "已绑定" in await self.on_wechat("确认绑定")

    async def code(self) -> str:
        found = re.search("绑定码：([0-9A-Z]{6})（", await self.on_wechat("/绑定"))
        assert found
        return found[1]


def section(title: str, prompt: str) -> str:
    """From its title to the next; "" where the prompt has none."""
    return prompt.partition(title)[2].partition("\n# ")[0]


def is_judging(request: Request) -> bool:
    return "值得长期记住" in request.prompt


def is_answer_to(question: str, request: Request) -> bool:
    return request.question.rstrip().endswith(question) and not is_judging(request)


def think(request: Request) -> Answer:
    """Answers in words that hold no fact, and finds only the town worth keeping."""
    if not is_judging(request):
        return Answer(text="好的，我看看。")
    is_kept = TOWN in request.question
    facts = [{"kind": "identity", "text": f"我{TOWN}", "importance": 0.8}] if is_kept else []
    judgement = {"keep": is_kept, "reason": "住处", "summary": "", "facts": facts}
    return Answer(text=json.dumps(judgement, ensure_ascii=False))


@pytest_asyncio.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[BotProcess, OpenAiServer]]:
    """One bot for all tests, in each of which other people speak: to start it takes longer than most of them."""
    with run_valkey() as valkey:
        async with OpenAiServer() as model:
            model.answer_with(think)
            folder = tmp_path_factory.mktemp("linked") / "数据"
            bot = BotProcess(folder, **model_settings(model), REDIS__URL=valkey.url)
            try:
                yield await bot.start(), model
            finally:
                await bot.kill()
    assert "Traceback" not in bot.log.read_text("utf-8")


@pytest_asyncio.fixture
async def world(running: tuple[BotProcess, OpenAiServer]) -> AsyncIterator[World]:
    bot, model = running
    async with wechat_of(bot) as wechat, onebot_of(bot) as qq:
        yield World(bot=bot, wechat=wechat, qq=qq, model=model, me=a_person(), stranger=a_person())


def a_person() -> Person:
    number = next(_NUMBERS)
    return Person(openid=f"oSomebody{number:04}", qq=20_000_000 + number)


async def test_linked_accounts_recall_each_other_and_nobody_else_does(world: World) -> None:
    assert "已记住" in await world.on_wechat(f"记住我的{SHOES}")
    await world.on_wechat(f"我{TOWN}，{TALK}？")
    assert "已记住" in await world.on_qq(f"记住我{PEANUTS}")
    await world.on_qq(f"{QQ_TALK}？")
    await world.bot.until_idle()
    assert await world.known_on_wechat() == {SHOES, TOWN, TALK}
    assert await world.known_on_qq() == {PEANUTS, QQ_TALK}

    await world.link()
    assert await world.known_on_qq() == {SHOES, TOWN, TALK, PEANUTS, QQ_TALK}
    assert await world.known_on_wechat() == {SHOES, TOWN, TALK, PEANUTS, QQ_TALK}
    assert await world.known_in_group() == set(), "private memory stays in private"
    assert await world.known_on_qq(world.stranger) == await world.known_on_wechat(world.stranger) == set()
    assert await world.known_in_group(world.stranger) == set()
    await world.on_qq("/群里可用 开")
    assert await world.known_in_group() == {SHOES, TOWN, PEANUTS}, "asked for, it would be found there"
    assert await world.known_in_group(world.stranger) == set()

    assert "已记住" in await world.on_wechat(f"记住我{HIKING}")
    assert await world.known_on_qq() == {*FACTS, TALK, QQ_TALK}
    assert "微信" in await world.on_qq("/解绑")
    assert "已解绑" in await world.on_qq("确认")
    assert await world.known_on_qq() == {PEANUTS, QQ_TALK}
    assert await world.known_on_wechat() == {SHOES, TOWN, TALK, HIKING}


async def test_a_code_is_good_once_and_says_nothing_to_others(world: World) -> None:
    stranger = world.stranger
    for who in (world.me, stranger):
        await world.on_qq("/帮助", who)  # with the first words to a newcomer
    await world.on_wechat("/帮助", stranger)
    code = await world.code()
    wrong = {await world.on_qq(f"/绑定 22222{number}", stranger) for number in range(2, 2 + MOST_WRONG)}
    assert len(wrong) == 1
    assert {await world.on_qq(f"/绑定 {code}", stranger)} == wrong, "locked, also for the right one"
    assert {await world.on_wechat(f"/绑定 {code}")} == wrong, "one's own"

    for number in range(3, 2 + MOST_WRONG):
        assert {await world.on_qq(f"/绑定 22222{number}")} == wrong
    assert "确认绑定" in await world.on_qq(f"/绑定 {code}"), "one wrong one fewer does not lock"
    assert {await world.on_wechat(f"/绑定 {code}", stranger)} == wrong, "entered before"
    shown = await world.on_wechat("确认绑定")
    assert world.me.masked_qq in shown and str(world.me.qq) not in shown
    assert "已绑定" in await world.on_wechat("确认绑定")
    assert {await world.on_wechat(f"/绑定 {code}", stranger)} == wrong, "spent"
    assert "已绑定" not in await world.on_wechat("确认绑定")


async def test_who_unfollows_is_recalled_on_no_side_until_they_ask_for_it(world: World) -> None:
    assert "已记住" in await world.on_wechat(f"记住我的{SHOES}")
    await world.on_wechat(f"我{TOWN}，{TALK}？")
    assert "已记住" in await world.on_qq(f"记住我{PEANUTS}")
    await world.bot.until_idle()
    await world.link()
    everything = {SHOES, TOWN, TALK, PEANUTS}
    assert await world.known_on_qq() == await world.known_on_wechat() == everything

    assert (await world.wechat.unfollow(world.me.openid)).text == ""
    assert await world.known_on_qq() == {PEANUTS}
    assert "要恢复之前的记忆吗？" in (await world.wechat.follow(world.me.openid)).shown
    assert await world.known_on_wechat() == await world.known_on_qq() == {PEANUTS}
    assert "恢复了" in await world.on_wechat("恢复")
    assert await world.known_on_qq() == await world.known_on_wechat() == everything


async def test_what_an_operator_decides_beside_the_bot_holds_at_once(world: World, tmp_path: Path) -> None:
    async def jide(*arguments: str) -> Any:
        done = await asyncio.to_thread(world.bot.cli, "identity", *arguments, "--json")
        return json.loads(done.stdout)

    assert "已记住" in await world.on_wechat(f"记住我的{SHOES}")
    assert "已记住" in await world.on_qq(f"记住我{PEANUTS}")
    await world.on_qq(f"{QQ_TALK}？")
    lists = (
        [f"wechat,,{world.me.openid},13800138000", f"onebot,{world.qq.self_id},{world.me.qq},13900139000"],
        [f"onebot,{world.qq.self_id},{world.me.qq},13800138000"],
    )
    customers = tmp_path / "名单.csv"
    for rows, conflicts in zip(lists, ([], [2]), strict=True):
        customers.write_text("\n".join(["channel,app_id,openid,phone", *rows]), "utf-8")
        assert (await jide("import", str(customers)))["conflicts"] == conflicts
    assert (await world.known_on_qq(), await world.known_on_wechat()) == ({PEANUTS, QQ_TALK}, {SHOES})
    (conflict,) = (await jide("conflicts"))["conflicts"]

    (merge,) = (await jide("decide", str(conflict["id"]), "merge", "--yes"))["merges"]
    assert await world.known_on_qq() == await world.known_on_wechat() == {SHOES, PEANUTS, QQ_TALK}
    assert (await jide("undo", str(merge), "--yes"))["ok"] is True
    assert (await world.known_on_qq(), await world.known_on_wechat()) == ({PEANUTS, QQ_TALK}, {SHOES})
