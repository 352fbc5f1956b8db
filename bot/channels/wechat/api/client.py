"""The calls of one official account's API that we make.

Invariant: nothing here repeats a call or waits; `calling` says how a call ends.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nonebot.drivers import Request

from . import messages
from .abilities import Abilities, Ability
from .calling import Calls, timeout
from .errors import ApiAway, MediaTooLarge
from .media import (
    MEDIA_BYTES,
    MEDIA_SECONDS,
    PICTURE_HOSTS,
    Media,
    file_name,
    is_picture_address,
    read_media,
    read_picture,
)
from .messages import Article, MenuItem
from .token import MemoryTokenStore, TokenStore
from .transport import Send, exchange, hide_queries, read_answer

API_BASE = "https://api.weixin.qq.com"
_TYPING_SECONDS = 3.0
"""A sign that comes later is of no use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInfo:
    """What WeChat still tells of a person; no name and no picture since 2021."""

    is_following: bool
    unionid: str = ""
    """"" unless the account is bound to an Open Platform account."""
    subscribe_scene: str = ""


class ApiClient:
    """For one account. Its methods raise ApiError, ApiClosed, ApiAway or OutcomeUnknown (`errors`)."""

    def __init__(
        self,
        *,
        app_id: str,
        app_secret: str,
        request: Send,
        api_base: str = API_BASE,
        tokens: TokenStore | None = None,
        picture_hosts: Sequence[str] = PICTURE_HOSTS,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`request`: a `DriverHttp`, or `Adapter.request`. `now`: Unix seconds."""
        hide_queries()
        self.app_id = app_id
        self._request = request
        self._base = api_base
        self._picture_hosts = tuple(picture_hosts)
        self._calls = Calls(
            app_id=app_id,
            app_secret=app_secret,
            request=request,
            api_base=api_base,
            tokens=tokens or MemoryTokenStore(now),
            now=now,
            sleep=sleep,
        )

    @property
    def abilities(self) -> Abilities:
        return self._calls.abilities

    async def prove(self) -> None:
        """Whether WeChat would give this account a token now. Changes nothing."""
        await self._calls.prove()

    async def send_text(self, openid: str, text: str) -> None:
        await self._send(openid, messages.text_message(openid, text))

    async def send_image(self, openid: str, media_id: str) -> None:
        await self._send(openid, messages.image_message(openid, media_id))

    async def send_news(self, openid: str, article: Article) -> None:
        await self._send(openid, messages.news_message(openid, article))

    async def send_menu(self, openid: str, head: str, items: Sequence[MenuItem], tail: str = "") -> None:
        await self._send(openid, messages.menu_message(openid, head, items, tail))

    async def typing(self, openid: str, *, is_typing: bool = True) -> None:
        """Show the typing sign, for 15 s, or take it away."""
        body = {"touser": openid, "command": "Typing" if is_typing else "CancelTyping"}
        build = self._calls.post("/cgi-bin/message/custom/typing", body)
        await self._calls.call(
            Ability.CUSTOMER_SERVICE,
            build,
            read_answer,
            openid=openid,
            seconds=_TYPING_SECONDS,
            turn_seconds=_TYPING_SECONDS,
        )

    async def user_info(self, openid: str) -> UserInfo:
        build = self._calls.get("/cgi-bin/user/info", {"openid": openid, "lang": "zh_CN"})
        answer = await self._calls.call(Ability.USER_INFO, build, read_answer)
        return UserInfo(
            is_following=bool(answer.get("subscribe")),
            # The documents' own example has a space in front.
            unionid=str(answer.get("unionid") or "").strip(),
            subscribe_scene=str(answer.get("subscribe_scene") or ""),
        )

    async def autoreply_info(self) -> Mapping[str, Any]:
        """The automatic replies set in WeChat's console, in WeChat's words: they answer beside us."""
        build = self._calls.get("/cgi-bin/get_current_autoreply_info")
        return await self._calls.call(Ability.AUTOREPLY, build, read_answer)

    async def upload_image(self, content: bytes, content_type: str) -> str:
        """The media id of an image, good for three days. Raises MediaTooLarge, too."""
        if len(content) > MEDIA_BYTES:
            raise MediaTooLarge(MEDIA_BYTES)
        file = (file_name(content_type), content, content_type)
        path, query = "/cgi-bin/media/upload", {"type": "image"}
        build = self._calls.post_file(path, query, file, seconds=MEDIA_SECONDS)
        answer = await self._calls.call(Ability.MEDIA, build, read_answer, seconds=MEDIA_SECONDS)
        return str(answer.get("media_id") or "")

    async def download_media(self, media_id: str, *, limit_bytes: int = MEDIA_BYTES) -> Media:
        """What a person sent, by its media id. Raises MediaTooLarge, too."""
        build = self._calls.get("/cgi-bin/media/get", {"media_id": media_id}, seconds=MEDIA_SECONDS)
        return await self._calls.call(
            Ability.MEDIA, build, lambda response: read_media(response, limit_bytes), seconds=MEDIA_SECONDS
        )

    async def download_picture(self, url: str, *, limit_bytes: int = MEDIA_BYTES) -> Media:
        """A picture by the PicUrl of its message, which needs no permission.

        Raises:
            ApiAway: the address is none of WeChat's, or holds no picture.
            MediaTooLarge, OutcomeUnknown
        """
        if not is_picture_address(url, self._picture_hosts, self._base):
            raise ApiAway("不是微信的图片地址")
        request = Request("GET", url, timeout=timeout(MEDIA_SECONDS))
        try:
            async with asyncio.timeout(MEDIA_SECONDS):
                response = await exchange(self._request, request)
        except TimeoutError:
            raise ApiAway("超时") from None
        return read_picture(response, limit_bytes)

    async def _send(self, openid: str, body: Mapping[str, Any]) -> None:
        build = self._calls.post("/cgi-bin/message/custom/send", body)
        await self._calls.call(Ability.CUSTOMER_SERVICE, build, read_answer, openid=openid)
