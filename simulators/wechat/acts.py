"""What each word of a scenario makes a person do.

Invariant: every action that is somebody's is here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from .deliveries import Schedule
from .media import PICTURE
from .posts import PLACE
from .records import Seen
from .script import Action
from .server import WeChatServer

Argument: TypeAlias = Mapping[str, str]
Act: TypeAlias = Callable[[WeChatServer, str, Argument, Schedule | None], Awaitable[Seen]]


def _place(argument: Argument) -> dict[str, float]:
    return {name: float(argument[name]) for name in ("latitude", "longitude") if name in argument}


async def _image(wechat: WeChatServer, openid: str, argument: Argument, schedule: Schedule | None) -> Seen:
    content = PICTURE
    if "file" in argument:
        content = await asyncio.to_thread(Path(argument["file"]).read_bytes)
    return await wechat.image(openid, content=content, schedule=schedule)


async def _location(wechat: WeChatServer, openid: str, argument: Argument, schedule: Schedule | None) -> Seen:
    label = argument.get("label", PLACE)
    return await wechat.location(openid, **_place(argument), label=label, schedule=schedule)


ACTS: Mapping[Action, Act] = {
    Action.SAY: lambda w, o, a, s: w.say(o, a["text"], menu_id=a.get("menu", ""), schedule=s),
    Action.TAP: lambda w, o, a, s: w.tap(o, a["text"], schedule=s),
    Action.VOICE: lambda w, o, a, s: w.voice(o, a["text"], schedule=s),
    Action.IMAGE: _image,
    Action.VIDEO: lambda w, o, _, s: w.video(o, schedule=s),
    Action.SHORTVIDEO: lambda w, o, _, s: w.video(o, is_short=True, schedule=s),
    Action.LOCATION: _location,
    Action.LINK: lambda w, o, a, s: w.link(o, **a, schedule=s),
    Action.UNSUPPORTED: lambda w, o, _, s: w.unsupported(o, schedule=s),
    Action.FOLLOW: lambda w, o, a, s: w.follow(o, **a, schedule=s),
    Action.UNFOLLOW: lambda w, o, _, s: w.unfollow(o, schedule=s),
    Action.SCAN: lambda w, o, a, s: w.scan(o, a["text"], schedule=s),
    Action.REPORT_LOCATION: lambda w, o, a, s: w.report_location(o, **_place(a), schedule=s),
    Action.CLICK: lambda w, o, a, s: w.click(o, a["text"], schedule=s),
    Action.VIEW: lambda w, o, a, s: w.view(o, a["text"], schedule=s),
    Action.TEMPLATE_SENT: lambda w, o, a, s: w.template_sent(o, status=a["text"], schedule=s),
    Action.AUTHORIZATION: lambda w, o, a, s: w.authorization(o, a["text"], schedule=s),
}
