"""WeChat's API for the official accounts: one client each, customer service over those that have a secret.

Invariant: one HTTP session serves all of them, and is closed with the driver.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from nonebot.drivers import Driver, HTTPClientMixin

from bot.channels.wechat import OfficialAccount
from bot.channels.wechat.api import ApiClient, DriverHttp, TokenStore
from bot.channels.wechat.service import ApiCustomerService, CustomerService, PassiveOnly


def api_clients(
    accounts: Iterable[OfficialAccount], driver: Driver, tokens: TokenStore | None
) -> dict[str, ApiClient]:
    """By app_id. One without a secret can fetch pictures, and nothing else. `tokens` None: this process keeps
    its own."""
    any_driver: Any = driver
    assert isinstance(any_driver, HTTPClientMixin), "DRIVER has ~httpx in it"
    http = DriverHttp(any_driver)
    driver.on_shutdown(http.close)
    return {
        account.app_id: ApiClient(
            app_id=account.app_id,
            app_secret=account.app_secret,
            api_base=account.api_base,
            request=http,
            tokens=tokens,
        )
        for account in accounts
    }


def customer_service(
    accounts: Iterable[OfficialAccount], clients: Mapping[str, ApiClient]
) -> CustomerService:
    """Of the accounts that have a secret."""
    able = {each.app_id: clients[each.app_id] for each in accounts if each.app_secret}
    return ApiCustomerService(able) if able else PassiveOnly()
