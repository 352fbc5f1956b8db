"""How each platform stands, as a light with a sentence, and its changes as they happen.

Invariant: it only looks.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from bot.connecting.arrivals import ANYONE, Arrival, Arrivals
from bot.console.site.site import Site
from bot.console.site.views.connect_ports import House

LULL_SECONDS = 1.0
"""Between two tellings: strangers knocking at a door must not keep a page busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Light:
    """Its words are `light_` + `said`."""

    channel: str
    shade: str
    """ok, degraded, unready or off."""
    said: str
    values: dict[str, str] = field(default_factory=dict[str, str])


class Lights:
    def __init__(
        self, site: Site, house: House, arrivals: Arrivals, lull_seconds: float = LULL_SECONDS
    ) -> None:
        self._site = site
        self._house = house
        self._arrivals = arrivals
        self._lull_seconds = lull_seconds
        self._lookers: dict[str, Callable[[], Awaitable[Light]]] = {
            "wechat": self._wechat,
            "onebot": self._onebot,
            "qq": self._qq,
            "model": self._model,
        }

    @property
    def channels(self) -> Collection[str]:
        return self._lookers.keys()

    async def of(self, channel: str) -> Light:
        return await self._lookers[channel]()

    async def all(self) -> dict[str, Light]:
        return {channel: await look() for channel, look in self._lookers.items()}

    async def events(self, request: Request) -> Response:
        """Of one channel, or of all."""
        channel = request.path_params.get("channel")
        if channel is not None and channel not in self._lookers:
            raise HTTPException(404)
        return self._site.events(request, self._told(request, channel))

    async def _told(self, request: Request, channel: str | None) -> AsyncIterator[tuple[str, str]]:
        told: dict[str, str] = {}
        async for _ in self._arrivals.changes():
            lights = await self.all() if channel is None else {channel: await self.of(channel)}
            shown = {
                name: self._site.fragment(request, "connect_light.html", light=light)
                for name, light in lights.items()
            }
            if changed := "".join(text for name, text in shown.items() if told.get(name) != text):
                told |= shown
                yield "fragment", changed
            await asyncio.sleep(self._lull_seconds)

    async def _wechat(self) -> Light:
        found = await self._house.wechat()
        if not found.is_set:
            return Light(channel="wechat", shade="off", said="wechat_off")
        if found.needs_restart:
            return _restart("wechat")
        arrival = self._arrivals.at("wechat", found.app_id)
        return _by_arrival("wechat", arrival)

    async def _onebot(self) -> Light:
        connected = self._arrivals.connected("onebot")
        found = await self._house.onebot()
        if connected:
            return Light(
                channel="onebot", shade="ok", said="onebot_ok", values={"numbers": "、".join(connected)}
            )
        if found.needs_restart:
            return _restart("onebot")
        if not found.has_token:
            return Light(channel="onebot", shade="off", said="onebot_off")
        refused = self._arrivals.at("onebot", ANYONE).refused_at
        return _refused("onebot", refused) if refused else _waiting("onebot")

    async def _qq(self) -> Light:
        found = await self._house.qq()
        if not found.is_set:
            return Light(channel="qq", shade="off", said="qq_off")
        if found.needs_restart:
            return _restart("qq")
        arrival = self._arrivals.at("qq", found.app_id)
        refused = self._arrivals.at("qq", ANYONE).refused_at
        if arrival.proven_at is None and refused is not None:
            return _refused("qq", refused)
        return _by_arrival("qq", arrival)

    async def _model(self) -> Light:
        found = await self._house.model()
        if not found.is_set:
            return Light(channel="model", shade="off", said="model_off")
        if found.needs_restart:
            return _restart("model")
        return Light(channel="model", shade="ok", said="model_ok", values={"model": found.model})


def _by_arrival(channel: str, arrival: Arrival) -> Light:
    if arrival.refused_at is not None:
        return _refused(channel, arrival.refused_at)
    if arrival.proven_at is None:
        return _waiting(channel)
    return Light(channel=channel, shade="ok", said=f"{channel}_ok", values={"time": _time(arrival.proven_at)})


def _refused(channel: str, at: datetime) -> Light:
    return Light(channel=channel, shade="unready", said=f"{channel}_refused", values={"time": _time(at)})


def _waiting(channel: str) -> Light:
    return Light(channel=channel, shade="degraded", said=f"{channel}_waiting")


def _restart(channel: str) -> Light:
    return Light(channel=channel, shade="degraded", said="restart")


def _time(at: datetime) -> str:
    """The machine's: the operator sits before it."""
    return f"{at.astimezone():%m-%d %H:%M:%S}"
