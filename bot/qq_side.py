"""QQ's side of the bot put together: OneBot and the official bot, each adapter behind its guard.

Invariant: an adapter that is registered has its guard before it; one that nobody set up is not there at all.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from bot.alerts import Alerts, OperatorAlerts
from bot.channels.mapping import EventMapping
from bot.channels.onebot import OneBotOutbox
from bot.channels.onebot_adapter import OneBotAdapter
from bot.channels.onebot_guard import OneBotGuard
from bot.channels.onebot_mapping import OneBotMapping
from bot.channels.onebot_troubles import Troubles
from bot.channels.qq import QQOutbox
from bot.channels.qq_adapter import QQAdapter
from bot.channels.qq_guard_asgi import QqGuard
from bot.channels.qq_mapping import QQMapping
from bot.channels.qq_pages import QQPages
from bot.conversation.wording import Wording
from bot.metrics import DoorWatch
from bot.secrets_file import read_tryout
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.container import House

_NAME = "记得"
"""Of the bot in a merged forward, where it has no nickname."""
_API_BASE = "https://api.bot.qq.com"
_AUTH_BASE = "https://api.bot.qq.com/app/getAppAccessToken"
"""Of the platform (QQ 机器人文档 · 接口调用与鉴权). Named, so that no other plugin's setting changes them."""
_INTENTS = {
    "c2c_group_at_messages": True,
    "at_messages": True,
    "direct_message": True,
    "interaction": True,
    "message_audit": True,
    "guilds": False,
    "guild_members": False,
    "guild_message_reactions": False,
}
"""What a connection of ours asks for: what we answer, and nothing of what happens in guilds besides."""


def nonebot_config(settings: Settings) -> dict[str, Any]:
    """All that NoneBot is told: the settings' own, and what the adapters of QQ read."""
    qq = settings.qq
    bot = {"id": qq.app_id, "secret": qq.secret, "use_websocket": qq.websocket, "intent": _INTENTS}
    return settings.nonebot_config() | {
        "onebot_access_token": _onebot_token(settings) or None,
        "qq_bots": [bot] if qq.app_id else [],
        "qq_api_base": qq.api_base or _API_BASE,
        "qq_auth_base": qq.auth_base or _AUTH_BASE,
        "qq_verify_webhook": True,
        "qq_custom_gateway_url": None,
    }


class QQSide:
    """Made before the house, whose channels it brings; `serve` opens the doors."""

    def __init__(self, driver: Any, settings: Settings, alerts: Alerts | None = None) -> None:
        """`driver`: NoneBot's. Raises ConfigurationError: the operator's wording cannot be read."""
        alerts = alerts or OperatorAlerts()
        self._driver = driver
        self._settings = settings
        wording = Wording.load(settings.language, settings.data_folder / "wording.toml")
        self.pages = QQPages(wording.say("address_rewritten"), settings.qq.url_hosts)
        self._troubles = Troubles(alerts)
        name = next(iter(settings.nickname), _NAME)
        self.onebot_outbox = OneBotOutbox(lambda: driver.bots, self._troubles, name=name)
        self.outbox = QQOutbox(lambda: driver.bots, self.pages, wording.mark_page, alerts=alerts)

    def mapping(self) -> EventMapping:
        settings = self._settings
        return EventMapping(
            OneBotMapping(nicknames=settings.nickname, prefix=settings.onebot.prefix),
            QQMapping(nicknames=settings.nickname),
            is_onebot_tryout=settings.is_onebot_tryout,
            transfers=settings.wechat.transfer,
        )

    def serve(self, house: "House") -> None:
        """Register the adapters that are set up, each behind its guard. Raises ConfigurationError."""
        if self._settings.has_onebot:
            self._serve_onebot(DoorWatch(house.metrics, "onebot"))
            self._driver.on_startup(partial(self._watch_logins, house))
        if self._settings.qq.app_id:
            self._serve_official(DoorWatch(house.metrics, "qq"))

    def _serve_onebot(self, watch: DoorWatch) -> None:
        secret = self._settings.onebot.secret
        self._driver.register_adapter(
            OneBotAdapter, takes_posts=bool(secret), watch=watch, noticed=self._troubles.noticed
        )
        self._driver.server_app.add_middleware(
            OneBotGuard, access_token=_onebot_token(self._settings), secret=secret, watch=watch
        )

    async def _watch_logins(self, house: "House") -> None:
        house.keep_running("onebot login", partial(self._catch_up, house))

    async def _catch_up(self, house: "House") -> None:
        """An account has its login back: what was answered meanwhile can go out."""
        while True:
            await self._troubles.wait_back()
            await house.turnstile.resume_undelivered()

    def _serve_official(self, watch: DoorWatch) -> None:
        qq = self._settings.qq
        self._driver.register_adapter(QQAdapter)
        self._driver.server_app.add_middleware(
            QqGuard,
            # A bot that connects to QQ takes nothing at its webhook.
            secrets={} if qq.websocket else {qq.app_id: qq.secret},
            is_setup_open=lambda: qq.setup_open,
            watch=watch,
        )


def _onebot_token(settings: Settings) -> str:
    """ "" where nobody may connect."""
    if settings.is_onebot_tryout:
        return read_tryout(settings.data_folder).onebot_access_token
    return settings.onebot.access_token
