"""Every page in its states, for who sees little, has no mouse, a small screen, a dark room, or no scripts."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Locator, Page, StorageState, expect
from starlette.routing import compile_path

from bot.console.site.views.all import Ports, all_routes
from bot.console.site.words import COOKIE
from simulators.wechat import WeChatServer, openid_of
from tests.console_fakes import site_for
from tests.e2e.page_states import APP_ID, APP_SECRET, EMPTY, LIVED, OUTSIDE, OUTSIDE_LATER, PERSON, State
from tests.e2e.visitors import COMPOSER, PATIENCE_MILLISECONDS, UNSET, FreshBot, Visitor, visitor
from tests.unit.test_site_guard import Untouched, walked

LOOKS: Mapping[str, Mapping[str, object]] = {
    "zh-light-wide": {"color_scheme": "light", "viewport": {"width": 1200, "height": 900}},
    "en-dark-phone": {"color_scheme": "dark", "viewport": {"width": 360, "height": 740}},
}


AUTO_REPLIES: Mapping[str, object] = {
    "is_add_friend_reply_open": 1,
    "is_autoreply_open": 1,
    "add_friend_autoreply_info": {"type": "text", "content": "谢谢关注"},
    "keyword_autoreply_info": {
        "list": [
            {
                "rule_name": "营业时间",
                "keyword_list_info": [{"type": "text", "match_mode": "contain", "content": "几点开门"}],
                "reply_list_info": [{"type": "text", "content": "每天九点到二十一点。"}],
                "reply_mode": "reply_all",
            }
        ]
    },
}
NO_PAGES = ("/memory/export", "/connect/events/")
"""JSON, and events."""
WALKED = "zh-light-wide"
"""The others have the same elements in the same order."""


@pytest_asyncio.fixture(scope="module")
async def bot(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FreshBot]:
    data = tmp_path_factory.mktemp("accessible") / "数据"
    async with WeChatServer("http://127.0.0.1:9/wechat", "token", APP_ID, app_secret=APP_SECRET) as wechat:
        wechat.api.autoreply = AUTO_REPLIES
        bot = FreshBot(data, **UNSET, WECHAT__API_BASE=wechat.api.base_url)
        await bot.start()
        yield bot
        await bot.kill()


@asynccontextmanager
async def looking(
    chrome: Browser, bot: FreshBot, look: str, session: StorageState | None
) -> AsyncGenerator[Visitor]:
    async with visitor(chrome, bot, session=session, **LOOKS[look]) as seen:
        chosen = {"name": COOKIE, "value": look[:2], "url": seen.origin}
        await seen.seen.context.add_cookies([chosen])  # pyright: ignore[reportArgumentType]
        yield seen


@pytest_asyncio.fixture(scope="module")
async def strangers(chrome: Browser, bot: FreshBot) -> AsyncGenerator[Mapping[str, Visitor]]:
    """Who have no session, by look."""
    async with AsyncExitStack() as stack:
        yield {look: await stack.enter_async_context(looking(chrome, bot, look, None)) for look in LOOKS}


@pytest_asyncio.fixture(scope="module")
async def session(chrome: Browser, bot: FreshBot) -> StorageState:
    async with visitor(chrome, bot) as first:
        await first.set_up()
        return await first.seen.context.storage_state()


@pytest_asyncio.fixture(scope="module")
async def testers(
    chrome: Browser, bot: FreshBot, session: StorageState
) -> AsyncGenerator[Mapping[str, Visitor]]:
    """Who are signed in, by look."""
    async with AsyncExitStack() as stack:
        yield {look: await stack.enter_async_context(looking(chrome, bot, look, session)) for look in LOOKS}


@pytest_asyncio.fixture(scope="module")
async def lived_in(chrome: Browser, bot: FreshBot, session: StorageState) -> None:
    """Somebody left, two followers talked, something was corrected."""
    async with visitor(chrome, bot, session=session) as player:
        page = player.page
        await player.look_at("playground-aes", "小红")
        await page.locator("#wechat-more summary").click()
        await page.locator("form[action$=unfollow] button").click()
        await expect(page.locator("form[action$=follow] .button-main")).to_be_visible()
        await player.look_at("playground", "小明")
        for words in ("记住，我住在杭州", "记住，我对花生过敏", "/更正 1 我对芒果过敏", "我能吃什么零食？"):
            await player.say(words)
        await player.look_at("playground-service", "小红")
        await player.say("你好")
        await player.sit_with("小红")
        await page.locator("form[action$=leave] button").click()
        await player.sit_with("小明")
        await player.say("我能吃什么零食？")
        await page.locator(".bubble-bot a[href*=quotes]").last.click()
        await expect(page.locator(".composer .bubble-quote")).to_be_visible()
        await player.say("还有呢？")


async def check(state: State, look: str, visitor: Visitor) -> None:
    visitor.seen.faults.clear()
    await state.reach(visitor)
    page = visitor.page
    address = urlsplit(page.url).path
    assert compile_path(state.page)[0].match(address), address
    assert (await page.locator("html").get_attribute("lang") or "").startswith(look[:2])
    assert not await violations(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= await page.evaluate("innerWidth")
    if not state.is_modal and look == WALKED:
        await walk(page)
    visitor.check(*filter(None, [state.pardoned]))


async def violations(page: Page) -> list[str]:
    found = await Axe().run(page)
    return [
        f"{rule['id']}: {node['html'][:200]} {' '.join(each['message'] for each in node['any'])}"
        for rule in found.response["violations"]
        for node in rule["nodes"]
    ]


TABBABLE = """() => {
    const wanted = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
    const chosen = (each) => each.type !== "radio" || each.checked;
    const all = [...document.querySelectorAll(wanted)].filter(
        (each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility() && chosen(each));
    all.forEach((each, at) => (each.dataset.stop = at));
    document.activeElement?.blur();
    return all.map((each) => each.outerHTML.slice(0, 120));
}"""
FOCUSED = """() => {
    const at = document.activeElement;
    const shown = [null, "::after"].some((part) => {
        const style = getComputedStyle(at, part);
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    });
    return [at.dataset.stop ?? "", shown, at.outerHTML.slice(0, 120)];
}"""
MORE_STOPS = 40
"""A field for a time is a stop for each of its parts."""


async def walk(page: Page) -> None:
    """With Tab alone: whatever can be used is come to, and is seen to have the focus."""
    stops: list[str] = await page.evaluate(TABBABLE)
    missed = set(map(str, range(len(stops))))
    for _ in range(len(stops) + MORE_STOPS):
        await page.keyboard.press("Tab")
        stop, is_shown, html = await page.evaluate(FOCUSED)
        assert is_shown or not stop, f"no visible focus: {html}"
        missed.discard(stop)
        if not missed:
            return
    raise AssertionError([stops[int(at)] for at in missed])


def test_every_page_is_among_them(tmp_path: Path) -> None:
    ports = Ports(**{field.name: Untouched() for field in fields(Ports)})  # type: ignore[arg-type]
    routes = walked(all_routes(site_for(tmp_path), ports))
    pages = {path for path, methods in routes if "GET" in methods and not path.startswith(NO_PAGES)}
    assert pages - {f"{page}/events" for page in pages} <= {
        state.page for states in (OUTSIDE, OUTSIDE_LATER, EMPTY, LIVED) for state in states.values()
    }


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("state", OUTSIDE)
async def test_before_there_is_a_password(state: str, look: str, strangers: Mapping[str, Visitor]) -> None:
    await check(OUTSIDE[state], look, strangers[look])


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("state", EMPTY)
async def test_pages_with_nothing_on_them_yet(state: str, look: str, testers: Mapping[str, Visitor]) -> None:
    await check(EMPTY[state], look, testers[look])


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("state", LIVED)
@pytest.mark.usefixtures("lived_in")
async def test_pages_with_all_that_happened(state: str, look: str, testers: Mapping[str, Visitor]) -> None:
    await check(LIVED[state], look, testers[look])


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("state", OUTSIDE_LATER)
@pytest.mark.usefixtures("session")
async def test_signing_in(state: str, look: str, strangers: Mapping[str, Visitor]) -> None:
    await check(OUTSIDE_LATER[state], look, strangers[look])


@pytest.mark.usefixtures("lived_in")
async def test_a_chat_by_keyboard_alone(testers: Mapping[str, Visitor]) -> None:
    tester = testers["zh-light-wide"]
    page, keyboard = tester.page, tester.page.keyboard
    await tester.look_at("playground", "小明")
    await keyboard.press("Tab")
    await expect(page.locator(".skip")).to_be_focused()
    await keyboard.press("Enter")
    await expect(page.locator("main")).to_be_focused()
    await tab_to(page, page.get_by_role("link", name="小红", exact=True))
    await keyboard.press("Enter")
    await expect(page.get_by_role("link", name="小红", exact=True)).to_have_attribute("aria-current", "page")
    await tab_to(page, page.locator(COMPOSER))
    await keyboard.type("我能吃什么零食？")
    await tab_to(page, page.get_by_role("button", name="发送", exact=True))
    await keyboard.press("Space")
    answers = page.locator(".bubble-bot")
    await expect(answers).to_have_count(1)
    await expect(page.locator(COMPOSER)).to_be_focused()
    why = answers.last.locator("a[data-why]")
    await tab_to(page, why, back=True)
    await keyboard.press("Enter")
    dialog = page.locator("#why-dialog")
    await expect(dialog).to_be_visible()
    assert await dialog.evaluate("dialog => dialog.contains(document.activeElement)")
    await keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(why).to_be_focused()
    tester.check()


async def tab_to(page: Page, wanted: Locator, *, back: bool = False) -> None:
    for _ in range(MORE_STOPS):
        await page.keyboard.press("Shift+Tab" if back else "Tab")
        if await wanted.evaluate("each => each === document.activeElement"):
            return
    raise AssertionError(f"{wanted} is not come to")


@pytest.mark.usefixtures("lived_in")
async def test_without_scripts_all_is_done_by_forms_and_links(
    chrome: Browser, bot: FreshBot, session: StorageState
) -> None:
    async with visitor(chrome, bot, session=session, java_script_enabled=False) as plain:
        page = plain.page
        await plain.look_at("playground-aes", "小明")
        for said, answer in (("记住，我住在杭州", "已记住：我住在杭州"), ("我住在哪里？", "“我住在杭州”")):
            await page.locator(COMPOSER).fill(said)
            await page.get_by_role("button", name="发送", exact=True).click()
            await reloaded_until(page, page.locator(".bubble-bot").last, answer)
        await page.locator(".bubble-bot").last.get_by_role("link", name="为什么").click()
        await expect(page.get_by_role("row").filter(has_text="我住在杭州")).to_contain_text("用上了")
        await page.locator("details.more summary").click()
        await expect(page.locator("pre.text").first).to_contain_text("杭州")

        await plain.go(PERSON, channel="wechat", app_id="playground-aes", name=openid_of("小明"))
        await page.get_by_role("button", name="忘记：我住在杭州").click()
        await expect(page.locator("h1")).to_have_text("要忘记这些吗？")
        await page.get_by_role("button", name="忘记", exact=True).click()
        await expect(page.locator(".notice-ok")).to_contain_text("已忘记 1 条记忆")
        await expect(page.locator("main")).not_to_contain_text("杭州")

        await plain.go("/connect/model", preset="ollama")
        await page.get_by_role("button", name="保存", exact=True).click()
        await expect(page.locator("#light-model")).to_contain_text("已保存，等您重启机器人")
        assert "LLM__MODEL" in (bot.data / "jide.env").read_text("utf-8")

        await plain.sit_with("小明")
        await page.locator(COMPOSER).fill("我能吃什么零食？")
        await page.get_by_role("button", name="@机器人 发送").click()
        await reloaded_until(page, page.locator(".bubble-bot").last, "我能吃什么零食？")
        plain.check()


async def reloaded_until(page: Page, place: Locator, words: str) -> None:
    """As one does who waits for an answer without scripts."""
    async with asyncio.timeout(PATIENCE_MILLISECONDS / 1000):
        while not await place.count() or words not in await place.inner_text():
            await asyncio.sleep(0.2)
            await page.reload()
