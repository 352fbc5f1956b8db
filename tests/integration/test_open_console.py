"""The door of a container to the console inside it: who is let in, and that what is said comes through."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
TABLE = """Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010012AC\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000012AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
"""
"""Of a container on 172.18.0.0/16, whose host is 172.18.0.1."""


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("open_console", ROOT / "deploy" / "open_console.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


door = _load()


@pytest.mark.parametrize(
    ("peer", "is_neighbour"),
    [
        ("172.18.0.1", False),
        ("172.18.0.3", True),
        ("172.18.255.254", True),
        ("172.19.0.3", False),
        ("192.168.65.1", False),
        ("127.0.0.1", False),
    ],
)
def test_the_host_is_let_in_and_no_neighbour(peer: str, is_neighbour: bool) -> None:
    assert door.read_surroundings(TABLE).is_neighbour(peer) is is_neighbour


@asynccontextmanager
async def opened(surroundings: object) -> AsyncIterator[int]:
    """Before a console that says back what it is told, until a line says that it is done."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (line := await reader.readline()) and line != b"bye\n":
            writer.write(line)
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(echo, "127.0.0.1", 0, limit=2**20) as console:
        inner = console.sockets[0].getsockname()[1]
        async with await door.relay(surroundings, inner, "127.0.0.1", 0) as outer:
            yield outer.sockets[0].getsockname()[1]


@pytest.mark.parametrize("ended_by", ["console", "browser"])
async def test_what_is_said_comes_through_until_one_side_is_done(ended_by: str) -> None:
    async with asyncio.timeout(20), opened(door.Surroundings()) as port:
        talks = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for number, (reader, writer) in enumerate(talks):
            long = b"%d" % number * 300_000 + b"\n"
            writer.write(long)
            assert await reader.readexactly(len(long)) == long
        for reader, writer in talks:
            if ended_by == "console":
                writer.write(b"bye\n")
            else:
                writer.write_eof()
            assert await reader.read() == b""
            writer.close()


async def test_a_neighbour_hears_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    loopback = door.read_surroundings(TABLE.replace("12AC", "007F").replace("0100007F", "0900007F"))
    async with asyncio.timeout(20), opened(loopback) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()
    assert "127.0.0.1 不是这台机器" in capsys.readouterr().out


async def test_a_console_that_is_away_ends_the_connection() -> None:
    async with asyncio.timeout(20):
        async with await asyncio.start_server(lambda *_: None, "127.0.0.1", 0) as gone:
            port = gone.sockets[0].getsockname()[1]
        async with await door.relay(door.Surroundings(), port, "127.0.0.1", 0) as outer:
            address = outer.sockets[0].getsockname()
            reader, writer = await asyncio.open_connection(*address)
            assert await reader.read() == b""
            writer.close()


def test_the_door_leads_to_the_host_s_own_address_alone() -> None:
    ports = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]["jide"]["ports"]
    assert [each for each in ports if each.endswith(f":{door.PORT}")] == [
        "127.0.0.1:${JIDE_CONSOLE_PORT:-8081}:8082"
    ]
    assert len(ports) == 2
