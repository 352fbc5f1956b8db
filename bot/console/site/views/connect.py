"""`/connect` and what is under it: the platforms and the model, each with its steps and its light.

Invariant: nothing here changes what runs; what is saved counts from the next start.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.connecting.arrivals import Arrivals
from bot.console.site.site import Site
from bot.console.site.views.connect_lights import LULL_SECONDS, Lights
from bot.console.site.views.connect_model import ModelPages
from bot.console.site.views.connect_ports import House, MadeSecrets, typed
from bot.console.site.views.connect_qq import QqPages
from bot.console.site.views.connect_wechat import WeChatPages


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """What the pages ask of the house."""

    house: House
    arrivals: Arrivals


def routes(
    site: Site,
    connections: Connections,
    lull_seconds: float = LULL_SECONDS,
    monotonic: Callable[[], float] = time.monotonic,
) -> list[Route]:
    house, arrivals = connections.house, connections.arrivals
    lights = Lights(site, house, arrivals, lull_seconds)
    made = MadeSecrets(monotonic)

    async def overview(request: Request) -> Response:
        made.shown(request, "")
        return site.render(request, "connect.html", lights=await lights.all())

    async def copied(request: Request) -> Response:
        form = await site.form(request)
        channel = request.path_params["channel"]
        if channel not in lights.channels:
            raise HTTPException(404)
        made.copied(request)
        address = typed(form, "address")
        query = f"?{urlencode({'address': address})}" if address else ""
        return site.see(request, f"/connect/{channel}{query}")

    return [
        Route("/connect", overview),
        Route("/connect/events", lights.events),
        Route("/connect/events/{channel}", lights.events),
        Route("/connect/{channel}/copied", copied, methods=["POST"]),
        *WeChatPages(site, house, lights, made).routes,
        *QqPages(site, house, lights, arrivals, made).routes,
        *ModelPages(site, house, lights, made).routes,
    ]
