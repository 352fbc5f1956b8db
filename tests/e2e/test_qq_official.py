"""The running bot before QQ's open platform: what a person, a group and a stranger with the address get from it."""

import secrets
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from simulators.qq import QQPlatform, Retries, SystemClock
from tests.e2e.bot_process import BotProcess

APP_ID = "102000001"
SECRET = secrets.token_urlsafe(24)
"""Made anew: `jide doctor` looks for the settings' secrets in tracked files."""
PERSON, OTHER = "E4F4AEA33253A2797FB897C50B81D7ED", "0C0F97B06E1E6C8E9E3F0D6D4B1A2C3D"
GROUP = "C9F778FE6ADF9D1D1DBE395BF744A33A"


def settings_of(qq: QQPlatform, **more: str) -> dict[str, str]:
    return {
        "QQ__APP_ID": APP_ID,
        "QQ__SECRET": SECRET,
        "QQ__API_BASE": qq.api.base_url,
        "QQ__AUTH_BASE": qq.api.auth_url,
        "NO_PROXY": "127.0.0.1",
        **more,
    }


@pytest_asyncio.fixture
async def bot(tmp_path: Path) -> AsyncIterator[BotProcess]:
    """Not started yet: it needs the platform's address, and the platform its."""
    bot = BotProcess(tmp_path / "数据")
    yield bot
    await bot.kill()


def platform_of(bot: BotProcess, now: Callable[[], float] = time.time) -> QQPlatform:
    # One attempt: what is posted again here is posted by a test.
    return QQPlatform(
        f"{bot.url}/qq/webhook",
        APP_ID,
        SECRET,
        retries=Retries(attempts=1, deadline_seconds=20),
        clock=SystemClock(now),
    )


async def test_what_a_person_told_is_recalled_after_a_restart(bot: BotProcess) -> None:
    async with platform_of(bot) as qq:
        bot.settings |= settings_of(qq)
        await bot.start()
        assert (await qq.say(PERSON, "记住：我对花生过敏")).is_acknowledged
        assert "已记住" in (await qq.wait_seen(PERSON))[0].text
        await bot.stop()
        await bot.start()
        await qq.say(PERSON, "我能吃什么零食？还记得我吗")
        assert "我对花生过敏" in (await qq.wait_seen(PERSON, 2))[1].text
        await qq.say(OTHER, "我能吃什么零食？还记得我吗")
        assert "花生" not in (await qq.wait_seen(OTHER))[0].text
    assert not any(sight.is_push for sight in qq.places.sights)
    log = bot.log.read_text("utf-8")
    assert f"QQ 官方机器人：{APP_ID}，{bot.url}/qq/webhook" in log
    for private in (PERSON, OTHER, "花生", "ROBOT1.0_", SECRET, "Traceback"):
        assert private not in log


async def test_a_group_is_answered_where_it_asks_and_left_alone_otherwise(bot: BotProcess) -> None:
    async with platform_of(bot) as qq:
        bot.settings |= settings_of(qq)
        await bot.start()
        unaddressed = await qq.say_in(GROUP, PERSON, "/帮助", at_bot=False)
        assert unaddressed.is_acknowledged
        asked = await qq.say_in(GROUP, PERSON, "/帮助")
        seen = await qq.wait_seen_in(GROUP)
        assert {sight.msg_id for sight in seen} == {asked.message_id}
        assert "/我的记忆" in seen[0].text
        # Whatever would have been said to the first is said by now: one person's messages keep their order.
        await qq.say_in(GROUP, PERSON, "/我的编号")
        assert unaddressed.message_id not in {sight.msg_id for sight in await qq.wait_seen_in(GROUP, 2)}


async def test_an_event_that_comes_three_times_is_answered_once(bot: BotProcess) -> None:
    later = 0
    # A platform signs a repeat at another second: the very same signature again is a replay.
    async with platform_of(bot, lambda: time.time() + later) as qq:
        bot.settings |= settings_of(qq)
        await bot.start()
        first = await qq.say(PERSON, "记住：我对花生过敏")
        await qq.wait_seen(PERSON)
        later = 2
        assert (await qq.again(first)).is_acknowledged
        assert (await qq.again(first, is_new_event=True)).is_acknowledged
        await bot.stop()
        await bot.start()
        # The guard has forgotten it, the inbox has not.
        assert (await qq.again(first)).is_acknowledged
        await qq.say(PERSON, "/我的记忆")
        seen = await qq.wait_seen(PERSON, 2)
    assert len(seen) == 2
    assert "共 1 件" in seen[1].text


@pytest.mark.parametrize("is_open", [False, True])
async def test_the_callback_address_validates_only_while_the_operator_sets_it_up(
    bot: BotProcess, is_open: bool
) -> None:
    async with platform_of(bot) as qq:
        bot.settings |= settings_of(qq, QQ__SETUP_OPEN=str(is_open).lower())
        await bot.start()
        assert await qq.verify() is is_open
        assert await qq.verify(is_signed=False) is is_open
        # Also while it is open nothing is signed that could be an event.
        event = {"op": 0, "id": "x", "t": "C2C_MESSAGE_CREATE", "d": {"id": "m", "content": "/清除记忆"}}
        for split_at in (0, 4):
            forged = await qq.hostile.forge(event, split_at=split_at)
            assert (forged.validation.status, forged.event) == (403, None)
    said = "正在回答回调地址的验证" in bot.log.read_text("utf-8")
    assert said is is_open


async def test_nothing_forged_replayed_or_stale_comes_through(bot: BotProcess) -> None:
    async with platform_of(bot) as qq:
        bot.settings |= settings_of(qq)
        await bot.start()
        true = await qq.say(PERSON, "/我的编号")
        await qq.wait_seen(PERSON)
        forged = {"op": 0, "id": "x", "t": true.event, "d": {**true.d, "id": "ROBOT1.0_forged"}}
        hostile = qq.hostile
        for answer in (
            await hostile.replay(true),
            await hostile.stale(true, 301),
            await hostile.stale(true, -310),
            await hostile.tampered(true),
            await hostile.unsigned(forged),
            await hostile.wrong_key(forged),
            await hostile.signed_with(forged, "0" * 128),
            await hostile.signed_with(forged, "no hexadecimal"),
            await hostile.other_bot(forged, "102000002"),
            await hostile.other_bot(forged),
        ):
            assert answer.status == 403
        assert (await hostile.body(b"[]")).status == 400
        await qq.say(PERSON, "/帮助")
        assert len(await qq.wait_seen(PERSON, 2)) == 2
    assert "Traceback" not in bot.log.read_text("utf-8")


async def test_it_also_speaks_over_a_connection_of_its_own(bot: BotProcess) -> None:
    """And then nothing comes in at the webhook, truly signed or not."""
    async with QQPlatform(None, APP_ID, SECRET) as qq, platform_of(bot) as webhook:
        bot.settings |= settings_of(qq, QQ__WEBSOCKET="true")
        await bot.start()
        await qq.gateway.wait_connected()
        await qq.say(PERSON, "记住：我对花生过敏")
        assert "已记住" in (await qq.wait_seen(PERSON))[0].text
        assert (await webhook.say(OTHER, "/帮助")).statuses == (403,)
        await bot.stop()


async def test_addresses_go_out_as_qq_takes_them(bot: BotProcess) -> None:
    async with platform_of(bot) as qq:
        bot.settings |= settings_of(qq, QQ__URL_HOSTS="example.com")
        bot.data.mkdir(parents=True, exist_ok=True)
        rule = "- patterns: 官网是多少\n  answer: 请看 https://www.qq-test.cn\n"
        (bot.data / "faq.yaml").write_text(rule, "utf-8")
        await bot.start()
        await qq.say(PERSON, "官网是多少")
        text = (await qq.wait_seen(PERSON))[0].text
    assert "www。qq-test。cn" in text and "QQ 不让直接发网址" in text
