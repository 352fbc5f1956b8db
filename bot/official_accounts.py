"""WeChat's side of the bot put together: accounts from the settings, their API, and the adapter over the house.

Invariant: only here do the adapter and the house meet; each knows the other by its ports alone.
"""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bot.channels.wechat import Adapter, OfficialAccount
from bot.channels.wechat.api import MemoryTokenStore, TokenStore
from bot.channels.wechat_drafts import WeChatDrafts
from bot.channels.wechat_mini_program import WeChatMiniProgram
from bot.channels.wechat_outbox import WeChatOutbox
from bot.channels.wechat_pictures import WeChatPictures
from bot.channels.wechat_service import api_clients, customer_service, mini_program, played_client
from bot.channels.wechat_unionid import WeChatUnionIds
from bot.connecting.arrivals import Arrivals
from bot.connecting.door_watch import NotedDoor
from bot.container.channels import SystemClock
from bot.container.tokens import shared_tokens
from bot.conversation.message import Message
from bot.playground.wechat_stage import WeChatStage
from bot.secrets_file import read_tryout
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.container import House


class OfficialAccounts:
    """Made before the house, which it serves; `serve` brings both together."""

    def __init__(
        self,
        driver: Any,
        settings: Settings,
        arrivals: Arrivals | None = None,
        played: Iterable[WeChatStage] = (),
    ) -> None:
        """`driver`: NoneBot's. `played`: the stages of the playground's accounts. Raises AccountError."""
        self._arrivals = arrivals or Arrivals(SystemClock())
        self._driver = driver
        self._settings = settings
        stages = {_played_account(each): each for each in played}
        self._accounts = _accounts(settings, has_playground=bool(stages))
        tokens = shared_tokens(settings, MemoryTokenStore(time.time))
        if tokens is not None:
            driver.on_shutdown(tokens.close)
        clients = api_clients(self._accounts, driver, tokens)
        self._accounts += stages
        clients |= {
            account.app_id: played_client(account, stage.server.api.transport())
            for account, stage in stages.items()
        }
        self._service = customer_service(self._accounts, clients)
        self.mini_program = _mini_program(driver, settings, tokens)
        self.pictures = WeChatPictures(clients)
        self.union_ids = WeChatUnionIds(
            {each.app_id: clients[each.app_id] for each in self._accounts if each.app_secret}
        )

    def may_show_drafts(self, message: Message) -> bool:
        """Where customer service can send the whole answer later, no part of it is shown before."""
        sender = message.sender
        return sender.channel == "wechat" and not self._service.is_open(sender.app_id, sender.openid)

    def serve(self, house: "House") -> None:
        """Open the door of each account. Raises AccountError."""
        say, taps = house.wording.say, self._settings.wechat.taps
        house.desk.add_outbox(
            "wechat",
            WeChatOutbox(self._service, house.wechat_replies, house.wording.mark_page, taps=taps),
        )
        self._driver.register_adapter(
            Adapter,
            accounts=self._accounts,
            store=house.wechat_replies,
            service=self._service,
            drafts=WeChatDrafts(house.drafts),
            waiting_line=say("waiting_line"),
            unfinished_mark=say("unfinished_ai" if self._settings.ai_label else "unfinished"),
            taps=taps,
            observer=NotedDoor(house.metrics, "wechat", self._arrivals),
        )


def _mini_program(driver: Any, settings: Settings, tokens: TokenStore | None) -> WeChatMiniProgram | None:
    wechat = settings.wechat
    if not wechat.mini_app_id:
        return None
    api = mini_program(
        app_id=wechat.mini_app_id,
        app_secret=wechat.mini_app_secret,
        api_base=wechat.api_base,
        driver=driver,
        tokens=tokens,
    )
    return WeChatMiniProgram(api)


def _played_account(stage: WeChatStage) -> OfficialAccount:
    account = stage.account
    return OfficialAccount(
        app_id=account.app_id,
        token=account.token,
        aes_key=account.aes_key,
        app_secret=account.app_secret,
        path=account.path,
    )


def _accounts(settings: Settings, *, has_playground: bool) -> list[OfficialAccount]:
    """Those of the settings, or the try-out account where it is not one of the playground's."""
    if settings.is_wechat_tryout and not has_playground:
        tryout = read_tryout(settings.data_folder)
        path = settings.wechat.path
        return [OfficialAccount(app_id=tryout.app_id, token=tryout.wechat_token, path=path)]
    return [
        OfficialAccount(
            app_id=each.app_id,
            token=each.token,
            aes_key=each.aes_key,
            previous_aes_key=each.previous_aes_key,
            app_secret=each.app_secret,
            api_base=each.api_base,
            path=each.path,
        )
        for each in settings.wechat.accounts
    ]
