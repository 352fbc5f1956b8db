"""The HTTP API of the simulated platform: api.bot.qq.com and getAppAccessToken on one loopback port.

Invariant: every call is recorded, with the code it was answered.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .account import BotAccount, Scene
from .clock import Clock
from .content import read_body
from .errors import ApiRefusal
from .faults import ApiFault, Faults
from .gateway import Gateway
from .media import Media
from .places import Places
from .sending import Sending
from .tokens import Tokens
from .wire import InProcessTransport, LoopbackServer, Request, Response, json_response

Names: TypeAlias = Mapping[str, str]
Body: TypeAlias = Mapping[str, Any]
_Endpoint: TypeAlias = Callable[[Names, Body], Any]
_SCENES = {"users": Scene.C2C, "groups": Scene.GROUP, "channels": Scene.CHANNEL, "dms": Scene.DIRECT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One recorded call."""

    at: float
    endpoint: str
    """Such as `groups/messages`; "" for an address that there is not."""
    path: str
    body: Mapping[str, Any]
    """The JSON object or form that was posted, without secrets; {} when there was none."""
    code: int
    """0 when it was done."""
    status: int
    """0: the connection was cut."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(slots=True)
class Guilds:
    """Which guild a channel is of, and whom a session of direct messages is with."""

    of_channel: dict[str, str] = field(default_factory=dict[str, str])
    directs: dict[str, str] = field(default_factory=dict[str, str])
    """User ids, by the session's guild_id."""
    messages: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """What people wrote there, by message id."""


class Api:
    def __init__(
        self,
        account: BotAccount,
        places: Places,
        sending: Sending,
        media: Media,
        gateway: Gateway,
        clock: Clock,
        *,
        port: int = 0,
    ) -> None:
        self.tokens = Tokens(account)
        self.faults = Faults()
        self.calls: list[Call] = []
        self.guilds = Guilds()
        self.interactions: dict[str, int | None] = {}
        """By the interaction's id: the code it was answered with, or None."""
        self._account = account
        self._places = places
        self._sending = sending
        self._media = media
        self._gateway = gateway
        self._clock = clock
        self._server = LoopbackServer(self.handle, port)
        self._routes: list[tuple[str, str, re.Pattern[str], _Endpoint]] = [
            (name, method, re.compile(pattern), endpoint)
            for name, method, pattern, endpoint in (
                ("token", "POST", r"/app/getAppAccessToken", self._token),
                ("me", "GET", r"/users/@me", lambda *_: self._me()),
                ("guilds", "GET", r"/users/@me/guilds", lambda *_: []),
                ("dms/open", "POST", r"/users/@me/dms", self._open_direct),
                ("gateway", "GET", r"/gateway", lambda *_: {"url": self._gateway.url}),
                ("gateway/bot", "GET", r"/gateway/bot", lambda *_: self._gateway.describe()),
                ("", "POST", r"/v2/(?P<kind>users|groups)/(?P<id>[^/]+)/messages", self._send),
                ("", "POST", r"/(?P<kind>channels|dms)/(?P<id>[^/]+)/messages", self._send),
                ("", "POST", r"/v2/(?P<kind>users|groups)/(?P<id>[^/]+)/files", self._upload),
                (
                    "",
                    "DELETE",
                    r"/v2/(?P<kind>users|groups)/(?P<id>[^/]+)/messages/(?P<what>.+)",
                    self._recall,
                ),
                ("", "DELETE", r"/(?P<kind>channels|dms)/(?P<id>[^/]+)/messages/(?P<what>.+)", self._recall),
                ("", "GET", r"/(?P<kind>channels)/(?P<id>[^/]+)/messages/(?P<what>.+)", self._message),
                ("interactions", "PUT", r"/interactions/(?P<id>[^/]+)", self._interact),
            )
        ]

    @property
    def base_url(self) -> str:
        """What stands for https://api.bot.qq.com: `qq_api_base`."""
        return f"http://127.0.0.1:{self._server.port}"

    @property
    def auth_url(self) -> str:
        """`qq_auth_base`."""
        return f"{self.base_url}/app/getAppAccessToken"

    async def start(self) -> None:
        await self._server.start()

    async def close(self) -> None:
        await self._server.close()

    def transport(self) -> InProcessTransport:
        """The same API for an `httpx.AsyncClient` of this process: with a manual clock, say."""
        return InProcessTransport(self.handle)

    def fail(self, endpoint: str = "", code: int = 0, *, times: int = 1, **fault: Any) -> None:
        """Script the next calls; see `ApiFault`."""
        self.faults.add(ApiFault(endpoint=endpoint, code=code, times=times, **fault))

    def codes(self, endpoint: str = "") -> list[int]:
        """What was answered so far, in order, to one endpoint or to all."""
        return [call.code for call in self.calls if endpoint in ("", call.endpoint)]

    async def handle(self, request: Request) -> Response:
        name, names, endpoint, is_other_method = self._find(request)
        fault = self.faults.next_for(name) if endpoint is not None else None
        if fault is not None:
            await self._clock.sleep(fault.delay_seconds)
        body: Body = {}
        code = 0
        try:
            if endpoint is None:
                raise ApiRefusal(12002, status=405 if is_other_method else 404)
            if request.body:
                body = read_body(request.body, request.headers.get("content-type", ""))
            response = self._do(name, names, endpoint, request, body, fault)
        except ApiRefusal as refusal:
            code = refusal.code
            is_ok = self._sending.rules.is_error_ok and endpoint is not None and refusal.status != 401
            trace_id = secrets.token_hex(16)
            response = json_response(refusal.as_json(trace_id), 200 if is_ok else refusal.status)
        if fault is not None and fault.is_cut:
            response = Response(status=0, is_cut=True)
        self._record(request, name, body, code, response.status)
        traced = (("X-Tps-trace-ID", secrets.token_hex(16)),)
        return Response(status=response.status, body=response.body, headers=traced, is_cut=response.is_cut)

    def _find(self, request: Request) -> tuple[str, Names, _Endpoint | None, bool]:
        is_other_method = False
        for name, method, pattern, endpoint in self._routes:
            found = pattern.fullmatch(request.path)
            if found is None:
                continue
            if method != request.method:
                is_other_method = True
                continue
            names = found.groupdict()
            what = {"DELETE": "recall", "GET": "message"}.get(method, request.path.rpartition("/")[2])
            return name or f"{names['kind']}/{what}", names, endpoint, False
        return "", {}, None, is_other_method

    def _do(
        self,
        name: str,
        names: Names,
        endpoint: _Endpoint,
        request: Request,
        body: Body,
        fault: ApiFault | None,
    ) -> Response:
        """Raises ApiRefusal."""
        if fault is not None and fault.code:
            raise ApiRefusal(fault.code, status=fault.status or None)
        if fault is not None and fault.status:
            return Response(status=fault.status, body=b"scripted")
        if name != "token":
            self.tokens.check(request.headers.get("authorization", ""), self._clock.now())
        answer = endpoint(names, body)
        return Response(status=204) if answer is None else json_response(answer)

    def _record(self, request: Request, name: str, body: Body, code: int, status: int) -> None:
        headers = {name: value for name, value in request.headers.items() if name != "authorization"}
        self.calls.append(
            Call(
                at=self._clock.now(),
                endpoint=name,
                path=request.path,
                body={key: value for key, value in body.items() if key != "clientSecret"},
                code=code,
                status=status,
                headers=headers,
            )
        )
        self._places.touch()

    def _token(self, _: Names, body: Body) -> Any:
        return self.tokens.issue(body, self._clock.now())

    def _me(self) -> Any:
        account = self._account
        return {"id": account.id, "username": account.username, "avatar": "", "bot": True}

    def _open_direct(self, _: Names, body: Body) -> Any:
        user, guild = str(body.get("recipient_id") or ""), str(body.get("source_guild_id") or "")
        if not user or not guild:
            raise ApiRefusal(12002)
        session = direct_session_of(user)
        self.guilds.directs[session] = user
        self._places.open(Scene.DIRECT, user)
        return {"guild_id": session, "channel_id": session, "create_time": str(int(self._clock.now()))}

    def _where(self, names: Names) -> tuple[Scene, str, str]:
        """The scene, the place and its guild."""
        scene, place = _SCENES[names["kind"]], names["id"]
        if scene is Scene.DIRECT:
            return scene, self.guilds.directs.get(place, ""), place
        return scene, place, self.guilds.of_channel.get(place, "")

    def _send(self, names: Names, body: Body) -> Any:
        scene, place, guild = self._where(names)
        return self._sending.send(scene, place, body, guild)

    def _recall(self, names: Names, _: Body) -> None:
        scene, place, _guild = self._where(names)
        self._sending.recall(scene, place, names["what"])

    def _message(self, names: Names, _: Body) -> Any:
        message = self.guilds.messages.get(names["what"])
        if message is None:
            message = self._sending.told(
                names["id"], names["what"], self.guilds.of_channel.get(names["id"], "")
            )
        elif message["channel_id"] != names["id"]:
            raise ApiRefusal(306002)
        return {"message": message}

    def _upload(self, names: Names, body: Body) -> Any:
        scene, place, _guild = self._where(names)
        uploaded = self._media.upload(scene, body, self._clock.now())
        if body.get("srv_send_msg") is True:
            source = self._media.source(uploaded["file_info"], scene, self._clock.now())
            return uploaded | self._sending.push_file(scene, place, source)
        return uploaded

    def _interact(self, names: Names, body: Body) -> None:
        code = body.get("code")
        if names["id"] not in self.interactions or code not in range(6):
            raise ApiRefusal(630001)
        self.interactions[names["id"]] = code


def direct_session_of(user: str) -> str:
    """The guild_id of the direct messages with a user: a number of their own."""
    return str(
        18_700_000_000_000 + sum(ord(letter) * 131**place for place, letter in enumerate(user)) % 10**11
    )
