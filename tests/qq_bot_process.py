"""A bot on the real nonebot-adapter-qq, as a process of its own: it says what it heard.

Invariant: it is told everything by its arguments, and writes a line to its output when it listens.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PROGRAM = """
import json, sys
import nonebot
from nonebot import on_message, on_notice
from nonebot.adapters.qq import Adapter, Bot, Event
from nonebot.adapters.qq.exception import ActionFailed, AuditException, NetworkError

nonebot.init(_env_file=None, **json.loads(sys.argv[1]))
nonebot.get_driver().register_adapter(Adapter)

async def answer(bot: Bot, event: Event):
    if event.get_type() == "notice":
        if event.get_event_name() in ("FRIEND_ADD", "GROUP_ADD_ROBOT", "INTERACTION_CREATE"):
            await bot.send(event, f"见到 {event.__type__.value}")
        return
    for part in event.get_plaintext().split("|"):
        try:
            await bot.send(event, f"听到 {part.strip()}")
        except (ActionFailed, AuditException, NetworkError):
            pass

on_message(priority=1).append_handler(answer)
on_notice(priority=1).append_handler(answer)
nonebot.run()
"""


@asynccontextmanager
async def running_bot(
    port: int, *, api_base: str, app_id: str, secret: str, use_websocket: bool
) -> AsyncIterator[None]:
    """Runs it until the context is left; waits until it listens."""
    intents = {
        "c2c_group_at_messages": True,
        "interaction": True,
        "direct_message": True,
        "at_messages": True,
    }
    settings = {
        "driver": "~fastapi+~httpx+~websockets",
        "host": "127.0.0.1",
        "port": port,
        "log_level": "WARNING",
        "qq_api_base": f"{api_base}/",
        "qq_auth_base": f"{api_base}/app/getAppAccessToken",
        "qq_bots": [{"id": app_id, "secret": secret, "use_websocket": use_websocket, "intent": intents}],
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        json.dumps(settings),
        cwd=ROOT / "tests",
        env={"PATH": "", "NO_PROXY": "127.0.0.1"},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(30):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    assert process.returncode is None, "the bot ended before it listened"
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    break
        yield
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
