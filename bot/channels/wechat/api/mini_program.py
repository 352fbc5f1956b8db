"""The two calls of a mini-program's API that say who somebody is.

Invariant: a code is sent to WeChat once; the session key is not kept, and neither it nor a phone is in an error.
What WeChat says against a code says nothing against the account: codes come from strangers' phones.

Sources: 小程序登录 (code2Session), 获取手机号 (getPhoneNumber) on developers.weixin.qq.com.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from nonebot.drivers import Request, Response

from .abilities import Ability
from .calling import ANSWER_SECONDS, Calls, timeout
from .errors import ApiAway, ApiError
from .token import MemoryTokenStore, TokenStore
from .transport import Send, exchange, hide_queries, read_answer

_LOGIN_REFUSED = frozenset({40029, 40163, 40226, 41008})
"""Unknown or too old; used; a user WeChat holds for dangerous; none."""
_PHONE_REFUSED = frozenset({40013, 40029, 40163, 41008})
"""40013 here: the code is of another mini-program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Whom a login code stands for."""

    openid: str
    """In the mini-program."""
    unionid: str
    """"" unless the mini-program is bound to an Open Platform account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phone:
    number: str = field(repr=False)
    """With + and the country's code."""
    app_id: str
    """Whose phone button was pressed."""


class MiniProgram:
    """Its methods raise ApiError, ApiClosed, ApiAway or OutcomeUnknown (`errors`)."""

    def __init__(
        self,
        *,
        app_id: str,
        app_secret: str,
        request: Send,
        api_base: str,
        tokens: TokenStore | None = None,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """As `ApiClient`."""
        hide_queries()
        self._app_id = app_id
        self._app_secret = app_secret
        self._request = request
        self._base = api_base.rstrip("/")
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
    def app_id(self) -> str:
        return self._app_id

    async def login(self, code: str) -> Login | None:
        """Whom a code of `wx.login` stands for. None: WeChat does not take it."""
        query = {
            "appid": self._app_id,
            "secret": self._app_secret,
            "js_code": code,
            "grant_type": "authorization_code",
        }
        path = f"{self._base}/sns/jscode2session"
        request = Request("GET", path, params=query, timeout=timeout(ANSWER_SECONDS))
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = _unless(_LOGIN_REFUSED, await exchange(self._request, request))
        except TimeoutError:
            raise ApiAway("超时") from None
        if answer is None:
            return None
        return Login(openid=_text(answer, "openid"), unionid=_text(answer, "unionid"))

    async def phone(self, code: str) -> Phone | None:
        """The phone that a code of the phone button stands for. None: WeChat does not take it."""
        build = self._calls.post("/wxa/business/getuserphonenumber", {"code": code})
        answer = await self._calls.call(
            Ability.PHONE, build, lambda response: _unless(_PHONE_REFUSED, response)
        )
        return None if answer is None else _read_phone(answer)


def _unless(refused: frozenset[int], response: Response) -> dict[str, Any] | None:
    try:
        return read_answer(response)
    except ApiError as error:
        if error.errcode in refused:
            return None
        raise


def _read_phone(answer: Mapping[str, Any]) -> Phone | None:
    info = _object(answer.get("phone_info"))
    number, country = _text(info, "purePhoneNumber"), _text(info, "countryCode").lstrip("+")
    if not number or not country.isdecimal():
        return None
    return Phone(number=f"+{country}{number}", app_id=_text(_object(info.get("watermark")), "appid"))


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(fields: Mapping[str, Any], name: str) -> str:
    """Numbers too: the documents' own example has the country's code as one."""
    value = fields.get(name)
    return str(value).strip() if isinstance(value, str | int) else ""
