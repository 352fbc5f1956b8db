"""The HTTP API of the simulated official account: api.weixin.qq.com on a loopback port.

Invariant: an errcode comes with HTTP 200, as WeChat's do; each call is recorded with what it was answered.

Endpoints: `stable_token`, `token`, `message/custom/send`, `message/custom/typing`, `user/info`,
`media/upload`, `media/get`, `clear_quota`, `get_current_autoreply_info`; of the owner's mini-program
`/sns/jscode2session` and `/wxa/business/getuserphonenumber`; and `/picture/ID`, where PicUrl points to.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from .account import Account
from .clock import Clock
from .customer_service import CustomerService, refuse_escapes
from .errcodes import ApiRefusal, error_json
from .faults import ApiFault, Faults
from .in_process import InProcessTransport
from .media import Media
from .mini_program import MiniProgram
from .people import People
from .tokens import Tokens
from .wire import LoopbackServer, Request, Response

PREFIX = "/cgi-bin/"
LOGIN, PHONE = "sns/jscode2session", "wxa/business/getuserphonenumber"
PICTURES = "/picture/"

Answer: TypeAlias = Mapping[str, Any] | Response
Endpoint: TypeAlias = Callable[[Request], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One recorded call."""

    at: float
    path: str
    """Such as `message/custom/send`."""
    body: Mapping[str, Any]
    """The JSON object that was posted; {} when there was none."""
    errcode: int
    """0 when it was done."""
    status: int = 200
    """0: the connection was cut."""


class Api:
    def __init__(
        self,
        account: Account,
        people: People,
        media: Media,
        clock: Clock,
        *,
        mini_program: MiniProgram | None = None,
        port: int = 0,
    ) -> None:
        self.tokens = Tokens()
        self.faults = Faults()
        self.calls: list[Call] = []
        self.autoreply: Mapping[str, Any] = {"is_add_friend_reply_open": 0, "is_autoreply_open": 0}
        """The automatic replies set in the account's console, as WeChat tells them."""
        self._account = account
        self._mini_program = mini_program
        self._people = people
        self._media = media
        self._clock = clock
        self._service = CustomerService(people, media, clock)
        self._server = LoopbackServer(self._handle, port)
        self._endpoints: dict[str, tuple[str, Endpoint]] = {
            "stable_token": ("POST", self._stable_token),
            "token": ("GET", self._token),
            "message/custom/send": ("POST", self._send),
            "message/custom/typing": ("POST", self._typing),
            "user/info": ("GET", self._user_info),
            "media/upload": ("POST", self._upload),
            "media/get": ("GET", self._download),
            "clear_quota": ("POST", lambda _: error_json(0)),
            "get_current_autoreply_info": ("GET", self._autoreply),
        }
        if mini_program is not None:
            self._endpoints[LOGIN] = ("GET", lambda request: mini_program.session(request.query))
            self._endpoints[PHONE] = ("POST", lambda request: mini_program.phone(_read_json(request.body)))

    @property
    def base_url(self) -> str:
        """What stands for https://api.weixin.qq.com."""
        return f"http://127.0.0.1:{self._server.port}"

    async def start(self) -> None:
        await self._server.start()

    async def close(self) -> None:
        await self._server.close()

    def transport(self) -> InProcessTransport:
        """The same API for an `httpx.AsyncClient` of this process: with a manual clock, say."""
        return InProcessTransport(self._handle)

    def fail(self, path: str = "", errcode: int = 0, *, times: int = 1, **fault: Any) -> None:
        """Script the next calls; see `ApiFault`."""
        self.faults.add(ApiFault(path=path, errcode=errcode, times=times, **fault))

    def errcodes(self, path: str = "") -> list[int]:
        """What was answered so far, in order, to one endpoint or to all."""
        return [call.errcode for call in self.calls if path in ("", call.path)]

    async def _handle(self, request: Request) -> Response:
        if request.path.startswith(PICTURES):
            return self._picture(request)
        path = _endpoint_of(request.path)
        fault = self.faults.next_for(path)
        if fault is not None:
            await self._clock.sleep(fault.delay_seconds)
            if fault.status:
                self._record(path, request, -1, fault.status)
                return Response(status=fault.status, content_type="text/html", body=b"scripted")
        try:
            if fault is not None and fault.errcode:
                raise ApiRefusal(fault.errcode)
            answer, errcode = self._answer(path, request), 0
        except ApiRefusal as refusal:
            answer, errcode = refusal.as_json(), refusal.errcode
        if fault is not None and fault.is_cut:
            self._record(path, request, errcode, 0)
            return Response(is_cut=True)
        self._record(path, request, errcode, 200)
        if isinstance(answer, Response):
            return answer
        return Response(body=json.dumps(answer, ensure_ascii=False).encode())

    def _answer(self, path: str, request: Request) -> Answer:
        """Raises ApiRefusal."""
        method, endpoint = self._endpoints.get(path, ("", None))
        if endpoint is None:
            raise ApiRefusal(40066)
        if request.method != method:
            raise ApiRefusal(43001 if method == "GET" else 43002)
        if path != LOGIN and not path.endswith("token"):
            self._check_token(path, request.query.get("access_token", ""))
            if not self._account.is_permitted(path):
                raise ApiRefusal(48001)
        return endpoint(request)

    def _check_token(self, path: str, token: str) -> None:
        of_mini_program = self._mini_program if path == PHONE else None
        tokens = self.tokens if of_mini_program is None else of_mini_program.tokens
        tokens.check(token, self._clock.now())

    def _record(self, path: str, request: Request, errcode: int, status: int) -> None:
        is_json = not request.content_type.startswith("multipart/")
        body = _json_or_nothing(request.body) if is_json else {}
        body = {name: value for name, value in body.items() if name != "secret"}
        call = Call(at=self._clock.now(), path=path, body=body, errcode=errcode, status=status)
        self.calls.append(call)

    def _stable_token(self, request: Request) -> Answer:
        fields = _read_json(request.body)
        tokens = self._check_account(request, fields)
        is_forced = fields.get("force_refresh") is True
        token, seconds = tokens.stable(self._clock.now(), is_forced=is_forced)
        return {"access_token": token, "expires_in": seconds}

    def _token(self, request: Request) -> Answer:
        tokens = self._check_account(request, request.query)
        token, seconds = tokens.plain(self._clock.now())
        return {"access_token": token, "expires_in": seconds}

    def _check_account(self, request: Request, fields: Mapping[str, Any]) -> Tokens:
        """Whose token is asked for."""
        if fields.get("grant_type") != "client_credential":
            raise ApiRefusal(40002)
        if not fields.get("appid"):
            raise ApiRefusal(41002)
        if not fields.get("secret"):
            raise ApiRefusal(41004)
        app, tokens = self._account, self.tokens
        if self._mini_program is not None and fields["appid"] == self._mini_program.app_id:
            app, tokens = self._mini_program, self._mini_program.tokens
        if fields["appid"] != app.app_id:
            raise ApiRefusal(40013)
        if fields["secret"] != app.app_secret:
            raise ApiRefusal(40125)
        allowed = self._account.ip_whitelist
        if allowed is not None and request.peer not in allowed:
            address = f"{request.peer} ipv6 ::ffff:{request.peer}"
            raise ApiRefusal(40164, f"invalid ip {address}, not in whitelist")
        return tokens

    def _send(self, request: Request) -> Answer:
        refuse_escapes(request.body)
        self._service.send(_read_json(request.body))
        return error_json(0)

    def _typing(self, request: Request) -> Answer:
        self._service.type(_read_json(request.body))
        return error_json(0)

    def _user_info(self, request: Request) -> Answer:
        person = self._people.find(request.query.get("openid", ""))
        if person is None:
            raise ApiRefusal(40003)
        if not person.is_following:
            return {"subscribe": 0, "openid": person.openid}
        known = {
            "subscribe": 1,
            "openid": person.openid,
            "language": "zh_CN",
            "subscribe_time": int(person.followed_at),
            "remark": "",
            "groupid": 0,
            "tagid_list": [],
            "subscribe_scene": "ADD_SCENE_QR_CODE" if person.scene else "ADD_SCENE_SEARCH",
            "qr_scene": int(person.scene) if person.scene.isdecimal() else 0,
            "qr_scene_str": "" if person.scene.isdecimal() else person.scene,
        }
        return known | ({"unionid": person.unionid} if self._account.is_bound else {})

    def _upload(self, request: Request) -> Answer:
        medium = self._media.upload(request.query.get("type", ""), request.content_type, request.body)
        return {"type": medium.type, "media_id": medium.id, "created_at": int(medium.created_at)}

    def _download(self, request: Request) -> Answer:
        medium = self._media.get(request.query.get("media_id", ""))
        if medium.type == "video":
            return {"video_url": f"{self.base_url}{PICTURES}{medium.id}"}
        disposition = ("content-disposition", f'attachment; filename="{medium.file_name}"')
        return Response(content_type=medium.content_type, body=medium.content, headers=(disposition,))

    def _autoreply(self, _: Request) -> Answer:
        return self.autoreply

    def _picture(self, request: Request) -> Response:
        """No token, as on mmbiz.qpic.cn."""
        try:
            medium = self._media.get(request.path.removeprefix(PICTURES))
        except ApiRefusal:
            return Response(status=404, content_type="text/plain")
        return Response(content_type=medium.content_type, body=medium.content)


def _endpoint_of(path: str) -> str:
    """As `Call.path` has it; as it is where it is none's."""
    if path in (f"/{LOGIN}", f"/{PHONE}"):
        return path[1:]
    endpoint = path.removeprefix(PREFIX)
    return path if endpoint in (LOGIN, PHONE) else endpoint


def _read_json(body: bytes) -> dict[str, Any]:
    """Raises ApiRefusal 44002 or 47001."""
    if not body:
        raise ApiRefusal(44002)
    try:
        fields = json.loads(body)
    except ValueError as error:
        raise ApiRefusal(47001) from error
    if not isinstance(fields, dict):
        raise ApiRefusal(47001)
    return fields


def _json_or_nothing(body: bytes) -> dict[str, Any]:
    try:
        return _read_json(body)
    except ApiRefusal:
        return {}
