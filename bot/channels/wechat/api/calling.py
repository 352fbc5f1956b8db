"""One call of the API: permitted, with a token, within its deadline, and what its end teaches.

Invariant: a call ends by its deadline; it is repeated once at most, and only where WeChat refused its token.
What is known to be closed is not asked, and every end is noted in `abilities`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from nonebot.drivers import Request, Response, Timeout
from nonebot.exception import NetworkError

from .abilities import Abilities, Ability
from .errors import ApiAway, ApiClosed, ApiError, OutcomeUnknown, Verdict
from .messages import encode
from .token import AccessToken, Tokens, TokenStore
from .transport import Send, exchange, read_answer

CALL_SECONDS = 8.0
"""For a call, the fetching of its token included; each answer has `ANSWER_SECONDS`."""
TURN_SECONDS = 20.0
"""For a call's turn in a rush. Longer than a call: a text that waits is better than one that is held."""
AT_ONCE = 40
"""Calls under way. Fewer than the connections of a session, so that a call begun is a request sent."""
ANSWER_SECONDS = 5.0
_CONNECT_SECONDS = 2.0
"""For the connection, and again for TLS: together less than an answer may take, so that what did not get
through is known not to have got through."""

Read = TypeVar("Read")


class Calls:
    """Of one account."""

    def __init__(
        self,
        *,
        app_id: str,
        app_secret: str,
        request: Send,
        api_base: str,
        tokens: TokenStore,
        now: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        """`now`: Unix seconds."""
        self._app_id = app_id
        self._app_secret = app_secret
        self._request = request
        self._base = api_base.rstrip("/")
        self._now = now
        self._turns = asyncio.Semaphore(AT_ONCE)
        self.abilities = Abilities(app_id=app_id, now=now)
        self._tokens = Tokens(app_id=app_id, fetch=self._fetch_token, store=tokens, now=now, sleep=sleep)

    async def call(
        self,
        ability: Ability,
        build: Callable[[str], Request],
        read: Callable[[Response], Read],
        *,
        openid: str = "",
        seconds: float = CALL_SECONDS,
        turn_seconds: float = TURN_SECONDS,
    ) -> Read:
        """`build` takes the token; `openid` is set where the person's window matters.

        Raises:
            ApiError, ApiClosed, ApiAway, OutcomeUnknown, and whatever `read` raises.
        """
        try:
            async with asyncio.timeout(turn_seconds):
                await self._turns.acquire()
        except TimeoutError:
            raise ApiAway("同时发送的太多") from None
        try:
            # Asked when it is their turn: those before may have learned something.
            if closed := self.abilities.closed(ability, openid):
                raise ApiClosed(closed)
            return await self._noted(ability, build, read, openid, seconds)
        finally:
            self._turns.release()

    async def _noted(
        self,
        ability: Ability,
        build: Callable[[str], Request],
        read: Callable[[Response], Read],
        openid: str,
        seconds: float,
    ) -> Read:
        attempt = _Attempt(self._request)
        try:
            async with asyncio.timeout(seconds):
                answer = await self._ask(build, read, attempt)
        except ApiError as error:
            self.abilities.note_refusal(ability, openid, error)
            raise
        except NetworkError:
            self.abilities.note_silence(ability)
            raise
        except TimeoutError:
            self.abilities.note_silence(ability)
            raise (OutcomeUnknown("超时") if attempt.is_out else ApiAway("超时")) from None
        self.abilities.note_success(ability)
        return answer

    def get(
        self, path: str, query: Mapping[str, str] | None = None, *, seconds: float = ANSWER_SECONDS
    ) -> Callable[[str], Request]:
        def build(token: str) -> Request:
            params = {"access_token": token, **(query or {})}
            return Request("GET", self._base + path, params=params, timeout=timeout(seconds))

        return build

    def post(self, path: str, body: Mapping[str, Any]) -> Callable[[str], Request]:
        return lambda token: self._post(path, {"access_token": token}, body)

    def post_file(
        self, path: str, query: Mapping[str, str], file: tuple[str, bytes, str], *, seconds: float
    ) -> Callable[[str], Request]:
        """`file`: name, content, content type. WeChat wants it as the field `media`."""

        def build(token: str) -> Request:
            params = {"access_token": token, **query}
            url = self._base + path
            return Request("POST", url, params=params, files={"media": file}, timeout=timeout(seconds))

        return build

    async def _ask(
        self, build: Callable[[str], Request], read: Callable[[Response], Read], attempt: "_Attempt"
    ) -> Read:
        token = await self._tokens.current()
        try:
            return read(await attempt.exchange(build(token)))
        except ApiError as error:
            if error.verdict is not Verdict.STALE:
                raise
        token = await self._tokens.renew(token)
        return read(await attempt.exchange(build(token)))

    async def prove(self) -> None:
        """Ask for a token now, whatever is held: WeChat gives the one in use, and says what is wrong in its own code.

        Raises:
            ApiError, ApiAway, OutcomeUnknown
        """
        try:
            async with asyncio.timeout(CALL_SECONDS):
                await self._ask_token(force=False)
        except TimeoutError:
            raise ApiAway("超时") from None
        except (KeyError, ValueError, TypeError) as error:
            raise OutcomeUnknown(type(error).__name__) from None

    async def _fetch_token(self, force: bool) -> AccessToken:
        try:
            return await self._ask_token(force=force)
        except ApiError as error:
            if error.verdict in (Verdict.MISCONFIGURED, Verdict.QUOTA):
                raise
            raise ApiAway(f"取 access_token 返回 {error.errcode}") from None
        except (OutcomeUnknown, KeyError, ValueError, TypeError) as error:
            # Whatever became of this request, what it was for has not been done.
            raise ApiAway(f"没有取到 access_token（{type(error).__name__}）") from None

    async def _ask_token(self, *, force: bool) -> AccessToken:
        """Raises ApiError, ApiAway or OutcomeUnknown; KeyError, ValueError or TypeError where there is no token."""
        asked_at = self._now()
        body = {
            "grant_type": "client_credential",
            "appid": self._app_id,
            "secret": self._app_secret,
            "force_refresh": force,
        }
        response = await exchange(self._request, self._post("/cgi-bin/stable_token", {}, body))
        return _read_token(read_answer(response, is_about_token=True), asked_at)

    def _post(self, path: str, query: Mapping[str, str], body: Mapping[str, Any]) -> Request:
        return Request(
            "POST",
            self._base + path,
            params=dict(query),
            headers={"Content-Type": "application/json; charset=utf-8"},
            content=encode(body),
            timeout=timeout(ANSWER_SECONDS),
        )


class _Attempt:
    """Knows whether a request is under way: what a deadline then cuts off may have been carried out."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.is_out = False

    async def exchange(self, request: Request) -> Response:
        self.is_out = True
        response = await exchange(self._send, request)
        self.is_out = False
        return response


def timeout(seconds: float) -> Timeout:
    return Timeout(total=seconds, connect=min(_CONNECT_SECONDS, seconds), read=seconds)


def _read_token(answer: Mapping[str, Any], asked_at: float) -> AccessToken:
    """Raises KeyError, ValueError or TypeError where there is none."""
    value = answer["access_token"]
    if not isinstance(value, str) or not value:
        raise TypeError
    return AccessToken(value=value, expires_at=asked_at + float(answer["expires_in"]))
