"""`/memory`: what is kept of the playground's people; corrected, forgotten and taken away there.

Invariant: of anybody else there is no such page; nothing is deleted that wasn't shown and confirmed just before.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode

from starlette.datastructures import FormData, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bot.console.site import shown
from bot.console.site.shown import NameOf, by_id
from bot.console.site.site import Site
from bot.console.site.views.memory_orders import read_order
from bot.conversation.message import AccountKey
from bot.memory.correcting import Corrected
from bot.memory.forget_request import Means
from bot.playground.kept import Player
from bot.playground.memory_desk import ForgetAsked, Meant, Receipt, Remembered, What
from identity.directory import stands_for_group

T = TypeVar("T")

VIEW = "memory"
MOST_SHOWN = 20
"""Of what is to be forgotten."""
LONGEST_TEXT = 500
"""Characters of a correction: a memory is one thing."""
_ASKED_BY = ("what", "place", "fact", "words", "since", "until", "at")


class Desk(Protocol):
    """See `bot.playground.memory_desk.MemoryDesk`. None: nobody of the playground."""

    def now(self) -> datetime: ...

    async def players(self) -> tuple[Player, ...]: ...

    async def groups(self) -> tuple[Player, ...]: ...

    async def remembered(self, key: AccountKey) -> Remembered | None: ...

    async def exported(self, key: AccountKey) -> Mapping[str, Any] | None: ...

    async def correct(self, key: AccountKey, fact: int, place: str, text: str) -> Corrected | None: ...

    async def meant(self, key: AccountKey, asked: ForgetAsked) -> Meant | None: ...

    async def forget(self, key: AccountKey, asked: ForgetAsked) -> Receipt | None: ...


class _Pages:
    def __init__(self, site: Site, desk: Desk, name_of: NameOf) -> None:
        self._site = site
        self._name_of = name_of
        self._desk = desk

    async def people(self, request: Request) -> Response:
        return self._site.render(
            request,
            "memory.html",
            status=200,
            players=await self._desk.players(),
            groups=await self._desk.groups(),
            of=page_of,
            name_of=self._names(request),
        )

    async def person(self, request: Request) -> Response:
        remembered = _found(await self._desk.remembered(_key_in(request.query_params)))
        key = remembered.account.key
        return self._site.render(
            request,
            "memory_person.html",
            status=200,
            remembered=remembered,
            key=key,
            export=f"/memory/export?{_query(key)}",
            is_group=stands_for_group(key),
            of=page_of,
            name_of=self._names(request),
            minute=shown.minute,
            minute_of_iso=shown.minute_of_iso,
            group_of=shown.group_of,
            longest=LONGEST_TEXT,
        )

    async def export(self, request: Request) -> Response:
        document = _found(await self._desk.exported(_key_in(request.query_params)))
        text = json.dumps(document, ensure_ascii=False, indent=1)
        name = f"jide-{document['person']}.json"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type="application/json", headers=headers)

    async def correct(self, request: Request) -> Response:
        form = await self._site.form(request)
        key, text = _key_in(form), _text(form, "text").strip()[:LONGEST_TEXT]
        corrected = _found(await self._desk.correct(key, _number(form, "fact"), _text(form, "place"), text))
        said = self._say(request, f"corrected_{corrected.outcome.value}")
        return self._site.see(request, page_of(key), said=said)

    async def ask(self, request: Request) -> Response:
        """What an order would delete, and the question whether it shall."""
        form = await self._site.form(request)
        key, asked = _key_in(form), read_order(form, self._desk.now())
        if asked is None:
            _found(await self._desk.remembered(key))
            return self._site.see(request, page_of(key), said=self._say(request, "not_understood"))
        meant = _found(await self._desk.meant(key, asked))
        found = meant.found
        is_part = bool(_text(form, "fragment"))
        fields = {name: _text(form, name) for name in _ASKED_BY} | {"at": asked.at.isoformat()}
        context: dict[str, Any] = {
            "key": key,
            "name_of": self._names(request),
            "is_group": stands_for_group(key),
            "asked": asked,
            "fields": fields,
            "facts": found.facts[:MOST_SHOWN],
            "count": meant.going.facts,
            "unlisted": max(0, len(found.facts) - MOST_SHOWN),
            "turns": meant.going.turns,
            "is_made": meant.going.has_made,
            "is_all": found.request.means is Means.ALL,
            "is_part": is_part,
            "back": page_of(key),
            "minute": shown.minute,
        }
        if is_part:
            return HTMLResponse(self._site.fragment(request, "memory_ask_part.html", **context))
        return self._site.render(request, "memory_ask.html", status=200, **context)

    async def forget(self, request: Request) -> Response:
        form = await self._site.form(request)
        key, asked = _key_in(form), read_order(form, self._desk.now())
        if asked is None or not _text(form, "at"):
            _found(await self._desk.remembered(key))
            return self._site.see(request, page_of(key), said=self._say(request, "not_understood"))
        receipt = _found(await self._desk.forget(key, asked))
        return self._site.see(request, page_of(key), said=self._told(request, asked, receipt))

    def _names(self, request: Request) -> NameOf:
        def name_of(key: AccountKey) -> str:
            if stands_for_group(key):
                return self._say(request, "group_memory", group=key.openid)
            return self._name_of(key)

        return name_of

    def _told(self, request: Request, asked: ForgetAsked, receipt: Receipt) -> str:
        removed = receipt.removed
        if receipt.is_nothing:
            return self._say(request, "forgot_nothing")
        key = "forgot_all" if asked.what is What.ALL else "forgot"
        told = [self._say(request, key, facts=removed.facts, turns=removed.turns, vectors=removed.vectors)]
        if removed.number:
            told.append(self._say(request, "receipt", number=removed.number))
        if receipt.is_window_left:
            told.append(self._say(request, "window_left"))
        return " ".join(told)

    def _say(self, request: Request, key: str, **values: object) -> str:
        return self._site.say(request, VIEW, key, **values)


def routes(site: Site, desk: Desk, name_of: NameOf = by_id) -> list[Route]:
    """`name_of`: who plays an account."""
    pages = _Pages(site, desk, name_of)
    return [
        Route("/memory", pages.people),
        Route("/memory/of", pages.person),
        Route("/memory/export", pages.export),
        Route("/memory/correct", pages.correct, methods=["POST"]),
        Route("/memory/ask", pages.ask, methods=["POST"]),
        Route("/memory/forget", pages.forget, methods=["POST"]),
    ]


def page_of(key: AccountKey) -> str:
    """The address of a person's page."""
    return f"/memory/of?{_query(key)}"


def _query(key: AccountKey) -> str:
    return urlencode({"channel": key.channel, "app_id": key.app_id, "name": key.openid})


def _key_in(given: FormData | QueryParams) -> AccountKey:
    return AccountKey(
        channel=_text(given, "channel"), app_id=_text(given, "app_id"), openid=_text(given, "name")
    )


def _text(given: FormData | QueryParams, name: str) -> str:
    value = given.get(name, "")
    return value if isinstance(value, str) else ""


def _number(form: FormData, name: str) -> int:
    """0 is no id."""
    value = _text(form, name)
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 19 else 0


def _found(what: T | None) -> T:
    if what is None:
        raise HTTPException(404)
    return what
