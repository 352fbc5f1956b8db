"""The operator's pages over a whole house, and the server that serves them."""

import asyncio
import json
import re
import socket
import sqlite3
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from loguru import logger
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.console import server as console_server
from bot.console.extracting import LIMIT_BYTES, extract_route
from bot.console.pages import make_app
from bot.console.server import ConsoleServer
from bot.conversation.message import AccountKey
from bot.memory.extraction import as_document, read_all
from bot.supervisor import Supervisor
from simulators.openai import Answer
from tests.integration.living_house import LivingHouse, OpenHouse, neighbourhood
from tests.unit.test_metrics import PROMISED, samples

EXTRACT = "/memory/extract"
TOKEN = "operators-own-token-1"
OPERATOR = {"Authorization": f"Bearer {TOKEN}"}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
LOCAL = "http://127.0.0.1:8081"
MEMORABLE = "我叫八六，我对花生过敏"
JUDGEMENT = json.dumps(
    {
        "keep": True,
        "reason": "",
        "summary": "",
        "facts": [{"kind": "preference", "text": "我对花生过敏", "importance": 0.9}],
    },
    ensure_ascii=False,
)


@pytest.fixture
async def open_house(tmp_path: Path) -> AsyncIterator[OpenHouse]:
    async with neighbourhood(tmp_path) as open_house:
        yield open_house


def pages_of(living: LivingHouse, token: str = "", products: tuple[str, ...] = ()) -> httpx.AsyncClient:
    async def names() -> tuple[str, ...]:
        return products

    more = [extract_route(token, names)] if token else []
    transport = httpx.ASGITransport(app=make_app(living.house.watch, more))
    return httpx.AsyncClient(transport=transport, base_url=LOCAL)


async def test_a_house_at_rest_is_ready(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    async with pages_of(living) as pages:
        answer = await pages.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ready", answer.json()
    verdicts = {name: check["status"] for name, check in answer.json()["checks"].items()}
    assert verdicts == {
        "database": "ok",
        "disk": "ok",
        "inbox": "ok",
        "backlog": "ok",
        "redis": "off",
        "model": "off",
        "embedder": "ok",
        "vectors": "ok",
    }


async def test_a_model_and_an_embedder_that_are_away_degrade_a_house_that_answers_on(
    open_house: OpenHouse,
) -> None:
    living = await open_house()
    living.model.answer_with(lambda _: Answer.failure(500, message="secret words"))
    async with pages_of(living) as pages:
        for number in range(3):
            assert await living.say(f"第{number}个问题是什么呢？")
        living.model.script_embeddings(*[Answer.failure(503)] * 10)
        assert await living.say("最后一个问题是什么呢？")
        answer = await pages.get("/readyz")
        metrics = samples(living.house.metrics)
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    checks = answer.json()["checks"]
    assert (checks["model"]["status"], checks["embedder"]["status"]) == ("degraded", "degraded")
    assert metrics["llm_error_ratio",] == 1.0
    assert metrics["jide_degraded_recalls_total",] >= 1


async def test_without_its_database_a_house_is_unready(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    await living.house.stores.database.close()
    async with pages_of(living) as pages:
        answer = await pages.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (503, "unready")
        assert answer.json()["checks"]["database"]["status"] == "unready"
        assert (await pages.get("/healthz/memory")).status_code == 503
        read = (await pages.get("/metrics")).text
    assert "inbox_oldest_age_seconds NaN" in read
    assert "index_sql_drift NaN" in read
    assert "jide_answers_total" in read, "what needs no database is still told"


async def test_memory_is_counted_on_both_sides(open_house: OpenHouse) -> None:
    living = await open_house()
    living.model.answer_with(lambda request: JUDGEMENT if "JSON" in request.prompt else "好的")
    await living.say(MEMORABLE)
    async with pages_of(living) as pages:
        before = (await pages.get("/healthz/memory")).json()
        assert (before["turns_waiting"], before["facts"]) == (1, 0)
        await living.house.worker.work_off()
        after = (await pages.get("/healthz/memory")).json()
    assert after == {
        "facts": after["facts"],
        "facts_with_vector": after["facts"],
        "vectors": after["facts"],
        "drift": 0,
        "facts_waiting_for_vector": 0,
        "turns_waiting": 0,
        "model": {"id": "openai:hashed:64", "dimension": 64},
        "reembedding": None,
        "vectors_by_model": [{"model": "openai:hashed:64", "dimension": 64, "vectors": after["facts"]}],
    }
    assert after["facts"] >= 1
    read = samples(living.house.metrics)
    assert read["entity_extraction_success_rate",] == 1.0
    assert read["memory_upsert_seconds_count",] >= 1
    assert read["tokens_total", "prompt"] > 0 and read["tokens_total", "completion"] > 0


async def test_a_vector_that_is_missing_is_drift(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    await living.say("记住：我对花生过敏")
    await living.house.worker.work_off()
    connection = sqlite3.connect(living.house.stores.database.path)
    with connection:
        connection.execute("UPDATE shelf SET size = size + 2")
    connection.close()
    async with pages_of(living) as pages:
        assert "index_sql_drift 2.0" in (await pages.get("/metrics")).text


async def test_every_promised_metric_is_served_with_what_waits(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    await living.house.stores.inbox.admit(living.message("等着"))
    living.clock.advance(seconds=75)
    async with pages_of(living) as pages:
        answer = await pages.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    for name in PROMISED - {"auth_reject_total"}:  # its channels are named by the doors
        assert f"\n{name}" in answer.text, name
    assert "\ninbox_oldest_age_seconds 75.0\n" in answer.text


async def test_an_inbox_that_nobody_empties_makes_the_house_unready(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    living = await open_house(has_model=False)
    await living.house.stores.inbox.admit(living.message("等着"))
    living.clock.advance(hours=1)
    async with pages_of(living) as pages:
        assert (await pages.get("/readyz")).status_code == 200, "it has just started"
        monkeypatch.setattr(type(living.house.journal), "idle_seconds", property(lambda _: 3600.0))
        answer = await pages.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["inbox"]["status"]) == (503, "unready")


async def test_a_second_reply_is_held_back_and_counted(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    living.outbox.is_connected = False
    delivery = await living.house.turnstile.pass_through(message := living.message("/帮助"))
    living.outbox.is_connected = True
    await living.house.desk.hand_over(message, delivery)
    assert samples(living.house.metrics)["duplicate_reply_total",] == 0
    await living.house.desk.hand_over(message, delivery)
    wechat = living.message("/帮助", channel="wechat")
    await living.hear(wechat)
    sealed = await living.house.wechat_replies.seal(
        wechat.sender.app_id, wechat.key, b"another", carries_answer=True
    )
    assert sealed != b"another"
    assert samples(living.house.metrics)["duplicate_reply_total",] == 2
    assert len(living.outbox.sent) == len(delivery.pages)


async def test_a_reply_of_which_nobody_knows_is_counted(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    account = await living.house.stores.accounts.create_account(
        AccountKey(channel="onebot", app_id="10001", openid="li"), ""
    )
    living.outbox.is_connected = False
    await living.hear(message := living.message("/帮助"))
    held = await living.house.stores.deliveries.oldest_held(account.id)
    assert held is not None, message
    assert await living.house.stores.deliveries.begin_sending(held.inbox_id)
    await living.house.desk.settle_after_crash()
    assert samples(living.house.metrics)["reply_unknown_total",] == 1


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.168.1.7:8081"])
async def test_another_name_gets_nothing(open_house: OpenHouse, host: str) -> None:
    living = await open_house(has_model=False)
    async with pages_of(living) as pages:
        for path in ("/readyz", "/metrics", "/healthz/memory"):
            assert (await pages.get(path, headers={"Host": host})).status_code == 400
            assert (await pages.get(path, headers={"Host": "localhost:8081"})).status_code == 200


GUESSES = (
    "/",
    "/docs",
    "/openapi.json",
    "/console",
    "/healthz",
    "/memory",
    "/memory/",
    "/memory/extract/x",
    "/extract",
)


async def test_only_reading_and_only_these_pages(open_house: OpenHouse) -> None:
    async with pages_of(await open_house(has_model=False)) as pages:
        assert (await pages.post("/readyz")).status_code == 405
        for path in (*GUESSES, EXTRACT):
            for method in METHODS:
                asked = await pages.request(method, path, headers=OPERATOR, json={"text": "我叫八六"})
                assert asked.status_code == 404, (method, path)


async def test_with_a_token_one_address_more_takes_posts_alone(open_house: OpenHouse) -> None:
    async with pages_of(await open_house(has_model=False), token=TOKEN) as pages:
        for path in GUESSES:
            for method in METHODS:
                asked = await pages.request(method, path, headers=OPERATOR, json={"text": "我叫八六"})
                assert asked.status_code == 404, (method, path)
        for method in METHODS:
            expected = 200 if method == "POST" else 405
            asked = await pages.request(method, EXTRACT, headers=OPERATOR, json={"text": "我叫八六"})
            assert asked.status_code == expected, method
        assert (await pages.post("/readyz", headers=OPERATOR)).status_code == 405
        assert (await pages.get("/readyz")).status_code == 200, "asks for no token"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic operators-own-token-1"},
        {"Authorization": "operators-own-token-1"},
        {"Authorization": "Bearer operators-own-token-12"},
    ],
)
async def test_without_the_token_nothing_is_extracted(open_house: OpenHouse, given: dict[str, str]) -> None:
    async with pages_of(await open_house(has_model=False), token=TOKEN) as pages:
        answer = await pages.post(EXTRACT, headers=given, json={"text": "我叫八六"})
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "八六" not in answer.text and "CONSOLE__TOKEN" in answer.text


async def test_it_shows_what_the_command_line_shows(open_house: OpenHouse) -> None:
    living = await open_house(has_model=False)
    text = "昨天买的保温杯单号SF1234567890123，我对花生过敏"
    async with pages_of(living, token=TOKEN, products=("保温杯",)) as pages:
        asked = {"text": text, "at": "2026-03-04T13:06:07+08:00"}
        answer = await pages.post(EXTRACT, headers=OPERATOR, json=asked)
        local = await pages.post(EXTRACT, headers=OPERATOR, json=asked | {"at": "2026-03-04T13:06:07"})
        now = await pages.post(EXTRACT, headers=OPERATOR, json={"text": text})
    found = await read_all(text, ("保温杯",), datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC))
    assert answer.json() == as_document(found) == local.json()
    assert {each["type"] for each in answer.json()["entities"]} >= {"order_id", "product_name", "date"}
    assert (
        [fact["text"] for fact in answer.json()["facts"]]
        == [fact.text for fact in found.judgement.facts]
        != []
    )
    assert now.status_code == 200 and now.json()["times"] != answer.json()["times"]
    assert (answer.headers["cache-control"], living.count("fact"), living.count("inbox")) == (
        "no-store",
        0,
        0,
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 9_000,
        b"null",
        b'["x"]',
        b"{}",
        b'{"text": ""}',
        b'{"text": " "}',
        b'{"text": 3}',
        b'{"text": "\\ud83d"}',
        '{"text": "我叫八六", "at": "9999-12-31T23:59:59"}'.encode(),
        '{"text": "我叫八六", "at": "昨天"}'.encode(),
        '{"text": "我叫八六", "at": 3}'.encode(),
        '{"text": "我叫八六", "at": "0001-01-01T00:00:00+14:00"}'.encode(),
        json.dumps({"text": "字" * 4_001}).encode(),
        b"\xff\xfe{",
    ],
)
async def test_a_body_that_asks_for_nothing_is_refused_in_words(open_house: OpenHouse, body: bytes) -> None:
    async with pages_of(await open_house(has_model=False), token=TOKEN) as pages:
        answer = await pages.post(EXTRACT, headers=OPERATOR, content=body)
    assert answer.status_code == 400 and re.search("[一-鿿]", answer.json()["error"])


async def test_no_more_of_a_body_is_read_than_may_be(open_house: OpenHouse) -> None:
    sent: list[int] = []

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(1_000):
            sent.append(1)
            yield b"x" * 1024

    async with pages_of(await open_house(has_model=False), token=TOKEN) as pages:
        longest = json.dumps({"text": "字" * 4_000}).encode()
        assert (await pages.post(EXTRACT, headers=OPERATOR, content=longest)).status_code == 200
        answer = await pages.post(EXTRACT, headers=OPERATOR, content=b"x" * (LIMIT_BYTES + 1))
        assert answer.status_code == 413
        assert (await pages.post(EXTRACT, headers=OPERATOR, content=endless())).status_code == 413
    assert len(sent) < 100


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    written: list[str] = []
    sink = logger.add(written.append, level="WARNING", format="{message}")
    yield written
    logger.remove(sink)


def hello() -> Starlette:
    async def say(_: Request) -> Response:
        return PlainTextResponse("hello")

    return Starlette(routes=[Route("/", say)])


def taken_port() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener


async def until_open(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return


async def until_served(port: int) -> None:
    async with asyncio.timeout(20), httpx.AsyncClient(trust_env=False) as client:
        while True:
            try:
                assert (await client.get(f"http://127.0.0.1:{port}/")).text == "hello"
            except httpx.TransportError:
                await asyncio.sleep(0.01)
            else:
                return


async def test_a_taken_port_is_one_warning_and_is_used_once_it_is_free(
    warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console_server, "TRY_AGAIN_SECONDS", 0.01)
    blocker = taken_port()
    port = blocker.getsockname()[1]
    supervisor = Supervisor()
    supervisor.start("console", ConsoleServer(hello(), port).run)
    async with asyncio.timeout(20):
        while not warnings:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    blocker.close()
    await until_served(port)
    assert len(warnings) == 1 and str(port) in warnings[0] and "CONSOLE__PORT" in warnings[0]
    await supervisor.stop()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_a_stop_finishes_what_is_being_answered() -> None:
    entered, may_answer = asyncio.Event(), asyncio.Event()

    async def slowly(_: Request) -> Response:
        entered.set()
        await may_answer.wait()
        return PlainTextResponse("done")

    with taken_port() as probe:
        port = probe.getsockname()[1]
    supervisor = Supervisor()
    supervisor.start("console", ConsoleServer(Starlette(routes=[Route("/", slowly)]), port).run)
    async with asyncio.timeout(20), httpx.AsyncClient(trust_env=False, timeout=20) as client:
        await until_open(port)
        asking = asyncio.create_task(client.get(f"http://127.0.0.1:{port}/"))
        await entered.wait()
        stopping = asyncio.create_task(supervisor.stop())
        await asyncio.sleep(0)
        may_answer.set()
        assert (await asking).text == "done"
        await stopping
