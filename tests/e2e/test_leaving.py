"""Before the running bot: who unfollows is remembered by nobody, and decides on coming back."""

from simulators.openai import OpenAiServer
from simulators.wechat import Seen, WeChatServer
from tests.e2e.bot_process import BotProcess
from tests.e2e.conftest import StartBot, model_settings, wechat_of
from tests.memory_stage import traces

CANARY = "金丝雀七三一九"
ASKED = "要恢复之前的记忆吗"


async def tell_and_leave(bot: BotProcess, wechat: WeChatServer) -> None:
    assert "已记住" in (await wechat.say("oEightySix", f"记住：我的暗号是{CANARY}")).text
    assert "已记住" in (await wechat.say("oOther", "记住：我对牛奶过敏")).text
    assert (await wechat.unfollow("oEightySix")).text == ""


async def come_back(wechat: WeChatServer) -> Seen:
    return await wechat.follow("oEightySix")


async def test_what_was_put_away_is_shown_to_nobody_until_it_is_asked_for(
    start_bot: StartBot, model: OpenAiServer
) -> None:
    bot = await start_bot(**model_settings(model))
    async with wechat_of(bot) as wechat:
        await tell_and_leave(bot, wechat)
        model.reset()
        assert ASKED in (await come_back(wechat)).shown
        listed = await wechat.say("oEightySix", "/我的记忆")
        await wechat.say("oEightySix", "我的暗号是什么？")
        assert CANARY not in listed.text
        assert any("我的暗号是什么" in prompt for prompt in model.prompts())
        assert not any(CANARY in prompt for prompt in model.prompts())
        assert "恢复了" in (await wechat.say("oEightySix", "恢复")).text
        assert CANARY in (await wechat.say("oEightySix", "/我的记忆")).text


async def test_who_declines_leaves_no_byte(start_bot: StartBot, model: OpenAiServer) -> None:
    bot = await start_bot(**model_settings(model))
    async with wechat_of(bot) as wechat:
        await tell_and_leave(bot, wechat)
        assert traces(bot.data, CANARY) != set(), "kept until it is decided"
        assert ASKED in (await come_back(wechat)).shown
        assert "已经删除" in (await wechat.say("oEightySix", "不用")).text
        assert traces(bot.data, CANARY) == set()
        assert "牛奶" in (await wechat.say("oOther", "/我的记忆")).text
