"""`/`: what the bot is and how it is, what to try first, what it answered since it started.

Invariant: it only looks; nothing on it is of a person.
"""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.console.site.chart import bars
from bot.console.site.site import Site
from bot.health import Finding, Readiness

VIEW = "overview"
STEPS = (
    ("chat", "/playground/wechat"),
    ("group", "/playground/qq"),
    ("memory", "/memory"),
    ("connect", "/connect"),
)


class House(Protocol):
    """What the page shows of it."""

    async def readiness(self) -> Readiness: ...

    def answers_by_stage(self) -> Mapping[str, int]:
        """Deciding stage → messages since the start."""
        ...


def routes(site: Site, house: House) -> list[Route]:
    async def overview(request: Request) -> Response:
        readiness = await house.readiness()
        counts = sorted(house.answers_by_stage().items(), key=lambda each: -each[1])
        answers = {_named(site, request, "stage", stage): count for stage, count in counts if count}
        drawn = await asyncio.to_thread(bars, answers, site.say(request, VIEW, "answers")) if answers else ""
        return site.render(
            request,
            "overview.html",
            readiness=readiness.status,
            checks=[
                (_named(site, request, "check", name), finding, _said(site, request, finding))
                for name, finding in readiness.findings.items()
            ],
            steps=STEPS,
            answers=answers,
            chart=drawn,
        )

    return [Route("/", overview)]


def _said(site: Site, request: Request, finding: Finding) -> str:
    """In the reader's language; "" where it has no words for the detail."""
    key = f"found_{finding.said}"
    return site.say(request, VIEW, key, **finding.values) if site.words.has(VIEW, key) else ""


def _named(site: Site, request: Request, kind: str, name: str) -> str:
    """A check or a stage that is new here is called by its name."""
    key = f"{kind}_{name}"
    return site.say(request, VIEW, key) if site.words.has(VIEW, key) else name
