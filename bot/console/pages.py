"""`/readyz`, `/healthz/memory` and `/metrics`: for monitors on this machine; and the door for a mini-program's phones.

Invariant: nothing is answered to a request for another host's name: a web page that has its name point to
127.0.0.1 could else read what is here.
"""

from typing import Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.console.phone_door import PhoneDoor
from bot.conversation.errors import StoreUnavailable
from bot.health import Readiness

HOSTS = ["127.0.0.1", "localhost"]
PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8"
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Watch(Protocol):
    """What the pages show."""

    async def readiness(self) -> Readiness: ...

    async def memory(self) -> dict[str, object]:
        """Raises StoreUnavailable."""
        ...

    async def exposition(self) -> bytes: ...


def make_app(watch: Watch, phone_door: PhoneDoor | None = None) -> Starlette:
    """The application of the second server. `phone_door` None: no such address."""

    async def readyz(_: Request) -> Response:
        """503 only when unready: what is degraded still answers people."""
        readiness = await watch.readiness()
        checks = {
            name: {"status": finding.verdict.value, "detail": finding.detail}
            for name, finding in readiness.findings.items()
        }
        status = 503 if readiness.status == "unready" else 200
        return _json({"status": readiness.status, "checks": checks}, status)

    async def memory(_: Request) -> Response:
        try:
            return _json(await watch.memory(), 200)
        except StoreUnavailable:
            return _json({"error": "数据库没有回答"}, 503)

    async def metrics(_: Request) -> Response:
        return Response(await watch.exposition(), headers=_HEADERS, media_type=PROMETHEUS_TEXT)

    return Starlette(
        routes=[
            Route("/readyz", readyz),
            Route("/healthz/memory", memory),
            Route("/metrics", metrics),
            *([phone_door.route] if phone_door is not None else []),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False)],
    )


def _json(content: object, status: int) -> Response:
    return JSONResponse(content, status, headers=_HEADERS)
