"""Let the browser of a container's host reach the console, which listens on 127.0.0.1 inside the container alone.

Run in the container by whoever sits at its host: `docker compose exec jide python source/deploy/open_console.py`.
compose.yaml publishes PORT on the host's 127.0.0.1 and nothing listens there but this, while it runs.
Invariant: a neighbour of the container, another one on its network, is never let in; nothing stays open for ever.
"""

import asyncio
import contextlib
import sys
from collections.abc import Coroutine
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, ip_address
from pathlib import Path

from bot.conversation.errors import ConfigurationError
from bot.settings_source import read_settings

PORT = 8082
"""Of the container, as compose.yaml publishes it."""
HOURS = 12
"""As long as a session: a terminal that is closed may leave this running."""
CHUNK_BYTES = 64 * 1024
ROUTES = Path("/proc/net/route")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The networks of this container, and where its host is on them."""

    networks: tuple[IPv4Network, ...] = ()
    gateways: frozenset[IPv4Address] = frozenset()

    def is_neighbour(self, address: str) -> bool:
        """Another container. The host comes from a gateway, or from no network of ours."""
        peer = ip_address(address)
        return peer not in self.gateways and any(peer in network for network in self.networks)


def read_surroundings(table: str) -> Surroundings:
    """`table`: what the kernel has in /proc/net/route; addresses there are little-endian."""
    networks: list[IPv4Network] = []
    gateways: set[IPv4Address] = set()
    for line in table.splitlines()[1:]:
        _, destination, gateway, _, _, _, _, mask, *_ = line.split()
        if int(gateway, 16):
            gateways.add(_address(gateway))
        elif int(mask, 16):
            networks.append(IPv4Network((int(_address(destination)), str(_address(mask)))))
    return Surroundings(networks=tuple(networks), gateways=frozenset(gateways))


def _address(written: str) -> IPv4Address:
    return IPv4Address(bytes.fromhex(written)[::-1])


async def relay(surroundings: Surroundings, console_port: int, host: str, port: int) -> asyncio.Server:
    """Listening; each connection goes on to the console as it comes."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            peer = writer.get_extra_info("peername")[0]
            if surroundings.is_neighbour(peer):
                _tell(f"没有放进来：{peer} 不是这台机器，是旁边的容器")
                return
            with contextlib.suppress(OSError):
                inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", console_port)
                with contextlib.closing(inner_writer):
                    await _both_ways(_pump(reader, inner_writer), _pump(inner_reader, writer))

    return await asyncio.start_server(connected, host, port)


async def _both_ways(*pumps: Coroutine[None, None, None]) -> None:
    """Until one side is done."""
    tasks = [asyncio.create_task(each) for each in pumps]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(CHUNK_BYTES):
        writer.write(chunk)
        await writer.drain()


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def _run(surroundings: Surroundings, console_port: int) -> None:
    async with await relay(surroundings, console_port, "0.0.0.0", PORT):  # noqa: S104
        _tell(
            "现在可以在这台机器的浏览器里打开 http://127.0.0.1:8081\n"
            "还没有设过密码的话，打开 docker compose logs jide 里带 setup 的那个网址。\n"
            f"按 Ctrl+C 关上；{HOURS} 小时后自己关上。"
        )
        await asyncio.sleep(HOURS * 3_600)


def main() -> int:
    try:
        settings = read_settings()
    except ConfigurationError as error:
        _tell(str(error))
        return 1
    if not settings.console_port:
        _tell("CONSOLE__PORT 是 0，没有控制台")
        return 1
    try:
        asyncio.run(_run(read_surroundings(ROUTES.read_text("ascii")), settings.console_port))
    except KeyboardInterrupt:
        _tell("关上了")
    except OSError as error:
        _tell(f"打不开容器的端口 {PORT}（{error.strerror}）：是不是已经开着了？")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
