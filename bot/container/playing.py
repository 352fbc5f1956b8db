"""The playground put together from the settings: accounts, stages, doors.

Invariant: nothing here is reached but through the loopback port.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount

from bot.console.server import HOST
from bot.console.site.views.qq import Bench as QQBench
from bot.console.site.views.wechat import Bench
from bot.container.house import House
from bot.conversation.message import PLAYGROUND, AccountKey
from bot.playground.doors import PREFIX, Door, Doors, PublicGuard
from bot.playground.official_stage import APP_ID, OfficialStage
from bot.playground.onebot_stage import OneBotStage
from bot.playground.playing import Knobs, ModelChoice
from bot.playground.wechat_accounts import PlayedAccount, derived, played_accounts
from bot.playground.wechat_stage import WeChatStage
from bot.secrets_file import read_tryout
from bot.settings import Settings

NAME = "记得"
"""Of the bot in QQ, where it has no nickname."""


class Playing:
    """Made before the house, whose accounts it brings; `open_doors` when the application is there."""

    def __init__(self, settings: Settings) -> None:
        """Raises ConfigurationError: the secrets cannot be read."""
        self.has_model = bool(settings.llm.base_url)
        self.base_url = f"http://{HOST}:{settings.console_port}"
        self.doors = Doors()
        self.wechat = {each.app_id: self._stage(each) for each in _accounts(settings)}
        """The stages, by app_id."""
        key = read_tryout(settings.data_folder).onebot_access_token
        self.onebot = self._onebot_stage(
            derived(key, "onebot", "token").hex(), next(iter(settings.nickname), NAME)
        )
        self.official = None if settings.qq.app_id else self._official_stage(key)
        """None where a real bot is configured: NoneBot's adapter has one API for all."""

    def knobs(self) -> Knobs:
        """As they are at first, of one account."""
        return Knobs(model=ModelChoice.CONFIGURED if self.has_model else ModelChoice.STUB)

    def name_of(self, key: AccountKey) -> str:
        """Who plays an account; the account's own id where nobody on the stages does."""
        stages = {**self.wechat, PLAYGROUND: self.onebot} if key.channel == "onebot" else self.wechat
        stage = self.official if key.channel == "qq" else stages.get(key.app_id)
        return (stage.name_of(key.openid) if stage is not None else "") or key.openid

    def wechat_bench(self, house: House) -> Bench:
        """For the view."""
        return Bench(stages=self.wechat, has_model=self.has_model, held=partial(_held_pages, house))

    def qq_bench(self, house: House) -> QQBench:
        """For the view. From now on the stages are told what the bot decides."""
        stages = [self.onebot, *([self.official] if self.official is not None else [])]
        house.whys.noticed.extend(stage.note for stage in stages)
        return QQBench(onebot=self.onebot, official=self.official, has_model=self.has_model)

    @property
    def route(self) -> Mount:
        """Of the loopback port, for its application."""
        return Mount(PREFIX.rstrip("/"), self.doors)

    def open_doors(self, app: Starlette, is_hidden: Callable[[Mapping[str, Any]], bool]) -> None:
        """`app`: the bot's, with every other middleware before. `is_hidden`: what is there only to be played."""
        app.add_middleware(PublicGuard, is_hidden=is_hidden)
        self.doors.lead_into(app)

    async def close(self) -> None:
        for stage in self.wechat.values():
            await stage.close()
        await self.onebot.close()
        if self.official is not None:
            await self.official.close()

    def _stage(self, account: PlayedAccount) -> WeChatStage:
        knobs = self.knobs()
        self.doors.add(account.door, Door(leads_to=account.path, knobs=knobs))
        return WeChatStage(account, self.base_url, knobs)

    def _onebot_stage(self, token: str, name: str) -> OneBotStage:
        knobs, door = self.knobs(), f"{PREFIX}onebot/v11/ws"
        self.doors.add(door, Door(leads_to="/onebot/v11/ws", knobs=knobs))
        return OneBotStage(f"{self.base_url.replace('http', 'ws', 1)}{door}", token, knobs, name=name)

    def _official_stage(self, key: str) -> OfficialStage:
        knobs, door = self.knobs(), f"{PREFIX}qq/webhook"
        self.doors.add(door, Door(leads_to="/qq/webhook", knobs=knobs))
        return OfficialStage(f"{self.base_url}{door}", derived(key, APP_ID, "secret").hex(), knobs)


def make_playing(settings: Settings) -> Playing | None:
    """None where nobody plays. Raises ConfigurationError."""
    return Playing(settings) if settings.has_playground else None


async def _held_pages(house: House, key: AccountKey) -> int:
    """Raises StoreUnavailable."""
    account = await house.stores.accounts.find_account(key)
    held = None if account is None else await house.stores.deliveries.oldest_held(account.id)
    return 0 if held is None else len(held.remaining)


def _accounts(settings: Settings) -> tuple[PlayedAccount, ...]:
    tryout = read_tryout(settings.data_folder)
    return played_accounts(
        tryout.wechat_token,
        tryout.onebot_access_token,
        tryout_path=settings.wechat.path if settings.is_wechat_tryout else "",
    )
