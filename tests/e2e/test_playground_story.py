"""The playground in a real browser: from the address that the terminal prints to a memory that is gone."""

import re
from collections.abc import AsyncGenerator, AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, expect

from simulators.wechat import WeChatServer
from tests.e2e.visitors import COMPOSER, REFUSED, UNSET, FreshBot, Visitor, containing, visitor

KNOWN = "我记得您说过：“我对花生过敏”"
UNKNOWN = "没有记下"
QUESTION = "我能吃什么零食？"
APP_ID = "wx00000000000000f1"


@pytest_asyncio.fixture(scope="module")
async def bot(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FreshBot]:
    bot = FreshBot(tmp_path_factory.mktemp("story") / "数据", **UNSET)
    await bot.start()
    yield bot
    await bot.kill()


@pytest_asyncio.fixture(scope="module")
async def tester(chrome: Browser, bot: FreshBot) -> AsyncGenerator[Visitor]:
    """Set up at the first visit, and signed in all along."""
    async with visitor(chrome, bot) as tester:
        await tester.set_up()
        yield tester
        tester.check()
        assert "Traceback" not in bot.log.read_text("utf-8")


async def why(tester: Visitor, answer: Locator) -> Locator:
    """The panel beside an answer."""
    await answer.locator("a[data-why]").click()
    panel = tester.page.locator("#why-dialog")
    await expect(panel).to_be_visible()
    return panel


async def restart(bot: FreshBot, tester: Visitor) -> None:
    """With the page open: it finds the bot again by itself."""
    await bot.stop()
    await bot.start()
    tester.check(REFUSED)


async def test_two_followers_a_restart_and_a_memory_that_is_forgotten(tester: Visitor, bot: FreshBot) -> None:
    page = tester.page
    await page.locator(".way a").first.click()
    await tester.look_at("playground", "小明")
    await expect(await tester.say("记住，我对花生过敏")).to_contain_text("已记住：我对花生过敏")
    await expect(await tester.say(QUESTION)).to_contain_text(KNOWN)
    await page.get_by_role("link", name="小红", exact=True).click()
    await expect(await tester.say(QUESTION)).to_contain_text(UNKNOWN)

    await restart(bot, tester)
    await expect(page.locator("#wechat-chat")).to_contain_text("还没有聊过")
    await expect(await tester.say(QUESTION)).to_contain_text(UNKNOWN)
    await expect(page.locator("body")).not_to_contain_text("我记得您说过")
    await page.get_by_role("link", name="小明", exact=True).click()
    answer = await tester.say(QUESTION)
    await expect(answer).to_contain_text(KNOWN)

    panel = await why(tester, answer)
    row = panel.locator("tr", has_text="我对花生过敏")
    await expect(row).to_contain_text("用上了")
    scores = [float(cell) for cell in await row.locator("td.number").all_inner_texts()]
    assert len(scores) == 7 and scores[0] > 0 and scores[1] > 0, scores
    await panel.locator("details.more summary").click()
    prompt = panel.locator("pre.text")
    await expect(prompt.first).to_contain_text("我对花生过敏")
    await expect(prompt.last).to_contain_text(QUESTION)
    await panel.get_by_role("button", name="关闭").click()
    await expect(panel).to_be_hidden()

    await page.get_by_role("link", name="记忆", exact=True).click()
    people = page.get_by_role("row").filter(has=page.get_by_text("playground", exact=True))
    await people.get_by_role("link", name="小明", exact=True).click()
    await expect(page.locator("#valid")).to_have_text("现在作数的 1")
    await page.get_by_role("button", name="忘记：我对花生过敏").click()
    dialog = page.locator("#asking")
    await expect(dialog).to_contain_text(containing("要忘记这些吗", "我对花生过敏", "找不回来"))
    await dialog.get_by_role("button", name="取消").click()
    await page.reload()
    await expect(page.locator("#valid")).to_have_text("现在作数的 1")
    await page.get_by_role("button", name="忘记：我对花生过敏").click()
    await dialog.get_by_role("button", name="忘记").click()
    await expect(page.locator(".notice-ok")).to_contain_text(containing("已忘记 1 条记忆", "回执号"))
    await expect(page.locator("main")).not_to_contain_text("花生")

    await tester.look_at("playground", "小明")
    answer = await tester.say(QUESTION)
    await expect(answer).to_contain_text(UNKNOWN)
    await expect(answer).not_to_contain_text("花生")
    panel = await why(tester, answer)
    await expect(panel).not_to_contain_text("花生")


async def test_an_account_that_is_not_verified_answers_a_slow_model_on_the_third_attempt(
    tester: Visitor,
) -> None:
    page = tester.page
    await tester.look_at("playground", "小红")
    await page.locator("#wechat-latency").fill("12")
    await expect(page.locator("#wechat-latency-shown")).to_have_text("12")
    await expect(page.locator("#wechat-knobs button")).to_have_text("已生效")
    await expect(await tester.say(QUESTION)).to_contain_text(UNKNOWN)
    strip = page.locator("article.timeline").first
    await expect(strip.locator(".badge")).to_have_text("第 3 次投递时答上")
    assert [await bar.get_attribute("class") for bar in await strip.locator("rect").all()] == [
        "bar bar-late",
        "bar bar-late",
        "bar bar-ok",
    ]
    lines = await strip.locator(".timeline-key li").all_inner_texts()
    spans = [re.findall(r"\d+\.\d", line) for line in lines[:3]]
    assert [float(began) // 5 for began, _ in spans] == [0, 1, 2], lines
    assert 12 <= float(spans[2][1]) < 15, lines
    await page.locator("#wechat-latency").fill("0")
    await expect(page.locator("#wechat-knobs button")).to_have_text("已生效")


async def test_the_light_turns_green_when_wechat_verifies_what_the_page_wrote(
    tester: Visitor, bot: FreshBot
) -> None:
    page = tester.page
    await tester.go("/connect/wechat")
    light = page.locator("#light-wechat")
    await expect(light).to_contain_text("还没有填 AppID")
    await page.get_by_label("AppID").fill(APP_ID)
    await page.get_by_role("button", name="保存", exact=True).click()
    token = await page.locator("#made-token").input_value()
    aes_key = await page.locator("#made-key").input_value()
    await expect(light).to_contain_text("已保存，等您重启机器人")
    assert await page.get_by_text("进程环境变量").count() == 0
    await page.reload()
    await expect(page.locator("#made-token")).to_have_value(token)
    await page.get_by_role("button", name="我已复制").click()
    await expect(page.locator("#made-token")).to_have_count(0)
    await page.reload()
    assert token not in await page.content() and aes_key not in await page.content(), (
        "shown until it was copied"
    )

    await restart(bot, tester)
    await expect(light).to_contain_text("还没有收到微信的请求")
    impostor = WeChatServer(f"{bot.url}/wechat", "1" * 32, APP_ID, aes_key)
    wechat = WeChatServer(f"{bot.url}/wechat", token, APP_ID, aes_key)
    async with impostor, wechat:
        assert not await impostor.verify()
        await expect(light).to_contain_text("Token 和这里的不一样")
        await expect(light.locator(".light-unready")).to_be_visible()
        await page.evaluate("document.body.dataset.same = 'yes'")
        assert await wechat.verify()
        await expect(light.locator(".light-ok")).to_be_visible()
        await expect(light).to_contain_text("已接通")
    assert await page.evaluate("document.body.dataset.same") == "yes", "nothing was loaded again"
    await tester.go("/connect")
    await expect(page.locator("#light-wechat .light-ok")).to_be_visible()


async def test_in_a_group_the_bot_answers_who_calls_it(tester: Visitor) -> None:
    page = tester.page
    await tester.sit_with("小明")
    answer = await tester.say(QUESTION)
    await expect(answer).to_contain_text(UNKNOWN)
    mine = page.locator(".bubble-me")
    await expect(mine.last).to_contain_text(containing("@记得", QUESTION))
    await page.locator(COMPOSER).fill("今天天气不错")
    await page.get_by_role("button", name="不 @，直接说").click()
    await expect(mine.last).to_contain_text(containing("今天天气不错", "没有叫机器人，它没有理会"))
    await expect(mine.last).not_to_contain_text("@记得")
    await expect(page.locator(".bubble-bot")).to_have_count(1)
    await page.get_by_role("link", name="小红").click()
    others = page.locator(".bubble-other")
    await expect(others).to_have_count(2)
    panel = await why(tester, await tester.say("你好"))
    await expect(panel.locator("h2")).not_to_be_empty()
