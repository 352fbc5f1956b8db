"""`/playground/why/…`: why a message of the playground was answered so; as a page, or as a part for a dialog.

Invariant: it only looks; what a person said stands there as text.
"""

from typing import Protocol

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bot.answering.span import shown_span
from bot.console.site import shown
from bot.console.site.chart import one_after_another
from bot.console.site.shown import NameOf, by_id
from bot.console.site.site import Site
from bot.playground.why import Why

VIEW = "why"
LEAST_SHOWN_MS = 0.5
"""What took less is in the table alone."""


class Whys(Protocol):
    async def find(self, channel: str, app_id: str, key: str) -> Why | None:
        """None: never recorded, or gone. Raises StoreUnavailable."""
        ...

    def is_under_way(self, channel: str, app_id: str, key: str) -> bool:
        """It is not answered yet."""
        ...


def routes(site: Site, whys: Whys, name_of: NameOf = by_id) -> list[Route]:
    """`name_of`: who plays an account."""

    async def why(request: Request) -> Response:
        asked = request.path_params
        name = (asked["channel"], asked["app_id"], asked["key"])
        # Asked first: it may be answered while the record is looked for.
        is_under_way = whys.is_under_way(*name)
        record = await whys.find(*name)
        is_fragment = bool(request.query_params.get("fragment"))
        if record is None:
            kind, status = ("under_way", 200) if is_under_way else ("gone", 404)
            if is_fragment:
                return HTMLResponse(site.fragment(request, "why_gone_part.html", kind=kind), status)
            return site.render(request, "why_gone.html", status=status, kind=kind)
        context = await anyio.to_thread.run_sync(_context, site, request, record)
        context["name_of"] = name_of
        if is_fragment:
            return HTMLResponse(site.fragment(request, "why_part.html", **context))
        return site.render(request, "why.html", status=200, **context)

    return [Route("/playground/why/{channel}/{app_id}/{key:path}", why)]


def _context(site: Site, request: Request, record: Why) -> dict[str, object]:
    steps = {_named(site, request, "step", name): took for name, took in record.milliseconds.items()}
    rest = record.total_milliseconds - sum(steps.values())
    drawn = {name: took for name, took in steps.items() if took >= LEAST_SHOWN_MS}
    found = record.found
    asked = found.question.asked if found is not None else None
    return {
        "record": record,
        "found": found,
        "decided": _named(site, request, "decided", record.decided_by),
        "steps": steps,
        "rest": max(rest, 0.0),
        "chart": one_after_another(drawn, site.say(request, VIEW, "steps_drawn")) if drawn else "",
        "window": shown_span(asked.window) if asked is not None and asked.window is not None else "",
        "minute": shown.minute,
        "score": shown.score,
        "group_of": shown.group_of,
    }


def _named(site: Site, request: Request, kind: str, name: str) -> str:
    """A stage that is new here is called by its name."""
    key = f"{kind}_{name}"
    return site.say(request, VIEW, key) if site.words.has(VIEW, key) else name
