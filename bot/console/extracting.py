"""`POST /memory/extract`: what of a text would be remembered, and why, as `jide memory extract --json` says it.

Invariant: without the operator's token there is no such address, and without it in the request nothing is read. What
is posted is neither stored nor logged.
"""

import hmac
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import TypeAlias, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.console.answering import as_json
from bot.conversation.local_time import LOCAL_TIME
from bot.memory.extraction import as_document, read_all
from bot.memory.judge import LONGEST_JUDGED

PATH = "/memory/extract"
LIMIT_BYTES = 32 * 1024
"""Of a body: the longest text that is judged, each character escaped, and room for the rest."""

_SURROGATE = re.compile("[\ud800-\udfff]")
"""JSON may hold half a character; no answer can."""
_YEARS = range(1970, 2101)
"""Those the calendars of the house know."""

ProductNames: TypeAlias = Callable[[], Awaitable[Sequence[str]]]


class _Bad(Exception):
    """A body that asks for nothing; says why, in Chinese."""


def extract_route(token: str, products: ProductNames) -> Route:
    """`token`: the operator's, not empty. `products`: the names of the house's goods."""

    async def extract(request: Request) -> Response:
        if not _is_operator(request, token):
            return as_json(
                {"error": "要带令牌：Authorization: Bearer CONSOLE__TOKEN 的值"},
                401,
                {"WWW-Authenticate": "Bearer"},
            )
        body = await _body(request)
        if body is None:
            return as_json({"error": f"请求超过 {LIMIT_BYTES // 1024} KB"}, 413)
        try:
            text, at = _asked(body)
        except _Bad as bad:
            return as_json({"error": str(bad)}, 400)
        return as_json(as_document(await read_all(text, tuple(await products()), at)), 200)

    return Route(PATH, extract, methods=["POST"])


def _is_operator(request: Request, token: str) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


async def _body(request: Request) -> bytes | None:
    """None: longer than it may be. No more than that is read."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LIMIT_BYTES:
            return None
    return body


def _asked(body: bytes) -> tuple[str, datetime]:
    """The text and when it is said. Raises _Bad."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise _Bad("不是 JSON") from None
    if not isinstance(asked, dict):
        raise _Bad('要一个 JSON 对象：{"text": "…"}')
    fields = cast(dict[str, object], asked)
    text = fields.get("text")
    if not isinstance(text, str) or not text.strip() or _SURROGATE.search(text):
        raise _Bad('缺了 "text"：要看的话')
    if len(text) > LONGEST_JUDGED:
        raise _Bad(f'"text" 超过 {LONGEST_JUDGED} 个字')
    return text, _moment(fields.get("at"))


def _moment(at: object) -> datetime:
    """Now where it is left out; without a zone it is Beijing's. Raises _Bad."""
    if at is None:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(at) if isinstance(at, str) else None
        if moment is not None and moment.year in _YEARS:
            return (moment if moment.tzinfo else moment.replace(tzinfo=LOCAL_TIME)).astimezone(UTC)
    except ValueError:
        pass
    raise _Bad('"at" 要写成 2026-03-04T13:06:07+08:00 这样的时间')
