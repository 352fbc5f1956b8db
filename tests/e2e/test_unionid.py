"""Two official accounts of one owner, bound to one Open Platform account: one person before the running bot."""

import asyncio
import json
import sqlite3
from contextlib import AsyncExitStack
from pathlib import Path

from simulators.wechat import WeChatServer
from tests.e2e.bot_process import WECHAT_APP_ID, WECHAT_TOKEN, BotProcess

OTHER_APP_ID = "wxother000000001"
SECRETS = "5" * 32, "6" * 32
LATEST_SECONDS = 20.0
"""A hang guard."""


def persons(bot: BotProcess) -> set[int]:
    connection = sqlite3.connect(bot.data / "jide.db", timeout=10)
    try:
        query = "SELECT person_id FROM account WHERE openid IN ('oHere', 'oThere')"
        return {row[0] for row in connection.execute(query)}
    finally:
        connection.close()


async def test_the_same_unionid_is_one_person(tmp_path: Path) -> None:
    bot = BotProcess(tmp_path / "数据")
    here = WeChatServer(
        f"{bot.url}/wechat", WECHAT_TOKEN, WECHAT_APP_ID, app_secret=SECRETS[0], is_bound=True
    )
    there = WeChatServer(
        f"{bot.url}/wechat2", WECHAT_TOKEN, OTHER_APP_ID, app_secret=SECRETS[1], is_bound=True
    )
    async with AsyncExitStack() as stack:
        for server in (here, there):
            await stack.enter_async_context(server)
        more = {
            "app_id": OTHER_APP_ID,
            "token": WECHAT_TOKEN,
            "app_secret": SECRETS[1],
            "path": "/wechat2",
            "api_base": there.api.base_url,
        }
        bot.settings |= {
            "WECHAT__APP_SECRET": SECRETS[0],
            "WECHAT__API_BASE": here.api.base_url,
            "WECHAT__MORE_ACCOUNTS": json.dumps([more]),
        }
        stack.push_async_callback(bot.kill)
        await bot.start()
        here.people["oHere"].unionid = there.people["oThere"].unionid = "uOne"
        await here.say("oHere", "记住：我对花生过敏")
        await there.say("oThere", "你好")
        async with asyncio.timeout(LATEST_SECONDS):
            while len(persons(bot)) != 1:
                await asyncio.sleep(0.05)
        assert "花生" in (await there.say("oThere", "/我的记忆")).text
        stranger = await there.say("oStranger", "/我的记忆")
        assert "花生" not in stranger.text
