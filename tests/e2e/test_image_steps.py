"""The image's own steps, run here without an engine: install away from the source tree, start, health check."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from simulators.wechat import WeChatServer
from tests.e2e.bot_process import ROOT, WECHAT_APP_ID, WECHAT_TOKEN
from tests.free_ports import free_port

NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "data", "benchmarks", "docs", "tests", "__pycache__", "*.egg-info", "build"
)
INSTALL_SECONDS = 600
START_SECONDS = 60


@pytest.mark.timeout(INSTALL_SECONDS + 2 * START_SECONDS)
async def test_the_image_starts_and_answers(tmp_path: Path) -> None:
    source, prefix = tmp_path / "source", tmp_path / "jide"
    shutil.copytree(ROOT, source, ignore=NOT_COPIED)
    prefix.mkdir()
    await asyncio.to_thread(
        subprocess.run,
        ["sh", str(source / "deploy" / "install-image.sh"), str(prefix)],
        check=True,
        timeout=INSTALL_SECONDS,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    shutil.rmtree(source / "bot")
    port = free_port()
    settings = {
        "PORT": str(port),
        "CONSOLE__PORT": "0",
        "WECHAT__APP_ID": WECHAT_APP_ID,
        "WECHAT__TOKEN": WECHAT_TOKEN,
    }
    environment = {"PATH": os.environ["PATH"], **settings}
    bot = subprocess.Popen([prefix / "venv" / "bin" / "jide", "run"], cwd=prefix, env=environment)
    try:
        await _until_healthy(source / "deploy" / "healthcheck.py", environment)
        async with WeChatServer(f"http://127.0.0.1:{port}/wechat", WECHAT_TOKEN, WECHAT_APP_ID) as wechat:
            assert "/我的记忆" in (await wechat.say("oAlice", "/帮助")).text
            assert "已记住" in (await wechat.say("oAlice", "记住：我对花生过敏")).text
        assert (prefix / "data" / "jide.db").is_file()
    finally:
        bot.terminate()
        await asyncio.to_thread(bot.wait, 40)


async def _until_healthy(check: Path, environment: dict[str, str]) -> None:
    async with asyncio.timeout(START_SECONDS):
        while True:
            result = await asyncio.to_thread(
                subprocess.run, [sys.executable, check], env=environment, check=False
            )
            if result.returncode == 0:
                return
            await asyncio.sleep(0.1)


def test_the_image_is_no_root_and_restarts() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    last_user = next(line for line in reversed(lines) if line.startswith("USER "))
    assert last_user != "USER root"
    assert any(line.startswith("HEALTHCHECK ") for line in lines)
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    assert compose["services"]["jide"]["restart"] == "unless-stopped"
    assert "redis" in compose["services"]["redis"]["profiles"]
