"""`/connect/onebot` and `/connect/qq`: a QQ client that connects to us, and an official bot of q.qq.com.

Invariant: as of `connect_wechat`.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.connecting.addresses import callback
from bot.connecting.arrivals import Arrivals
from bot.connecting.fields import is_qq_app_id, is_secret
from bot.connecting.steps import Made
from bot.console.site.site import Site
from bot.console.site.views.connect_lights import Lights
from bot.console.site.views.connect_ports import VIEW, House, MadeSecrets, typed
from bot.conversation.errors import ConfigurationError, RejectedInput

ONEBOT = "/connect/onebot"
OFFICIAL = "/connect/qq"
PORTS = frozenset({80, 443, 8080, 8443})
"""Source: QQ 机器人文档 · 事件订阅与通知 · Webhook 方式: 回调地址允许配置的端口号为 80、443、8080、8443."""


class QqPages:
    def __init__(
        self, site: Site, house: House, lights: Lights, arrivals: Arrivals, made: MadeSecrets
    ) -> None:
        self._site = site
        self._house = house
        self._lights = lights
        self._arrivals = arrivals
        self._made = made

    @property
    def routes(self) -> list[Route]:
        return [
            Route(ONEBOT, self._onebot),
            Route(ONEBOT, self._save_onebot, methods=["POST"]),
            Route(OFFICIAL, self._official),
            Route(OFFICIAL, self._save_official, methods=["POST"]),
            Route(f"{OFFICIAL}/setup", self._open_setup, methods=["POST"]),
        ]

    async def _onebot(self, request: Request) -> Response:
        return await self._show_onebot(request)

    async def _show_onebot(self, request: Request, problem: str = "") -> Response:
        return self._site.render(
            request,
            "connect_onebot.html",
            422 if problem else 200,
            found=await self._house.onebot(),
            light=await self._lights.of("onebot"),
            made=self._made.shown(request, "onebot"),
            problem=problem,
        )

    async def _save_onebot(self, request: Request) -> Response:
        form = await self._site.form(request)
        token = typed(form, "token")
        if token and not is_secret(token):
            return await self._show_onebot(request, self._site.say(request, VIEW, "unfit_secret"))
        try:
            made = await self._house.save_onebot(token=token)
        except (ConfigurationError, RejectedInput) as error:
            return await self._show_onebot(request, str(error))
        return await self._saved(request, "onebot", ONEBOT, made, has_token=bool(token))

    async def _official(self, request: Request) -> Response:
        return await self._show_official(request)

    async def _show_official(self, request: Request, app_id: str = "", problem: str = "") -> Response:
        found = await self._house.qq()
        address = request.query_params.get("address", "")
        until = self._arrivals.setup_until
        return self._site.render(
            request,
            "connect_qq.html",
            422 if problem else 200,
            found=found,
            light=await self._lights.of("qq"),
            address=address,
            callback=callback(address, found.path, PORTS),
            app_id=app_id or found.app_id,
            setup_until=f"{until.astimezone():%H:%M}" if until else "",
            made=self._made.shown(request, "qq"),
            problem=problem,
        )

    async def _save_official(self, request: Request) -> Response:
        form = await self._site.form(request)
        app_id, secret = typed(form, "app_id"), typed(form, "secret")
        if unfit := await self._unfit(app_id, secret):
            return await self._show_official(request, app_id, self._site.say(request, VIEW, unfit))
        try:
            made = await self._house.save_qq(
                app_id=app_id, secret=secret, is_websocket=typed(form, "way") == "websocket"
            )
        except (ConfigurationError, RejectedInput) as error:
            return await self._show_official(request, app_id, str(error))
        return await self._saved(request, "qq", OFFICIAL, made)

    async def _unfit(self, app_id: str, secret: str) -> str:
        """Whose words say what is wrong; "" where nothing is."""
        if not is_qq_app_id(app_id):
            return "unfit_qq_app_id"
        if secret:
            return "" if is_secret(secret) else "unfit_secret"
        found = await self._house.qq()
        return "" if found.has_secret and found.app_id == app_id else "unfit_qq_secret"

    async def _open_setup(self, request: Request) -> Response:
        form = await self._site.form(request)
        if typed(form, "open") == "yes":
            self._arrivals.open_setup()
            await self._site.note("connect.open_setup")
        else:
            self._arrivals.close_setup()
        return self._site.see(request, OFFICIAL)

    async def _saved(
        self, request: Request, channel: str, path: str, made: Made, *, has_token: bool = False
    ) -> Response:
        self._made.put(request, channel, made, has_token=has_token, has_aes_key=False)
        await self._site.note("connect.save", detail=channel)
        return self._site.see(request, path, self._site.say(request, VIEW, "saved"))
