"""Sending by the QQ open platform: numbered replies, a table of answers, and an honest account afterwards."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import anyio
import httpx
import pytest
from nonebot.adapters.qq import Bot
from nonebot.adapters.qq.exception import (
    ActionFailed,
    ApiNotAvailable,
    AuditException,
    NetworkError,
    UnauthorizedException,
)
from nonebot.adapters.qq.models import PostC2CMessagesReturn
from nonebot.drivers import Response

from bot.channels import qq
from bot.channels.qq import QQOutbox, target_of
from bot.channels.qq_errors import Verdict, code_of, fix_of, verdict_of
from bot.channels.qq_pages import QQPages
from bot.conversation.message import AccountKey, Conversation, Kind, Message
from bot.delivery import SendOutcome, Sent
from tests.alert_fakes import Told

TOLD = "（“。”请换成“.”）"
SENT = PostC2CMessagesReturn(id="x")
Script = Callable[[int, dict[str, Any]], Any]


class RecordingBot(Bot):
    """A connected bot that records its calls. `script` gets the number of each and what it says."""

    def __init__(self, script: Script = lambda number, data: None, token: Exception | None = None) -> None:
        self.self_id = "102"
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self._script = script
        self._token = token

    async def get_access_token(self) -> str:
        if self._token is not None:
            raise self._token
        return "t"

    async def call_api(self, api: str, **data: Any) -> Any:
        self.calls.append((api, data))
        outcome = self._script(len(self.calls), data)
        if isinstance(outcome, BaseException):
            raise outcome
        return SENT if outcome is None else await outcome

    @property
    def numbers(self) -> list[int]:
        return [data["msg_seq"] for _, data in self.calls]

    @property
    def texts(self) -> list[str]:
        return [data["content"] for _, data in self.calls]


def refusal(code: int, status: int = 400, **body: Any) -> ActionFailed:
    named = {"code": code} if code else {}
    return ActionFailed(Response(status, content=json.dumps(named | body)))


def answers(*outcomes: Any) -> Script:
    """One outcome after another; then everything is taken."""
    return lambda number, data: outcomes[number - 1] if number <= len(outcomes) else None


def never_left() -> NetworkError:
    error = NetworkError("API request failed")
    error.__cause__ = httpx.ConnectError("no route")
    return error


def message(key: str = "c2c:M1", *, group: str = "", openid: str = "U1", app_id: str = "102") -> Message:
    return Message(
        key=key,
        kind=Kind.TEXT,
        sender=AccountKey(channel="qq", app_id=app_id, openid=openid),
        conversation=Conversation(channel="qq", app_id=app_id, group=group),
        text="x",
        sent_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


IN_GROUP = message("group:M2", group="G1")


class Stage:
    """An outbox with what it told and how often it paused."""

    def __init__(self, script: Script = lambda number, data: None, token: Exception | None = None) -> None:
        self.bot = RecordingBot(script, token)
        self.alerts = Told()
        self.pauses: list[float] = []
        self.outbox = QQOutbox(
            lambda: {"102": self.bot},
            QQPages(TOLD),
            lambda page, number, total: f"{page}({number}/{total}) 回复“\ufdd0继续\ufdd1”",
            alerts=self.alerts,
            pause=self._pause,
        )

    @property
    def told(self) -> list[str]:
        return self.alerts.texts

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def send(self, to: Message, *pages: str) -> Sent:
        return await self.outbox.send(to, pages)


def sent(pages: int) -> Sent:
    return Sent(outcome=SendOutcome.SENT, pages=pages)


def failed(pages: int) -> Sent:
    return Sent(outcome=SendOutcome.FAILED, pages=pages)


def cut_after(pages: int) -> Sent:
    """As many as the message takes: the last tells of the rest."""
    return Sent(outcome=SendOutcome.FAILED, pages=pages, tells_of_rest=True)


def unknown(pages: int) -> Sent:
    return Sent(outcome=SendOutcome.UNKNOWN, pages=pages)


@pytest.mark.parametrize(
    ("to", "api", "address"),
    [
        (message(), "post_c2c_messages", {"openid": "U1", "msg_id": "M1"}),
        (IN_GROUP, "post_group_messages", {"group_openid": "G1", "msg_id": "M2"}),
        (message("channel:M3", group="channel-9"), "post_messages", {"channel_id": "9", "msg_id": "M3"}),
        (message("direct:7:M4"), "post_dms_messages", {"guild_id": "7", "msg_id": "M4"}),
        (message("event:FRIEND_ADD:e"), "post_c2c_messages", {"openid": "U1", "event_id": "FRIEND_ADD:e"}),
        (
            message("event:GROUP_ADD_ROBOT:e", group="G1", openid=""),
            "post_group_messages",
            {"group_openid": "G1", "event_id": "GROUP_ADD_ROBOT:e"},
        ),
        (
            message("event:INTERACTION_CREATE:e", group="channel-9"),
            "post_messages",
            {"channel_id": "9", "event_id": "INTERACTION_CREATE:e"},
        ),
    ],
)
async def test_the_stored_message_says_where_its_answer_goes(
    to: Message, api: str, address: dict[str, str]
) -> None:
    stage = Stage()
    assert await stage.send(to, "一") == sent(1)
    ((called, data),) = stage.bot.calls
    assert (called, data["content"]) == (api, "一")
    assert data.items() >= address.items()
    is_numbered = "channel_id" not in address and "guild_id" not in address
    assert data.keys() - address.keys() == (
        {"content", "msg_type", "msg_seq"} if is_numbered else {"content"}
    )


@pytest.mark.parametrize("key", ["mute:FRIEND_ADD:U1:0", "5:1", "c2c:", ""])
async def test_what_cannot_be_replied_to_is_not_sent(key: str) -> None:
    stage = Stage()
    assert target_of(message(key)) is None
    assert not stage.outbox.is_ready(message(key))
    assert await stage.send(message(key), "一") == failed(0)
    assert stage.bot.calls == []


async def test_pages_are_numbered_by_their_place() -> None:
    stage = Stage()
    assert await stage.send(message(), "一", "二", "三") == sent(3)
    assert (stage.bot.numbers, stage.bot.texts) == ([1, 2, 3], ["一", "二", "三"])


@pytest.mark.parametrize(("to", "most"), [(message(), 4), (IN_GROUP, 5), (message("direct:7:M"), 5)])
async def test_the_last_reply_a_message_takes_tells_of_the_rest(to: Message, most: int) -> None:
    stage = Stage()
    assert await stage.send(to, *"一二三四五六七") == cut_after(most)
    assert len(stage.bot.calls) == most
    assert stage.bot.texts[-1] == f"{'一二三四五六七'[most - 1]}({most}/7) 回复“继续”"
    assert stage.bot.texts[:-1] == list("一二三四五六七"[: most - 1])


async def test_as_many_pages_as_a_message_takes_need_no_mark() -> None:
    stage = Stage()
    assert await stage.send(message(), *"一二三四") == sent(4)
    assert stage.bot.texts == list("一二三四")


async def test_another_bots_message_is_not_ours() -> None:
    stage = Stage()
    other = message(app_id="103")
    assert stage.outbox.is_ready(message())
    assert not stage.outbox.is_ready(other)
    assert await stage.send(other, "一") == failed(0)


@pytest.mark.parametrize("code", [40054005, 304023, 304024])
async def test_a_repeated_number_was_delivered_and_a_review_is_no_error(code: int) -> None:
    stage = Stage(answers(refusal(code, 202)))
    assert await stage.send(message(), "一", "二") == sent(2)
    assert stage.bot.numbers == [1, 2]


async def test_a_review_the_adapter_knows() -> None:
    assert await Stage(answers(AuditException("a"))).send(IN_GROUP, "一") == sent(1)


async def no_answer() -> None:
    await anyio.sleep_forever()


@pytest.mark.parametrize(
    "lost",
    [NetworkError("API request failed"), TimeoutError(), refusal(0, 500), refusal(0, 504), ValueError()],
)
async def test_what_may_have_arrived_is_sent_once_more_by_the_same_number(lost: Exception) -> None:
    stage = Stage(answers(lost, refusal(40054005)))
    assert await stage.send(message(), "一", "二") == sent(2)
    assert stage.bot.numbers == [1, 1, 2]


async def test_no_answer_twice_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qq, "_DEADLINE_SECONDS", 0.0)
    stage = Stage()
    stage.bot._script = lambda number, data: no_answer()
    assert await stage.send(message(), "一", "二") == unknown(0)
    assert stage.bot.numbers == [1, 1]


@pytest.mark.parametrize("second", [refusal(40034128), refusal(40054002), refusal(40054010), never_left()])
async def test_a_refusal_after_silence_says_nothing_of_the_first(second: Exception) -> None:
    stage = Stage(answers(TimeoutError(), second))
    assert await stage.send(message(), "a.b") == unknown(0)
    assert stage.bot.numbers == [1, 1]


@pytest.mark.parametrize("key", ["channel:M3", "direct:7:M4", "event:FRIEND_ADD:e"])
async def test_without_a_number_that_is_refused_nothing_is_repeated(key: str) -> None:
    stage = Stage(answers(TimeoutError()))
    assert await stage.send(
        message(key, group="channel-9" if key.startswith("channel") else ""), "一"
    ) == unknown(0)
    assert len(stage.bot.calls) == 1


async def test_what_never_left_is_tried_again_and_then_a_failure() -> None:
    stage = Stage(answers(never_left()))
    assert await stage.send(message("direct:7:M4"), "一") == sent(1)
    stage = Stage(lambda number, data: never_left())
    assert await stage.send(message(), "一") == failed(0)
    assert stage.pauses == [1.0]


@pytest.mark.parametrize("again", [refusal(22009), refusal(50055001, 500), refusal(0, 429)])
async def test_the_platform_asks_to_try_again(again: Exception) -> None:
    stage = Stage(answers(again))
    assert await stage.send(message(), "一") == sent(1)
    assert (stage.bot.numbers, stage.pauses) == ([1, 1], [1.0])
    assert await Stage(answers(again, again)).send(message(), "一") == failed(0)


@pytest.mark.parametrize("code", [40034005, 40034128, 304027, 40034027])
async def test_a_window_that_is_over_holds_the_answer_for_good(code: int) -> None:
    stage = Stage(answers(None, refusal(code)))
    assert await stage.send(message(), "一", "二", "三") == failed(1)
    assert not stage.outbox.is_ready(message())
    assert stage.outbox.is_ready(message("c2c:M9"))
    assert stage.told == []


async def test_what_is_over_is_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qq, "_REMEMBERED", 2)
    stage = Stage(lambda number, data: refusal(40034005))
    for key in ("c2c:1", "c2c:2", "c2c:3"):
        await stage.send(message(key), "一")
    assert [stage.outbox.is_ready(message(f"c2c:{n}")) for n in (1, 2, 3)] == [True, False, False]


async def test_no_permission_is_told_once_until_it_works_again() -> None:
    outcomes = [refusal(40034102), refusal(40034102), refusal(40054002), None, refusal(40034102)]
    stage = Stage(answers(*outcomes))
    for number in range(3):
        assert await stage.send(message(f"group:{number}", group="G1"), "一") == failed(0)
    assert len(stage.told) == 2
    assert "40034102" in stage.told[0]
    assert "禁言" in stage.told[1]
    assert not any("G1" in told for told in stage.told)
    assert await stage.send(IN_GROUP, "一") == sent(1)
    await stage.send(IN_GROUP, "一")
    assert len(stage.told) == 3
    assert stage.outbox.is_ready(IN_GROUP)


async def test_a_page_with_a_refused_address_is_rewritten_once_and_it_is_said() -> None:
    for code in (304003, 40054010):
        stage = Stage(answers(refusal(code)))
        assert await stage.send(IN_GROUP, "用 pd.read 读", "二") == sent(2)
        assert stage.bot.texts == ["用 pd.read 读", f"用 pd。read 读\n{TOLD}", "二"]
        assert stage.bot.numbers == [1, 101, 2]
    stage = Stage(lambda number, data: refusal(304003))
    assert await stage.send(IN_GROUP, "用 pd.read 读") == failed(0)
    assert len(stage.bot.calls) == 2
    stage = Stage(lambda number, data: refusal(304003))
    assert await stage.send(IN_GROUP, "没有网址") == failed(0)
    assert len(stage.bot.calls) == 1


async def test_a_page_that_is_too_long_goes_out_in_halves() -> None:
    stage = Stage(answers(refusal(40054007)))
    assert await stage.send(message(), "第一句。第二句。", "二", "三") == sent(3)
    assert stage.bot.texts == ["第一句。第二句。", "第一句。", "第二句。", "二", "三"]
    assert stage.bot.numbers == [1, 201, 301, 2, 3]


async def test_halves_count_as_replies() -> None:
    stage = Stage(answers(refusal(40054007)))
    assert await stage.send(message(), "一。二。", "二", "三", "四") == cut_after(3)
    assert stage.bot.texts[-1] == "三(3/4) 回复“继续”"
    stage = Stage(answers(None, None, None, refusal(40054007)))
    assert await stage.send(message(), "一", "二", "三", "四。四。") == failed(3)
    assert stage.bot.numbers == [1, 2, 3, 4]


async def test_a_half_that_fails_fails_its_page() -> None:
    stage = Stage(answers(refusal(40054007), None, refusal(40034006)))
    assert await stage.send(message(), "一。二。", "二") == failed(0)
    # A second time, the number of the half that arrived says so.
    stage = Stage(answers(refusal(40054007), refusal(40054005)))
    assert await stage.send(message(), "一。二。", "二") == sent(2)
    assert stage.bot.numbers == [1, 201, 301, 2]


@pytest.mark.parametrize("error", [refusal(40034006), refusal(999), ApiNotAvailable(), refusal(0, 403)])
async def test_other_refusals_are_failures(error: Exception) -> None:
    stage = Stage(answers(None, error))
    assert await stage.send(message(), "一", "二", "三") == failed(1)
    assert stage.told == []


@pytest.mark.parametrize(
    "error", [NetworkError("Get authorization failed"), httpx.ConnectError("x"), ValueError(), TimeoutError()]
)
async def test_without_a_token_nothing_is_sent(error: Exception) -> None:
    stage = Stage(token=error)
    assert await stage.send(message(), "一") == failed(0)
    assert await stage.send(message(), "一") == failed(0)
    assert stage.bot.calls == []
    assert len(stage.told) == 1
    assert "QQ__SECRET" in stage.told[0]


async def test_a_token_that_is_refused_for_good_is_the_operators_matter() -> None:
    response = Response(401, content=json.dumps({"err_code": 11244}))
    stage = Stage(answers(UnauthorizedException(response)))
    assert await stage.send(message(), "一") == failed(0)
    assert "QQ__SECRET" in stage.told[0]


async def test_signs_in_a_guild_are_escaped() -> None:
    stage = Stage()
    await stage.send(message("channel:M3", group="channel-9"), "1<2 & 3>2")
    await stage.send(message(), "1<2 & 3>2")
    assert stage.bot.texts == ["1&lt;2 &amp; 3&gt;2", "1<2 & 3>2"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"code": 40054005}, 40054005),
        ({"err_code": 40054005}, 40054005),
        ({"code": 0, "err_code": 5}, 5),
        ({"code": "40054005"}, 40054005),
        ({"id": "x"}, 0),
        ([], 0),
        (None, 0),
        ({"code": "x"}, 0),
    ],
)
def test_codes_are_found_in_any_form(body: object, code: int) -> None:
    assert code_of(body) == code


def test_the_table() -> None:
    assert verdict_of(40054005, 400) is Verdict.DELIVERED
    assert verdict_of(40034105, 200) is Verdict.FORBIDDEN
    assert verdict_of(123456, 500) is Verdict.REFUSED
    assert verdict_of(0, 500) is None
    assert verdict_of(0, 201) is None
    assert "禁言" in fix_of(40054002)
    assert fix_of(123456) == ""
