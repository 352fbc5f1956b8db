"""Who logged in to the operator's mini-program, and the phone they let it have, by WeChat's API.

Invariant: a phone counts only where WeChat says that this very mini-program asked for it.
"""

from loguru import logger

from bot.channels.wechat.api import ApiAway, ApiClosed, ApiError, MiniProgram, OutcomeUnknown
from bot.conversation.errors import PlatformUnavailable


class WeChatMiniProgram:
    """`identity.ports.LoginPort` and `identity.ports.PhonePort` over the API of one mini-program."""

    def __init__(self, api: MiniProgram) -> None:
        self._api = api

    async def unionid_of(self, login_code: str) -> str | None:
        try:
            login = await self._api.login(login_code)
        except (ApiError, ApiClosed, ApiAway, OutcomeUnknown) as error:
            raise _away(error) from None
        return None if login is None else login.unionid

    async def phone_of(self, phone_code: str) -> str | None:
        try:
            phone = await self._api.phone(phone_code)
        except (ApiError, ApiClosed, ApiAway, OutcomeUnknown) as error:
            raise _away(error) from None
        return None if phone is None or phone.app_id != self._api.app_id else phone.number


def _away(error: Exception) -> PlatformUnavailable:
    """The text of these errors holds no code and no secret."""
    logger.warning("小程序接口：{}", error)
    return PlatformUnavailable(type(error).__name__)
