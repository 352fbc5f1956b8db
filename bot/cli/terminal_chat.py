"""`jide chat`: talk in the terminal as a chosen account, through the same turnstile and Assistant.

Invariant: whoever can read the data folder may be any account here, so this never opens a port.
"""

import asyncio
import contextlib
import secrets
import threading
from datetime import UTC, datetime

import typer

from bot.cli.operations import opened_house
from bot.conversation.errors import RejectedInput
from bot.conversation.message import AccountKey, Conversation, Kind, Message
from bot.conversation.taps import without_taps
from bot.settings import Settings
from bot.settings_source import read_settings

ENDINGS = ("/退出", "/exit", "/quit")


async def chat_as(address: str) -> None:
    """Read lines until 「/退出」 or the end of input."""
    sender = account_key(address, read_settings())
    async with opened_house() as house:
        typer.echo(f"以 {sender.address} 的身份聊天。输入 /帮助 看命令，/退出 结束。")
        while (line := await _read_line()) is not None:
            if not line.strip():
                continue
            delivery = await house.turnstile.pass_through(_message(sender, line.strip()))
            typer.echo(without_taps("\n".join(delivery.pages)) or "（没有回复）")
            await house.worker.work_off()


def account_key(address: str, settings: Settings) -> AccountKey:
    """`channel:openid` as an account of this bot. Raises RejectedInput."""
    channel, colon, openid = address.partition(":")
    if not colon or not channel or not openid:
        raise RejectedInput(f"“{address}”不是 渠道:编号，例如 wechat:oABC123")
    app_id = settings.wechat.app_id if channel == "wechat" and settings.wechat.app_id else "playground"
    return AccountKey(channel=channel, app_id=app_id, openid=openid)


async def _read_line() -> str | None:
    """The next line; None at the end. Cancelling it leaves the reader behind.

    A daemon thread: a pool's would keep the process from ending on Ctrl+C until Enter is pressed.
    """
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str | None] = loop.create_future()

    def settle(line: str | None) -> None:
        if not typed.done():
            typed.set_result(line)

    def read() -> None:
        try:
            line = input("> ")
        except (EOFError, OSError):
            line = None
        except UnicodeDecodeError:
            typer.echo("这一行不是 UTF-8 编码，没有读", err=True)
            line = ""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, line)

    threading.Thread(target=read, name="keyboard", daemon=True).start()
    line = await typed
    return None if line is None or line.strip() in ENDINGS else line


def _message(sender: AccountKey, text: str) -> Message:
    return Message(
        key=f"terminal:{secrets.token_hex(8)}",
        kind=Kind.TEXT,
        sender=sender,
        conversation=Conversation(channel=sender.channel, app_id=sender.app_id),
        text=text,
        sent_at=datetime.now(UTC),
    )
