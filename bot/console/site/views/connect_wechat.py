"""`/connect/wechat`: an official account, step by step, and the import of the replies it gave before.

Invariant: what was typed into a secret's field never comes back in a page.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.connecting.addresses import callback
from bot.connecting.fields import is_secret, is_wechat_aes_key, is_wechat_token
from bot.connecting.steps import Kept
from bot.connecting.trials import ApiTrial
from bot.console.site.site import Site
from bot.console.site.views.connect_lights import Lights
from bot.console.site.views.connect_ports import VIEW, House, MadeSecrets, Once, typed
from bot.conversation.errors import ConfigurationError, RejectedInput

PATH = "/connect/wechat"
REPLIES = f"{PATH}/replies"
PORTS = frozenset({80, 443})
"""Source: 微信官方文档 · 公众号 · 接入指南: 必须以 http:// 或 https:// 开头，分别支持 80 端口和 443 端口."""


class WeChatPages:
    def __init__(self, site: Site, house: House, lights: Lights, made: MadeSecrets) -> None:
        self._site = site
        self._house = house
        self._lights = lights
        self._made = made
        self._trial = Once[ApiTrial]()
        self._fetched = Once[ApiTrial]()
        self._typed_app_id = Once[str]()

    @property
    def routes(self) -> list[Route]:
        return [
            Route(PATH, self._page),
            Route(PATH, self._save, methods=["POST"]),
            Route(f"{PATH}/test", self._test, methods=["POST"]),
            Route(REPLIES, self._replies),
            Route(REPLIES, self._fetch, methods=["POST"]),
            Route(f"{REPLIES}/keep", self._keep, methods=["POST"]),
        ]

    async def _page(self, request: Request) -> Response:
        return await self._show(request, app_id=self._typed_app_id.take(request) or "")

    async def _show(self, request: Request, *, app_id: str = "", problem: str = "") -> Response:
        found = await self._house.wechat()
        address = request.query_params.get("address", "")
        return self._site.render(
            request,
            "connect_wechat.html",
            422 if problem else 200,
            found=found,
            light=await self._lights.of("wechat"),
            address=address,
            callback=callback(address, found.path, PORTS),
            app_id=app_id or found.app_id,
            made=self._made.shown(request, "wechat"),
            trial=self._trial.take(request),
            trial_key=trial_key,
            problem=problem,
        )

    async def _save(self, request: Request) -> Response:
        form = await self._site.form(request)
        app_id, secret = typed(form, "app_id"), typed(form, "app_secret")
        token, aes_key = typed(form, "token"), typed(form, "aes_key")
        if unfit := _unfit(secret, token, aes_key):
            return await self._show(request, app_id=app_id, problem=self._site.say(request, VIEW, unfit))
        try:
            made = await self._house.save_wechat(
                app_id=app_id,
                app_secret=secret,
                token=token,
                aes_key=aes_key,
                renews=typed(form, "renews") == "yes",
            )
        except (ConfigurationError, RejectedInput) as error:
            return await self._show(request, app_id=app_id, problem=str(error))
        self._made.put(request, "wechat", made, has_token=bool(token), has_aes_key=bool(aes_key))
        await self._site.note("connect.save", detail="wechat")
        return self._site.see(request, PATH, self._site.say(request, VIEW, "saved"))

    async def _test(self, request: Request) -> Response:
        form = await self._site.form(request)
        app_id = typed(form, "app_id")
        trial = await self._house.try_wechat(app_id=app_id, app_secret=typed(form, "app_secret"))
        self._trial.put(request, trial)
        self._typed_app_id.put(request, app_id)
        return self._site.see(request, f"{PATH}#trial")

    async def _replies(self, request: Request) -> Response:
        return await self._show_replies(request)

    async def _show_replies(self, request: Request, problem: str = "") -> Response:
        found, replies = await self._house.wechat(), None
        try:
            replies = await self._house.replies.proposed()
        except ConfigurationError as error:
            problem = problem or str(error)
        return self._site.render(
            request,
            "connect_replies.html",
            422 if problem else 200,
            found=found,
            replies=replies,
            trial=self._fetched.take(request),
            trial_key=trial_key,
            problem=problem,
        )

    async def _fetch(self, request: Request) -> Response:
        form = await self._site.form(request)
        trial = await self._house.replies.fetch(
            app_id=typed(form, "app_id"), app_secret=typed(form, "app_secret")
        )
        self._fetched.put(request, trial)
        return self._site.see(request, REPLIES)

    async def _keep(self, request: Request) -> Response:
        form = await self._site.form(request)
        asked = (each for each in form.getlist("reply") if isinstance(each, str))
        numbers = {int(each) for each in asked if each.isdecimal() and len(each) <= 4}
        try:
            kept = await self._house.replies.keep(numbers, typed(form, "mark"))
        except (ConfigurationError, RejectedInput) as error:
            return await self._show_replies(request, problem=str(error))
        if kept.is_outdated:
            problem = self._site.say(request, VIEW, "kept_outdated")
            return await self._show_replies(request, problem=problem)
        if kept.count:
            await self._site.note("connect.import", detail=f"replies={kept.count}")
        return self._site.see(request, REPLIES, self._told(request, kept))

    def _told(self, request: Request, kept: Kept) -> str:
        key = "kept_none" if not kept.count else "kept" if kept.backup else "kept_first"
        said = self._site.say(request, VIEW, key, count=kept.count, backup=kept.backup)
        if kept.left_out:
            said += self._site.say(request, VIEW, "kept_not", names="、".join(kept.left_out))
        return said


def _unfit(secret: str, token: str, aes_key: str) -> str:
    """Whose words say what is wrong with what was typed; "" where nothing is."""
    if token and not is_wechat_token(token):
        return "unfit_token"
    if aes_key and not is_wechat_aes_key(aes_key):
        return "unfit_aes_key"
    return "unfit_secret" if secret and not is_secret(secret) else ""


_EXPLAINED = frozenset(
    {
        -1,
        40001,
        40013,
        40125,
        40164,
        40243,
        41002,
        41004,
        45009,
        45011,
        48001,
        50004,
        50007,
        61004,
        61024,
        89503,
    }
)


def trial_key(trial: ApiTrial) -> str:
    """Whose words are `trial_` + this."""
    if trial.is_away:
        return "away"
    if trial.errcode in (40164, 61004):
        return "ip" if trial.address else "ip_unknown"
    if trial.errcode == -1:
        return "busy"
    if not trial.errcode:
        return "ok"
    return str(trial.errcode) if trial.errcode in _EXPLAINED else "other"
