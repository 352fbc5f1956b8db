"""What a view needs of the site: pages from templates, redirects, forms that were checked, events.

Invariant: a page is escaped text of templates; a form that is read was sent by a page of ours, in this session.
"""

import hmac
import secrets
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from loguru import logger
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bot.console.site import words as wording
from bot.console.site.doorkeeper import SESSION_HOURS, Doorkeeper, Session
from bot.console.site.shields import READING, SHIELDS
from bot.console.site.static_files import StaticFiles
from bot.console.site.streaming import Events, Stream
from bot.console.site.words import TAGS, Words, language_of
from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import AccountKey
from bot.conversation.scope import PersonId
from bot.ports import AuditLog

TEMPLATES = Path(__file__).parent / "templates"
SESSION_COOKIE = "jide_session"
VISIT_COOKIE = "jide_visit"
"""Of who has not signed in: what the first forms are bound to."""
CSRF_FIELD = "csrf"
HERE_FIELD = "here"
"""The page that a form stands on."""
CSRF_HEADER = "x-csrf-token"
"""For what a module posts without a form."""
MOST_FIELDS = 200
MOST_FILES = 8
ACTOR = AccountKey(channel="console", app_id="", openid="")
LANGUAGE_SECONDS = 365 * 86_400
NAV = (
    ("/", "nav_overview"),
    ("/playground/wechat", "nav_wechat"),
    ("/playground/qq", "nav_qq"),
    ("/memory", "nav_memory"),
    ("/connect", "nav_connect"),
)


class Site:
    """One for all views."""

    def __init__(self, doorkeeper: Doorkeeper, audit: AuditLog) -> None:
        self.doorkeeper = doorkeeper
        self.words = Words()
        self.static = StaticFiles()
        self._audit = audit
        self._said: defaultdict[str, list[str]] = defaultdict(list)
        self._stream = Stream()
        self._templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, request: Request, template: str, status: int = 200, **context: Any) -> Response:
        """A whole page. A template's view is its name up to the first `_` or `.`: whose words `t` speaks."""
        visit = _visit(request)
        response = HTMLResponse(self._text(request, template, visit, context), status, headers=SHIELDS)
        if visit:
            self._set_cookie(request, response, VISIT_COOKIE, visit)
        if (chosen := request.query_params.get(wording.QUERY)) in wording.LANGUAGES:
            self._set_cookie(request, response, wording.COOKIE, chosen, LANGUAGE_SECONDS)
        return response

    def fragment(self, request: Request, template: str, **context: Any) -> str:
        """A part of a page, as an event brings it. It uses no `said()`."""
        return self._text(request, template, "", context)

    def see(self, request: Request, path: str, said: str = "") -> Response:
        """After a form: the page at `path`, with a line at its top, once."""
        session = session_of(request)
        if said and session is not None:
            self._said[session.digest].append(said)
        return RedirectResponse(path, 303)

    def say(self, request: Request, view: str, key: str, **values: object) -> str:
        """A sentence of the view in the reader's language, for `see` and for what JSON carries."""
        return self.words.say(language_of(request), view, key, **values)

    async def form(self, request: Request) -> FormData:
        """The fields of a form of ours. Raises HTTPException (403): its token is not of this session."""
        given = request.headers.get(CSRF_HEADER)
        form = await request.form(max_fields=MOST_FIELDS, max_files=MOST_FILES)
        if given is None:
            given = form.get(CSRF_FIELD)
        expected = csrf_of(request)
        if not isinstance(given, str) or not hmac.compare_digest(given.encode(), expected.encode()):
            raise HTTPException(403)
        return form

    def events(self, request: Request, events: Events) -> Response:
        """`text/event-stream` of (event, HTML or JSON), until it ends, the reader goes, their session ends or the
        server stops."""
        cookie = request.cookies.get(SESSION_COOKIE, "")
        return self._stream.response(events, lambda: self.doorkeeper.session(cookie) is not None)

    async def note(self, action: str, subject: PersonId | None = None, detail: str = "") -> None:
        """A line of the audit. `detail` holds counts, never text. Where the store is away the log has it."""
        try:
            await self._audit.record(ACTOR, action, subject, "", detail)
        except StoreUnavailable:
            logger.warning("审计没能写进数据库：控制台 {} {} {}", action, subject or "", detail)

    def begin_session(self, request: Request, response: Response, cookie: str) -> None:
        self._take_cookie(request, response, VISIT_COOKIE)
        self._set_cookie(request, response, SESSION_COOKIE, cookie, SESSION_HOURS * 3_600)

    async def end_session(self, request: Request) -> bool:
        """In this process always. False: the file still has it, so the next start will."""
        if (session := session_of(request)) is None:
            return True
        self._said.pop(session.digest, None)
        try:
            await self.doorkeeper.sign_out(session)
        except OSError as error:
            logger.error("退出登录没能写进文件：{}", error.strerror)
            return False
        return True

    def take_session_cookie(self, request: Request, response: Response) -> None:
        self._take_cookie(request, response, SESSION_COOKIE)

    def close(self) -> None:
        """Ends every stream, so that a stop waits for none."""
        self._stream.close()

    def _text(self, request: Request, template: str, visit: str, context: dict[str, Any]) -> str:
        language = language_of(request)
        view = template.partition(".")[0].partition("_")[0]
        return self._templates.get_template(template).render(
            **{
                "t": self._teller(language, view),
                "csrf": csrf_of(request, visit),
                "here": here_of(request) if session_of(request) is not None else "",
                "language": language,
                "lang": TAGS[language],
                "path": request.url.path,
                "nav": NAV if session_of(request) is not None else (),
                "languages": _language_links(request),
                "said": lambda: self._take_said(request),
                "static": self.static.address,
                **context,
            }
        )

    def _teller(self, language: str, view: str) -> Callable[..., str]:
        def tell(key: str, **values: object) -> str:
            return self.words.say(language, view, key, **values)

        return tell

    def _take_said(self, request: Request) -> list[str]:
        session = session_of(request)
        return self._said.pop(session.digest, []) if session is not None else []

    def _set_cookie(
        self, request: Request, response: Response, name: str, value: str, seconds: int | None = None
    ) -> None:
        response.set_cookie(
            name,
            value,
            max_age=seconds,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )

    def _take_cookie(self, request: Request, response: Response, name: str) -> None:
        self._set_cookie(request, response, name, "", 0)


def session_of(request: Request) -> Session | None:
    """Put there by the guard."""
    return getattr(request.state, "session", None)


def is_guarded(request: Request) -> bool:
    """A person's page, behind the guard; everything else is asked by programs."""
    return hasattr(request.state, "session")


def csrf_of(request: Request, visit: str = "") -> str:
    """The token of this reader's forms: an HMAC under their own cookie, which no page and no one else reads."""
    name = SESSION_COOKIE if session_of(request) is not None else VISIT_COOKIE
    secret = visit or request.cookies.get(name) or secrets.token_hex()
    return hmac.digest(secret.encode(), b"jide-csrf-v1", "sha256").hex()


def here_of(request: Request) -> str:
    """The page that is asked for; what was posted is none."""
    if request.method not in READING:
        return ""
    url = request.url.remove_query_params(wording.QUERY)
    return f"{url.path}?{url.query}" if url.query else url.path


def own_path(path: str) -> str:
    """A path of this site to go on to, else the overview: never another host's address."""
    is_own = path.startswith("/") and not path.startswith("//") and path.isprintable() and "\\" not in path
    return path if is_own else "/"


def _visit(request: Request) -> str:
    """A new one, where neither a session nor a visit has begun."""
    if session_of(request) is not None or request.cookies.get(VISIT_COOKIE):
        return ""
    return secrets.token_urlsafe(32)


def _language_links(request: Request) -> list[tuple[str, str]]:
    """(language, address): this page in that language. What was posted is asked for with GET from the start."""
    url = request.url if request.method in READING else request.url.replace(path="/", query="")
    asked = {
        language: url.include_query_params(**{wording.QUERY: language}) for language in wording.LANGUAGES
    }
    return [(language, f"{own_path(each.path)}?{each.query}") for language, each in asked.items()]
