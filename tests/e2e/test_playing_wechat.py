"""The WeChat page over a running bot: real deliveries with real seconds, on every kind of account."""

import asyncio
import re

import httpx
import pytest

from tests.console_fakes import CSRF, PASSWORD
from tests.e2e.bot_process import BotProcess
from tests.e2e.conftest import StartBot, wechat_of
from tests.e2e.test_first_visit import browser

HOME = "/playground/wechat"
ACCOUNTS = ("playground", "playground-aes", "playground-subscription", "playground-service")
VERIFIED = ACCOUNTS[2:]
PRINTED = re.compile(r"^在浏览器里试用：([^\s（]+)", re.MULTILINE)
PATIENCE_SECONDS = 60.0
"""A hang guard."""


class Bench:
    """The page, used as a browser without scripts does."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def enter(self, bot: BotProcess) -> "Bench":
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (found := PRINTED.findall(bot.log.read_text("utf-8"))):
                await asyncio.sleep(0.1)
        address = found[-1]
        form = {"csrf": await self._csrf(address), "password": PASSWORD, "again": PASSWORD}
        token = address.partition("/setup?token=")[2]
        assert (await self._client.post("/setup", data=form | {"token": token})).status_code == 303
        return self

    async def page(self, account: str, who: str) -> str:
        answer = await self._client.get(HOME, params={"account": account, "who": who, "lang": "zh"})
        assert answer.status_code == 200
        return answer.text

    async def act(self, act: str, account: str, who: str, **fields: str) -> None:
        data = {"csrf": await self._csrf(HOME), "account": account, "who": who, **fields}
        answer = await self._client.post(f"{HOME}/{act}", data=data)
        assert answer.status_code == 303, answer.text

    async def until(self, account: str, who: str, *said: str) -> str:
        """The page, once it says all of this."""
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        while True:
            page = await self.page(account, who)
            missing = [each for each in said if each not in page]
            if not missing:
                return page
            shown = " ".join(re.sub("<[^>]+>", " ", page).split())
            assert asyncio.get_running_loop().time() < deadline, (account, who, missing, shown)
            await asyncio.sleep(0.2)

    async def _csrf(self, address: str) -> str:
        found = CSRF.search((await self._client.get(address)).text)
        assert found
        return found[1]


async def test_every_kind_of_account_answers_a_slow_model_in_its_own_way(start_bot: StartBot) -> None:
    bot = await start_bot()
    async with browser(bot) as client:
        bench = await Bench(client).enter(bot)
        for account in ACCOUNTS:
            await bench.act("say", account, "小明", text="记住：我对花生过敏")
        for account in ACCOUNTS:
            await bench.until(account, "小明", "已记住：我对花生过敏", "第 1 次投递时答上")
            await bench.act("knobs", account, "小明", model="stub", latency="12")
            await bench.act("say", account, "小明", text="我能吃什么零食？")
        await bench.act("knobs", "playground", "小红", model="stub", latency="20")
        await bench.act("say", "playground", "小红", text="我能吃什么零食？")
        known = "我记得您说过：“我对花生过敏”"
        for account in ACCOUNTS:
            how = "客服消息送到" if account in VERIFIED else "第 3 次投递时答上"
            page = await bench.until(account, "小明", known, how)
            assert "故障" not in page, account
            late = [bar for bar in re.findall(r"<rect class=\"bar (\S+)\"", page) if bar == "bar-late"]
            assert len(late) == (0 if account in VERIFIED else 2), account
        page = await bench.until("playground", "小红", "第 3 次投递时先答了一部分", "还有 1 页回答没有看")
        assert "与这有关的事我没有记下" not in page
        await bench.act("tap", "playground", "小红", label="继续")
        page = await bench.until("playground", "小红", "与这有关的事我没有记下")
        assert "花生" not in page.replace("记住，我对花生过敏", "")
        why = re.findall(r'href="(/playground/why/[^"]+)"', page)[0]
        assert (await client.get(why)).status_code == 200
    assert "Traceback" not in bot.log.read_text("utf-8")


async def test_after_a_restart_a_follower_is_who_they_were(start_bot: StartBot) -> None:
    bot = await start_bot()
    async with browser(bot) as client:
        bench = await Bench(client).enter(bot)
        await bench.act("follow", "playground-aes", "", name="阿福")
        await bench.until("playground-aes", "阿福", "关注了公众号", "我是")
        await bench.act("voice", "playground-aes", "阿福", text="记住：我住在杭州")
        await bench.until("playground-aes", "阿福", "已记住：我住在杭州")
        await bot.stop()
        await bot.start()
        assert "没有记下" not in await bench.page("playground-aes", "阿福")
        await bench.act("follow", "playground-aes", "", name="阿福")
        await bench.act("say", "playground-aes", "阿福", text="我住在哪里？")
        await bench.until("playground-aes", "阿福", "我记得您说过：“我住在杭州”")
        await bench.act("say", "playground-aes", "小明", text="我住在哪里？")
        assert "我记得您说过" not in await bench.until("playground-aes", "小明", "没有记下")


async def test_nobody_who_is_played_becomes_an_operator(start_bot: StartBot) -> None:
    bot = await start_bot()
    (code,) = re.findall(r"/认领 ([A-Z0-9-]+)", bot.log.read_text("utf-8"))
    async with browser(bot) as client:
        bench = await Bench(client).enter(bot)
        for account in ACCOUNTS:
            await bench.act("say", account, "小明", text=f"/认领 {code}")
            await bench.until(account, "小明", "认领码没有用掉")
    async with wechat_of(bot) as wechat:
        assert "现在是管理员" in (await wechat.say("oReal", f"/认领 {code}")).text, "it was good all the time"


@pytest.mark.parametrize("is_configured", [True, False])
async def test_what_is_played_does_not_exist_on_the_public_port(
    start_bot: StartBot, is_configured: bool
) -> None:
    settings = {} if is_configured else {"WECHAT__APP_ID": "", "WECHAT__TOKEN": ""}
    bot = await start_bot(**settings)
    async with httpx.AsyncClient(base_url=bot.url, trust_env=False) as public, browser(bot) as loopback:
        unknown = await public.get("/nothing/here")
        for account in (*ACCOUNTS, "nobody"):
            path = f"/platforms/wechat/{account}"
            for method in ("GET", "POST"):
                answer = await public.request(method, path, content=b"<xml></xml>")
                assert (answer.status_code, answer.content) == (404, unknown.content), path
            # Behind its door the account checks the signature, as everywhere.
            refused = 404 if account == "nobody" else 403
            assert (await loopback.post(path, content=b"<xml></xml>")).status_code == refused, path
        status = (await public.post("/wechat", content=b"<xml></xml>")).status_code
        assert status == 403, "the account that is there anyway"


async def test_without_the_second_port_there_is_nothing_to_play(start_bot: StartBot) -> None:
    bot = await start_bot(CONSOLE__PORT="0")
    async with httpx.AsyncClient(base_url=bot.url, trust_env=False) as public:
        assert (await public.post("/platforms/wechat/playground")).status_code == 404
    assert not (bot.data / "tryout.json").exists()
