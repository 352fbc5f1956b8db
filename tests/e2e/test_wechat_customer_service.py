"""A verified account before a running bot: slow answers come by customer service, once, also after a crash."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from simulators.openai import OpenAiServer, by_marker
from simulators.wechat import AccountType, Sight, Way, WeChatServer
from tests.e2e.bot_process import WECHAT_APP_ID, WECHAT_TOKEN, BotProcess
from tests.e2e.conftest import model_settings

SECRET = "5" * 32
SLOW = "[[total=6.5 sentences=3 piece=16]]"
"""Beyond the first delivery's 4.5 s."""
LATEST_SECONDS = 40.0
"""A hang guard."""
CRASH_AFTER_SECONDS = 5.5
"""Acknowledged at 4.5 s, not answered yet."""


@asynccontextmanager
async def verified(
    tmp_path: Path, model: OpenAiServer, **settings: str
) -> AsyncIterator[tuple[BotProcess, WeChatServer]]:
    model.answer_with(by_marker)
    bot = BotProcess(tmp_path / "数据", **model_settings(model))
    server = WeChatServer(
        f"{bot.url}/wechat",
        WECHAT_TOKEN,
        WECHAT_APP_ID,
        app_secret=SECRET,
        account_type=AccountType.VERIFIED_SERVICE,
    )
    async with server as wechat:
        bot.settings |= {"WECHAT__APP_SECRET": SECRET, "WECHAT__API_BASE": wechat.api.base_url, **settings}
        await bot.start()
        try:
            yield bot, wechat
        finally:
            await bot.kill()


def answers(wechat: WeChatServer, openid: str, question: str) -> list[Sight]:
    return [sight for sight in wechat.seen(openid) if f"第1句答“{question}”" in sight.shown]


async def sees(wechat: WeChatServer, openid: str, question: str) -> Sight:
    found = await wechat.people.wait_until(lambda: bool(answers(wechat, openid, question)), LATEST_SECONDS)
    assert found, wechat.seen(openid)
    (sight,) = answers(wechat, openid, question)
    return sight


@pytest.mark.timeout(240)
async def test_slow_answers_come_by_customer_service(tmp_path: Path, model: OpenAiServer) -> None:
    async with verified(tmp_path, model, LLM__VISION_MODEL="sees", WECHAT__TRANSFER="true") as (bot, wechat):
        slow, quick, refused, pictured = await asyncio.gather(
            wechat.say("oSlow", f"运费谁出 {SLOW}"),
            wechat.say("oQuick", "几点开门 [[total=0.1 sentences=1]]"),
            _window_closed(wechat),
            wechat.image("oPicture"),
        )
        assert (slow.text, slow.attempts) == ("", 1), "acknowledged at the first delivery"
        sight = await sees(wechat, "oSlow", "运费谁出")
        assert sight.way is Way.CUSTOMER_SERVICE and "回复“继续”" not in sight.shown
        assert wechat.people["oSlow"].typings
        assert quick.attempts == 1 and "第1句答“几点开门”" in quick.text
        assert refused == ["", "held", "fetched"]

        handed_over = await wechat.say("oHuman", "人工")
        assert handed_over.kind == "transfer_customer_service" and wechat.people["oHuman"].transfers == [""]

        assert pictured.text, "a picture is looked at"
        (looked,) = [request for request in model.requests if request.images]
        assert looked.body["model"] == "sees"
        assert looked.images[0].startswith("data:image/png;base64,")

        crashing = asyncio.create_task(wechat.say("oCrash", f"断电以后呢 {SLOW}"))
        await asyncio.sleep(CRASH_AFTER_SECONDS)
        assert (await crashing).text == ""
        await bot.kill()
        await bot.start()
        after = await sees(wechat, "oCrash", "断电以后呢")
        assert after.way is Way.CUSTOMER_SERVICE


async def _window_closed(wechat: WeChatServer) -> list[str]:
    """What WeChat does not take stays held; the next answer tells of it, and 「继续」 fetches it."""
    told: list[str] = []
    asked = await wechat.say("oClosed", f"尺码怎么选 {SLOW}")
    told.append(asked.text)
    wechat.people["oClosed"].window.close()
    await asyncio.sleep(4)
    assert not answers(wechat, "oClosed", "尺码怎么选")
    following = await wechat.say("oClosed", "几点关门 [[total=0.1 sentences=1]]")
    told.append("held" if "回复“继续”就能看到" in following.shown else following.shown)
    await wechat.say("oClosed", "继续")
    told.append("fetched" if len(answers(wechat, "oClosed", "尺码怎么选")) == 1 else "lost")
    return told
