"""Who answers where: the public port to the platforms, the second one to this machine."""

import asyncio
import re
import socket
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from simulators.onebot import HandshakeRefused
from tests.e2e.bot_process import BotProcess
from tests.e2e.conftest import StartBot, onebot_of, wechat_of
from tests.unit.test_metrics import PROMISED

CLOSED = {403, 404, 405}
GUESSES = (
    *("/", "/docs", "/redoc", "/openapi.json", "/metrics", "/readyz", "/healthz", "/healthz/memory"),
    *("/console", "/console/", "/playground", "/admin", "/static/x.js", "/nonebot", "/website", "/export"),
    *("/export/x", "/livez/", "/wechat/", "/wechat/x", "/onebot", "/onebot/", "/onebot/v11", "/onebot/v11/"),
    *("/onebot/v11/http", "/onebot/v11/http/", "/onebot/v11/ws", "/onebot/v11/ws/", "/onebot/v12/"),
    *("/qq", "/qq/", "/qq/webhook", "/qq/webhook/"),
    *("/platforms", "/platforms/", "/platforms/wechat/playground", "/platforms/wechat/playground-service"),
    *(
        "/platforms/onebot/v11/ws",
        "/platforms/onebot/v11/",
        "/%70latforms/wechat/playground",
        "//platforms/wechat",
    ),
    *("/wechat/../platforms/wechat/playground", "/platforms/wechat/playground%0A", "/platforms/livez"),
    *(
        "/..%2freadyz",
        "//readyz",
        "/livez/../metrics",
        "/%6detrics",
        "/memory/extract",
        "/favicon.ico",
        "/.env",
    ),
)

GUARDED = {
    *("/onebot/v11/", "/onebot/v11/http", "/onebot/v11/http/"),
}
"""Posts of OneBot clients: refused while there is no secret to sign them with."""


@pytest_asyncio.fixture(scope="module")
async def bot(tmp_path_factory: pytest.TempPathFactory):
    running = BotProcess(tmp_path_factory.mktemp("ports") / "数据")
    await running.start()
    try:
        yield running
    finally:
        await running.stop()


def client(port: int) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=20)


async def test_nothing_but_callbacks_and_livez_answers_on_the_public_port(bot: BotProcess) -> None:
    async with client(bot.port) as public:
        live = await public.get("/livez")
        assert (live.status_code, live.text) == (200, "ok\n")
        for path in GUESSES:
            for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"):
                answer = await public.request(method, path, headers={"X-Self-ID": "1"})
                is_guarded = method == "POST" and path in GUARDED
                allowed = {401} if is_guarded else CLOSED
                assert answer.status_code in allowed, (method, path, answer.status_code)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
            assert (await public.request(method, "/livez")).status_code in CLOSED
        for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
            assert (await public.request(method, "/wechat")).status_code in CLOSED


async def test_no_websocket_but_the_platforms_opens_on_the_public_port(bot: BotProcess) -> None:
    closed = ("/", "/ws", "/console/ws", "/wechat", "/livez", "/onebot/v11/other", "/platforms/onebot/v11/ws")
    for path in closed:
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{bot.port}{path}", proxy=None)
        assert refused.value.response.status_code in CLOSED
    with pytest.raises(HandshakeRefused):
        await onebot_of(bot, None).connect()


async def test_posts_of_a_qq_client_are_taken_only_with_a_secret(start_bot: StartBot) -> None:
    bot = await start_bot(ONEBOT__SECRET="a-long-secret")
    async with client(bot.port) as public:
        answer = await public.post("/onebot/v11/http", json={}, headers={"X-Self-ID": "1"})
    assert answer.status_code == 401


async def test_the_second_port_tells_how_the_bot_is(bot: BotProcess) -> None:
    async with wechat_of(bot) as wechat, client(bot.console_port) as console, client(bot.port) as public:
        for _ in range(2):
            assert "已记住" in (await wechat.say("oAlice", "记住：我对花生过敏")).text
        assert (await public.post("/wechat", content=b"<xml></xml>")).status_code == 403
        ready = await console.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "ready"), ready.text
        memory = (await console.get("/healthz/memory")).json()
        assert (memory["facts"], memory["drift"]) == (1, 0)
        metrics = (await console.get("/metrics")).text
    for name in PROMISED:
        assert re.search(rf"^{name}[ {{]", metrics, re.MULTILINE), name
    assert 'auth_reject_total{channel="wechat"}' in metrics
    assert re.search(r"^webhook_ack_seconds_count [2-9]", metrics, re.MULTILINE)
    assert re.search(r"^memory_upsert_seconds_count [1-9]", metrics, re.MULTILINE)
    assert "\nmessage_order_violations_total 0.0\n" in metrics
    log = bot.log.read_text("utf-8")
    lines = re.findall(r"wechat private conversation=([0-9a-f]{10}) decided_by=command ms: .*total=\d+", log)
    assert len(lines) == 2 and len(set(lines)) == 1


async def test_with_a_token_the_second_port_shows_what_would_be_extracted(
    bot: BotProcess, start_bot: StartBot
) -> None:
    asked = {"text": "我叫八六，单号SF1234567890123"}
    async with client(bot.console_port) as console:
        assert (await console.post("/memory/extract", json=asked)).status_code == 401, (
            "closed, as any address"
        )
    token = "operators-own-token-1"
    with_token = await start_bot(CONSOLE__TOKEN=token)
    async with client(with_token.console_port) as console, client(with_token.port) as public:
        assert (await console.post("/memory/extract", json=asked)).status_code == 401
        bearer = {"Authorization": f"Bearer {token}"}
        answer = await console.post("/memory/extract", json=asked, headers=bearer)
        assert answer.status_code == 200, answer.text
        assert [fact["text"] for fact in answer.json()["facts"]] == ["我叫八六", "单号SF1234567890123"]
        assert (await public.post("/memory/extract", json=asked, headers=bearer)).status_code in CLOSED
    log = with_token.log.read_text("utf-8")
    assert token not in log and "SF1234567890123" not in log


async def test_the_second_port_is_this_machine_only(bot: BotProcess) -> None:
    def reachable(host: str) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((host, bot.console_port)) == 0

    assert reachable("127.0.0.1")
    # The rest of 127/8 is this machine too, but no address that was bound.
    assert not reachable("127.0.0.2")


async def test_a_taken_second_port_is_a_warning_and_no_more(start_bot: StartBot) -> None:
    with socket.socket() as blocker:
        blocker.bind(("127.0.0.1", 0))
        blocker.listen()
        port = blocker.getsockname()[1]
        bot = await start_bot(CONSOLE__PORT=str(port))
        async with wechat_of(bot) as wechat:
            assert (await wechat.say("oAlice", "/帮助")).text
        log = bot.log.read_text("utf-8")
        assert log.count(f"运维端口 {port} 打不开") == 1
        assert "Traceback" not in log


@pytest.mark.parametrize("is_off", [True, False])
async def test_no_second_port_where_none_is_wanted_or_it_is_the_first(tmp_path: Path, is_off: bool) -> None:
    bot = BotProcess(tmp_path / "数据")
    bot.console_port = 0 if is_off else bot.port
    await bot.start()
    try:
        async with client(bot.port) as public:
            assert (await public.get("/livez")).status_code == 200
            assert (await public.get("/readyz")).status_code in CLOSED
    finally:
        await bot.kill()
    log = bot.log.read_text("utf-8")
    assert ("运维端口不开" in log) is not is_off
    assert "运维：" not in log


async def test_a_stop_ends_both_servers_at_once(start_bot: StartBot) -> None:
    bot = await start_bot()
    async with client(bot.console_port) as console:
        assert (await console.get("/readyz")).status_code == 200
        async with asyncio.timeout(20):
            await bot.stop()
    for port in (bot.port, bot.console_port):
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
    assert "Traceback" not in bot.log.read_text("utf-8")
