"""What one WeChat message costs at the door: CPU from the posted XML to the reply's XML, beside three peers.

    make bench-webhook

Invariant: all doors run in this process, in turn, behind the same log, with the same messages, and each
answers with what it heard; a reply that doesn't say it ends the run.
"""

import asyncio
import importlib.util
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from urllib.parse import urlencode

from benchmarks.asgi import post
from benchmarks.report import Figure, publish
from benchmarks.webhook.doors import AES_KEY, FLOOR, TOKEN, Door, bare, bare_route, ours, wxmp
from bot.logs import configure_logs
from simulators.wechat import WeChatServer

ORIGINAL_ID = "gh_simulated"
ROUNDS = 7
A_ROUND = 300
WARMING = 100
GOAL_MS = 2.5
GOAL_ABOVE_FLOOR_MS = 1.0
PEERS = ("nonebot", "fastapi", "wechatpy", "nonebot.adapters.wxmp")
SAYING = "第 {0} 个问题：我上周三买的那件蓝色外套，换成大一号还来得及吗？"


def make_posts(door: Door, numbers: Sequence[int]) -> list[tuple[bytes, bytes]]:
    server = WeChatServer("http://bot.test", TOKEN, door.app_id, door.aes_key, original_id=ORIGINAL_ID)
    made: list[tuple[bytes, bytes]] = []
    for number in numbers:
        xml = server.xml(f"o{number % 50}", "text", {"Content": SAYING.format(number)}, 10**9 + number)
        query, body = server.post(xml)
        made.append((urlencode(query).encode(), body))
    return made


async def pass_through(door: Door, wanted: Sequence[tuple[bytes, bytes]]) -> float:
    """CPU milliseconds a message."""
    began = time.process_time()
    for query, body in wanted:
        answer = await post(door.app, door.path, query, body)
        expected = b"<Encrypt>" if door.aes_key else "蓝色外套".encode()
        if door.is_echo and expected not in answer:
            raise RuntimeError(f"{door.name} did not answer but {answer[:200]!r}")
    return (time.process_time() - began) * 1000 / len(wanted)


async def measure(doors: Sequence[Door], progress: Callable[[], None]) -> None:
    from nonebot.internal.matcher import matchers

    numbers = itertools.count()
    kept = matchers.provider
    for round_number in range(-1, ROUNDS):
        for door in doors:
            count = WARMING if round_number < 0 else A_ROUND
            wanted = make_posts(door, [next(numbers) for _ in range(count)])
            matchers.provider = door.uses or kept
            spent = await pass_through(door, wanted)
            if round_number >= 0:
                door.cpu_ms.append(spent)
            progress()
    matchers.provider = kept


def figures(doors: Sequence[Door]) -> list[Figure]:
    spent = {door.name: round(statistics.median(door.cpu_ms), 3) for door in doors}
    base = spent[FLOOR]
    what = f"处理器时间，{ROUNDS} 轮各 {A_ROUND} 条的中位数；同一进程里轮流，一次一条"
    found: list[Figure] = []
    for name in ("记得，明文", "记得，AES"):
        peers = {peer: value for peer, value in spent.items() if not peer.startswith("记得")}
        above = statistics.median(
            one - other for one, other in zip(_of(doors, name).cpu_ms, _of(doors, FLOOR).cpu_ms, strict=True)
        )
        found += [
            Figure(
                measure=f"{name}：一条消息",
                value=spent[name],
                unit="毫秒",
                goal=f"≤ {GOAL_MS:g}",
                holds=spent[name] <= GOAL_MS,
                peer=peers,
                includes=f"验签、解密、解析、Message、NoneBot 的 matcher、回复的 XML 和加密；{what}",
            ),
            Figure(
                measure=f"{name}：比 NoneBot 的底多",
                value=round(above, 3),
                unit="毫秒",
                goal=f"≤ {GOAL_ABOVE_FLOOR_MS:g}",
                holds=above <= GOAL_ABOVE_FLOOR_MS,
                peer={FLOOR: base},
                includes=f"底：一个路由、一个空事件、一个什么都不做的 matcher；{what}",
            ),
        ]
    return found


def _of(doors: Sequence[Door], name: str) -> Door:
    return next(door for door in doors if door.name == name)


async def run(progress: Callable[[], None]) -> list[Figure]:
    async with AsyncExitStack() as open_doors:
        doors = [
            await open_doors.enter_async_context(door)
            for door in (ours(""), ours(AES_KEY), bare(), bare_route(""), bare_route(AES_KEY), wxmp())
        ]
        await measure(doors, progress)
    return figures(doors)


def main() -> int:
    def is_missing(name: str) -> bool:
        try:
            return importlib.util.find_spec(name) is None
        except ModuleNotFoundError:
            return True

    if missing := [name for name in PEERS if is_missing(name)]:
        sys.stderr.write(f"没有安装：{'、'.join(missing)}。用 make bench-webhook 运行，会装好。\n")
        return 1
    import nonebot
    from rich.progress import Progress

    os.chdir(tempfile.mkdtemp(prefix="jide-bench-"))
    nonebot.init(
        _env_file=(os.devnull,),
        driver="~fastapi+~httpx",
        wxmp_bots=[{"appid": "wxpeer", "token": TOKEN, "secret": "s", "type": "official"}],
    )
    configure_logs("INFO", ())
    with Progress() as bar:
        task = bar.add_task("一条消息的处理器时间", total=6 * (ROUNDS + 1))
        found = asyncio.run(run(lambda: bar.advance(task)))
    return publish("webhook", found)


if __name__ == "__main__":
    sys.exit(main())
