"""`jide simulate`: play a platform's server against the running bot, with one real message.

Invariant: it speaks to the bot's public port as the platform would, with the token of the settings or
of the try-out account, and knows nothing of what is behind it.
"""

import hashlib

import httpx
import typer

from bot.conversation.errors import StoreUnavailable
from bot.secrets_file import read_tryout
from bot.settings import Settings
from bot.settings_source import read_settings
from simulators.onebot import HandshakeRefused, OneBotClient
from simulators.wechat import WeChatServer

ANSWER_SECONDS = 70.0
"""A slow model's whole minute, and a little."""
SELF_ID = 10_000
"""The QQ number of the try-out bot."""


async def say_on_wechat(text: str, name: str) -> None:
    settings = read_settings()
    wechat = settings.wechat
    if settings.is_wechat_tryout:
        tryout = read_tryout(settings.data_folder)
        app_id, token, aes_key = tryout.app_id, tryout.wechat_token, ""
    else:
        app_id, token, aes_key = wechat.app_id, wechat.token, wechat.aes_key
    url = f"http://{_host(settings)}:{settings.port}{wechat.path}"
    await _check_alive(settings)
    async with WeChatServer(url, token, app_id, aes_key) as server:
        seen = await server.say(openid_of(name), text)
    typer.echo(seen.text or "（没有回复）")


async def say_on_onebot(text: str, name: str, group: int) -> None:
    settings = read_settings()
    token = settings.onebot.access_token
    if settings.is_onebot_tryout:
        token = read_tryout(settings.data_folder).onebot_access_token
    url = f"ws://{_host(settings)}:{settings.port}/onebot/v11/ws"
    await _check_alive(settings)
    try:
        async with OneBotClient(url, self_id=SELF_ID, access_token=token) as client:
            user = qq_number_of(name)
            if group:
                await client.say_group(group, user, text, nickname=name)
            else:
                await client.say_private(user, text, nickname=name)
            typer.echo((await client.next_sent(ANSWER_SECONDS)).text)
    except HandshakeRefused as error:
        raise StoreUnavailable(f"机器人拒绝了连接（{error.status}）：核对 ONEBOT__ACCESS_TOKEN") from error
    except TimeoutError:
        typer.echo("（没有回复）")


def openid_of(name: str) -> str:
    """A stable openid for a made-up name, in WeChat's shape."""
    return f"o{hashlib.sha256(name.encode()).hexdigest()[:27]}"


def qq_number_of(name: str) -> int:
    """A stable QQ number for a made-up name; a number is itself."""
    if name.isdecimal():
        return int(name)
    return 10_000_000 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) % 90_000_000


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
