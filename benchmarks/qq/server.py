"""What is measured, as a process on one core: the bot with a stubbed model and embedder, or a bare echo matcher.

    python -m benchmarks.qq.server ours|echo        settings come from the environment

Invariant: all else of ours is the bot as it runs; the echo has NoneBot's own OneBot adapter, the same log and driver.
"""

import sys
from typing import Any

import bot.container.house as container
from benchmarks.core.house import Models, stay_on_one_core
from bot.logs import configure_logs

OURS, ECHO = "ours", "echo"


def serve_ours() -> None:
    container.Models = Models
    from bot.__main__ import main

    main()


def serve_echo() -> None:
    from bot.settings_source import hidden_from_nonebot, read_settings

    settings = read_settings()
    import nonebot
    from nonebot.adapters.onebot.v11 import Adapter, Bot, MessageEvent

    configure_logs(settings.log_level, ())
    with hidden_from_nonebot():
        nonebot.init(
            driver="~fastapi",
            host=settings.host,
            port=settings.port,
            onebot_access_token=settings.onebot.access_token,
        )
    nonebot.get_driver().register_adapter(Adapter)

    async def echo(bot: Bot, event: MessageEvent) -> None:
        await bot.send(event, event.get_plaintext(), at_sender=True)

    nonebot.on_message(priority=1, block=True, handlers=[echo])
    app: Any = nonebot.get_app()
    app.add_api_route("/livez", _alive)
    nonebot.run(access_log=False, log_level="warning")


def _alive() -> dict[str, str]:
    return {}


def main() -> None:
    stay_on_one_core()
    {OURS: serve_ours, ECHO: serve_echo}[sys.argv[1]]()


if __name__ == "__main__":
    main()
