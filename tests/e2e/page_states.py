"""The states that the pages have, and how a visitor gets to each."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playwright.async_api import Page, expect

from simulators.wechat import openid_of
from tests.console_fakes import PASSWORD
from tests.e2e.test_first_visit import printed
from tests.e2e.visitors import QQ, WECHAT, Visitor

NO_SUCH_PERSON = {"channel": "wechat", "app_id": "playground", "name": "nobody"}
PERSON = "/memory/of"
REPLIES = "/connect/wechat/replies"
WHY = "/playground/why/{channel}/{app_id}/{key:path}"
APP_ID, APP_SECRET = "wx00000000000000f2", "accessible"
"""Of the simulated account."""

Reach = Callable[[Visitor], Awaitable[object]]
"""From wherever a visitor is to a state of a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    page: str
    """The route whose page it is."""
    reach: Reach
    pardoned: str = ""
    """What the browser may say in its console: a status that is meant."""
    is_modal: bool = False


def at(path: str, *, page: str = "", pardoned: str = "", **asked: str) -> State:
    """An address is enough."""

    async def reach(visitor: Visitor) -> None:
        await visitor.go(path, **asked)

    return State(page=page or path, reach=reach, pardoned=pardoned)


async def set_up_page(visitor: Visitor) -> None:
    await visitor.page.goto(await printed(visitor.bot))


async def passwords_that_differ(visitor: Visitor) -> None:
    await set_up_page(visitor)
    fields = visitor.page.locator("input[type=password]")
    await fields.first.fill(PASSWORD)
    await fields.last.fill(f"{PASSWORD}。")
    await visitor.page.locator("main form button").click()
    await expect(visitor.page.locator("#problem")).to_be_visible()


async def wrong_password(visitor: Visitor) -> None:
    await visitor.go("/login")
    await visitor.page.locator("input[type=password]").fill("不是这个密码，是别的")
    await visitor.page.locator("main form button").click()
    await expect(visitor.page.locator("#problem")).to_be_visible()


async def a_form_of_another_session(visitor: Visitor) -> None:
    await visitor.go("/connect/onebot")
    await visitor.page.evaluate("document.querySelector('main form.form [name=csrf]').value = 'x'")
    await visitor.page.locator("main form.form .button-main").click()
    await expect(visitor.page.locator(".fault")).to_be_visible()


async def wechat_opened(visitor: Visitor) -> None:
    await visitor.look_at("playground", "小明")
    await visitor.page.locator("#wechat-more summary").click()


async def wechat_refused(visitor: Visitor) -> None:
    await wechat_opened(visitor)
    await visitor.page.locator("#wechat-name").fill("小红")
    await visitor.page.locator("form:has(#wechat-name) button").click()
    await expect(visitor.page.locator(".notice-bad")).to_be_visible()


async def qq_opened(visitor: Visitor) -> None:
    await visitor.sit_with("小明")
    await visitor.page.locator("#qq-more summary").click()


async def qq_quoting(visitor: Visitor) -> None:
    await visitor.sit_with("小明")
    await visitor.page.locator(".bubble-bot a[href*=quotes]").last.click()
    await expect(visitor.page.locator(".composer .bubble-quote")).to_be_visible()


async def qq_quoted(visitor: Visitor) -> None:
    await visitor.sit_with("小明")
    await expect(visitor.page.locator(".bubble-me .bubble-quote").last).to_be_visible()


async def why_dialog(visitor: Visitor) -> None:
    await visitor.look_at("playground", "小明")
    await visitor.page.locator(".bubble-bot a[data-why]").last.click()
    await visitor.page.locator("#why-dialog details summary").click()


async def why_page(visitor: Visitor) -> None:
    await visitor.look_at("playground", "小明")
    await visitor.page.goto(await href(visitor.page, ".bubble-bot:last-child a[data-why]", visitor.origin))
    await visitor.page.locator("details summary").click()


async def href(page: Page, selector: str, origin: str) -> str:
    return f"{origin}{await page.locator(selector).last.get_attribute('href')}"


async def person(visitor: Visitor) -> None:
    await visitor.go(PERSON, channel="wechat", app_id="playground", name=openid_of("小明"))


async def person_opened(visitor: Visitor) -> None:
    await person(visitor)
    await visitor.page.locator("details.more summary").first.click()


async def forget_dialog(visitor: Visitor) -> None:
    await person(visitor)
    await visitor.page.locator("form[data-asks] .button-danger").first.click()
    await expect(visitor.page.locator("#asking")).to_be_visible()


async def forget_what(visitor: Visitor) -> None:
    await person(visitor)
    await visitor.page.locator("#words").fill("没有说过的事")
    await visitor.page.locator("form:has(#words) button").click()
    await expect(visitor.page.locator("#asking")).to_be_visible()


async def forget_page(visitor: Visitor) -> None:
    """Where the scripts did not come."""
    await person(visitor)
    await visitor.page.evaluate("for (const form of document.forms) delete form.dataset.asks")
    await visitor.page.locator("form[action$=ask] .button-danger").first.click()
    await expect(visitor.page.locator("h1#ask-title")).to_be_visible()


async def connect_problem(visitor: Visitor) -> None:
    await visitor.go("/connect/wechat", address="192.168.1.2")
    await visitor.page.locator("[name=app_id]").fill("wx00000000000000f2")
    await visitor.page.locator("#own summary").click()
    await visitor.page.locator("[name=aes_key]").fill("太短")
    await visitor.page.locator("main form[method=post] .button-main").click()
    await expect(visitor.page.locator("#problem")).to_be_visible()


async def connect_tried(visitor: Visitor) -> None:
    await visitor.go("/connect/wechat")
    await visitor.page.locator("[name=app_id]").fill(APP_ID)
    await visitor.page.locator("[name=app_secret]").fill("wrong")
    await visitor.page.locator("[formaction$=test]").click()
    await expect(visitor.page.locator("#trial")).to_be_visible()


async def replies_found(visitor: Visitor) -> None:
    await visitor.go(REPLIES)
    await visitor.page.locator("[name=app_id]").fill(APP_ID)
    await visitor.page.locator("[name=app_secret]").fill(APP_SECRET)
    await visitor.page.locator("main form .button-main").first.click()
    await expect(visitor.page.locator("table")).to_be_visible()


async def model_tried(visitor: Visitor) -> None:
    await visitor.go("/connect/model")
    await visitor.page.locator("[name=base_url]").fill("http://127.0.0.1:9/v1")
    await visitor.page.locator("[name=model]").fill("none")
    await visitor.page.locator("[formaction$=test]").click()
    await expect(visitor.page.locator("#trial")).to_be_visible()


async def wechat_made(visitor: Visitor) -> None:
    """The secrets are there through the next step; nothing else of the session's pages has them."""
    await visitor.go("/connect/wechat")
    await visitor.page.locator("[name=app_id]").fill(APP_ID)
    await visitor.page.locator("#own summary").click()
    if await (renews := visitor.page.locator("[name=renews]")).count():
        await renews.check()
    await visitor.page.locator("main form[action='/connect/wechat'] .button-main").click()
    await visitor.page.locator("[name=address]:not([type=hidden])").fill("bot.example.com")
    await visitor.page.locator("main form[method=get] .button").click()
    await expect(visitor.page.locator("#url")).to_have_value("https://bot.example.com/wechat")
    await expect(visitor.page.locator("#made-key")).to_be_visible()


async def connect_made(visitor: Visitor) -> None:
    await visitor.go("/connect/onebot")
    await visitor.page.locator("main form.form .button-main").click()
    await expect(visitor.page.locator("#made-token")).to_be_visible()


OUTSIDE = {
    "set up": State(page="/setup", reach=set_up_page),
    "set up: they differ": State(page="/setup", reach=passwords_that_differ, pardoned="status of 422"),
    "set up: wrong token": at("/setup", token="x", pardoned="status of 403"),
    "sign in before that": at("/login"),
    "nobody's page": at("/memory", pardoned="status of 401"),
}
OUTSIDE_LATER = {
    "sign in": at("/login"),
    "sign in: wrong": State(page="/login", reach=wrong_password, pardoned="status of 403"),
}
EMPTY = {
    "overview": at("/"),
    "wechat": at(WECHAT),
    "qq": at(QQ),
    "qq: private": at(QQ, room="private"),
    "qq: official": at(QQ, room="official-group"),
    "memory": at("/memory"),
    "connect": at("/connect"),
    "connect wechat": at("/connect/wechat"),
    "connect replies": at(REPLIES),
    "connect onebot": at("/connect/onebot"),
    "connect qq": at("/connect/qq"),
    "connect model": at("/connect/model"),
}
LIVED = {
    "overview": at("/"),
    "wechat": at(WECHAT, account="playground", who="小明"),
    "wechat: more": State(page=WECHAT, reach=wechat_opened),
    "wechat: refused": State(page=f"{WECHAT}/follow", reach=wechat_refused, pardoned="status of 422"),
    "wechat: verified": at(WECHAT, account="playground-service", who="小红"),
    "wechat: left": at(WECHAT, account="playground-aes", who="小红"),
    "qq": at(QQ, room="group", who="小明"),
    "qq: more": State(page=QQ, reach=qq_opened),
    "qq: quoting": State(page=QQ, reach=qq_quoting),
    "qq: quoted": State(page=QQ, reach=qq_quoted),
    "qq: left": at(QQ, room="group", who="小红"),
    "why: dialog": State(page=WECHAT, reach=why_dialog, is_modal=True),
    "why": State(page=WHY, reach=why_page),
    "why: gone": at("/playground/why/wechat/playground/x/1", page=WHY, pardoned="status of 404"),
    "memory": at("/memory"),
    "person": State(page=PERSON, reach=person),
    "person: correcting": State(page=PERSON, reach=person_opened),
    "person: forget": State(page=PERSON, reach=forget_dialog, is_modal=True),
    "person: forget nothing": State(page=PERSON, reach=forget_what, is_modal=True),
    "person: forget page": State(page="/memory/ask", reach=forget_page),
    "person: nobody": at(PERSON, pardoned="status of 404", **NO_SUCH_PERSON),
    "connect wechat: problem": State(page="/connect/wechat", reach=connect_problem, pardoned="status of 422"),
    "connect wechat: tried": State(page="/connect/wechat", reach=connect_tried),
    "connect replies: found": State(page=REPLIES, reach=replies_found),
    "connect model: tried": State(page="/connect/model", reach=model_tried),
    "connect wechat: made": State(page="/connect/wechat", reach=wechat_made),
    "connect onebot: made": State(page="/connect/onebot", reach=connect_made),
    "connect model: chosen": at("/connect/model", preset="deepseek"),
    "no such page": at("/nothing", pardoned="status of 404"),
    "refused": State(page="/connect/onebot", reach=a_form_of_another_session, pardoned="status of 403"),
}
