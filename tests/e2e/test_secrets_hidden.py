"""A secret somebody types is hidden everywhere, and they are told."""

from simulators.openai import OpenAiServer
from tests.e2e.conftest import StartBot, model_settings, wechat_of

CARD = "6222021234567890128"


async def test_a_card_number_reaches_no_model_and_its_owner_is_told(
    start_bot: StartBot, model: OpenAiServer
) -> None:
    model.when("银行卡", "好的，已了解。")
    bot = await start_bot(**model_settings(model))
    async with wechat_of(bot) as wechat:
        seen = await wechat.say("oAlice", f"我的银行卡号是 {CARD}，能退款到这里吗？")
    assert "好的，已了解。" in seen.text
    assert "请勿在此发送" in seen.text
    assert all(CARD not in prompt for prompt in model.prompts())
    assert all(CARD.encode() not in path.read_bytes() for path in bot.data.rglob("*") if path.is_file())
