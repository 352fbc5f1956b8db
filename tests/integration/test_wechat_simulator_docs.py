"""The page about the simulator: its examples run, and it names everything there is."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from simulators.wechat import Schedule, WeChatServer, read_scenario
from simulators.wechat.api import Api
from simulators.wechat.errcodes import TEXTS
from simulators.wechat.script import Action
from simulators.wechat.script_reading import _DELIVER
from simulators.wechat.speaking import Speaking

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/engineers/wechat-simulator.md").read_text("utf-8")
_BLOCK = re.compile(r"^```(python|yaml)( title=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(kind, title, code) for kind, _, title, code in _BLOCK.findall(PAGE)]


async def run(*command: str, folder: Path = ROOT) -> str:
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


async def test_the_program_runs(tmp_path: Path):
    (code,) = [code for kind, title, code in BLOCKS if kind == "python" and not title]
    assert "['您好']" in await run("-c", code, folder=tmp_path)


async def test_the_test_passes_for_somebody_else(tmp_path: Path):
    """In a project of their own, with nothing of our settings."""
    (named,) = [(title, code) for kind, title, code in BLOCKS if kind == "python" and title]
    (tmp_path / named[0]).write_text(named[1], "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n", "utf-8")
    told = await run("-m", "pytest", "-q", "-p", "simulators.wechat.fixtures", ".", folder=tmp_path)
    assert "1 passed" in told


def test_the_scenario_can_be_read():
    (code,) = [code for kind, _, code in BLOCKS if kind == "yaml"]
    assert len(read_scenario(code).steps) == 3


@pytest.mark.parametrize("name", [*map(str, Action), *_DELIVER])
def test_every_word_of_a_scenario_is_named(name: str):
    assert re.search(rf"\b{name}\b", PAGE), name


def test_every_method_is_named():
    own = {"send", "numbered", "picture_url", "close", "post", "xml", "read", "use_key", "signed_query"}
    methods = {
        name
        for thing in (Speaking, WeChatServer)
        for name, value in vars(thing).items()
        if callable(value) and not name.startswith("_")
    }
    for name in methods - own:
        assert re.search(rf"\b{name}\b", PAGE), name


async def test_every_endpoint_and_errcode_that_is_named_is_so():
    async with WeChatServer("http://bot.test/", "t", "wx1", app_secret="s") as wechat:
        assert isinstance(wechat.api, Api)
        endpoints = set(wechat.api._endpoints)
        async with httpx.AsyncClient(base_url=wechat.api.base_url, trust_env=False) as http:
            assert (await http.get("/cgi-bin/nothing")).json()["errcode"] == 40066
    section = PAGE.partition("## The API")[2].partition("## In pytest")[0]
    for endpoint in endpoints - {"clear_quota"}:
        assert f"`{endpoint}`" in section, endpoint
    for errcode in map(int, re.findall(r"\b4[0-9]{4}\b", section)):
        assert errcode in TEXTS


def test_every_setting_of_a_schedule_is_named():
    for name in set(Schedule.__dataclass_fields__) - {"retry_refused_seconds"}:
        assert name in PAGE
