"""Every view, in one place: what is registered here is served, and walked by the tests.

Invariant: no view is served that is not named here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute

from bot.console.site.shown import NameOf
from bot.console.site.site import Site
from bot.console.site.views import account, connect, memory, overview, qq, wechat, why


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What of the house the views ask, by view."""

    overview: overview.House
    connect: connect.Connections
    memory: memory.Desk
    name_of: NameOf
    qq: qq.Bench
    wechat: wechat.Bench
    why: why.Whys


def all_routes(site: Site, ports: Ports) -> Sequence[BaseRoute]:
    return [
        *account.routes(site),
        *overview.routes(site, ports.overview),
        *connect.routes(site, ports.connect),
        *memory.routes(site, ports.memory, ports.name_of),
        *qq.routes(site, ports.qq),
        *wechat.routes(site, ports.wechat),
        *why.routes(site, ports.why, ports.name_of),
    ]
