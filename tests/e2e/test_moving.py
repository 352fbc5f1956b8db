"""A bot moves house: packed while it runs, unpacked elsewhere, and it knows everybody there."""

import asyncio
import json
from pathlib import Path

from simulators.wechat import WeChatServer
from tests.e2e.bot_process import WECHAT_APP_ID, BotProcess
from tests.e2e.conftest import StartBot
from tests.e2e.test_keeping import TOKEN, jide

PHONE = "13800138000"
WORDS = "三个不相干的词加一只金丝雀"


async def test_a_bot_on_another_machine(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start_bot(WECHAT__TOKEN=TOKEN, SUPERUSERS="wechat:oAdmin")
    (bot.data / "jide.env").write_text("NICKNAME=小记\n", "utf-8")
    bundle, words = tmp_path / "搬家.jide", tmp_path / "口令.txt"
    words.write_text(WORDS + "\n", "utf-8")
    given = ("--passphrase-file", str(words))
    async with WeChatServer(f"{bot.url}/wechat", TOKEN, WECHAT_APP_ID) as wechat:
        await wechat.say("oA", "记住：我对花生过敏")
        await wechat.say("oB", "记住：我住在月球背面")
        await jide(bot, "identity", "phone", "wechat:oA", PHONE)
        told = json.loads(await jide(bot, "move", str(bundle), *given, "--json"))
        assert told["counts"]["fact"] == 2 and "secrets/jide.env" in told["files"]
        assert (await wechat.say("oA", "/我的记忆")).text.count("花生") == 1, "it goes on as before"
        await wechat.say("oB", "/清除记忆")
        assert "已清除" in (await wechat.say("oB", "确认")).text
    assert "已经存在" in await jide(bot, "move", str(bundle), *given, code=1)
    assert "先停下再解开" in await jide(bot, "unpack", str(bundle), *given, "--force", code=1)
    await bot.stop()

    new = BotProcess(tmp_path / "新机器", **bot.settings)
    new.data.mkdir()
    (new.data / "forgotten.jsonl").write_bytes((bot.data / "forgotten.jsonl").read_bytes())
    wrong = tmp_path / "另一个.txt"
    wrong.write_text("另外十二个字的口令一二三", "utf-8")
    refused = await asyncio.to_thread(new.cli, "unpack", str(bundle), "--passphrase-file", str(wrong))
    assert refused.returncode == 4 and "口令不对" in refused.stderr
    told = json.loads(await jide(new, "unpack", str(bundle), *given, "--json"))
    assert told["forgettings_replayed"] == 1 and told["counts"]["fact"] == 1
    await new.start()
    try:
        async with WeChatServer(f"{new.url}/wechat", TOKEN, WECHAT_APP_ID) as wechat:
            assert "花生" in (await wechat.say("oA", "我对什么过敏？")).text
            assert "月球" not in (await wechat.say("oB", "/我的记忆")).text
        path = tmp_path / "名单.csv"
        path.write_text(f"openid,phone\noA,{PHONE}\n", "utf-8")
        assert json.loads(await jide(new, "identity", "import", str(path), "--json"))["known"] == 1
    finally:
        await new.stop()
    assert PHONE.encode() not in bundle.read_bytes()
