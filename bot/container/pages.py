"""The pages put together: the site, its views, and what of the house each may ask.

Invariant: a view gets the few things of the house that it names, never the house.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute

from bot.console.site.doorkeeper import Doorkeeper
from bot.console.site.site import Site
from bot.console.site.views.all import Ports, all_routes
from bot.console.site.views.connect import Connections
from bot.container.channels import SystemClock
from bot.container.house import House
from bot.container.playing import Playing
from bot.conversation.message import is_playground
from bot.health import Readiness
from bot.playground.why import Why
from bot.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """For `bot.console.pages.make_app`."""

    site: Site
    views: Sequence[BaseRoute]


class Overview:
    """`bot.console.site.views.overview.House`."""

    def __init__(self, house: House) -> None:
        self._watch, self._metrics = house.watch, house.metrics

    async def readiness(self) -> Readiness:
        return await self._watch.readiness()

    def answers_by_stage(self) -> Mapping[str, int]:
        return self._metrics.answers_by_stage()


class Whys:
    """`bot.console.site.views.why.Whys`."""

    def __init__(self, house: House) -> None:
        self._records, self._turnstile = house.whys, house.turnstile

    async def find(self, channel: str, app_id: str, key: str) -> Why | None:
        return await self._records.find(channel, app_id, key)

    def is_under_way(self, channel: str, app_id: str, key: str) -> bool:
        """Nothing is told of real people, not even that they wait."""
        return is_playground(app_id) and self._turnstile.is_under_way(channel, app_id, key)


def make_doorkeeper(settings: Settings) -> Doorkeeper | None:
    """None where there are no pages. Raises ConfigurationError: the file of the password is damaged."""
    return Doorkeeper(settings.data_folder, SystemClock()) if settings.has_playground else None


def make_pages(house: House, doorkeeper: Doorkeeper, connections: Connections, playing: Playing) -> Pages:
    site = Site(doorkeeper, house.stores.audit)
    ports = Ports(
        overview=Overview(house),
        connect=connections,
        memory=house.memory_desk,
        name_of=playing.name_of,
        qq=playing.qq_bench(house),
        wechat=playing.wechat_bench(house),
        why=Whys(house),
    )
    return Pages(site=site, views=all_routes(site, ports))
