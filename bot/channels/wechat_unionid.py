"""The unionid of a follower, by WeChat's `user/info`.

Invariant: never raises; an account without the permission is asked no more until WeChat's answer has aged (`abilities`).
"""

from collections.abc import Mapping

from bot.channels.wechat.api import ApiAway, ApiClient, ApiClosed, ApiError, OutcomeUnknown
from bot.conversation.message import AccountKey


class WeChatUnionIds:
    """`bot.union_lookup.UnionIds` over the API clients, by app_id."""

    def __init__(self, clients: Mapping[str, ApiClient]) -> None:
        """`clients`: of the accounts that have a secret."""
        self._clients = clients

    async def unionid_of(self, key: AccountKey) -> str | None:
        client = self._clients.get(key.app_id)
        if client is None:
            return None
        try:
            info = await client.user_info(key.openid)
        except (ApiError, ApiClosed, ApiAway, OutcomeUnknown):
            return None
        return info.unionid
