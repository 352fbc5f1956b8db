"""First visit, sign in, sign out.

Invariant: a password is read, hashed or compared, and never shown, logged or kept.
"""

import math

from loguru import logger
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.console.site.doorkeeper import LONGEST_PASSWORD, SHORTEST_PASSWORD
from bot.console.site.faults import login_context
from bot.console.site.site import Site, own_path, session_of

VIEW = "account"


def routes(site: Site) -> list[Route]:
    account = _Account(site)
    return [
        Route("/login", account.login),
        Route("/login", account.sign_in, methods=["POST"]),
        Route("/logout", account.sign_out, methods=["POST"]),
        Route("/setup", account.setup),
        Route("/setup", account.set_up, methods=["POST"]),
    ]


class _Account:
    def __init__(self, site: Site) -> None:
        self._site = site

    async def login(self, request: Request) -> Response:
        if session_of(request) is not None:
            return RedirectResponse("/", 303)
        return self._login_page(request, 200, onward="/")

    async def sign_in(self, request: Request) -> Response:
        form = await self._site.form(request)
        onward = own_path(_text(form, "onward"))
        try:
            begun = await self._site.doorkeeper.sign_in(_text(form, "password"))
        except OSError as error:
            logger.error("登录没能保存：{}", error.strerror)
            problem = self._site.say(request, VIEW, "not_signed_in")
            return self._login_page(request, 500, problem, onward)
        if isinstance(begun, str):
            await self._site.note("console.sign_in")
            response = RedirectResponse(onward, 303)
            self._site.begin_session(request, response, begun)
            return response
        if begun is None:
            await self._site.note("console.sign_in_refused")
            problem = self._site.say(request, VIEW, "wrong_password")
            return self._login_page(request, 403, problem, onward)
        seconds = math.ceil(begun)
        problem = self._site.say(request, VIEW, "wait", seconds=seconds)
        response = self._login_page(request, 429, problem, onward)
        response.headers["Retry-After"] = str(seconds)
        return response

    async def sign_out(self, request: Request) -> Response:
        await self._site.form(request)
        if await self._site.end_session(request):
            response: Response = RedirectResponse("/login", 303)
        else:
            request.state.session = None
            problem = self._site.say(request, VIEW, "not_signed_out_for_good")
            response = self._login_page(request, 500, problem, "/")
        self._site.take_session_cookie(request, response)
        return response

    async def setup(self, request: Request) -> Response:
        return self._setup_page(request, request.query_params.get("token", ""), 200)

    async def set_up(self, request: Request) -> Response:
        form = await self._site.form(request)
        token, password = _text(form, "token"), _text(form, "password")
        if problem := _problem(password, _text(form, "again")):
            return self._setup_page(request, token, 422, problem)
        try:
            begun = await self._site.doorkeeper.set_up(token, password)
        except OSError as error:
            logger.error("控制台的密码没能保存：{}", error.strerror)
            return self._setup_page(request, token, 500, "not_saved")
        if begun is None:
            return self._setup_page(request, token, 403)
        await self._site.note("console.set_up")
        response = RedirectResponse("/", 303)
        self._site.begin_session(request, response, begun)
        return response

    def _login_page(self, request: Request, status: int, problem: str = "", onward: str = "") -> Response:
        context = login_context(self._site, request, problem, onward)
        return self._site.render(request, "account_login.html", status, **context)

    def _setup_page(self, request: Request, token: str, status: int, problem: str = "") -> Response:
        if not self._site.doorkeeper.is_setup_token(token):
            return self._site.render(request, "account_setup.html", 403, token="", problem="")
        said = self._site.say(request, VIEW, problem) if problem else ""
        return self._site.render(request, "account_setup.html", status, token=token, problem=said)


def _problem(password: str, again: str) -> str:
    """The key of what is wrong with it."""
    if len(password) < SHORTEST_PASSWORD:
        return "too_short"
    if len(password) > LONGEST_PASSWORD:
        return "too_long"
    return "" if password == again else "not_the_same"


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""
