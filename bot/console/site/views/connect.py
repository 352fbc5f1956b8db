"""`/connect` and what is under it: the platforms and the model, each with its steps and its light.

Invariant: nothing here changes what runs; what is saved counts from the next start.
"""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.connecting.arrivals import Arrivals
from bot.console.site.site import Site
from bot.console.site.views.connect_lights import LULL_SECONDS, Lights
from bot.console.site.views.connect_model import ModelPages
from bot.console.site.views.connect_ports import House
from bot.console.site.views.connect_qq import QqPages
from bot.console.site.views.connect_wechat import WeChatPages


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """What the pages ask of the house."""

    house: House
    arrivals: Arrivals


def routes(site: Site, connections: Connections, lull_seconds: float = LULL_SECONDS) -> list[Route]:
    house, arrivals = connections.house, connections.arrivals
    lights = Lights(site, house, arrivals, lull_seconds)

    async def overview(request: Request) -> Response:
        return site.render(request, "connect.html", lights=await lights.all())

    return [
        Route("/connect", overview),
        Route("/connect/events", lights.events),
        Route("/connect/events/{channel}", lights.events),
        *WeChatPages(site, house, lights).routes,
        *QqPages(site, house, lights, arrivals).routes,
        *ModelPages(site, house, lights).routes,
    ]
