"""The pictures of the pages for the READMEs, of a short story that is played to a bot of its own.

`make screenshots` writes docs/pictures/*.png; nothing of the project's own data folder is read.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.async_api import (  # noqa: E402 - the project's folder goes on the path first
    Browser,
    FloatRect,
    Locator,
    Page,
    StorageState,
    expect,
)

from simulators.wechat import openid_of  # noqa: E402
from tests.e2e.browser import chromium  # noqa: E402
from tests.e2e.visitors import COMPOSER, UNSET, FreshBot, Visitor, visitor  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
SIZE = {"width": 1200, "height": 760}
LIMIT_BYTES = 200_000
"""Of a picture: a README is read over slow lines too."""
SLOW_SECONDS = 12
MARGIN = 16
"""Around what is cut out."""
DOCUMENT = """# 售后说明

## 退货

食品拆封后不能退货；没有拆封的，签收后七天内可以退，运费由店里出。
"""


async def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        bot = FreshBot(Path(folder) / "data", **UNSET)
        await bot.start()
        try:
            async with chromium() as browser:
                await take_all(browser, bot)
        finally:
            await bot.stop()


async def take_all(browser: Browser, bot: FreshBot) -> None:
    async with visitor(browser, bot, viewport=SIZE, color_scheme="light") as player:
        page = player.page
        await player.set_up()
        await talk_on_wechat(player)
        await take(page, "wechat", page.locator("nav.tabs").first, page.locator(".phone"))
        session = await player.seen.context.storage_state()
        await take_by_night(browser, bot, session)
        await ask_about_a_document(player, bot)
        await take(page, "why")
        await player.go("/memory/of", channel="wechat", app_id="playground", name=openid_of("小明"))
        await take(page, "memory", page.locator("h1"), page.locator("table"))
        await talk_in_a_group(player)
        await take(page, "qq", page.locator("nav.tabs").first, page.locator(".phone"))
        await player.go("/connect/wechat", address="bot.example.com")
        await take(page, "connect")


async def take_by_night(browser: Browser, bot: FreshBot, session: StorageState) -> None:
    async with visitor(browser, bot, session=session, viewport=SIZE, color_scheme="dark") as player:
        page = player.page
        await player.look_at("playground", "小明")
        await take(page, "wechat-dark", page.locator("nav.tabs").first, page.locator(".phone"))


async def talk_on_wechat(player: Visitor) -> None:
    """The last answer is a slow one."""
    await player.look_at("playground", "小明")
    for words in ("记住，我对花生过敏", "记住，我住在杭州", "/更正 2 我搬到苏州了", "我住在哪里？"):
        await player.say(words)
    await turn_latency(player.page, SLOW_SECONDS)
    await player.say("我能吃什么零食？")
    await expect(player.page.locator("article.timeline .badge").first).to_have_class("badge badge-ok")


async def ask_about_a_document(player: Visitor, bot: FreshBot) -> None:
    document = bot.data.parent / "店里的资料" / "售后说明.md"
    document.parent.mkdir()
    document.write_text(DOCUMENT, "utf-8")
    bot.cli("ingest", str(document.parent)).check_returncode()
    await turn_latency(player.page, 0)
    answer = await player.say("零食拆封了还能退吗？")
    await answer.locator("a[data-why]").click()
    await expect(player.page.locator("#why-dialog")).to_contain_text(document.name)


async def turn_latency(page: Page, seconds: int) -> None:
    await page.locator("#wechat-latency").fill(str(seconds))
    await expect(page.locator("[data-saved]")).to_have_text("已生效")


async def talk_in_a_group(player: Visitor) -> None:
    page = player.page
    await player.sit_with("小明")
    await page.locator(COMPOSER).fill("周五团建，谁来？")
    await page.get_by_role("button", name="不 @，直接说").click()
    await expect(page.locator(".bubble-me")).to_contain_text("没有理会")
    await player.say("记住，我周五要值班")
    await player.sit_with("小红")
    await player.say("周五我有空吗？")


async def take(page: Page, name: str, first: Locator | None = None, last: Locator | None = None) -> None:
    """What the window shows, or the whole width from `first` to `last`, once nothing moves."""
    await page.evaluate("document.activeElement?.blur()")
    clip: FloatRect | None = None
    if first is not None and last is not None:
        await page.evaluate("scrollTo(0, 0)")
        above, below = await first.bounding_box(), await last.bounding_box()
        assert above is not None and below is not None
        top, end = above["y"] - MARGIN, below["y"] + below["height"] + MARGIN
        clip = {"x": 0, "y": top, "width": SIZE["width"], "height": end - top}
    path = PICTURES / f"{name}.png"
    await page.screenshot(path=path, animations="disabled", full_page=clip is not None, clip=clip)
    size = path.stat().st_size
    assert size <= LIMIT_BYTES, f"{path.name}: {size} bytes"
    sys.stdout.write(f"{path.relative_to(ROOT)}  {size // 1000} kB\n")


if __name__ == "__main__":
    asyncio.run(main())
