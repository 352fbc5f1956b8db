"""`/playground/qq`: a group and private chats before a QQ client (OneBot) and before QQ's official bot.

Invariant: it acts and looks through the stages alone; an act is a form, and the page after it tells what came of it.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.console.site.site import Site
from bot.console.site.telling import Telling
from bot.console.site.views.knobs import text_of, turn
from bot.console.site.views.qq_drawing import bubbles
from bot.conversation.message import Role
from bot.playground.acting import LONGEST_NAME, CannotPlay
from bot.playground.playing import SLOWEST_SECONDS
from bot.playground.qq_stage import QQStage
from bot.playground.qq_state import Member, Place

VIEW = "qq"
HOME = "/playground/qq"
FRAGMENTS = ("qq_head.html", "knobs_are.html")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What the view plays with."""

    onebot: QQStage
    official: QQStage | None
    """None: a real bot is configured."""
    has_model: bool
    """One is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """One of the four things to choose from."""

    name: str
    stage: QQStage
    place: Place

    @property
    def is_group(self) -> bool:
        return self.place is Place.GROUP


_PLACES: Mapping[str, tuple[bool, Place]] = {
    "group": (False, Place.GROUP),
    "private": (False, Place.PRIVATE),
    "official-group": (True, Place.GROUP),
    "official-private": (True, Place.PRIVATE),
}
"""By name: whether it is the official bot's."""


def routes(site: Site, bench: Bench) -> list[Route]:
    view = _View(site, bench)
    return [
        Route(HOME, view.page),
        Route(f"{HOME}/events", view.events),
        *(Route(f"{HOME}/{name}", view.acting(act), methods=["POST"]) for name, act in _ACTS.items()),
        Route(f"{HOME}/knobs", view.turn_knobs, methods=["POST"]),
    ]


class _View:
    def __init__(self, site: Site, bench: Bench) -> None:
        self._site = site
        self._bench = bench

    async def page(self, request: Request) -> Response:
        asked = request.query_params
        name = asked.get("room", "") or next(iter(_PLACES))
        if name in _PLACES and _PLACES[name][0] and self._bench.official is None:
            return self._site.render(request, "qq_taken.html", rooms=_tabs("", name), room=name)
        who, quotes, typed = (asked.get(each, "") for each in ("who", "quotes", "typed"))
        return self._render(request, self._room(name), who, quotes=quotes, typed=typed)

    async def events(self, request: Request) -> Response:
        asked = request.query_params
        room = self._room(asked.get("room", ""))
        return self._site.events(request, self._live(request, room, asked.get("who", "")))

    def acting(self, act: "_Act") -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            form = await self._site.form(request)
            room, who = self._room(text_of(form, "room")), text_of(form, "who")
            try:
                who = act(room, who, form) or who
            except CannotPlay as refusal:
                problem = self._site.say(request, VIEW, f"cannot_{refusal}", most=LONGEST_NAME)
                quotes, typed = text_of(form, "quotes"), text_of(form, "text")
                return self._render(request, room, who, 422, problem, quotes, typed)
            # It sets out before the next page is drawn.
            await asyncio.sleep(0)
            return self._site.see(request, address(room.name, who))

        return handle

    async def turn_knobs(self, request: Request) -> Response:
        form = await self._site.form(request)
        room = self._room(text_of(form, "room"))
        said = turn(self._site, request, VIEW, room.stage, form, has_model=self._bench.has_model)
        return self._site.see(request, address(room.name, text_of(form, "who")), said)

    def _room(self, name: str) -> Room:
        """Raises HTTPException (404)."""
        is_official, place = _PLACES.get(name, (False, None))
        stage = self._bench.official if is_official else self._bench.onebot
        if place is None or stage is None:
            raise HTTPException(404)
        return Room(name=name, stage=stage, place=place)

    def _render(
        self,
        request: Request,
        room: Room,
        who: str,
        status: int = 200,
        problem: str = "",
        quotes: str = "",
        typed: str = "",
    ) -> Response:
        """`typed`: what stands in the field, and was not said."""
        context = self._context(room, who)
        member: Member = context["member"]
        quoting = next((each for each in context["bubbles"] if quotes and each.ref == quotes), None)
        return self._site.render(
            request,
            "qq.html",
            status=status,
            problem=problem,
            typed=typed,
            quoting=quoting,
            rooms=_tabs(member.name, room.name),
            tabs=[(each, address(room.name, each.name)) for each in context["group"].members],
            roles=[role.value for role in (Role.MEMBER, Role.ADMIN, Role.OWNER)],
            has_model=self._bench.has_model,
            slowest=int(SLOWEST_SECONDS),
            longest_name=LONGEST_NAME,
            live=f"{HOME}/events?{_query(room.name, member.name)}",
            **context,
        )

    def _context(self, room: Room, who: str) -> dict[str, Any]:
        """Of the page and of its fragments. Somebody unknown is the first member."""
        members = room.stage.state(room.place, who).members
        member = next((each for each in members if each.name == who), members[0])
        group = room.stage.state(room.place, member.name)
        drawn = bubbles(group.lines, room.stage.channel, room.stage.app_id, member.name)
        return {
            "here": address(room.name, member.name),
            "room": room,
            "knobs": room.stage.knobs,
            "group": group,
            "member": member,
            "bubbles": drawn,
            "quote": f"{address(room.name, member.name)}&quotes=",
        }

    async def _live(self, request: Request, room: Room, who: str) -> AsyncIterator[tuple[str, str]]:
        telling, changes = Telling(self._site, request), room.stage.changes
        while True:
            seen = changes.count
            context = self._context(room, who)
            said = {each.id: (each,) for each in context["bubbles"]}
            parts = [
                *(telling.changed(name, context) for name in FRAGMENTS),
                telling.grown("qq_chat.html", "qq_bubble.html", said, context),
            ]
            for html in filter(None, parts):
                yield "fragment", html
            await changes.after(seen)


def address(room: str, who: str) -> str:
    return f"{HOME}?{_query(room, who)}"


def _query(room: str, who: str) -> str:
    return urlencode({"room": room, "who": who})


def _tabs(who: str, current: str) -> list[tuple[str, str, bool]]:
    """(name, address, whether it is the one shown) of all that can be chosen."""
    return [(name, address(name, who), name == current) for name in _PLACES]


_Act = Callable[[Room, str, FormData], str | None]
"""Who is looked at afterwards; None: the same one. Raises CannotPlay."""


def _say(room: Room, who: str, form: FormData) -> None:
    at_bot = bool(text_of(form, "at_bot"))
    room.stage.say(room.place, who, text_of(form, "text"), at_bot=at_bot, quotes=text_of(form, "quotes"))


def _join(room: Room, who: str, form: FormData) -> str:
    return room.stage.join(text_of(form, "name") or who, _role(form), text_of(form, "card"))


def _leave(room: Room, who: str, form: FormData) -> None:
    room.stage.leave(who)


def _describe(room: Room, who: str, form: FormData) -> None:
    room.stage.describe(who, _role(form), text_of(form, "card"))


def _befriend(room: Room, who: str, form: FormData) -> None:
    room.stage.befriend(who)


def _mute(room: Room, who: str, form: FormData) -> None:
    room.stage.mute(is_muted=bool(text_of(form, "is_muted")))


def _bring(room: Room, who: str, form: FormData) -> None:
    room.stage.bring(is_here=bool(text_of(form, "is_here")))


def _role(form: FormData) -> Role:
    with contextlib.suppress(ValueError):
        return Role(text_of(form, "role"))
    return Role.MEMBER


_ACTS: Mapping[str, _Act] = {
    "say": _say,
    "join": _join,
    "leave": _leave,
    "describe": _describe,
    "befriend": _befriend,
    "mute": _mute,
    "bring": _bring,
}
