"""A phone, an openid and a key are sent down every path of a running bot; none sings in what it writes."""

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Mapping

import httpx
import pytest

from bot.conversation.masking import MASK
from simulators.onebot import HandshakeRefused, OneBotClient
from simulators.openai import Answer, OpenAiServer
from tests.e2e.bot_process import BotProcess
from tests.e2e.conftest import StartBot, model_settings, onebot_of, wechat_of

PHONE = "13987654321"
OPENID = "oCanary-0123456789_abcdefghi"
KEY = "sk-canary0123456789abcdefghij"
CANARIES = (PHONE, OPENID, KEY)
SONG = f"我的手机{PHONE}，编号{OPENID}，密钥{KEY}"
QQ_USER = 20001
FAQ = f"""
- match: regex
  patterns: ["({PHONE}"]
  answer: 打 {PHONE}
"""


async def sing_on_wechat(bot: BotProcess) -> None:
    async with wechat_of(bot) as wechat, httpx.AsyncClient(base_url=bot.url, trust_env=False) as client:
        for words in (SONG, f"记住：{SONG}", f"/更正 1 {SONG}", f"/绑定手机 {PHONE}", f"/{SONG}", "继续"):
            await wechat.say(OPENID, words)
        await wechat.follow(OPENID, SONG)
        await wechat.click(OPENID, SONG)
        await wechat.image(OPENID)
        await wechat.raw(f"<xml><FromUserName>{OPENID}</FromUserName><Content>{SONG}", OPENID)
        await wechat.raw(f"<!DOCTYPE x [<!ENTITY a '{SONG}'>]><xml>&a;</xml>", OPENID)
        await wechat.unfollow(OPENID)
        query = {"signature": KEY, "timestamp": PHONE, "nonce": OPENID, "openid": OPENID, "echostr": SONG}
        for method in ("GET", "POST", "PUT"):
            await client.request(method, "/wechat", params=query, content=SONG.encode())
        await client.get(f"/{OPENID}/{PHONE}", params=query, headers={"Authorization": KEY})


async def sing_on_onebot(qq: OneBotClient) -> None:
    for words in (SONG, f"记住：{SONG}", f"/{SONG}"):
        await qq.say_private(QQ_USER, words, nickname=SONG)
        await qq.next_sent(60)
    await qq.say_group(30001, QQ_USER, SONG, nickname=SONG)
    await qq.next_sent(60)
    for frame in (
        SONG,
        json.dumps([SONG]),
        json.dumps({"post_type": SONG, "time": 1, "self_id": 10001, "raw": SONG}),
        json.dumps({"post_type": "message", "message_type": "private", "time": 1, "self_id": 10001,
                    "user_id": OPENID, "message": [{"type": SONG, "data": SONG}], "raw_message": SONG}),
        json.dumps({"post_type": "notice", "notice_type": SONG, "time": SONG, "self_id": 10001}),
        json.dumps({"status": "failed", "retcode": 1, "echo": SONG, "message": SONG}),
        b"\xff\xfe" + SONG.encode(),
    ):  # fmt: skip
        await qq.send_raw(frame)
    await qq.say_private(QQ_USER, "/帮助")
    await qq.next_sent(60)


async def knock_with(bot: BotProcess, *tokens: str) -> None:
    for token in tokens:
        with pytest.raises(HandshakeRefused):
            await onebot_of(bot, token).connect()


async def sing_to_the_ports(bot: BotProcess) -> None:
    for port in (bot.port, bot.console_port):
        for raw in (
            f"{KEY} /{PHONE}?{OPENID} HTTP/9\r\n\r\n",
            f"GET /{PHONE} HTTP/1.1\r\nHost: {OPENID}\r\n\r\n",
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(raw.encode())
            writer.write_eof()
            with contextlib.suppress(ConnectionError):
                await reader.read()
            writer.close()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{bot.console_port}", trust_env=False) as console:
        await console.get("/readyz", params={"a": SONG}, headers={"Host": PHONE})
        await console.get(f"/{PHONE}/{KEY}")


def poison(bot: BotProcess, *, is_on: bool) -> None:
    """Every commit of a turn fails with an exception that quotes the canaries."""
    connection = sqlite3.connect(bot.data / "jide.db", timeout=20)
    with connection:
        connection.execute("DROP TRIGGER IF EXISTS canary")
        if is_on:
            connection.execute(
                f"CREATE TRIGGER canary BEFORE INSERT ON turn BEGIN SELECT RAISE(ABORT, '{SONG}'); END"
            )
    connection.close()


async def shown_by(bot: BotProcess) -> Mapping[str, str]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{bot.console_port}", trust_env=False) as console:
        pages = {path: (await console.get(path)).text for path in ("/metrics", "/readyz", "/healthz/memory")}
    return {"log": bot.log.read_text("utf-8"), **pages}


@pytest.mark.parametrize("level", ["INFO", "TRACE"])
async def test_no_canary_sings(start_bot: StartBot, model: OpenAiServer, level: str) -> None:
    settings = model_settings(model) | {
        "LLM__API_KEY": KEY,
        "EMBEDDING__BASE_URL": model.base_url,
        "EMBEDDING__MODEL": "hashed",
        "EMBEDDING__API_KEY": KEY,
        "LOG_LEVEL": level,
    }
    bot = await start_bot(**settings)
    (bot.data / "faq.yaml").write_text(FAQ, "utf-8")
    model.answer_with(lambda _: f"好的，{SONG}")
    await sing_on_wechat(bot)
    await sing_to_the_ports(bot)
    await knock_with(bot, KEY, PHONE)
    async with onebot_of(bot) as qq:
        await sing_on_onebot(qq)
        assert any(PHONE in prompt for prompt in model.prompts()), "the canaries fly"
        for failure in (
            Answer.failure(400, code=KEY, message=SONG),
            Answer.failure(401, message=f"Incorrect API key provided: {KEY}"),
            Answer.failure(429, message=SONG),
            Answer(raw=SONG),
            Answer(raw=json.dumps({"choices": SONG, "usage": SONG})),
            Answer(text=SONG, cut=True),
        ):
            model.answer_with(lambda _, failure=failure: failure)
            model.script_embeddings(failure)
            await qq.say_private(QQ_USER, f"{SONG}，现在呢？")
            await qq.next_sent(60)
        model.answer_with(lambda _: "好的")
        poison(bot, is_on=True)
        await qq.say_private(QQ_USER, f"{SONG}，再问一次？")
        await qq.next_sent(60)
        poison(bot, is_on=False)
    shown = await shown_by(bot)
    assert "Traceback" in shown["log"] and "IntegrityError" in shown["log"], "an exception quoted them"
    assert MASK in shown["log"]
    assert 'dead_letter_total{kind="message"} 1.0' in shown["/metrics"]
    assert '"status":"unready"' not in shown["/readyz"]
    for where, text in shown.items():
        for canary in CANARIES:
            assert canary not in text, (where, canary, context_of(canary, text))


def context_of(canary: str, text: str) -> str:
    at = text.index(canary)
    return text[max(0, at - 200) : at + 60]
