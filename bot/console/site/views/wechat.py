"""`/playground/wechat`: a phone before one of the played accounts, and how each message of it went.

Invariant: it acts and looks through the stages alone; an act is a form, and the page after it tells what came of it.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.console.site.site import Site
from bot.console.site.telling import Telling
from bot.console.site.views.knobs import text_of, turn
from bot.console.site.views.wechat_drawing import GO_ON, bubbles, strip
from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import AccountKey
from bot.playground.acting import LONGEST_NAME, CannotPlay
from bot.playground.playing import SLOWEST_SECONDS
from bot.playground.wechat_stage import WeChatStage
from bot.playground.wechat_state import Follower
from simulators.wechat.media import PICTURE

VIEW = "wechat"
HOME = "/playground/wechat"
STRIPS = 8
"""Of the newest messages: older ones have been looked at."""
TICK_SECONDS = 0.5
"""How often a bar that waits is drawn longer."""
LOOK_SECONDS = 1.5
LOOKING_SECONDS = 75.0
"""So often, and so long after the last change, the pages that wait are looked for: an answer that WeChat gave up on is
written all the same, and nothing is delivered then. As long as a model is waited for, and a little."""
FRAGMENTS = ("wechat_head.html", "wechat_held.html", "knobs_are.html")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What the view plays with."""

    stages: Mapping[str, WeChatStage]
    """By app_id."""
    has_model: bool
    """One is configured."""
    held: Callable[[AccountKey], Awaitable[int]]
    """How many pages wait for this person. Raises StoreUnavailable."""


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
        stage = self._stage(asked.get("account", ""))
        return await self._render(request, stage, asked.get("who", ""), typed=asked.get("typed", ""))

    async def events(self, request: Request) -> Response:
        asked = request.query_params
        stage = self._stage(asked.get("account", ""))
        return self._site.events(request, self._live(request, stage, asked.get("who", "")))

    def acting(self, act: "_Act") -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            form = await self._site.form(request)
            stage, who = self._stage(text_of(form, "account")), text_of(form, "who")
            try:
                who = await act(stage, who, form) or who
            except CannotPlay as refusal:
                problem = self._site.say(request, VIEW, f"cannot_{refusal}", most=LONGEST_NAME)
                typed = text_of(form, "text")
                return await self._render(request, stage, who, 422, problem, typed)
            # It sets out before the next page is drawn.
            await asyncio.sleep(0)
            return self._site.see(request, address(stage, who))

        return handle

    async def turn_knobs(self, request: Request) -> Response:
        form = await self._site.form(request)
        stage = self._stage(text_of(form, "account"))
        said = turn(self._site, request, VIEW, stage, form, has_model=self._bench.has_model)
        return self._site.see(request, address(stage, text_of(form, "who")), said)

    def _stage(self, app_id: str) -> WeChatStage:
        """The first one where none is named. Raises HTTPException (404)."""
        stages = self._bench.stages
        stage = stages.get(app_id) if app_id else next(iter(stages.values()), None)
        if stage is None:
            raise HTTPException(404)
        return stage

    async def _render(
        self,
        request: Request,
        stage: WeChatStage,
        who: str,
        status: int = 200,
        problem: str = "",
        typed: str = "",
    ) -> Response:
        """`typed`: what stands in the field, and was not said."""
        context = await self._context(stage, who)
        return self._site.render(
            request,
            "wechat.html",
            status=status,
            problem=problem,
            typed=typed,
            stages=[(each, address(each, who)) for each in self._bench.stages.values()],
            tabs=[(each, address(stage, each.name)) for each in context["account"].followers],
            has_model=self._bench.has_model,
            slowest=int(SLOWEST_SECONDS),
            longest_name=LONGEST_NAME,
            live=f"{HOME}/events?{_query(stage, context['follower'].name)}",
            **context,
        )

    async def _context(self, stage: WeChatStage, who: str) -> dict[str, Any]:
        """Of the page and of its fragments. Somebody unknown is the first follower."""
        account = stage.state()
        follower = next((each for each in account.followers if each.name == who), account.followers[0])
        messages = stage.messages(follower.name)
        newest = reversed(messages[-STRIPS:])
        return {
            "here": address(stage, follower.name),
            "account": account,
            "knobs": stage.knobs,
            "follower": follower,
            "bubbles": bubbles(messages, account.app_id),
            "strips": [strip(each, account.app_id, account.now) for each in newest],
            "go_on": GO_ON,
            "held": 0 if follower.is_busy else await self._held(account.app_id, follower),
        }

    async def _held(self, app_id: str, follower: Follower) -> int:
        key = AccountKey(channel="wechat", app_id=app_id, openid=follower.openid)
        try:
            return await self._bench.held(key)
        except StoreUnavailable:
            return 0

    async def _live(self, request: Request, stage: WeChatStage, who: str) -> AsyncIterator[tuple[str, str]]:
        telling = Telling(self._site, request)
        changed_at = asyncio.get_running_loop().time()
        while True:
            seen = stage.changes.count
            context = await self._context(stage, who)
            for html in _news(telling, context):
                yield "fragment", html
            is_moving = context["follower"].is_busy or context["follower"].is_typed_to
            is_looking = asyncio.get_running_loop().time() < changed_at + LOOKING_SECONDS
            seconds = TICK_SECONDS if is_moving else LOOK_SECONDS if is_looking else None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await stage.changes.after(seen)
                    changed_at = asyncio.get_running_loop().time()


def _news(telling: Telling, context: Mapping[str, Any]) -> Iterator[str]:
    is_following = context["follower"].is_following
    said = {each.id: (each, is_following) for each in context["bubbles"]}
    delivered = {str(each.message.number): (each,) for each in context["strips"]}
    parts = [
        *(telling.changed(name, context) for name in FRAGMENTS),
        telling.grown("wechat_chat.html", "wechat_bubble.html", said, context),
        telling.grown("wechat_strips.html", "wechat_strip.html", delivered, context),
    ]
    yield from filter(None, parts)


def address(stage: WeChatStage, who: str) -> str:
    return f"{HOME}?{_query(stage, who)}"


def _query(stage: WeChatStage, who: str) -> str:
    return urlencode({"account": stage.account.app_id, "who": who})


_Act = Callable[[WeChatStage, str, FormData], Awaitable[str | None]]
"""Who is looked at afterwards; None: the same one. Raises CannotPlay."""


async def _say(stage: WeChatStage, who: str, form: FormData) -> None:
    stage.say(who, text_of(form, "text"))


async def _voice(stage: WeChatStage, who: str, form: FormData) -> None:
    stage.voice(who, text_of(form, "text"))


async def _click(stage: WeChatStage, who: str, form: FormData) -> None:
    stage.click(who, text_of(form, "text"))


async def _tap(stage: WeChatStage, who: str, form: FormData) -> None:
    stage.tap(who, text_of(form, "label"))


async def _picture(stage: WeChatStage, who: str, form: FormData) -> None:
    """A browser sends an empty file where none was chosen."""
    file = form.get("picture")
    content = await file.read() if isinstance(file, UploadFile) else b""
    stage.picture(who, content or PICTURE)


async def _follow(stage: WeChatStage, who: str, form: FormData) -> str:
    return stage.follow(text_of(form, "name") or who)


async def _unfollow(stage: WeChatStage, who: str, form: FormData) -> None:
    stage.unfollow(who)


_ACTS: Mapping[str, _Act] = {
    "say": _say,
    "voice": _voice,
    "click": _click,
    "tap": _tap,
    "picture": _picture,
    "follow": _follow,
    "unfollow": _unfollow,
}
