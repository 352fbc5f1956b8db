"""Replies through the real adapter and a real websocket to the client simulator: long ones, bans, a lost login."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio
from nonebot.adapters.onebot.v11.config import Config

from bot.channels.onebot import OneBotOutbox
from bot.channels.onebot_adapter import OneBotAdapter
from bot.channels.onebot_guard import OneBotGuard
from bot.channels.onebot_mapping import OneBotMapping
from bot.channels.onebot_troubles import Troubles
from bot.conversation.message import AccountKey, Conversation, Kind, Message
from bot.delivery import SendOutcome, Sent
from simulators.onebot import FORWARD_REFUSED, RICH_MEDIA_FAILED, TIMED_OUT, TIMED_OUT_AND_LOST, OneBotClient
from tests.alert_fakes import Told
from tests.conformance.guarded_app import GuardedApp, guarded_app, served

GROUP = 30001
TOKEN = "a-token"
FAILED = Sent(outcome=SendOutcome.FAILED, pages=0)
PAGES = tuple(f"第{number}页" for number in range(6))


@dataclass(kw_only=True)
class Stage:
    """A connected client, and the bot's outbox."""

    qq: OneBotClient
    outbox: OneBotOutbox
    troubles: Troubles
    behind: GuardedApp
    alerts: Told = field(default_factory=Told)

    async def send(self, *pages: str, group: str = str(GROUP)) -> Sent:
        return await self.outbox.send(message(group), pages)

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not is_so():
                await asyncio.sleep(0.005)


def message(group: str = str(GROUP)) -> Message:
    return Message(
        key="1:1",
        kind=Kind.TEXT,
        sender=AccountKey(channel="onebot", app_id="10001", openid="20001"),
        conversation=Conversation(channel="onebot", app_id="10001", group=group),
        text="x",
        sent_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


@pytest_asyncio.fixture
async def stage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    config = Config.model_validate({"onebot_access_token": TOKEN})
    monkeypatch.setattr("nonebot.adapters.onebot.v11.adapter.get_plugin_config", lambda _: config)
    alerts = Told()
    troubles = Troubles(alerts)

    def make(driver: Any) -> OneBotAdapter:
        return OneBotAdapter(driver, takes_posts=False, noticed=troubles.noticed)

    async with AsyncExitStack() as stack:
        behind = await stack.enter_async_context(
            guarded_app(make, lambda app: OneBotGuard(app, access_token=TOKEN))
        )
        port = await stack.enter_async_context(served(behind.app))
        url = f"ws://127.0.0.1:{port}/onebot/v11/ws"
        qq = await stack.enter_async_context(OneBotClient(url, self_id=10001, access_token=TOKEN))
        outbox = OneBotOutbox(lambda: behind.driver.bots, troubles, name="小记")
        made = Stage(qq=qq, outbox=outbox, troubles=troubles, behind=behind, alerts=alerts)
        await made.until(lambda: outbox.is_ready(message()))
        yield made


async def test_a_long_reply_is_a_message_and_a_forward(stage: Stage) -> None:
    assert await stage.send(*PAGES) == Sent(outcome=SendOutcome.SENT, pages=6)
    first, folded = stage.qq.sent
    assert (first.text.strip(), first.mentions, first.is_forward) == ("第0页", ("20001",), False)
    assert (folded.group_id, folded.nodes) == (GROUP, PAGES[1:])
    assert await stage.send(*PAGES, group="") == Sent(outcome=SendOutcome.SENT, pages=6)
    first, folded = stage.qq.sent[2:]
    assert (first.text, first.mentions, first.user_id) == ("第0页", (), 20001)
    assert (folded.group_id, folded.nodes) == (None, PAGES[1:])


@pytest.mark.parametrize("refusal", [FORWARD_REFUSED, RICH_MEDIA_FAILED])
async def test_a_refused_forward_goes_out_in_pages(stage: Stage, refusal: Any) -> None:
    stage.qq.script.add("send_group_forward_msg", refusal)
    assert await stage.send(*PAGES) == Sent(outcome=SendOutcome.SENT, pages=6)
    assert [sent.text.strip() for sent in stage.qq.sent] == list(PAGES)
    assert stage.alerts.open == set()


@pytest.mark.parametrize(("failure", "arrived"), [(TIMED_OUT, 2), (TIMED_OUT_AND_LOST, 1)])
async def test_a_forward_that_timed_out_is_unknown(stage: Stage, failure: Any, arrived: int) -> None:
    stage.qq.script.add("send_group_forward_msg", failure)
    assert await stage.send(*PAGES) == Sent(outcome=SendOutcome.UNKNOWN, pages=1)
    assert (len(stage.qq.sent), len(stage.qq.calls)) == (arrived, 2)


async def test_a_muted_group_is_left_alone_and_told_of_once(stage: Stage) -> None:
    await stage.qq.mute(GROUP)
    await stage.until(lambda: stage.troubles.ban_of("10001", str(GROUP)) is not None)
    assert [await stage.send("一"), await stage.send("二")] == [FAILED, FAILED]
    assert stage.qq.calls == []
    assert len(stage.alerts.texts) == 1
    await stage.qq.unmute(GROUP)
    await stage.until(lambda: stage.troubles.ban_of("10001", str(GROUP)) is None)
    assert (await stage.send("三")).outcome is SendOutcome.SENT


async def test_a_ban_that_only_refusals_tell_of(stage: Stage) -> None:
    await stage.qq.mute(GROUP, is_noticed=False)
    assert [await stage.send("一"), await stage.send("二")] == [FAILED, FAILED]
    assert (len(stage.qq.calls), len(stage.alerts.texts)) == (1, 1)


async def test_everybody_is_muted_but_the_admins(stage: Stage) -> None:
    await stage.qq.mute_everybody(GROUP)
    await stage.until(lambda: stage.troubles.ban_of("10001", str(GROUP)) is not None)
    assert await stage.send("一") == FAILED
    assert stage.qq.sent == []
    await stage.qq.make_admin(GROUP)
    assert (await stage.send("二")).outcome is SendOutcome.SENT
    assert [text for text in stage.alerts.texts if "全体禁言" in text] == stage.alerts.texts != []


async def test_a_group_that_the_bot_was_removed_from(stage: Stage) -> None:
    await stage.qq.leave_group(GROUP)
    assert [await stage.send("一"), await stage.send("二")] == [FAILED, FAILED]
    assert len(stage.alerts.texts) == 1
    await stage.qq.join_group(GROUP)
    assert (await stage.send("三")).outcome is SendOutcome.SENT
    assert stage.alerts.open == set()


async def test_a_client_whose_account_was_logged_out(stage: Stage) -> None:
    await stage.qq.heartbeat(is_online=False)
    await stage.until(lambda: not stage.outbox.is_ready(message()))
    assert len(stage.alerts.texts) == 1
    await stage.qq.heartbeat(is_online=True)
    await asyncio.wait_for(stage.troubles.wait_back(), 10)
    assert stage.outbox.is_ready(message())


async def test_a_quotation_of_nobody_is_still_a_message(stage: Stage) -> None:
    await stage.qq.say_group(GROUP, 20001, "在吗", reply_to=111)
    await stage.until(lambda: any(event.get_type() == "message" for event in stage.behind.seen))
    event = next(event for event in stage.behind.seen if event.get_type() == "message")
    heard = OneBotMapping().to_message(event, self_id="10001", app_id="10001")
    assert heard is not None
    assert (heard.text, heard.quoted, heard.is_addressed) == ("在吗", "", True)
    assert ("get_msg", {"message_id": 111}) in stage.qq.calls


async def test_what_the_account_itself_says_is_nobodys_message(stage: Stage) -> None:
    stage.qq.reports_self = True
    await stage.send("一")
    await stage.until(lambda: any(event.post_type == "message_sent" for event in stage.behind.seen))  # pyright: ignore[reportAttributeAccessIssue]
    mapping = OneBotMapping()
    heard = [mapping.to_message(each, self_id="10001", app_id="10001") for each in stage.behind.seen]
    assert heard == [None] * len(heard)
