"""Start the bot: settings, log, NoneBot with its adapters, the house, and the doors.

Invariant: `jide run`, `python -m bot` and `nb run` all come through `main`, and a wrong setting stops
each of them with the key and the fix.
"""

import shutil
import socket
import sys
from functools import partial
from pathlib import Path
from typing import Any

from loguru import logger

from bot.conversation.errors import ConfigurationError, JideError
from bot.logs import configure_logs
from bot.settings import Settings
from bot.settings_source import hidden_from_nonebot, read_settings

STOP_SECONDS = 7
"""What SIGTERM gives requests in flight: WeChat's last at most 6 s (SAFETY.md: drains within 20 s in all)."""
API_SECONDS = 5.0
"""A QQ client's answer to a question of ours. A quoted message is fetched before its event is handled: it
must not cost more than a person waits."""


def main() -> None:
    """Run until SIGTERM or Ctrl+C. Exits with 2 on a wrong setting."""
    try:
        settings = read_settings()
        configure_logs(settings.log_level, settings.secrets)
        for doubt in settings.doubts:
            logger.warning(doubt)
        _check_port(settings)
        build(settings)
    except JideError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    import nonebot

    nonebot.run(
        access_log=False,
        timeout_graceful_shutdown=STOP_SECONDS,
        log_level="warning",
        # A QQ client is on this machine or beside it, and its frames are a few hundred bytes.
        ws_per_message_deflate=False,
    )


def _check_port(settings: Settings) -> None:
    """Raises ConfigurationError where somebody else listens: the words of a server would come last."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise ConfigurationError(
                "PORT",
                f"{settings.host}:{settings.port} 用不了（{error.strerror}）",
                "可能机器人已在运行；否则在 data/jide.env 里换一个 PORT",
            ) from error


def build(settings: Settings) -> None:
    """Put the application together: `nonebot.get_asgi()` is then ready to serve.

    Raises ConfigurationError.
    """
    import nonebot

    from bot.channels.onebot_pages import pages_of as onebot_pages
    from bot.channels.wechat_mapping import pages_of as wechat_pages
    from bot.connecting.arrivals import Arrivals
    from bot.container import Channels, House
    from bot.container.alerting import make_alerts
    from bot.container.channels import SystemClock
    from bot.container.moving import refuse_half_moved
    from bot.container.pages import make_doorkeeper
    from bot.container.playing import make_playing
    from bot.official_accounts import OfficialAccounts
    from bot.qq_side import QQSide, nonebot_config

    refuse_half_moved(settings)
    # Importing NoneBot puts its own sink in place of ours.
    configure_logs(settings.log_level, settings.secrets)
    playing = make_playing(settings)
    official = playing.official if playing is not None else None
    config: dict[str, Any] = nonebot_config(settings, official) | {"api_timeout": API_SECONDS}
    with hidden_from_nonebot():
        nonebot.init(**config)
    driver = nonebot.get_driver()
    alerts = make_alerts(settings)
    arrivals = Arrivals(SystemClock())
    stages = playing.wechat.values() if playing is not None else ()
    wechat = OfficialAccounts(driver, settings, arrivals, stages)
    onebot = playing.onebot if playing is not None else None
    qq = QQSide(driver, settings, alerts, arrivals, onebot, official)
    house = House(
        settings,
        Channels(
            outboxes={"onebot": qq.onebot_outbox, "qq": qq.outbox},
            paginate={"onebot": onebot_pages, "wechat": wechat_pages, "qq": qq.pages.pages_of},
            pictures=wechat.pictures,
            union_ids={"wechat": wechat.union_ids},
            mini_program=wechat.mini_program,
            may_show_drafts=wechat.may_show_drafts,
        ),
        alerts=alerts,
    )
    house.prepare()
    app = nonebot.get_app()
    # `/wechat/` is no address of ours: WeChat follows no redirect, and others need none.
    app.router.redirect_slashes = False
    app.state.house = house
    app.state.arrivals = arrivals
    app.state.playing = playing
    app.state.doorkeeper = make_doorkeeper(settings)
    app.state.mapping = qq.mapping()
    # Shutdown runs in reverse: the adapters let their runs finish before the house closes.
    driver.on_startup(house.open)
    driver.on_shutdown(house.close)
    qq.serve(house)
    wechat.serve(house)
    if playing is not None:
        playing.open_doors(app, qq.is_hidden)
        driver.on_shutdown(playing.close)
    driver.on_startup(house.begin_work)
    driver.on_startup(partial(_say_what_next, settings))
    for door in ("plugins.health", "plugins.chat", "plugins.console"):
        if nonebot.load_plugin(door) is None:
            raise RuntimeError(f"{door} did not load")  # NoneBot has logged why


def _say_what_next(settings: Settings) -> None:
    """What is on, and what to try: the last lines of a start."""
    say = logger.info
    say("设置来自：{}", "、".join(settings.sources) or "默认值")
    say("公众号：{}", _wechat_line(settings))
    say("QQ（OneBot v11）：{}", _onebot_line(settings))
    say("QQ 官方机器人：{}", _qq_line(settings))
    if not settings.llm.base_url:
        say("没有接入大模型：只摘录记忆和资料来回答。要接入，在 data/jide.env 里写 LLM__BASE_URL 等三项")
    if settings.is_wechat_tryout:
        command = _command()
        say('试一试，另开一个窗口：{} simulate wechat "记住：我叫八六，我对花生过敏" --as 小明', command)
        say('　　　　　　　　　然后：{} simulate wechat "我能吃什么零食？还记得我吗" --as 小明', command)


def _command() -> str:
    """`jide` as it can be typed from here."""
    if shutil.which("jide"):
        return "jide"
    beside = Path(sys.executable).with_name("jide")
    folder = Path.cwd()
    return str(beside.relative_to(folder) if beside.is_relative_to(folder) else beside)


def _wechat_line(settings: Settings) -> str:
    base = f"http://{settings.host}:{settings.port}"
    if settings.is_wechat_tryout:
        return f"试用账号，{base}{settings.wechat.path}"
    lines = [
        f"{each.app_id}，{'安全模式' if each.aes_key else '明文模式'}，{base}{each.path}"
        for each in settings.wechat.accounts
    ]
    return "；".join(lines) or "没有配置"


def _onebot_line(settings: Settings) -> str:
    if not settings.has_onebot:
        return "没有配置"
    address = f"ws://{settings.host}:{settings.port}/onebot/v11/ws"
    return f"试用令牌，{address}" if settings.is_onebot_tryout else address


def _qq_line(settings: Settings) -> str:
    qq = settings.qq
    if not qq.app_id:
        return "没有配置"
    if qq.websocket:
        return f"{qq.app_id}，连到 QQ 收消息"
    setup = "，正在回答回调地址的验证" if qq.setup_open else ""
    return f"{qq.app_id}，http://{settings.host}:{settings.port}/qq/webhook{setup}"


if __name__ == "__main__":
    main()
