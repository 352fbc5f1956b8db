"""What people, documents and models say is shown as text: none of it becomes a part of a page, and nothing runs."""

import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import closing

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Dialog, Locator, expect

from simulators.openai import Answer, OpenAiServer
from simulators.wechat import WeChatServer, openid_of
from tests.e2e.bot_process import BotProcess
from tests.e2e.visitors import UNSET, FreshBot, Visitor, visitor

IMAGE = "<img src=x onerror=run()>"
BREAKING_OUT = '"><script>run()</script>'
ADDRESS = "javascript:run()"
PAYLOADS = (IMAGE, BREAKING_OUT, ADDRESS)
NAMES = ('"><svg onload=run()>', ADDRESS)
"""A name has twenty characters at most."""
TITLE = f"{IMAGE} 退货"
APP_ID, SECRET = "wx00000000000000f3", "inert"
TRAP = "window.run = () => { window.hasRun = true; };"
PLANTED = "img[src='x'], svg[onload], [onerror], [href^='javascript'], [src^='javascript'], script:not([src])"


@pytest_asyncio.fixture(scope="module")
async def model() -> AsyncIterator[OpenAiServer]:
    async with OpenAiServer() as server:
        server.answer_with(lambda request: Answer(text="".join(f"{each} " for each in PAYLOADS)))
        yield server


@pytest_asyncio.fixture(scope="module")
async def wechat() -> AsyncIterator[WeChatServer]:
    """Of the operator's account: its console had replies of its own."""
    async with WeChatServer("http://127.0.0.1:9/wechat", "token", APP_ID, app_secret=SECRET) as server:
        rules = [
            {
                "rule_name": each,
                "keyword_list_info": [{"type": "text", "match_mode": "contain", "content": each}],
                "reply_list_info": [{"type": "text", "content": each}],
                "reply_mode": "reply_all",
            }
            for each in PAYLOADS
        ]
        server.api.autoreply = {
            "is_add_friend_reply_open": 1,
            "is_autoreply_open": 1,
            "add_friend_autoreply_info": {"type": "text", "content": IMAGE},
            "keyword_autoreply_info": {"list": rules},
        }
        yield server


@pytest_asyncio.fixture(scope="module")
async def bot(
    tmp_path_factory: pytest.TempPathFactory, model: OpenAiServer, wechat: WeChatServer
) -> AsyncIterator[FreshBot]:
    data = tmp_path_factory.mktemp("inert") / "数据"
    document = data.parent / f"{TITLE}.md"
    document.write_text(
        f"# {BREAKING_OUT}\n\n## {ADDRESS}\n\n退货要在七天之内，包装要完整。{IMAGE}\n", "utf-8"
    )
    settings = {
        "LLM__BASE_URL": model.base_url,
        "LLM__MODEL": "scripted",
        "LLM__API_KEY": "e2e",
        "WECHAT__API_BASE": wechat.api.base_url,
    }
    bot = FreshBot(data, **UNSET, **settings)
    stored = bot.cli("ingest", str(document))
    assert stored.returncode == 0, stored.stderr
    await bot.start()
    yield bot
    await bot.kill()


@pytest_asyncio.fixture(scope="module")
async def tester(chrome: Browser, bot: FreshBot) -> AsyncGenerator[Visitor]:
    async with visitor(chrome, bot, viewport={"width": 1200, "height": 900}) as tester:
        await tester.seen.context.add_init_script(TRAP)
        await tester.set_up()
        yield tester
    assert "Traceback" not in bot.log.read_text("utf-8")


@pytest.fixture(autouse=True)
def dialogs(tester: Visitor):
    """None is opened by what is shown."""
    opened: list[str] = []

    async def note(dialog: Dialog) -> None:
        opened.append(dialog.message)
        await dialog.dismiss()

    tester.page.on("dialog", note)
    yield
    tester.page.remove_listener("dialog", note)
    assert not opened


async def assert_inert(tester: Visitor, *pardoned: str) -> None:
    """On the page as it is now."""
    page = tester.page
    assert await page.evaluate("typeof window.run") == "function", "else the trap would catch nothing"
    assert not await page.evaluate("window.hasRun ?? false")
    assert await page.locator(PLANTED).evaluate_all("found => found.map((each) => each.outerHTML)") == []
    tester.check(*pardoned)


async def shows(place: Locator, *texts: str) -> None:
    for text in texts:
        await expect(place).to_contain_text(text)


async def test_the_trap_catches_what_does_run(tester: Visitor) -> None:
    """Beside the policy that forbids it on our pages."""
    page = await tester.seen.page()
    await page.set_content(IMAGE)
    await expect(page.locator(PLANTED)).to_have_count(1)
    await page.wait_for_function("window.hasRun")
    await page.close()
    tester.seen.faults.clear()


def plant(bot: BotProcess, text: str, words: str) -> None:
    """In place of a memory: not all such words can be remembered, but an older release may have kept them."""
    with closing(sqlite3.connect(bot.data / "jide.db", timeout=10)) as connection, connection:
        assert connection.execute("UPDATE fact SET text = ? WHERE text = ?", (words, text)).rowcount == 1
        connection.execute("UPDATE shelf SET version = version + (1 << 32)")


async def test_a_memory(tester: Visitor) -> None:
    page = tester.page
    await tester.look_at("playground", "小明")
    await page.get_by_label("自带的试用模型").check()
    await expect(page.locator("[data-saved]")).to_have_text("已生效")
    for number, payload in enumerate(PAYLOADS):
        await expect(await tester.say(f"记住：我的口头禅是第{number}句")).to_contain_text("已记住")
        plant(tester.bot, f"我的口头禅是第{number}句", f"我的口头禅是{payload}")
        await tester.say(f"我的口头禅是{payload}")
    answer = await tester.say("我的口头禅是什么？")
    await shows(page.locator("#wechat-chat"), *PAYLOADS)
    await shows(page.locator("#wechat-strips"), *PAYLOADS)
    await assert_inert(tester)
    await answer.locator("a[data-why]").click()
    await shows(page.locator("#why-dialog"), *PAYLOADS)
    await assert_inert(tester)
    await page.reload()
    await assert_inert(tester)
    await tester.go("/memory/of", channel="wechat", app_id="playground", name=openid_of("小明"))
    await shows(page.locator("main"), *PAYLOADS)
    await assert_inert(tester)
    await page.locator("details.more summary").first.click()
    await page.locator("[name=text]").first.fill(f"我的口头禅是{IMAGE}{IMAGE}")
    await page.get_by_role("button", name="改正这一条").first.click()
    await shows(page.locator("main"), f"{IMAGE}{IMAGE}")
    await assert_inert(tester)
    await page.locator("form[data-asks]:has([value=all]) button").click()
    await shows(page.locator("#asking"), IMAGE)
    await assert_inert(tester)


async def test_a_document(tester: Visitor) -> None:
    page = tester.page
    await tester.look_at("playground", "小红")
    answer = await tester.say("退货要在几天之内？")
    await answer.locator("a[data-why]").click()
    await shows(page.locator("#why-dialog"), TITLE, BREAKING_OUT, ADDRESS)
    await assert_inert(tester)


async def test_the_answer_of_a_model(tester: Visitor) -> None:
    page = tester.page
    await tester.look_at("playground-service", "小明")
    answer = await tester.say("你会说什么？")
    await shows(answer.locator(".bubble-text"), IMAGE)
    await assert_inert(tester)
    await answer.locator("a[data-why]").click()
    await shows(page.locator("#why-dialog"), IMAGE)
    await assert_inert(tester)
    await page.reload()
    await assert_inert(tester)


@pytest.mark.parametrize("name", NAMES)
async def test_a_name(name: str, tester: Visitor) -> None:
    page = tester.page
    await tester.look_at("playground-aes", "小明")
    await page.locator("#wechat-more summary").click()
    await page.locator("#wechat-name").fill(name)
    await page.locator("form:has(#wechat-name) button").click()
    await expect(page.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "page")
    await tester.say("你好")
    await assert_inert(tester)
    await tester.go("/memory")
    await assert_inert(tester)


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_and_a_card_in_a_group(name: str, tester: Visitor) -> None:
    page = tester.page
    await tester.sit_with("小明")
    await page.locator("#qq-more summary").click()
    await page.locator("#qq-name").fill(name)
    await page.locator("form:has(#qq-name) button").click()
    await expect(page.locator(".phone")).to_have_attribute("aria-label", f"{name}的 QQ")
    await page.locator("#qq-card").fill(name)
    await page.get_by_role("button", name="保存", exact=True).click()
    answer = await tester.say("你好")
    await shows(page.locator("#qq-chat"), name)
    await assert_inert(tester)
    await page.get_by_role("link", name="小明").first.click()
    await shows(page.locator(".bubble-other .bubble-name").last, name)
    await assert_inert(tester)
    await answer.locator("a[data-why]").click()
    await expect(page.locator("#why-dialog")).to_be_visible()
    await assert_inert(tester)
    await page.reload()
    await page.locator(".bubble-bot a[href*=quotes]").last.click()
    await assert_inert(tester)


async def test_replies_that_are_imported(tester: Visitor) -> None:
    page = tester.page
    await tester.go("/connect/wechat/replies")
    await page.get_by_label("AppID").fill(APP_ID)
    await page.get_by_label("AppSecret").fill(SECRET)
    await page.get_by_role("button", name="取来看看").click()
    await shows(page.locator("table"), *PAYLOADS)
    await shows(page.locator("main"), IMAGE)
    await assert_inert(tester)
    await page.get_by_role("button", name="导入选中的").click()
    await expect(page.locator(".notice-ok")).to_be_visible()
    await assert_inert(tester)


@pytest.mark.parametrize("payload", PAYLOADS)
async def test_what_stands_in_an_address_or_a_form(payload: str, tester: Visitor) -> None:
    page = tester.page
    await tester.go("/connect/wechat", address=payload)
    await expect(page.locator("[name=address]")).to_have_value(payload)
    await assert_inert(tester)
    await tester.go("/playground/wechat", account="playground", who=payload)
    await assert_inert(tester)
    await tester.go("/connect/model", preset=payload)
    await assert_inert(tester)
    await tester.go("/memory/of", channel=payload, app_id=payload, name=payload)
    await assert_inert(tester, "status of 404")
