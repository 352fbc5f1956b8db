"""QQ's side of the bot put together: OneBot and the official bot, each adapter behind its guard.

Invariant: an adapter that is registered has its guard before it; one that nobody set up is not there at all.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from bot.alerts import Alerts, OperatorAlerts
from bot.channels.door import leads_to
from bot.channels.mapping import EventMapping
from bot.channels.onebot import OneBotOutbox
from bot.channels.onebot_adapter import OneBotAdapter
from bot.channels.onebot_guard import POSTS, SOCKETS, OneBotGuard, Played
from bot.channels.onebot_mapping import OneBotMapping
from bot.channels.onebot_troubles import Troubles
from bot.channels.played_http import PlayedHttp
from bot.channels.qq import QQOutbox
from bot.channels.qq_adapter import QQAdapter
from bot.channels.qq_guard_asgi import ROUTES, QqGuard
from bot.channels.qq_mapping import QQMapping
from bot.channels.qq_pages import QQPages
from bot.connecting.arrivals import Arrivals
from bot.connecting.door_watch import NotedDoor
from bot.container.channels import SystemClock
from bot.conversation.wording import Wording
from bot.playground import official_stage
from bot.playground.doors import is_from_playground
from bot.playground.official_stage import OfficialStage
from bot.playground.onebot_stage import SELF_ID, OneBotStage
from bot.playground.playing import PLAYING
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


def nonebot_config(settings: Settings, official: OfficialStage | None = None) -> dict[str, Any]:
    """All that NoneBot is told: the settings' own, and what the adapters of QQ read. `official`: the bot that is
    played, where there is no other."""
    qq = settings.qq
    bot = {"id": qq.app_id, "secret": qq.secret, "use_websocket": qq.websocket, "intent": _INTENTS}
    api_base, auth_base = qq.api_base or _API_BASE, qq.auth_base or _AUTH_BASE
    if official is not None:
        bot |= {"id": official.app_id, "secret": official.secret, "use_websocket": False}
        api_base, auth_base = official_stage.API_BASE, f"{official_stage.API_BASE}/app/getAppAccessToken"
    return settings.nonebot_config() | {
        "onebot_access_token": _onebot_token(settings) or None,
        "qq_bots": [bot] if bot["id"] else [],
        "qq_api_base": api_base,
        "qq_auth_base": auth_base,
        "qq_verify_webhook": True,
        "qq_custom_gateway_url": None,
    }


_ONEBOT = SOCKETS | POSTS


class QQSide:
    """Made before the house, whose channels it brings; `serve` opens the doors."""

    def __init__(
        self,
        driver: Any,
        settings: Settings,
        alerts: Alerts | None = None,
        arrivals: Arrivals | None = None,
        onebot: OneBotStage | None = None,
        official: OfficialStage | None = None,
    ) -> None:
        """`driver`: NoneBot's. `onebot` and `official`: what is played, if anything.

        Raises ConfigurationError: the operator's wording cannot be read.
        """
        self._arrivals = arrivals or Arrivals(SystemClock())
        alerts = alerts or OperatorAlerts()
        self._driver = driver
        self._settings = settings
        self._official = official
        self._played = _played(onebot) if onebot is not None else None
        wording = Wording.load(settings.language, settings.data_folder / "wording.toml")
        self.pages = QQPages(wording.say("address_rewritten"), settings.qq.url_hosts)
        played = self._played.self_id if self._played is not None else ""
        self._troubles = Troubles(alerts, played=played)
        name = next(iter(settings.nickname), _NAME)
        self.onebot_outbox = OneBotOutbox(
            lambda: driver.bots,
            self._troubles,
            name=name,
            is_tryout=settings.is_onebot_tryout,
            played=self._played,
        )
        self.outbox = QQOutbox(lambda: driver.bots, self.pages, wording.mark_page, alerts=alerts)

    def mapping(self) -> EventMapping:
        settings = self._settings
        return EventMapping(
            OneBotMapping(nicknames=settings.nickname, prefix=settings.onebot.prefix),
            QQMapping(nicknames=settings.nickname),
            is_onebot_tryout=settings.is_onebot_tryout,
            transfers=settings.wechat.transfer,
            played=self._played.self_id if self._played is not None else "",
        )

    def is_hidden(self, scope: Mapping[str, Any]) -> bool:
        """Whether a request is for what is there only because it is played."""
        if self._official is not None and leads_to(scope, ROUTES):  # pyright: ignore[reportArgumentType]
            return True
        return not self._settings.has_onebot and leads_to(scope, _ONEBOT)  # pyright: ignore[reportArgumentType]

    def serve(self, house: "House") -> None:
        """Register the adapters that are set up, each behind its guard. Raises ConfigurationError."""
        if self._settings.has_onebot or self._played is not None:
            self._serve_onebot(NotedDoor(house.metrics, "onebot", self._arrivals))

            # NoneBot takes a `partial` of a coroutine function for a plain one, and never awaits it.
            async def watch_logins() -> None:
                house.keep_running("onebot login", partial(self._catch_up, house))

            self._driver.on_startup(watch_logins)
        if self._official is not None:
            self._serve_played(self._official)
        elif self._settings.qq.app_id:
            self._serve_official(NotedDoor(house.metrics, "qq", self._arrivals))

    def _serve_onebot(self, watch: NotedDoor) -> None:
        secret = self._settings.onebot.secret
        self._driver.register_adapter(
            OneBotAdapter,
            takes_posts=bool(secret),
            watch=watch,
            noticed=self._troubles.noticed,
            played=self._played,
        )
        self._driver.server_app.add_middleware(
            OneBotGuard,
            access_token=_onebot_token(self._settings),
            secret=secret,
            watch=watch,
            played=self._played,
        )

    async def _catch_up(self, house: "House") -> None:
        """An account has its login back: what was answered meanwhile can go out."""
        while True:
            await self._troubles.wait_back()
            await house.turnstile.resume_undelivered()

    def _serve_official(self, watch: NotedDoor) -> None:
        qq = self._settings.qq
        self._driver.register_adapter(QQAdapter)
        self._driver.server_app.add_middleware(
            QqGuard,
            # A bot that connects to QQ takes nothing at its webhook.
            secrets={} if qq.websocket else {qq.app_id: qq.secret},
            is_setup_open=lambda: qq.setup_open or self._arrivals.setup_until is not None,
            watch=watch,
            validated=partial(self._arrivals.note_proof, "qq"),
        )

    def _serve_played(self, official: OfficialStage) -> None:
        api = PlayedHttp(official.platform.api.transport())
        self._driver.register_adapter(QQAdapter, ask=api)
        self._driver.server_app.add_middleware(
            QqGuard, secrets={official.app_id: official.secret}, is_setup_open=lambda: False
        )


def _played(stage: OneBotStage) -> Played:
    return Played(
        self_id=str(SELF_ID),
        token=stage.token,
        is_from=is_from_playground,
        is_at_work=lambda: PLAYING.get() is not None,
    )


def _onebot_token(settings: Settings) -> str:
    """ "" where nobody may connect."""
    if settings.is_onebot_tryout:
        return read_tryout(settings.data_folder).onebot_access_token
    return settings.onebot.access_token
