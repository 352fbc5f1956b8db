"""Open pages while things change: what is told is put in its place, and nothing that was typed or turned is wrong."""

from collections.abc import AsyncGenerator, AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.console_fakes import PASSWORD
from tests.e2e.visitors import COMPOSER, REFUSED, UNSET, WECHAT, FreshBot, Visitor, visitor


@pytest_asyncio.fixture(scope="module")
async def bot(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FreshBot]:
    bot = FreshBot(tmp_path_factory.mktemp("live") / "数据", **UNSET)
    await bot.start()
    yield bot
    await bot.kill()


@pytest_asyncio.fixture(scope="module")
async def tester(chrome: Browser, bot: FreshBot) -> AsyncGenerator[Visitor]:
    async with visitor(chrome, bot) as tester:
        await tester.set_up()
        yield tester


async def turn(page: Page, seconds: str) -> None:
    await page.locator("[data-shown]").fill(seconds)
    await expect(page.locator("[data-saved]")).to_have_text("已生效")


async def test_a_bubble_that_is_there_stays_the_one_it_is(tester: Visitor) -> None:
    await tester.look_at("playground", "小明")
    await tester.say("记住，我对花生过敏")
    await tester.page.evaluate("document.querySelector('.bubble').dataset.seen = 'yes'")
    await tester.say("我能吃什么零食？")
    bubbles = tester.page.locator("#wechat-bubbles > li")
    await expect(bubbles).to_have_count(4)
    await expect(bubbles.first).to_have_attribute("data-seen", "yes")
    shown = await bubbles.evaluate_all("all => all.map((each) => each.id)")
    await tester.page.reload()
    assert await bubbles.evaluate_all("all => all.map((each) => each.id)") == shown
    for who in ("小明", "小红"):
        await tester.sit_with(who)
        await tester.say(f"我是{who}")
    mine = tester.page.locator("#qq-bubbles > .bubble-me")
    await expect(mine).to_have_count(1)
    tester.check()


@pytest.mark.parametrize("page", [WECHAT, "/playground/qq"])
async def test_the_knobs_stand_as_the_bot_has_them(page: str, tester: Visitor, bot: FreshBot) -> None:
    await tester.go(page)
    other = await tester.seen.page()
    await other.goto(tester.page.url)
    await turn(tester.page, "12")
    for each in (tester.page, other):
        await expect(each.locator("[data-shown]")).to_have_value("12")
        await expect(each.locator("output")).to_have_text("12")
    await bot.stop()
    await bot.start()
    for each in (tester.page, other):
        await expect(each.locator("output")).to_have_text("0")
        await expect(each.locator("[data-shown]")).to_have_value("0")
        await expect(each.locator("[name=model][value=stub]")).to_be_checked()
    await other.close()
    tester.check(REFUSED)


async def test_what_is_asked_about_before_its_answer_says_so(tester: Visitor) -> None:
    await tester.look_at("playground-service", "小明")
    page = tester.page
    await turn(page, "20")
    await page.locator(COMPOSER).fill("我能吃什么零食？")
    await page.locator(COMPOSER).press("Enter")
    await turn(page, "0")
    why = page.locator("#wechat-strips a[data-why]")
    await why.click()
    await expect(page.locator("#why-body")).to_contain_text("还没有答完")
    await page.keyboard.press("Escape")
    await expect(page.locator("#wechat-strips")).to_contain_text("客服消息送到")
    assert "20." in await page.locator("#wechat-strips .timeline-key").inner_text(), (
        "as it was when it was said"
    )
    await why.click()
    await expect(page.locator("#why-body")).to_contain_text("我能吃什么零食？")
    tester.check()


async def test_what_was_typed_when_the_session_ended_is_there_after_signing_in(
    tester: Visitor, chrome: Browser, bot: FreshBot
) -> None:
    await tester.look_at("playground-aes", "小红")
    page, typed = tester.page, "记住，我住在“杭州”&别处"
    await page.locator(COMPOSER).fill(typed)
    other = await tester.seen.page()
    await other.goto(f"{tester.origin}/memory")
    await other.locator("form[action='/logout'] button").click()
    await expect(other.locator("input[type=password]")).to_be_visible()
    await other.close()
    await page.locator(COMPOSER).press("Enter")
    await page.locator("input[type=password]").fill(PASSWORD)
    await page.locator("main form button").click()
    await expect(page.locator(COMPOSER)).to_have_value(typed)
    await expect(page.get_by_role("link", name="小红", exact=True)).to_have_attribute("aria-current", "page")
    await page.locator(COMPOSER).press("Enter")
    await expect(page.locator(".bubble-bot")).to_contain_text("已记住")
    await expect(page.locator(COMPOSER)).to_have_value("")
    await page.reload()
    await expect(page.locator(COMPOSER)).to_have_value("")
    tester.check("status of 401")
