"""The running bot as the platforms see it."""

import asyncio
import sqlite3

import httpx
import pytest

from simulators.onebot import HandshakeRefused
from simulators.openai import Answer, OpenAiServer
from tests.e2e.bot_process import WECHAT_AES_KEY, BotProcess
from tests.e2e.conftest import StartBot, model_settings, onebot_of, wechat_of

GROUP = 30001
ASKER = 20001


async def test_a_signed_post_gets_xml_back(start_bot: StartBot, model: OpenAiServer) -> None:
    model.when("七天", "七天内可以退货。")
    bot = await start_bot(**model_settings(model))
    async with wechat_of(bot) as wechat:
        assert await wechat.verify()
        seen = await wechat.say("oAlice", "七天内能退货吗？")
    assert seen.text.startswith("七天内可以退货。")
    assert "（AI 生成）" in seen.text
    assert seen.attempts == 1
    assert seen.bodies[0].startswith(b"<xml>")


async def test_an_encrypted_post_gets_an_encrypted_answer(start_bot: StartBot, model: OpenAiServer) -> None:
    model.when("七天", "七天内可以退货。")
    bot = await start_bot(**model_settings(model), WECHAT__AES_KEY=WECHAT_AES_KEY)
    async with wechat_of(bot, WECHAT_AES_KEY) as wechat:
        seen = await wechat.say("oAlice", "七天内能退货吗？")
    assert seen.text.startswith("七天内可以退货。")
    assert b"<Encrypt>" in seen.bodies[0] and "七天".encode() not in seen.bodies[0]


async def test_a_group_question_is_answered_to_its_asker(start_bot: StartBot, model: OpenAiServer) -> None:
    model.when("几点开门", "九点开门。")
    bot = await start_bot(**model_settings(model))
    async with onebot_of(bot) as qq:
        await qq.say_group(GROUP, ASKER, "今天天气不错", at_bot=False)
        await qq.say_group(GROUP, ASKER, "几点开门？")
        sent = await qq.next_sent()
    assert sent.text.strip().startswith("九点开门。")
    assert sent.mentions == (str(ASKER),)
    assert [action for action, _ in qq.calls if action.startswith("send")] == ["send_group_msg"]


async def test_a_client_without_the_token_is_refused(start_bot: StartBot) -> None:
    bot = await start_bot()
    for token in (None, "", "100000.0"):
        with pytest.raises(HandshakeRefused):
            await onebot_of(bot, token).connect()


async def test_a_question_accepted_before_a_crash_is_answered_once(
    start_bot: StartBot, model: OpenAiServer
) -> None:
    model.script(Answer(text="太迟了。", delay_seconds=60))
    bot = await start_bot(**model_settings(model))
    async with onebot_of(bot) as qq:
        await qq.say_group(GROUP, ASKER, "几点开门？")
        await _until_asked(model)
        assert _inbox_states(bot) == ["accepted"]
        await bot.kill()
    assert qq.sent == []
    model.reset()
    model.when("几点开门", "九点开门。")
    await bot.start()
    async with onebot_of(bot) as qq:
        sent = await qq.next_sent(20)
        assert sent.text.strip().startswith("九点开门。")
        await bot.stop()
    await bot.start()
    async with onebot_of(bot) as qq:
        await qq.say_private(ASKER + 1, "几点开门呀？")
        assert (await qq.next_sent()).mentions == ()
        assert len(qq.sent) == 1
    assert set(_inbox_states(bot)) == {"closed"}


async def test_a_wechat_retry_after_a_crash_gets_the_answer(start_bot: StartBot, model: OpenAiServer) -> None:
    model.script(Answer(text="太迟了。", delay_seconds=60))
    bot = await start_bot(**model_settings(model))
    async with wechat_of(bot) as wechat:
        first = asyncio.create_task(wechat.say("oAlice", "几点开门？", msg_id=77))
        await _until_asked(model)
        await bot.kill()
        first.cancel()
        model.reset()
        model.when("几点开门", "九点开门。")
        await bot.start()
        seen = await wechat.say("oAlice", "几点开门？", msg_id=77)
        again = await wechat.say("oAlice", "几点开门？", msg_id=77)
    assert seen.text.startswith("九点开门。")
    assert again.bodies[-1] == seen.bodies[-1]
    assert (
        len([prompt for prompt in model.prompts() if "核心意图" not in prompt and "几点开门" in prompt]) >= 1
    )


async def test_hostile_input_gets_a_clear_refusal(start_bot: StartBot) -> None:
    bot = await start_bot()
    async with wechat_of(bot) as wechat, httpx.AsyncClient(base_url=bot.url, trust_env=False) as client:
        unsigned = await client.post("/wechat", content=b"<xml></xml>")
        assert unsigned.status_code == 403
        for body in (
            b"",
            b"\xff\xfe",
            b"<xml>",
            b"<!DOCTYPE x [<!ENTITY a 'b'>]><xml>&a;</xml>",
            b"[]",
            b"null",
        ):
            response = await client.post("/wechat", params=wechat.signed_query(), content=body)
            assert (response.status_code, response.text) == (200, "success"), body
        huge = await client.post("/wechat", params=wechat.signed_query(), content=b"<a/>" * 500_000)
        assert huge.status_code in (200, 413)
        assert (await wechat.say("oAlice", "/帮助")).text != ""
    async with onebot_of(bot) as qq:
        await qq.send_raw("null")
    async with onebot_of(bot) as qq:
        await qq.say_private(ASKER, "/帮助")
        assert (await qq.next_sent()).text
    assert "Traceback" not in bot.log.read_text("utf-8")


async def _until_asked(model: OpenAiServer) -> None:
    async with asyncio.timeout(20):
        while not model.prompts():
            await asyncio.sleep(0.02)


def _inbox_states(bot: BotProcess) -> list[str]:
    connection = sqlite3.connect(bot.data / "jide.db")
    try:
        return [state for (state,) in connection.execute("SELECT state FROM inbox ORDER BY id")]
    finally:
        connection.close()
