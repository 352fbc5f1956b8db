"""`jide simulate`: play a platform's server against the running bot, with one real message or a scenario.

Invariant: it speaks to the bot's public port as the platform would, with the token of the settings or
of the try-out account, and knows nothing of what is behind it.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import typer

from bot.channels.onebot_pages import LONGEST, shown
from bot.cli.running import Refusal
from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import PLAYGROUND
from bot.conversation.wording import Wording
from bot.secrets_file import read_tryout
from bot.settings import Settings
from bot.settings_source import read_settings
from simulators.onebot import HandshakeRefused, OneBotClient, SentMessage, number_of
from simulators.wechat import (
    AccountType,
    ScenarioError,
    WeChatServer,
    load_scenario,
    openid_of,
    run_scenario,
    server_for,
)

ANSWER_SECONDS = 70.0
"""A slow model's whole minute, and a little."""
OWED_SECONDS = 0.3
"""What the bot still owes from before comes at once to who connects, and is no answer to what is said now."""
NEXT_PAGE_SECONDS = 1.0
"""The pages of one answer follow each other."""
SELF_ID = 10_000
"""The QQ number of the try-out bot."""
_LOOPBACK = ("127.0.0.1", "localhost")


async def say_on_wechat(text: str, name: str, app_id: str = "") -> None:
    """`app_id`: which of the accounts; "": the first."""
    if not text:
        raise Refusal("没有要说的话", '例如 jide simulate wechat "你好"，或用 --scenario 演一个剧本')
    settings = read_settings()
    account = _account(settings, app_id)
    await _check_alive(settings)
    openid = openid_of(name)
    async with _opened(WeChatServer(**account)) as server:
        seen = await server.say(openid, text)
        if not seen.text and server.account.app_secret:
            # `success`: the answer comes as a customer-service message.
            await server.people.wait_until(lambda: bool(server.seen(openid)), ANSWER_SECONDS)
        told = "\n".join(sight.shown for sight in server.seen(openid))
    typer.echo(told or "（没有回复）")


async def play_on_wechat(path: Path, text: str, app_id: str = "") -> None:
    """Prints the report; exit code 1 when an expectation failed. `app_id`: as above."""
    if text:
        raise Refusal("一句话和 --scenario 不能一起用", "去掉一个")
    settings = read_settings()
    try:
        scenario = load_scenario(path)
        account = _account(settings, app_id)
        if "app_secret" not in account:
            if scenario.needs_api:
                raise Refusal("这个剧本要公众号接口，现在没有", _how_to_have_an_api(settings))
            account["account_type"] = AccountType.UNVERIFIED_SUBSCRIPTION
        server = server_for(scenario, **account)
        await _check_alive(settings)
        async with _opened(server):
            report = await run_scenario(scenario, server)
    except ScenarioError as error:
        is_missing = isinstance(error.__cause__, FileNotFoundError)
        fix = "检查路径" if is_missing else "写法和例子见 docs/engineers/wechat-simulator.md"
        raise Refusal(str(error), fix) from error
    typer.echo(report.text())
    if server.account.type.is_verified and not server.account.app_secret:
        typer.echo(f"没有客服接口。要试它：{_how_to_have_an_api(settings)}", err=True)
    if not report.is_ok:
        raise typer.Exit(1)


def _how_to_have_an_api(settings: Settings) -> str:
    accounts = settings.wechat.accounts
    known = "" if accounts else "WECHAT__APP_ID=wx0123456789abcdef、WECHAT__TOKEN=play、"
    elsewhere = "；WECHAT__MORE_ACCOUNTS 里的公众号写成 app_secret 和 api_base" if len(accounts) > 1 else ""
    return (
        f"写上 {known}WECHAT__APP_SECRET=play 和 WECHAT__API_BASE=http://127.0.0.1:8099"
        f"（本机一个空闲的端口，模拟的接口在那里{elsewhere}），重启机器人，再试"
    )


def _account(settings: Settings, app_id: str) -> dict[str, Any]:
    """How the simulator plays an account of the settings: arguments of `WeChatServer`."""
    base = f"http://{_host(settings)}:{settings.port}"
    accounts = settings.wechat.accounts
    if settings.is_wechat_tryout and app_id in ("", PLAYGROUND):
        tryout = read_tryout(settings.data_folder)
        url = f"{base}{settings.wechat.path}"
        return {"url": url, "token": tryout.wechat_token, "app_id": tryout.app_id}
    wechat = next((each for each in accounts if app_id in ("", each.app_id)), None)
    if wechat is None:
        known = "、".join(each.app_id for each in accounts)
        raise Refusal(
            f"没有配置公众号 {app_id}".strip(),
            f"--account 写这些之一：{known}"
            if known
            else "写 WECHAT__APP_ID 和 WECHAT__TOKEN；试用账号不写 --account",
        )
    url = f"{base}{wechat.path}"
    known = {"url": url, "token": wechat.token, "app_id": wechat.app_id, "aes_key": wechat.aes_key}
    api = urlsplit(wechat.api_base)
    # The real API must never hear of made-up people: only a bot that is told to use this machine has one.
    if wechat.app_secret and api.hostname in _LOOPBACK and api.port:
        return {**known, "app_secret": wechat.app_secret, "api_port": api.port}
    return known


@asynccontextmanager
async def _opened(server: WeChatServer) -> AsyncGenerator[WeChatServer]:
    try:
        await server.__aenter__()
    except OSError as error:
        raise Refusal(
            f"模拟的公众号接口启动不了：{server.api.base_url} 被占用", "关掉占用这个端口的程序，再试"
        ) from error
    try:
        yield server
    finally:
        await server.close()


async def say_on_onebot(text: str, name: str, group: int) -> None:
    settings = read_settings()
    token = settings.onebot.access_token
    if settings.is_onebot_tryout:
        token = read_tryout(settings.data_folder).onebot_access_token
    url = f"ws://{_host(settings)}:{settings.port}/onebot/v11/ws"
    await _check_alive(settings)
    try:
        async with OneBotClient(url, self_id=SELF_ID, access_token=token) as client:
            await asyncio.sleep(OWED_SECONDS)
            owed = len(client.sent)
            user = number_of(name)
            if group:
                await client.say_group(group, user, text, nickname=name)
            else:
                await client.say_private(user, text, nickname=name)
            wording = Wording.load(settings.language, settings.data_folder / "wording.toml")
            ahead = frozenset((shown(wording.say("checking")),))
            async for said in _said_to(client, owed, user, group, ahead):
                typer.echo(said)
    except HandshakeRefused as error:
        raise StoreUnavailable(f"机器人拒绝了连接（{error.status}）：核对 ONEBOT__ACCESS_TOKEN") from error
    except TimeoutError:
        typer.echo("（没有回复）")


async def _said_to(
    client: OneBotClient, owed: int, user: int, group: int, ahead: frozenset[str]
) -> AsyncGenerator[str]:
    """To this person, here, up to the end of the answer. `owed`: how many came before the message was said.
    `ahead`: lines that come before an answer. Raises TimeoutError where none comes."""
    place, page = owed, ""
    while not page or len(page) > LONGEST // 2:
        try:
            sent = (await client.wait_sent(place + 1, NEXT_PAGE_SECONDS if page else ANSWER_SECONDS))[place]
        except TimeoutError:
            if page:
                return
            raise
        place += 1
        if not _is_to(sent, user, group, is_first=not page):
            continue
        text = sent.text.strip()
        yield text
        page = text if page or text not in ahead else ""


def _is_to(sent: SentMessage, user: int, group: int, *, is_first: bool) -> bool:
    """In a group the first page of an answer names whom it is for."""
    if not group:
        return sent.group_id is None and str(sent.user_id) == str(user)
    return str(sent.group_id) == str(group) and (not is_first or str(user) in sent.mentions)


def _host(settings: Settings) -> str:
    """Where to reach a bot that listens on every address."""
    return "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104


async def _check_alive(settings: Settings) -> None:
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=5) as client:
            (await client.get(f"http://{_host(settings)}:{settings.port}/livez")).raise_for_status()
    except httpx.HTTPError as error:
        raise StoreUnavailable(
            f"端口 {settings.port} 上没有机器人在运行：先在另一个窗口执行 make run"
        ) from error
