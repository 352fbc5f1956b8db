"""What a reader sees where there is no page for them.

Invariant: it says what happened and where to go on, never what broke inside.
"""

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from bot.console.site.site import HERE_FIELD, MOST_FIELDS, MOST_FILES, Site, here_of, is_guarded, own_path
from bot.conversation.errors import StoreUnavailable

TYPED_FIELD, TYPED = "text", "typed"
"""A chat's field, and how its page is asked for with something in it."""
SAID = frozenset({400, 403, 404, 405, 413, 429, 500, 503})
"""With words of their own."""

Handler = Callable[[Request, Exception], Awaitable[Response]]


def refuse(site: Site, request: Request, status: int) -> Response:
    """401 shows how to sign in, any other what is wrong."""
    if status == 401:
        return site.render(request, "account_login.html", status, **login_context(site, request))
    return site.render(request, "fault.html", status, number=status, kind=status if status in SAID else 500)


async def sign_in_first(site: Site, request: Request) -> Response:
    """For a form of a page whose session has ended: it is not posted again, and what was typed is not lost."""
    try:
        form = await request.form(max_fields=MOST_FIELDS, max_files=MOST_FILES)
    except (HTTPException, ClientDisconnect):
        return refuse(site, request, 401)
    here, typed = form.get(HERE_FIELD), form.get(TYPED_FIELD)
    await form.close()
    onward = own_path(here) if isinstance(here, str) else "/"
    if onward != "/" and isinstance(typed, str) and typed:
        onward += f"{'&' if '?' in onward else '?'}{urlencode({TYPED: typed})}"
    context = login_context(site, request, onward=onward)
    return site.render(request, "account_login.html", 401, **context)


def login_context(site: Site, request: Request, problem: str = "", onward: str = "") -> dict[str, object]:
    """What the page to sign in shows."""
    return {
        "problem": problem,
        "onward": onward or here_of(request) or "/",
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
