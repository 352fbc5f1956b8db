"""Sending by OneBot: once, as text, and an honest account of what is known afterwards."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from nonebot.adapters.onebot.v11 import ActionFailed, Bot, NetworkError
from nonebot.adapters.onebot.v11.exception import ApiNotAvailable

from bot.channels import onebot
from bot.channels.onebot import OneBotOutbox
from bot.conversation.message import PLAYGROUND, AccountKey, Conversation, Kind, Message
from bot.delivery import SendOutcome, Sent

Behaviour = Callable[[int], Any]


class RecordingBot(Bot):
    """A connected bot that records its calls. `behaviour` gets the number of each."""

    def __init__(self, self_id: str = "10001", behaviour: Behaviour = lambda number: None) -> None:
        self.self_id = self_id
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self._behaviour = behaviour

    async def call_api(self, api: str, **data: Any) -> Any:
        self.calls.append((api, data))
        outcome = self._behaviour(len(self.calls))
        if isinstance(outcome, Exception):
            raise outcome
        return await outcome if outcome is not None else {"message_id": 1}

    @property
    def texts(self) -> list[str]:
        return [data["message"].extract_plain_text() for _, data in self.calls]


def message(openid: str = "20001", group: str = "", app_id: str = "10001") -> Message:
    return Message(
        key="5:1",
        kind=Kind.TEXT,
        sender=AccountKey(channel="onebot", app_id=app_id, openid=openid),
        conversation=Conversation(channel="onebot", app_id=app_id, group=group),
        text="x",
        sent_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


def outbox(*bots: RecordingBot) -> OneBotOutbox:
    return OneBotOutbox(lambda: {bot.self_id: bot for bot in bots})


def failed(**info: Any) -> Behaviour:
    return lambda number: ActionFailed(status="failed", **info)


async def test_private_pages_in_order() -> None:
    bot = RecordingBot()
    assert (await outbox(bot).send(message(), ("一", "二"))).outcome is SendOutcome.SENT
    assert [(api, data["user_id"]) for api, data in bot.calls] == [("send_private_msg", 20001)] * 2
    assert bot.texts == ["一", "二"]


async def test_in_a_group_the_first_page_names_the_asker() -> None:
    bot = RecordingBot()
    await outbox(bot).send(message(group="30001"), ("一", "二"))
    assert [(api, data["group_id"]) for api, data in bot.calls] == [("send_group_msg", 30001)] * 2
    named = [[segment.data["qq"] for segment in data["message"]["at"]] for _, data in bot.calls]
    assert named == [["20001"], []]


async def test_nobody_is_named_where_nobody_is_known() -> None:
    bot = RecordingBot()
    await outbox(bot).send(message(openid="", group="30001"), ("大家好",))
    assert [segment.type for segment in bot.calls[0][1]["message"]] == ["text"]


async def test_codes_in_a_reply_stay_text() -> None:
    bot = RecordingBot()
    words = "[CQ:at,qq=all] 价格 [1,2] &amp;"
    await outbox(bot).send(message(), (words,))
    (segment,) = bot.calls[0][1]["message"]
    assert (segment.type, segment.data) == ("text", {"text": words})


async def test_ids_that_are_no_numbers_go_out_as_they_are() -> None:
    bot = RecordingBot()
    await outbox(bot).send(message(openid="u-1"), ("一",))
    await outbox(bot).send(message(openid="-5"), ("一",))
    assert [data["user_id"] for _, data in bot.calls] == ["u-1", -5]


@pytest.mark.parametrize(
    "info",
    [
        {"retcode": 1200, "message": "Timeout: NTEvent"},
        {"retcode": 200, "message": "sendMsg Timeout"},
        {"retcode": -1, "wording": "发送超时"},
    ],
)
async def test_a_time_out_inside_the_client_is_unknown_and_not_sent_again(info: dict[str, Any]) -> None:
    bot = RecordingBot(behaviour=failed(**info))
    assert (await outbox(bot).send(message(), ("一", "二"))).outcome is SendOutcome.UNKNOWN
    assert bot.texts == ["一"]


@pytest.mark.parametrize(
    "info",
    [
        {"retcode": 120, "message": "muted"},
        {"retcode": 100, "msg": "SEND_MSG_API_ERROR"},
        {"retcode": 200, "message": "EventChecker Failed"},
    ],
)
async def test_a_refusal_is_a_failure(info: dict[str, Any]) -> None:
    bot = RecordingBot(behaviour=failed(**info))
    assert (await outbox(bot).send(message(), ("一", "二"))).outcome is SendOutcome.FAILED
    assert bot.texts == ["一"]


async def test_a_refusal_after_a_page_arrived_is_unknown_so_that_nothing_is_sent_twice() -> None:
    bot = RecordingBot(
        behaviour=lambda number: ActionFailed(status="failed", retcode=120) if number == 2 else None
    )
    assert (await outbox(bot).send(message(), ("一", "二", "三"))).outcome is SendOutcome.UNKNOWN
    assert bot.texts == ["一", "二"]


async def test_no_answer_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never() -> None:
        await __import__("asyncio").Event().wait()

    monkeypatch.setattr(onebot, "_DEADLINE_SECONDS", 0.0)
    bot = RecordingBot(behaviour=lambda number: never())
    assert (await outbox(bot).send(message(), ("一",))).outcome is SendOutcome.UNKNOWN


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (NetworkError("WebSocket call api send_private_msg timeout"), SendOutcome.UNKNOWN),
        (ApiNotAvailable(), SendOutcome.FAILED),
    ],
)
async def test_errors_of_the_connection(error: Exception, outcome: SendOutcome) -> None:
    bot = RecordingBot(behaviour=lambda number: error)
    assert (await outbox(bot).send(message(), ("一",))).outcome is outcome


async def test_without_a_connection_nothing_is_sent() -> None:
    other = RecordingBot("10002")
    assert not outbox(other).is_ready(message())
    assert (await outbox(other).send(message(), ("一",))).outcome is SendOutcome.FAILED
    assert other.calls == []
    assert outbox(RecordingBot()).is_ready(message())


async def test_a_try_out_message_goes_to_the_newest_client() -> None:
    older, newer = RecordingBot("10001"), RecordingBot("10002")
    await outbox(older, newer).send(message(app_id=PLAYGROUND), ("一",))
    assert (older.texts, newer.texts) == ([], ["一"])


def numbered(count: int) -> tuple[str, ...]:
    return tuple(f"第{number}页" for number in range(count))


def forwards(bot: RecordingBot) -> list[list[str]]:
    """The pages of each call; those in a merged forward together."""
    return [
        [node.data["content"].extract_plain_text() for node in data["messages"]]
        if "messages" in data
        else [data["message"].extract_plain_text()]
        for _, data in bot.calls
    ]


@pytest.mark.parametrize(
    ("pages", "sizes"),
    [
        (1, [1]),
        (3, [1, 1, 1]),
        (4, [1, 3]),
        (21, [1, 20]),
        (22, [1, 10, 11]),
        (61, [1, 20, 20, 20]),
    ],
)
@pytest.mark.parametrize(("group", "where"), [("30001", "group"), ("", "private")])
async def test_all_but_the_first_page_of_a_long_reply_is_folded(
    pages: int, sizes: list[int], group: str, where: str
) -> None:
    bot = RecordingBot()
    sent = await outbox(bot).send(message(group=group), numbered(pages))
    assert sent == Sent(outcome=SendOutcome.SENT, pages=pages)
    calls = forwards(bot)
    assert [len(call) for call in calls] == sizes
    assert tuple(page.strip() for call in calls for page in call) == numbered(pages)
    names = [f"send_{where}_forward_msg" if size > 1 else f"send_{where}_msg" for size in sizes]
    assert [api for api, _ in bot.calls] == names


async def test_a_forward_is_the_bots_own_words() -> None:
    bot = RecordingBot()
    await OneBotOutbox(lambda: {"10001": bot}, name="小记").send(message(group="30001"), numbered(4))
    assert [segment.type for segment in bot.calls[0][1]["message"]] == ["at", "text", "text"]
    api, data = bot.calls[1]
    assert (api, data["group_id"]) == ("send_group_forward_msg", 30001)
    for node in data["messages"]:
        assert (node.type, node.data["user_id"], node.data["uin"]) == ("node", "10001", "10001")
        assert node.data["nickname"] == node.data["name"] == "小记"
        assert [segment.type for segment in node.data["content"]] == ["text"]


async def test_a_refused_forward_goes_out_page_by_page() -> None:
    bot = RecordingBot(behaviour=refused_forward)
    told: list[int] = []

    async def goes_on(done: int) -> bool:
        told.append(done)
        return True

    sent = await outbox(bot).send(message(), numbered(5), goes_on)
    assert sent == Sent(outcome=SendOutcome.SENT, pages=5)
    calls = forwards(bot)
    assert calls[1] == ["第1页", "第2页", "第3页", "第4页"]
    assert calls[2:] == [["第1页"], ["第2页"], ["第3页"], ["第4页"]]
    assert told == [1, 1, 2, 3, 4]


def refused_forward(number: int) -> Exception | None:
    return ActionFailed(status="failed", retcode=200, message="发送合并转发消息失败") if number == 2 else None


async def test_a_forward_that_may_have_arrived_is_not_sent_again() -> None:
    for error in (
        ActionFailed(status="failed", retcode=1200, message="Timeout"),
        NetworkError("WebSocket call api timeout"),
    ):
        bot = RecordingBot(behaviour=lambda number, error=error: error if number == 2 else None)
        sent = await outbox(bot).send(message(group="30001"), numbered(30))
        assert sent == Sent(outcome=SendOutcome.UNKNOWN, pages=1)
        assert [len(call) for call in forwards(bot)] == [1, 14]


async def test_progress_counts_the_pages_of_a_forward() -> None:
    bot, told = RecordingBot(), list[int]()

    async def until_the_third(done: int) -> bool:
        told.append(done)
        return len(told) < 3

    sent = await outbox(bot).send(message(), numbered(61), until_the_third)
    assert told == [1, 21, 41]
    assert sent == Sent(outcome=SendOutcome.SENT, pages=41)


async def test_a_ban_noticed_within_a_forward_ends_the_reply() -> None:
    bot = RecordingBot(
        behaviour=lambda number: (
            ActionFailed(status="failed", retcode=120, message="机器人被禁言") if number == 2 else None
        )
    )
    sent = await outbox(bot).send(message(group="30001"), numbered(6))
    assert sent == Sent(outcome=SendOutcome.UNKNOWN, pages=1)
    assert len(bot.calls) == 2
