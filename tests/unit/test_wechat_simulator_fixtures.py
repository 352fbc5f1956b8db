"""The fixtures that other projects take from the simulator."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from simulators.wechat import FAULT, ManualClock, ScenarioError, read_scenario
from tests.wechat_callbacks import Answer, answering, echoing

pytest_plugins = ["simulators.wechat.fixtures"]


async def test_a_server_before_an_application(wechat_server: Any, wechat_clock: ManualClock):
    callback = echoing(wechat_clock, 9.0, 1.0)
    async with wechat_server(callback, clock=wechat_clock) as wechat:
        seen = await wechat_clock.run(wechat.say("oA", "你好"))
    assert (seen.text, seen.attempts) == ("听到：你好", 2)


async def test_a_server_before_a_url(wechat_server: Any):
    urls: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        urls.append(request.url)
        return httpx.Response(200, text="success")

    transport = httpx.MockTransport(answer)
    async with wechat_server("http://bot.test/here", transport=transport, token="t") as wechat:
        await wechat.say("oA", "你好")
    assert urls[0].path == "/here"
    assert wechat.account.token == "t"


async def test_a_scenario_that_passes_gives_its_report(wechat_scenario: Any):
    report = await wechat_scenario(
        read_scenario("steps:\n- {who: 甲, say: 一, expect: {shown: 听到：一}}"), echoing()
    )
    assert report.is_ok


async def test_a_scenario_that_fails_tells_why(wechat_scenario: Any, tmp_path: Path):
    path = tmp_path / "剧本.yaml"
    path.write_text("steps:\n- {who: 甲, say: 一, expect: {lacks: 故障}}", "utf-8")
    with pytest.raises(AssertionError, match=FAULT):
        await wechat_scenario(path, answering(Answer(body="oops")))
    path.write_text("steps: 一", "utf-8")
    with pytest.raises(ScenarioError):
        await wechat_scenario(path, echoing())
