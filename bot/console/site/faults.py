"""What a reader sees where there is no page for them.

Invariant: it says what happened and where to go on, never what broke inside.
"""

from collections.abc import Awaitable, Callable, Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bot.console.site.shields import READING
from bot.console.site.site import Site, is_guarded
from bot.console.site.words import QUERY
from bot.conversation.errors import StoreUnavailable

SAID = frozenset({400, 403, 404, 405, 413, 429, 500, 503})
"""With words of their own."""

Handler = Callable[[Request, Exception], Awaitable[Response]]


def refuse(site: Site, request: Request, status: int) -> Response:
    """401 shows how to sign in, any other what is wrong."""
    if status == 401:
        return site.render(request, "account_login.html", status, **login_context(site, request))
    return site.render(request, "fault.html", status, number=status, kind=status if status in SAID else 500)


def login_context(site: Site, request: Request, problem: str = "", onward: str = "") -> dict[str, object]:
    """What the page to sign in shows."""
    return {
        "problem": problem,
        "onward": onward or _asked_for(request),
        "has_password": site.doorkeeper.has_password,
    }


def fault_handlers(site: Site) -> Mapping[type[Exception] | int, Handler]:
    """For Starlette's `exception_handlers`."""

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if not is_guarded(request):
            return PlainTextResponse(error.detail, error.status_code, error.headers)
        response = refuse(site, request, error.status_code)
        response.headers.update(error.headers or {})
        return response

    async def store(request: Request, _: Exception) -> Response:
        return refuse(site, request, 503)

    async def broken(request: Request, _: Exception) -> Response:
        if not is_guarded(request):
            return PlainTextResponse("Internal Server Error", 500)
        return refuse(site, request, 500)

    return {HTTPException: http, StoreUnavailable: store, Exception: broken}


def _asked_for(request: Request) -> str:
    """The page to go on to; what was posted is not posted again."""
    if request.method not in READING:
        return "/"
    url = request.url.remove_query_params(QUERY)
    return f"{url.path}?{url.query}" if url.query else url.path
