"""Who tries the pages out: a bot as it is after a clone, and a person in front of its pages in a browser."""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlencode

from playwright.async_api import Browser, Locator, Page, StorageState, expect

from tests.console_fakes import PASSWORD
from tests.e2e.bot_process import BotProcess
from tests.e2e.browser import Visit, visit
from tests.e2e.test_first_visit import printed

PATIENCE_MILLISECONDS = 40_000
"""A hang guard: an answer on WeChat's third attempt comes after ten seconds and more, on a busy machine."""
UNSET = dict.fromkeys(("WECHAT__APP_ID", "WECHAT__TOKEN", "ONEBOT__ACCESS_TOKEN"), "")
WECHAT = "/playground/wechat"
QQ = "/playground/qq"
COMPOSER = ".composer-line input"
REFUSED = "net::ERR_CONNECTION_REFUSED"
"""What a page that is open says while the bot is away."""

expect.set_options(timeout=PATIENCE_MILLISECONDS)


class FreshBot(BotProcess):
    """Nothing is set but where it listens; what is "" is not in the environment at all, so that a page may set it."""

    @property
    def environment(self) -> Mapping[str, str]:
        return {name: value for name, value in super().environment.items() if value or name not in UNSET}


class Visitor:
    """One page, led by hand."""

    def __init__(self, bot: BotProcess, seen: Visit, page: Page) -> None:
        self.bot = bot
        self.seen = seen
        self.page = page

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.bot.console_port}"

    async def go(self, path: str, **asked: str) -> int:
        """The status."""
        query = f"?{urlencode(asked)}" if asked else ""
        answer = await self.page.goto(f"{self.origin}{path}{query}")
        assert answer is not None
        return answer.status

    async def set_up(self) -> None:
        """A password, at the address that the terminal printed."""
        await self.page.goto(await printed(self.bot))
        for field in await self.page.locator("input[type=password]").all():
            await field.fill(PASSWORD)
        await self.page.locator("main form button").click()
        await expect(self.page).to_have_url(f"{self.origin}/")

    async def look_at(self, account: str, who: str) -> None:
        """A follower of an official account."""
        await self.go(WECHAT, account=account, who=who)

    async def sit_with(self, who: str, room: str = "group") -> None:
        """Somebody on QQ."""
        await self.go(QQ, room=room, who=who)

    async def say(self, text: str) -> Locator:
        """As who is looked at, to the bot; with Enter, as one chats. The answer's bubble, once it is there."""
        answers = self.page.locator(".bubble-bot")
        before = await answers.count()
        await self.page.locator(COMPOSER).fill(text)
        await self.page.locator(COMPOSER).press("Enter")
        await expect(answers).to_have_count(before + 1)
        return answers.last

    def check(self, *pardoned: str) -> None:
        """Nothing was asked of another host, and the browser had nothing to complain of but what is `pardoned`."""
        faults = [each for each in self.seen.faults if not any(words in each for words in pardoned)]
        assert not self.seen.elsewhere and not faults, (self.seen.elsewhere, faults)
        self.seen.faults.clear()


@asynccontextmanager
async def visitor(
    browser: Browser, bot: BotProcess, *, session: StorageState | None = None, **options: object
) -> AsyncGenerator[Visitor]:
    """`session`: of a visit that has signed in, `await visitor.seen.context.storage_state()`."""
    if session is not None:
        options["storage_state"] = session
    async with visit(browser, **options) as seen:
        seen.context.set_default_timeout(PATIENCE_MILLISECONDS)
        yield Visitor(bot, seen, await seen.page())


def containing(*words: str) -> re.Pattern[str]:
    """Of a text that has them all, in this order."""
    return re.compile(".*".join(map(re.escape, words)), re.DOTALL)
