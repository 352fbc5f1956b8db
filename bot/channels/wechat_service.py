"""WeChat's API for the official accounts: one client each, customer service over those that have a secret; and for a
mini-program beside them.

Invariant: one HTTP session serves all accounts, and each session is closed with the driver.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import httpx
from nonebot.drivers import Driver, HTTPClientMixin

from bot.channels.played_http import PlayedHttp
from bot.channels.wechat import OfficialAccount
from bot.channels.wechat.api import ApiClient, DriverHttp, MiniProgram, TokenStore
from bot.channels.wechat.service import ApiCustomerService, CustomerService, PassiveOnly


def api_clients(
    accounts: Iterable[OfficialAccount], driver: Driver, tokens: TokenStore | None
) -> dict[str, ApiClient]:
    """By app_id. One without a secret can fetch pictures, and nothing else. `tokens` None: this process keeps
    its own."""
    http = driver_http(driver)
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


def played_client(account: OfficialAccount, api: httpx.AsyncBaseTransport) -> ApiClient:
    """Of an account whose platform is played in this process: whatever host is named, nothing leaves it."""
    return ApiClient(app_id=account.app_id, app_secret=account.app_secret, request=PlayedHttp(api))


def mini_program(
    *, app_id: str, app_secret: str, api_base: str, driver: Driver, tokens: TokenStore | None
) -> MiniProgram:
    """The operator's own, whose people are those of the accounts. `tokens` as for `api_clients`."""
    return MiniProgram(
        app_id=app_id, app_secret=app_secret, api_base=api_base, request=driver_http(driver), tokens=tokens
    )


def driver_http(driver: Driver) -> DriverHttp:
    any_driver: Any = driver
    assert isinstance(any_driver, HTTPClientMixin), "DRIVER has ~httpx in it"
    http = DriverHttp(any_driver)
    driver.on_shutdown(http.close)
    return http


def customer_service(
    accounts: Iterable[OfficialAccount], clients: Mapping[str, ApiClient]
) -> CustomerService:
    """Of the accounts that have a secret."""
    able = {each.app_id: clients[each.app_id] for each in accounts if each.app_secret}
    return ApiCustomerService(able) if able else PassiveOnly()
