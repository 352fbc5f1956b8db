"""A phone is proven before the running bot: by a code over the operator's webhook, and by a mini-program."""

import asyncio
import hashlib
import hmac
import json
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import pytest_asyncio

from simulators.openai import OpenAiServer
from simulators.wechat import WeChatServer
from tests.e2e.bot_process import WECHAT_APP_ID, WECHAT_TOKEN, BotProcess
from tests.e2e.conftest import StartBot, model_settings, onebot_of, wechat_of

PHONE = "13912345678"
SECRET = "webhook-5ecret"
QQ_USER = 20001
LATEST_SECONDS = 20.0
"""A hang guard."""


@dataclass
class SmsService:
    """The operator's: checks the signature, and sends its texts nowhere."""

    status: int = 204
    texts: list[dict[str, Any]] = field(default_factory=list)
    port: int = 0

    @property
    def last_code(self) -> str:
        return self.texts[-1]["code"]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = await reader.readexactly(int(headers["content-length"]))
        signature = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        if headers["x-jide-signature"] == signature and headers["x-jide-timestamp"].isdecimal():
            self.texts.append(json.loads(body))
        writer.write(f"HTTP/1.1 {self.status} .\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()


@pytest_asyncio.fixture
async def sms() -> AsyncIterator[SmsService]:
    service = SmsService()
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    service.port = server.sockets[0].getsockname()[1]
    async with server:
        yield service


def settings_of(sms: SmsService) -> dict[str, str]:
    return {
        "IDENTITY__OTP_WEBHOOK": f"http://127.0.0.1:{sms.port}/jide?key=address-5ecret",
        "IDENTITY__OTP_SECRET": SECRET,
    }


def rows(bot: BotProcess, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(bot.data / "jide.db", timeout=10)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


async def written_by(bot: BotProcess) -> dict[str, bytes]:
    """Every byte the bot left, the write-ahead log too."""
    await bot.kill()
    files = [path for path in bot.data.rglob("*") if path.is_file()]
    assert any(path.name == "jide.db" for path in files)
    return {str(path): path.read_bytes() for path in (*files, bot.log)}


@pytest.mark.parametrize("level", ["INFO", "TRACE"])
async def test_told_on_one_account_recalled_on_the_other_and_no_byte_of_number_or_code(
    start_bot: StartBot, model: OpenAiServer, sms: SmsService, level: str
) -> None:
    bot = await start_bot(**settings_of(sms), **model_settings(model), LOG_LEVEL=level)
    async with wechat_of(bot) as wechat, onebot_of(bot) as qq:

        async def ask_qq(text: str) -> str:
            await qq.say_private(QQ_USER, text)
            return (await qq.next_sent(60)).text

        assert "/手机" in (await wechat.say("oAlice", "/帮助")).text
        await wechat.say("oAlice", "记住：我对花生过敏")
        assert "验证码已发出" in (await wechat.say("oAlice", f"/手机 {PHONE}")).text
        assert sms.texts == [{"phone": f"+86{PHONE}", "code": sms.last_code, "minutes": 5}]
        wrong = str((int(sms.last_code) + 1) % 10**6).zfill(6)
        assert "不对" in (await wechat.say("oAlice", f"/验证 {wrong}")).text
        assert "已验证" in (await wechat.say("oAlice", f"/验证 {sms.last_code}")).text
        assert "不对" in (await wechat.say("oAlice", f"/验证码{sms.last_code}")).text

        assert "花生" not in await ask_qq("/我的记忆")
        assert "验证码已发出" in await ask_qq(f"/手机 +86 {PHONE[:3]} {PHONE[3:7]} {PHONE[7:]}")
        assert "合成了一个人" in await ask_qq(f"/验证 {sms.last_code}")
        assert "花生" in await ask_qq("/我的记忆")
        assert await ask_qq("/手机") == "已验证过手机号。"

        await qq.say_group(30001, QQ_USER, f"/手机 {PHONE}")
        assert (await qq.next_sent(60)).text.strip().endswith("这个请私聊我。")
        await qq.say_group(30001, QQ_USER, f"/手机 {PHONE}", at_bot=False)
        await qq.say_group(30001, QQ_USER, "刚才大家说了什么？")
        await qq.next_sent(60)
        assert model.prompts()
    assert [row[0] for row in rows(bot, "SELECT verified_by FROM phone_link")] == ["code"]
    written = await written_by(bot)
    written["prompts"] = "\n".join(model.prompts()).encode()
    spaced = f"{PHONE[:3]} {PHONE[3:7]} {PHONE[7:]}"
    for secret in (PHONE, spaced, SECRET, "address-5ecret", *(text["code"] for text in sms.texts)):
        for where, content in written.items():
            assert secret.encode() not in content, (secret, where)


@pytest.mark.parametrize(
    ("command", "form"),
    [
        ("/手机号是{}", "{}"),
        ("手机 {}", "验证码是 {}"),
        ("//手机 {}", "/verify{}"),
    ],
)
async def test_what_is_not_typed_as_a_command_is_understood_and_not_stored(
    start_bot: StartBot, model: OpenAiServer, sms: SmsService, command: str, form: str
) -> None:
    bot = await start_bot(**settings_of(sms), **model_settings(model), LOG_LEVEL="TRACE")
    async with wechat_of(bot) as wechat:
        await wechat.say("oBob", "735103")
        assert "验证码已发出" in (await wechat.say("oAlice", command.format(PHONE))).text
        await bot.kill()
        await bot.start()
        typed = f"{sms.last_code[:3]} {sms.last_code[3:]}"
        assert "已验证" in (await wechat.say("oAlice", form.format(typed))).text
        await wechat.say("oAlice", "刚才我说了什么？")
    written = await written_by(bot)
    written["prompts"] = "\n".join(model.prompts()).encode()
    # A number of six digits is talk for who waits for no code.
    assert b"735103" in written["prompts"]
    for secret in (PHONE, sms.last_code, typed):
        for where, content in written.items():
            assert secret.encode() not in content, (secret, where)


async def test_a_webhook_that_fails_is_told_honestly_and_costs_nothing(
    start_bot: StartBot, sms: SmsService
) -> None:
    bot = await start_bot(**settings_of(sms))
    sms.status = 302
    async with wechat_of(bot) as wechat:
        for _ in range(4):
            assert "没能发出去" in (await wechat.say("oAlice", f"/手机 {PHONE}")).text
        assert "不对" in (await wechat.say("oAlice", f"/验证 {sms.last_code}")).text
        sms.status = 200
        assert "验证码已发出" in (await wechat.say("oAlice", f"/手机 {PHONE}")).text
        assert "已验证" in (await wechat.say("oAlice", f"/验证 {sms.last_code}")).text
    log = bot.log.read_text("utf-8")
    assert "IDENTITY__OTP_WEBHOOK" in log and "HTTP 302" in log


async def test_where_nothing_is_set_up_there_is_nothing(start_bot: StartBot) -> None:
    bot = await start_bot()
    async with wechat_of(bot) as wechat:
        assert "没有开通" in (await wechat.say("oAlice", f"/手机 {PHONE}")).text
        assert "/手机" not in (await wechat.say("oAlice", "/帮助")).text
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(f"http://127.0.0.1:{bot.console_port}/identity/phone", json={})
    # To who isn't signed in at the pages there is nothing, known or not.
    assert answer.status_code == 401


MINI_APP_ID, MINI_SECRET, PORT_TOKEN = "wxmini0000000001", "mini-5ecret", "port-t0ken"


async def test_a_mini_program_proves_the_phone_of_who_logged_in(start_bot: StartBot, sms: SmsService) -> None:
    wechat = WeChatServer(
        "http://127.0.0.1:1/wechat",
        WECHAT_TOKEN,
        WECHAT_APP_ID,
        app_secret="account-5ecret",
        is_bound=True,
        mini_app_id=MINI_APP_ID,
        mini_app_secret=MINI_SECRET,
    )
    async with wechat:
        bot = await start_bot(
            WECHAT__APP_SECRET="account-5ecret",
            WECHAT__API_BASE=wechat.api.base_url,
            WECHAT__MINI_APP_ID=MINI_APP_ID,
            WECHAT__MINI_APP_SECRET=MINI_SECRET,
            IDENTITY__PORT_TOKEN=PORT_TOKEN,
            LOG_LEVEL="TRACE",
            **settings_of(sms),
        )
        mini = wechat.mini_program
        codes: list[str] = []

        async def submit(login_code: str, phone_code: str, token: str = PORT_TOKEN) -> tuple[int, bool, str]:
            codes.extend((login_code, phone_code))
            async with httpx.AsyncClient(trust_env=False) as client:
                answer = await client.post(
                    f"http://127.0.0.1:{bot.console_port}/identity/phone",
                    json={"login_code": login_code, "phone_code": phone_code},
                    headers={"Authorization": f"Bearer {token}"},
                )
            return answer.status_code, answer.json()["linked"], answer.json()["reason"]

        login, phone = mini.log_in("oAlice"), mini.give_phone(PHONE)
        assert await submit(login, phone, "another") == (401, False, "unauthorized")
        assert await submit(login, phone) == (200, False, "unknown_person")
        async with onebot_of(bot) as qq:
            await qq.say_private(QQ_USER, f"/手机 {PHONE}")
            await qq.next_sent(60)
            await qq.say_private(QQ_USER, f"/验证 {sms.last_code}")
            assert "已验证" in (await qq.next_sent(60)).text
        async with wechat_of(bot) as speaking:
            await speaking.say("oAlice", "你好")
        async with asyncio.timeout(LATEST_SECONDS):
            while not rows(bot, "SELECT 1 FROM account WHERE openid = 'oAlice' AND unionid <> ''"):
                await asyncio.sleep(0.05)
        # The phone's code was not spent on somebody unknown; the login's was.
        assert await submit(login, phone) == (200, False, "login_refused")
        assert await submit(mini.log_in("oAlice"), phone) == (200, True, "joined")
        assert await submit(mini.log_in("oAlice"), phone) == (200, False, "phone_refused")
        assert await submit(mini.log_in("oAlice"), mini.give_phone("13800138000")) == (200, True, "linked")
        assert await submit("null", "null") == (200, False, "login_refused")
        persons = rows(bot, "SELECT DISTINCT person_id FROM account WHERE openid IN ('oAlice', '20001')")
        assert len(persons) == 1
        assert rows(bot, "SELECT reason FROM merge") == [("phone:mini_program",)]
    written = await written_by(bot)
    for secret in (PHONE, MINI_SECRET, PORT_TOKEN, *set(codes) - {"null", ""}):
        for where, content in written.items():
            assert secret.encode() not in content, (secret, where)
