"""`jide simulate wechat`: which account it plays, and what it says where it cannot."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.cli.running import Refusal
from bot.cli.simulating import play_on_wechat, say_on_wechat
from simulators.wechat.scenarios import FOLDER
from simulators.wechat.wire import LoopbackServer, Request, Response

SECOND = {"app_id": "wx2", "token": "token2", "path": "/second"}


@dataclass(slots=True)
class Door:
    """A bot's public port: says by which path it was asked."""

    server: LoopbackServer = field(init=False)
    asked: list[str] = field(default_factory=list)

    async def handle(self, request: Request) -> Response:
        if request.method == "GET":
            return Response(body=b"ok")
        self.asked.append(request.path)
        found = re.search(rb"<FromUserName><!\[CDATA\[(.*?)\]\]>", request.body)
        assert found
        reply = (
            f"<xml><ToUserName>{found[1].decode()}</ToUserName><FromUserName>gh_simulated</FromUserName>"
            f"<CreateTime>1</CreateTime><MsgType>text</MsgType><Content>在 {request.path}</Content></xml>"
        )
        return Response(content_type="text/xml", body=reply.encode())


@pytest.fixture
async def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Door]:
    """With two accounts configured, neither with a secret."""
    door = Door()
    door.server = LoopbackServer(door.handle)
    await door.server.start()
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "JIDE_DATA_DIR": str(tmp_path / "data"),
        "PORT": str(door.server.port),
        "WECHAT__APP_ID": "wx1",
        "WECHAT__TOKEN": "token1",
        "WECHAT__MORE_ACCOUNTS": json.dumps([SECOND]),
    }.items():
        monkeypatch.setenv(name, value)
    yield door
    await door.server.close()


@pytest.mark.parametrize(("app_id", "path"), [("", "/wechat"), ("wx1", "/wechat"), ("wx2", "/second")])
async def test_one_of_several_accounts(
    door: Door, capsys: pytest.CaptureFixture[str], app_id: str, path: str
) -> None:
    await say_on_wechat("你好", "小明", app_id)
    assert (capsys.readouterr().out, door.asked) == (f"在 {path}\n", [path])


async def test_a_scenario_for_one_of_several_accounts(
    door: Door, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "剧本.yaml"
    path.write_text("steps:\n- {who: 甲, say: 一, expect: {contains: 在 /second}}", "utf-8")
    await play_on_wechat(path, "", "wx2")
    assert " 秒  甲（被动回复）：在 /second\n" in capsys.readouterr().out


async def test_an_account_that_is_not_configured(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refusal, match=r"没有配置公众号 wx3。修正：--account 写这些之一：wx1、wx2$"):
        await say_on_wechat("你好", "小明", "wx3")
    monkeypatch.delenv("WECHAT__APP_ID")
    monkeypatch.delenv("WECHAT__TOKEN")
    monkeypatch.delenv("WECHAT__MORE_ACCOUNTS")
    with pytest.raises(Refusal, match="试用账号不写 --account"):
        await say_on_wechat("你好", "小明", "wx3")
    assert door.asked == []


@pytest.mark.parametrize("secret", ["", "of the real account"])
async def test_a_scenario_that_needs_the_api(
    door: Door, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    """The real API never hears of made-up people."""
    monkeypatch.setenv("WECHAT__APP_SECRET", secret)
    with pytest.raises(Refusal, match=r"WECHAT__APP_SECRET.*WECHAT__API_BASE.*app_secret") as refused:
        await play_on_wechat(FOLDER / "customer_service.yaml", "")
    assert "WECHAT__APP_ID" not in refused.value.fix
    assert door.asked == []


async def test_the_try_out_account_is_told_all_that_an_api_needs(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WECHAT__APP_ID", "WECHAT__TOKEN", "WECHAT__MORE_ACCOUNTS"):
        monkeypatch.delenv(name)
    with pytest.raises(Refusal) as refused:
        await play_on_wechat(FOLDER / "customer_service.yaml", "")
    for name in ("APP_ID", "TOKEN", "APP_SECRET", "API_BASE"):
        assert f"WECHAT__{name}=" in refused.value.fix


async def test_a_scenario_that_cannot_be_read(door: Door, tmp_path: Path) -> None:
    path = tmp_path / "剧本.yaml"
    with pytest.raises(Refusal, match=rf"^没有剧本文件 {re.escape(str(path))}。修正：检查路径$"):
        await play_on_wechat(path, "")
    path.write_text("steps: [", "utf-8")
    with pytest.raises(Refusal, match=r"剧本\.yaml 第 1 行：不是正确的 YAML：括号.*wechat-simulator\.md$"):
        await play_on_wechat(path, "")
    assert door.asked == []
