"""`/readyz`, `/healthz/memory` and `/metrics`, for monitors on this machine, whatever route the house adds, and the site.

Invariant: nothing is answered to a request for another host's name: a web page that has its name point to
127.0.0.1 could else read what is here. No route of the site is served without its guard.
"""

from collections.abc import Sequence
from typing import Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bot.console.answering import HEADERS, as_json
from bot.console.site.faults import fault_handlers
from bot.console.site.guard import Guard
from bot.console.site.shields import Shields
from bot.console.site.site import Site
from bot.conversation.errors import StoreUnavailable
from bot.health import Readiness

HOSTS = ["127.0.0.1", "localhost"]
PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Watch(Protocol):
    """What the pages show."""

    async def readiness(self) -> Readiness: ...

    async def memory(self) -> dict[str, object]:
        """Raises StoreUnavailable."""
        ...

    async def exposition(self) -> bytes: ...


def make_app(
    watch: Watch, more: Sequence[Route] = (), site: Site | None = None, views: Sequence[BaseRoute] = ()
) -> Starlette:
    """The application of the second server.

    `more`: routes that see to their own authentication. `views`: those of the site, behind its guard.
    """

    async def readyz(_: Request) -> Response:
        """503 only when unready: what is degraded still answers people."""
        readiness = await watch.readiness()
        checks = {
            name: {"status": finding.verdict.value, "detail": finding.detail}
            for name, finding in readiness.findings.items()
        }
        status = 503 if readiness.status == "unready" else 200
        return as_json({"status": readiness.status, "checks": checks}, status)

    async def memory(_: Request) -> Response:
        try:
            return as_json(await watch.memory(), 200)
        except StoreUnavailable:
            return as_json({"error": "数据库没有回答"}, 503)

    async def metrics(_: Request) -> Response:
        return Response(await watch.exposition(), headers=HEADERS, media_type=PROMETHEUS_TEXT)

    open_routes = [
        Route("/readyz", readyz),
        Route("/healthz/memory", memory),
        Route("/metrics", metrics),
        *more,
    ]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False)
    if site is None:
        return Starlette(routes=open_routes, middleware=[hosts])
    app = Starlette(
        routes=[*open_routes, site.static.route, *views],
        middleware=[
            Middleware(Shields),
            hosts,
            Middleware(Guard, site=site, open_paths=[route.path for route in open_routes]),
        ],
        exception_handlers=fault_handlers(site),
    )
    # Another spelling of an address is none: the guard knows addresses as they are written.
    app.router.redirect_slashes = False
    return app
