"""The page about the QQ simulators: its examples run, and it names everything there is."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simulators.onebot import OneBotClient
from simulators.onebot import __all__ as of_onebot
from simulators.onebot.speaking import Speaking as OneBotSpeaking
from simulators.qq import QQPlatform, Rules
from simulators.qq.errors import TEXTS
from simulators.qq.gateway import Gateway
from simulators.qq.hostile import Hostile
from simulators.qq.speaking import Speaking

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/engineers/qq-simulator.md").read_text("utf-8")
_BLOCK = re.compile(r"^```python( title=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(title, code) for _, title, code in _BLOCK.findall(PAGE)]
PROGRAMS = [code for title, code in BLOCKS if not title]


async def run(*command: str, folder: Path) -> str:
    ran = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, *command],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.parametrize(("number", "told"), [(0, "['您好'] [0, 40054005]"), (1, "200 ")])
async def test_the_programs_run(number: int, told: str, tmp_path: Path):
    assert told in await run("-c", PROGRAMS[number], folder=tmp_path)


async def test_the_test_passes_for_somebody_else(tmp_path: Path):
    """In a project of their own, with nothing of our settings."""
    (named,) = [(title, code) for title, code in BLOCKS if title]
    (tmp_path / named[0]).write_text(named[1], "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n", "utf-8")
    told = await run("-m", "pytest", "-q", "-p", "simulators.qq.fixtures", ".", folder=tmp_path)
    assert "1 passed" in told


OWN = {"close", "start", "describe"}
"""What whoever uses them has no need to call."""


@pytest.mark.parametrize("thing", [Speaking, QQPlatform, Hostile, Gateway, OneBotClient, OneBotSpeaking])
def test_every_method_is_named(thing: type):
    methods = {name for name, value in vars(thing).items() if callable(value) and not name.startswith("_")}
    for name in methods - OWN:
        assert re.search(rf"\b{name}\b", PAGE), name


@pytest.mark.parametrize(
    "name", [*Rules.__dataclass_fields__, *sorted(set(of_onebot) - {"Line", "Said", "Account"})]
)
def test_everything_else_is_named(name: str):
    if name not in {"HandshakeRefused", "Script"}:
        assert re.search(rf"\b{name}\b", PAGE), name


async def test_every_endpoint_and_code_that_is_named_is_so():
    section = PAGE.partition("## The API")[2].partition("## In pytest")[0]
    async with QQPlatform(None, "1", "secret") as qq:
        endpoints = {name for name, *_ in qq.api._routes if name}
    sent = {f"{kind}/messages" for kind in ("users", "groups", "channels", "dms")}
    for endpoint in endpoints | sent:
        assert f"`{endpoint}`" in section, endpoint
    codes = set(map(int, re.findall(r"\b(?:4\d{7}|[136]\d{5}|1[01]\d{3}|12002|500\d\d)\b", section)))
    assert codes <= TEXTS.keys()
    assert len(codes) > 30
    unnamed = TEXTS.keys() - codes - {22009, 11253, 40034004}
    assert not unnamed, "a code that the simulator answers with is not on the page"
