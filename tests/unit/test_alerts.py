"""Alerts: at once, once, and never at the story's cost."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import pytest
from loguru import logger

from bot import alerts as alerts_module
from bot.alerts import PAUSES_SECONDS, OperatorAlerts
from bot.conversation.errors import ConfigurationError
from bot.settings import Settings
from bot.settings_source import read_settings


class Messenger:
    """Takes what its script says; then everything."""

    def __init__(self, *outcomes: bool) -> None:
        self.tried: list[str] = []
        self.done = asyncio.Event()
        self._outcomes = list(outcomes)

    async def send(self, text: str) -> bool:
        self.tried.append(text)
        is_taken = self._outcomes.pop(0) if self._outcomes else True
        if is_taken or not self._outcomes:
            self.done.set()
        return is_taken


class Stuck(Messenger):
    async def send(self, text: str) -> bool:
        self.tried.append(text)
        await asyncio.Event().wait()
        return True


class Pauses:
    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@asynccontextmanager
async def running(alerts: OperatorAlerts) -> AsyncIterator[None]:
    task = asyncio.create_task(alerts.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture
def lines() -> Iterator[list[str]]:
    written: list[str] = []
    sink = logger.add(lambda line: written.append(str(line)), level="WARNING", format="{level} {message}")
    yield written
    logger.remove(sink)


async def test_a_key_is_told_once_until_it_is_settled(lines: list[str]) -> None:
    messenger = Messenger()
    alerts = OperatorAlerts([messenger])
    async with running(alerts):
        for _ in range(3):
            await alerts.tell("a", "甲")
        await messenger.done.wait()
        messenger.done.clear()
        alerts.settle("a")
        alerts.settle("never told")
        await alerts.tell("a", "乙")
        await messenger.done.wait()
    assert messenger.tried == ["甲", "乙"]
    assert [line for line in lines if "甲" in line or "乙" in line] == [
        "WARNING 告诉管理员：甲\n",
        "WARNING 告诉管理员：乙\n",
    ]


async def test_telling_waits_for_nobody() -> None:
    stuck = Stuck()
    alerts = OperatorAlerts([stuck])
    async with running(alerts):
        for number in range(5):
            await alerts.tell(str(number), "甲")
    await alerts.tell("after the end", "甲")


async def test_without_a_messenger_the_log_has_it(lines: list[str]) -> None:
    await OperatorAlerts().tell("a", "欠费了")
    assert lines == ["WARNING 告诉管理员：欠费了\n"]


async def test_nothing_private_leaves(lines: list[str]) -> None:
    messenger = Messenger()
    alerts = OperatorAlerts([messenger], hidden=["a-secret-of-ours"])
    openid = "oAbCdEfGhIjKlMnOpQrStUvWx123"
    async with running(alerts):
        await alerts.tell("a", f"13800138000 {openid} a-secret-of-ours 群 30001")
        await messenger.done.wait()
    for text in (*messenger.tried, *lines):
        assert "群 30001" in text
        assert not any(private in text for private in ("13800138000", openid, "a-secret-of-ours"))


async def test_a_failure_is_tried_again_and_hinders_no_other_messenger() -> None:
    failing, working, pauses = Messenger(False, False, True), Messenger(), Pauses()
    alerts = OperatorAlerts([failing, working], pause=pauses)
    async with running(alerts):
        await alerts.tell("a", "甲")
        await failing.done.wait()
        await working.done.wait()
    assert (failing.tried, working.tried) == (["甲"] * 3, ["甲"])
    assert pauses.seconds == list(PAUSES_SECONDS)


async def test_what_nobody_took_is_told_anew_when_it_comes_again(lines: list[str]) -> None:
    messenger = Messenger(False, False, False)
    alerts = OperatorAlerts([messenger], pause=Pauses())
    async with running(alerts):
        await alerts.tell("a", "甲")
        while not any("没有全部送到" in line for line in lines):
            await asyncio.sleep(0)
        messenger.done.clear()
        await alerts.tell("a", "甲")
        await messenger.done.wait()
    assert len(messenger.tried) == 4


async def test_a_messenger_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> None:
    monkeypatch.setattr(alerts_module, "DEADLINE_SECONDS", 0.0)
    stuck = Stuck()
    alerts = OperatorAlerts([stuck], pause=Pauses())
    async with running(alerts):
        await alerts.tell("a", "甲")
        while not any("没有全部送到" in line for line in lines):
            await asyncio.sleep(0)


async def test_what_is_remembered_and_what_waits_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts_module, "_REMEMBERED", 2)
    alerts = OperatorAlerts([Messenger()])
    told: list[str] = []
    sink = logger.add(lambda line: told.append(str(line)), level="WARNING", format="{message}")
    for number in (1, 2, 3, 3, 1):
        await alerts.tell(str(number), f"第{number}件")
    for number in range(4, 200):
        await alerts.tell(str(number), "多")
    logger.remove(sink)
    assert [line.strip() for line in told[:4]] == [f"告诉管理员：第{number}件" for number in (1, 2, 3, 1)]
    assert any("只写在日志里" in line for line in told)


def read(text: str) -> Settings:
    return read_settings(environment={"ALERTS__URLS": text})


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "wecombot://0123456789abcdef, json://127.0.0.1:9",
        "wecombot://0123456789abcdef，json://127.0.0.1:9",
        '["wecombot://0123456789abcdef","json://127.0.0.1:9"]',
    ],
)
def test_addresses_are_a_list_and_secrets(text: str, nowhere: None) -> None:
    settings = read(text)
    assert settings.alerts.urls == ("wecombot://0123456789abcdef", "json://127.0.0.1:9")
    assert {"wecombot://0123456789abcdef", "0123456789abcdef"} <= set(settings.secrets)
    assert "0123456789abcdef" not in repr(settings)


@pytest.mark.parametrize("text", ["key-of-mine", "json://a.example,key-of-mine", "wecombot:key-of-mine"])
def test_what_is_no_address_is_refused_in_words_that_hold_no_key(text: str, nowhere: None) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(text)
    assert refused.value.key == "ALERTS__URLS"
    assert "不是 服务名:// 开头的网址" in str(refused.value)
    assert "key-of-mine" not in str(refused.value)
