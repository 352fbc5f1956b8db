"""The pages as a newcomer meets them: the address that the terminal prints, and what a restart keeps."""

import re
import stat

import httpx

from tests.console_fakes import CSRF, PASSWORD, SAME_ORIGIN
from tests.e2e.bot_process import BotProcess
from tests.e2e.conftest import StartBot

PRINTED = re.compile(r"^在浏览器里试用：(http://127\.0\.0\.1:(\d+)(\S*?))(?: （|$)", re.MULTILINE)


async def printed(bot: BotProcess) -> str:
    """The address that the latest start printed."""
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"http://127.0.0.1:{bot.console_port}/readyz")).status_code == 200
    return PRINTED.findall(bot.log.read_text("utf-8"))[-1][0]


def browser(bot: BotProcess) -> httpx.AsyncClient:
    base = f"http://127.0.0.1:{bot.console_port}"
    return httpx.AsyncClient(base_url=base, headers=SAME_ORIGIN, trust_env=False)


async def test_the_printed_address_sets_a_password_that_outlives_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot()
    address = await printed(bot)
    token = address.partition("/setup?token=")[2]
    assert len(token) >= 43
    async with browser(bot) as visitor:
        assert (await visitor.get("/")).status_code == 401
        csrf = CSRF.search((await visitor.get(address)).text)
        assert csrf
        form = {"csrf": csrf[1], "token": token, "password": PASSWORD, "again": PASSWORD}
        assert (await visitor.post("/setup", data=form)).status_code == 303
        page = await visitor.get("/")
        assert page.status_code == 200 and "light-ok" in page.text
        assert stat.S_IMODE((bot.data / "console.json").stat().st_mode) == 0o600
        await bot.stop()
        await bot.start()
        assert await printed(bot) == f"http://127.0.0.1:{bot.console_port}"
        assert (await visitor.get("/")).status_code == 200, "still signed in"
        visitor.cookies.clear()
        assert (await visitor.get(address)).status_code == 403
    log = bot.log.read_text("utf-8")
    assert log.count(token) == 1, "printed once, logged never"
    assert "Traceback" not in log


async def test_without_the_playground_the_second_port_has_no_pages(start_bot: StartBot) -> None:
    bot = await start_bot(CONSOLE__PLAYGROUND="false")
    async with browser(bot) as visitor:
        assert (await visitor.get("/readyz")).status_code == 200
        for path in ("/", "/login", "/setup", "/static/style.css", "/playground/wechat", "/platforms/wechat"):
            assert (await visitor.get(path)).status_code == 404, path
    assert not PRINTED.search(bot.log.read_text("utf-8"))
