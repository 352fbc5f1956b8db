"""A real browser before the pages: headless Chromium, led by Playwright.

Debian's `chromium` is taken where it is installed (or what CHROMIUM names); Playwright brings none here. A machine
without one skips these tests with the reason; where JIDE_REQUIRE_SHARED is 1 that is a failure.
"""

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, Page, Request, async_playwright

QUIET = (
    # CI runs as root, whom Chromium refuses its own sandbox; only pages of this project are opened.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)
"""What Chromium would ask of others by itself is no request of a page's."""
HOSTS = frozenset({"127.0.0.1", "localhost"})
NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium_path() -> str:
    """Skips the test where there is no Chromium."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found:
        return found
    missing = "no Chromium (Debian: apt install chromium; CHROMIUM names another one)"
    if os.environ.get("JIDE_REQUIRE_SHARED") == "1":
        pytest.fail(missing)
    pytest.skip(missing)


@asynccontextmanager
async def chromium() -> AsyncGenerator[Browser]:
    path = chromium_path()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(QUIET))
        try:
            yield browser
        finally:
            await browser.close()


class Visit:
    """One visitor's pages, and what they asked of others or said in the console."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.elsewhere: list[str] = []
        """Requests to another host than this machine."""
        self.faults: list[str] = []
        """Errors of scripts, and what the content policy refused."""
        context.on("request", self._note_request)
        context.on("page", self._watch)

    async def page(self) -> Page:
        return await self.context.new_page()

    def _note_request(self, request: Request) -> None:
        if urlsplit(request.url).hostname not in HOSTS and not request.url.startswith(("data:", "blob:")):
            self.elsewhere.append(request.url)

    def _watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)


@asynccontextmanager
async def visit(browser: Browser, **options: object) -> AsyncGenerator[Visit]:
    """`options`: of `Browser.new_context`, such as `viewport` or `color_scheme`."""
    context = await browser.new_context(locale="zh-CN", **options)  # pyright: ignore[reportArgumentType]
    try:
        yield Visit(context)
    finally:
        await context.close()
