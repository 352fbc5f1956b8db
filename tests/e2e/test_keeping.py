"""Beside a bot that runs: a backup, a doctor's look, a restore that is refused; and the restore after it stopped."""

import asyncio
import json
import secrets
from pathlib import Path

from simulators.wechat import WeChatServer
from tests.e2e.bot_process import WECHAT_APP_ID, BotProcess
from tests.e2e.conftest import StartBot

TOKEN = secrets.token_hex(12)  # the doctor looks for it in tracked files
"""Letters and digits alone, as WeChat's console takes it."""


async def jide(bot: BotProcess, *arguments: str, code: int = 0) -> str:
    done = await asyncio.to_thread(bot.cli, *arguments)
    assert done.returncode == code, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr


async def test_backup_doctor_and_restore_around_a_running_bot(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(WECHAT__TOKEN=TOKEN, SUPERUSERS="wechat:oAdmin")
    archive = str(tmp_path / "备份.tar.gz")
    async with WeChatServer(f"{bot.url}/wechat", TOKEN, WECHAT_APP_ID) as wechat:
        await wechat.say("oA", "记住：我对花生过敏")
        told = json.loads(await jide(bot, "backup", archive, "--json"))
        assert told["counts"]["fact"] == 1
        await wechat.say("oA", "/清除记忆")
        assert "已清除" in (await wechat.say("oA", "确认")).text
        examined = json.loads(await jide(bot, "doctor", "--json"))
        (port,) = [each for each in examined["findings"] if each["check"] == "port"]
        assert "签名核对通过" in port["said"]
        assert "先停下再恢复" in await jide(bot, "restore", archive, "--yes", code=1)
        assert "记住" in (await wechat.say("oA", "记住：我喜欢爬山")).text, "it goes on as before"
    await bot.stop()
    told = json.loads(await jide(bot, "restore", archive, "--yes", "--json"))
    assert told["forgettings_replayed"] == 1 and told["counts"]["fact"] == 0
    await bot.start()
    async with WeChatServer(f"{bot.url}/wechat", TOKEN, WECHAT_APP_ID) as wechat:
        assert "花生" not in (await wechat.say("oA", "/我的记忆")).text


async def test_doctor_notices_that_the_running_bot_has_another_token(start_bot: StartBot) -> None:
    bot = await start_bot(WECHAT__TOKEN=TOKEN, SUPERUSERS="wechat:oAdmin")
    bot.settings["WECHAT__TOKEN"] = secrets.token_hex(12)
    done = await asyncio.to_thread(bot.cli, "doctor", "--json")
    assert done.returncode == 1
    failures = [each for each in json.loads(done.stdout)["findings"] if each["level"] == "failure"]
    assert [each["check"] for each in failures] == ["port"] and "重启" in failures[0]["fix"]
