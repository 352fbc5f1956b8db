"""The QQ page before a really running bot: what its people say goes out by the platforms' protocols and is answered."""

import asyncio
import html
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from simulators.onebot import HandshakeRefused, OneBotClient
from tests.console_fakes import CSRF, PASSWORD
from tests.e2e.bot_process import ONEBOT_TOKEN, BotProcess
from tests.e2e.conftest import StartBot
from tests.e2e.test_first_visit import browser, printed

HOME = "/playground/qq"
HANG_SECONDS = 30.0
"""A hang guard, never a measure."""
BUBBLE = re.compile(r'<li class="bubble(?:-note| bubble-(\w+))"[^>]*>(.*?)</li>', re.DOTALL)
WHY = re.compile(r'href="(/playground/why/[^"]+)"')


class Player:
    """A browser, signed in."""

    def __init__(self, bot: BotProcess, client: httpx.AsyncClient, csrf: str) -> None:
        self.bot = bot
        self.client = client
        self._csrf = csrf

    async def act(self, act: str, room: str, who: str = "小明", **fields: str) -> httpx.Response:
        form = {"csrf": self._csrf, "room": room, "who": who, **fields}
        return await self.client.post(f"{HOME}/{act}", data=form)

    async def say(self, text: str, room: str = "group", who: str = "小明", **fields: str) -> None:
        answer = await self.act("say", room, who, text=text, **fields)
        assert answer.status_code == 303, answer.text

    async def page(self, room: str = "group", who: str = "小明") -> str:
        answer = await self.client.get(HOME, params={"room": room, "who": who})
        assert answer.status_code == 200
        return answer.text

    async def bubbles(self, room: str = "group", who: str = "小明") -> list[tuple[str, str]]:
        """(me, bot, other or "" for a note; what stands in it)."""
        found = BUBBLE.findall(await self.page(room, who))
        return [(side, html.unescape(re.sub(r"<[^>]+>", "", text))) for side, text in found]

    async def until(
        self, is_so: Callable[[list[tuple[str, str]]], bool], room: str = "group", who: str = "小明"
    ) -> list[tuple[str, str]]:
        async with asyncio.timeout(HANG_SECONDS):
            while not is_so(bubbles := await self.bubbles(room, who)):
                await asyncio.sleep(0.05)
        return bubbles

    async def answers(self, count: int, room: str = "group", who: str = "小明") -> list[str]:
        """The first so many messages of the bot."""
        bubbles = await self.until(lambda all_: sum(side == "bot" for side, _ in all_) >= count, room, who)
        return [text for side, text in bubbles if side == "bot"]


@asynccontextmanager
async def player_of(bot: BotProcess) -> AsyncIterator[Player]:
    address = await printed(bot)
    async with browser(bot) as client:
        found = CSRF.search((await client.get(address)).text)
        assert found
        token = address.partition("token=")[2]
        form = {"csrf": found[1], "token": token, "password": PASSWORD, "again": PASSWORD}
        assert (await client.post("/setup", data=form)).status_code == 303
        found = CSRF.search((await client.get(HOME)).text)
        assert found
        yield Player(bot, client, found[1])


TRYOUT: Mapping[str, str] = {"ONEBOT__ACCESS_TOKEN": "", "WECHAT__APP_ID": "", "WECHAT__TOKEN": ""}


@pytest.mark.parametrize("settings", [{}, TRYOUT], ids=["beside real accounts", "alone"])
async def test_a_group_is_answered_where_it_calls_and_learns_nothing_of_private_talk(
    start_bot: StartBot, settings: dict[str, str]
) -> None:
    bot = await start_bot(**settings)
    async with player_of(bot) as player:
        await player.say("记住：我对芒果过敏", "private")
        assert "已记住" in (await player.answers(1, "private"))[0]
        await player.say("我能吃什么零食？还记得我吗", "private")
        assert "我对芒果过敏" in (await player.answers(2, "private"))[1]
        await player.say("今天吃什么，芒果怎么样", at_bot="")
        bubbles = await player.until(lambda all_: "没有叫机器人" in all_[0][1])
        assert [side for side, _ in bubbles] == ["me"], "talk among themselves"
        await player.say("我能吃什么零食？还记得我吗", at_bot="yes")
        (answer,) = await player.answers(1)
        assert answer.strip().startswith("记得") and "@小明" in answer and "我对芒果过敏" not in answer
        seen_by_other = await player.bubbles("group", "小红")
        assert [side for side, _ in seen_by_other] == ["other", "other", "bot"]
        assert await player.bubbles("private", "小红") == []
        await bot.stop()
        await bot.start()
        assert await player.bubbles("private") == []
        await player.say("我能吃什么零食？还记得我吗", "private")
        assert "我对芒果过敏" in (await player.answers(1, "private"))[0]
        log = bot.log.read_text("utf-8")
        assert "Traceback" not in log and "芒果" not in log


async def test_a_quotation_calls_the_bot_and_every_answer_tells_why(start_bot: StartBot) -> None:
    bot = await start_bot()
    async with player_of(bot) as player:
        await player.say("/隐私", at_bot="yes")
        await player.answers(1)
        page = await player.page()
        refs = re.findall(r"&amp;quotes=(\d+)", page)
        assert len(refs) == 2, "what was said, and what was answered"
        quoting = await player.client.get(HOME, params={"room": "group", "who": "小红", "quotes": refs[1]})
        assert f'name="quotes" value="{refs[1]}"' in quoting.text
        await player.say("这是什么意思", who="小红", at_bot="", quotes=refs[1])
        bubbles = await player.until(lambda all_: sum(side == "bot" for side, _ in all_) == 2)
        assert bubbles[-1][1].strip().startswith("记得") and "@小红" in bubbles[-1][1]
        addresses = WHY.findall(await player.page())
        assert len(addresses) == 2
        said = [(await player.client.get(html.unescape(each))).text for each in addresses]
        assert "/隐私" in said[0] and "这是什么意思" in said[1]
        answer = await player.act("say", "group", text="再问", quotes="12345")
        assert answer.status_code == 422 and "要引用的话已经找不到了" in answer.text


async def test_members_come_and_go_and_a_muted_bot_says_nothing(start_bot: StartBot) -> None:
    bot = await start_bot()
    async with player_of(bot) as player:
        await player.act("join", "group", "", name="小华", role="admin", card="管家")
        page = await player.page(who="小华")
        assert "小华加入了群" in html.unescape(page) and "管理员" in page
        await player.act("describe", "group", "小华", role="member", card="[有人@我]")
        await player.say("/帮助", who="小华", at_bot="yes")
        assert "@[有人@我]" in (await player.answers(1))[0]
        await player.act("leave", "group", "小华")
        assert (await player.act("say", "group", "小华", text="在吗")).status_code == 422
        await player.act("mute", "group", is_muted="yes")
        await player.say("/帮助", at_bot="yes")
        await player.until(lambda all_: "机器人没有说话" in all_[-1][1])
        await player.act("mute", "group", is_muted="")
        bubbles = await player.until(lambda all_: all_[-1][0] == "bot" or "解除" in all_[-1][1])
        assert "解除了禁言" in "".join(text for _, text in bubbles)


async def test_the_official_bot_answers_in_private_and_in_a_group(start_bot: StartBot) -> None:
    bot = await start_bot()
    async with player_of(bot) as player:
        await player.say("记住：我对芒果过敏", "official-private")
        assert "已记住" in (await player.answers(1, "official-private"))[0]
        bubbles = await player.bubbles("official-private")
        assert "回复了 1/4 条" in bubbles[0][1]
        await player.say("我能吃什么零食？还记得我吗", "official-group", at_bot="yes")
        (answer,) = await player.answers(1, "official-group")
        assert "芒果" not in answer, "another id, another person"
        await player.say("随便聊聊", "official-group", at_bot="")
        await player.until(lambda all_: "没有叫机器人" in all_[-1][1], "official-group")
        addresses = WHY.findall(await player.page("official-private"))
        assert "芒果" in (await player.client.get(html.unescape(addresses[0]))).text
        assert await player.bubbles() == []
        public = f"{bot.url}/qq/webhook"
        async with httpx.AsyncClient(trust_env=False) as stranger:
            for method in ("GET", "POST"):
                answer, nothing = [
                    await stranger.request(method, url) for url in (public, f"{bot.url}/nothing")
                ]
                assert (answer.status_code, answer.content) == (404, nothing.content)
            served = f"http://127.0.0.1:{bot.console_port}/platforms/qq/webhook"
            assert (await stranger.post(served, json={"op": 13})).status_code in (400, 401, 403)


async def test_beside_a_real_official_bot_the_page_says_why_there_is_no_other(start_bot: StartBot) -> None:
    bot = await start_bot(QQ__APP_ID="102000001", QQ__SECRET="x" * 32)
    async with player_of(bot) as player:
        assert "已经接入了真的 QQ 官方机器人" in await player.page("official-group")
        assert (await player.act("say", "official-group", text="你好")).status_code == 404
        await player.say("/帮助", at_bot="yes")
        await player.answers(1)
        async with httpx.AsyncClient(trust_env=False) as stranger:
            served = f"http://127.0.0.1:{bot.console_port}/platforms/qq/webhook"
            assert (await stranger.post(served)).status_code == 404


async def test_nobody_comes_in_as_the_played_client(start_bot: StartBot) -> None:
    bot = await start_bot()
    async with player_of(bot) as player:
        await player.say("/帮助", at_bot="yes")
        await player.answers(1)
        public = f"ws://127.0.0.1:{bot.port}/onebot/v11/ws"
        door = f"ws://127.0.0.1:{bot.console_port}/platforms/onebot/v11/ws"
        for url, self_id in ((public, 9999), (door, 9999), (door, 10001)):
            with pytest.raises(HandshakeRefused):
                await OneBotClient(url, self_id=self_id, access_token=ONEBOT_TOKEN).connect()
        with pytest.raises(InvalidStatus):
            await connect(f"ws://127.0.0.1:{bot.port}/platforms/onebot/v11/ws", proxy=None)
        async with OneBotClient(public, self_id=10001, access_token=ONEBOT_TOKEN) as real:
            await player.say("/我的编号", at_bot="yes")
            await player.answers(2)
            await real.say_private(20001, "/我的编号")
            assert "20001" in (await real.next_sent()).text
            assert len(real.sent) == 1, "a real client gets nothing of the playground"
