"""Alerts through Apprise to a real HTTP server, and what Apprise takes for an address."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from bot.container.alerting import make_alerts
from bot.conversation.errors import ConfigurationError
from bot.settings import Settings
from bot.settings_alerts import AlertSettings


class Hook(ThreadingHTTPServer):
    """Takes every post, with the statuses of its script first."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Taking)
        self.posts: list[dict[str, Any]] = []
        self.statuses: list[int] = []
        self.came = threading.Event()

    @property
    def address(self) -> str:
        return f"json://127.0.0.1:{self.server_port}/a-long-key-12345"


class Taking(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posts.append(json.loads(body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.server.came.set()

    def log_message(self, *args: Any) -> None: ...


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Hook() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def settings(tmp_path: Path, *urls: str) -> Settings:
    return Settings(jide_data_dir=tmp_path, alerts=AlertSettings(urls=urls))


async def test_the_operator_gets_it_over_http(hook: Hook, tmp_path: Path) -> None:
    alerts = make_alerts(settings(tmp_path, hook.address))
    run = asyncio.create_task(alerts.run())
    try:
        await alerts.tell("muted", "机器人在群 30001 里被禁言 [CQ:x] <b>&amp; 13800138000")
        await alerts.tell("muted", "机器人在群 30001 里被禁言")
        assert await asyncio.to_thread(hook.came.wait, 20)
        hook.came.clear()
        await alerts.tell("unpaid", "模型欠费")
        assert await asyncio.to_thread(hook.came.wait, 20)
    finally:
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
    assert [post["title"] for post in hook.posts] == ["记得", "记得"]
    assert hook.posts[0]["message"].startswith("机器人在群 30001 里被禁言 [CQ:x] <b>&amp; ")
    assert "13800138000" not in hook.posts[0]["message"]
    assert hook.posts[1]["message"] == "模型欠费"


async def test_an_address_that_answers_with_an_error_says_so_without_its_key(
    hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.alerts.PAUSES_SECONDS", ())
    hook.statuses = [500]
    lines: list[str] = []
    sink = logger.add(lambda line: lines.append(str(line)), level="TRACE")
    alerts = make_alerts(settings(tmp_path, hook.address))
    run = asyncio.create_task(alerts.run())
    try:
        await alerts.tell("a", "甲")
        async with asyncio.timeout(20):
            while not any("没有全部送到" in line for line in lines):
                await asyncio.sleep(0.01)
    finally:
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        logger.remove(sink)
    assert len(hook.posts) == 1
    assert "a-long-key-12345" not in "".join(lines)


@pytest.mark.parametrize(
    "url",
    [
        "wecombot://0123456789abcdef",
        "feishu://12345678-abcd-1234-abcd-1234567890ab",
        "dingtalk://0123456789abcdef0123456789abcdef",
        "mailtos://somebody:a-password@qq.com",
    ],
)
def test_the_services_of_the_manual_are_known(url: str, tmp_path: Path) -> None:
    make_alerts(settings(tmp_path, url))


@pytest.mark.parametrize("url", ["nosuch://a-long-key-12345", "discord://a-long-key-12345", "json://?"])
def test_an_address_apprise_does_not_know_stops_the_start(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as refused:
        make_alerts(settings(tmp_path, "json://127.0.0.1:9", url))
    assert "第 2 个网址" in str(refused.value)
    assert "a-long-key-12345" not in str(refused.value)
