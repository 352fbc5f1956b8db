"""What keeps a OneBot account silent is known, and the operator hears of it once."""

from typing import Any

import pytest
from nonebot.adapters.onebot.v11 import ActionFailed

from bot.channels.onebot import OneBotOutbox
from bot.channels.onebot_troubles import ASK_AGAIN_SECONDS, Cause, Troubles, cause_of, is_uncertain
from bot.delivery import SendOutcome, Sent
from tests.alert_fakes import Told
from tests.unit.test_onebot_outbox import RecordingBot, message

GROUP = "30001"
IN_GROUP = message(group=GROUP)
FAILED = Sent(outcome=SendOutcome.FAILED, pages=0)
SENT = Sent(outcome=SendOutcome.SENT, pages=1)
ROLE_ASKED = "get_group_member_info"


def refusal(words: str = "", code: int = 200) -> ActionFailed:
    return ActionFailed(status="failed", retcode=code, message=words)


MUTED = refusal("发送失败，机器人被禁言", 120)


class Stage:
    """An outbox before one group, with a clock in the hand."""

    def __init__(self, *outcomes: Any, role: str = "member") -> None:
        self.now = 0.0
        self.alerts = Told()
        self.troubles = Troubles(self.alerts, lambda: self.now)
        waiting = list(outcomes)

        class Client(RecordingBot):
            async def call_api(self, api: str, **data: Any) -> Any:
                self.calls.append((api, data))
                if api == ROLE_ASKED:
                    return {"role": role}
                outcome = waiting.pop(0) if waiting else None
                if isinstance(outcome, Exception):
                    raise outcome
                return {"message_id": 1}

        self.bot = Client()
        self.outbox = OneBotOutbox(lambda: {"10001": self.bot}, self.troubles)

    async def send(self) -> Sent:
        return await self.outbox.send(IN_GROUP, ("一",))

    async def ban(self, *, who: int | str = 10001, seconds: object = 600, sub_type: str = "ban") -> None:
        await self.notice(
            notice_type="group_ban", sub_type=sub_type, group_id=30001, user_id=who, duration=seconds
        )

    async def notice(self, **fields: Any) -> None:
        await self.troubles.noticed({"self_id": 10001, **fields})

    async def beat(self, *, online: object) -> None:
        await self.notice(meta_event_type="heartbeat", status={"online": online, "good": True})

    @property
    def sends(self) -> int:
        return sum(api == "send_group_msg" for api, _ in self.bot.calls)


async def test_while_a_ban_is_known_nothing_is_sent_and_the_operator_hears_once() -> None:
    stage = Stage()
    await stage.ban(seconds=600)
    for _ in range(3):
        assert await stage.send() == FAILED
    assert stage.bot.calls == []
    assert len(stage.alerts.texts) == 1
    assert "30001" in stage.alerts.texts[0]
    assert "解除禁言" in stage.alerts.texts[0]


async def test_a_ban_ends_with_its_time_or_with_its_lifting() -> None:
    stage = Stage()
    await stage.ban(seconds=60)
    stage.now = 59.9
    assert await stage.send() == FAILED
    stage.now = 60.0
    assert await stage.send() == SENT
    await stage.ban(seconds=60)
    await stage.ban(sub_type="lift_ban", seconds=0)
    assert await stage.send() == SENT
    await stage.ban(seconds=60)
    assert len(stage.alerts.texts) == 3


async def test_a_ban_of_somebody_else_or_of_another_group_is_none_of_ours() -> None:
    stage = Stage()
    await stage.ban(who=20001)
    await stage.notice(notice_type="group_ban", sub_type="ban", group_id=30002, user_id="10001", duration=60)
    assert await stage.send() == SENT
    assert len(stage.alerts.texts) == 1
    assert "30002" in stage.alerts.texts[0]


async def test_a_ban_of_the_whole_group_holds_until_it_is_lifted_but_for_its_admins() -> None:
    stage = Stage(role="member")
    await stage.ban(who=0, seconds=-1)
    assert stage.alerts.texts == []
    assert [await stage.send(), await stage.send()] == [FAILED, FAILED]
    assert (stage.sends, len(stage.alerts.texts)) == (0, 1)
    assert "全体禁言" in stage.alerts.texts[0]
    await stage.ban(who=0, sub_type="lift_ban", seconds=0)
    assert await stage.send() == SENT
    stage = Stage(role="admin")
    await stage.ban(who="0", seconds=-1)
    assert [await stage.send(), await stage.send()] == [SENT, SENT]
    assert [api for api, _ in stage.bot.calls].count(ROLE_ASKED) == 1
    assert stage.alerts.texts == []


@pytest.mark.parametrize("seconds", [-1, 0, None, "lasting"])
async def test_a_ban_without_an_end_is_tried_again(seconds: object) -> None:
    stage = Stage(MUTED)
    await stage.ban(seconds=seconds)
    stage.now = ASK_AGAIN_SECONDS
    assert [await stage.send(), await stage.send()] == [FAILED, FAILED]
    assert (stage.sends, len(stage.alerts.texts)) == (1, 1)


async def test_a_ban_known_by_a_refusal_alone() -> None:
    stage = Stage(MUTED, MUTED)
    assert [await stage.send(), await stage.send()] == [FAILED, FAILED]
    assert stage.sends == 1
    stage.now = ASK_AGAIN_SECONDS
    assert await stage.send() == FAILED
    assert len(stage.alerts.texts) == 1
    stage.now *= 2
    assert await stage.send() == SENT
    await stage.ban()
    assert len(stage.alerts.texts) == 2


async def test_a_missing_permission_is_told_once_until_a_send_succeeds() -> None:
    no = refusal("没有权限，机器人不是群成员", 102)
    stage = Stage(no, no, None, no)
    outcomes = [await stage.send() for _ in range(4)]
    assert outcomes == [FAILED, FAILED, SENT, FAILED]
    assert (stage.sends, len(stage.alerts.texts)) == (4, 2)


async def test_causes_are_told_apart() -> None:
    stage = Stage(refusal("SEND_MSG_API_ERROR", 100), refusal("no permission", 1), MUTED)
    for _ in range(3):
        assert await stage.send() == FAILED
    assert len(stage.alerts.texts) == 3
    assert "风控" in stage.alerts.texts[0]


async def test_a_new_connection_forgets_bans_that_may_have_been_lifted() -> None:
    stage = Stage()
    await stage.ban()
    await stage.notice(meta_event_type="lifecycle", sub_type="connect")
    assert await stage.send() == SENT


async def test_a_private_chat_knows_no_bans() -> None:
    stage = Stage(MUTED)
    assert await stage.outbox.send(message(), ("一",)) == FAILED
    assert await stage.outbox.send(message(), ("一",)) == SENT
    assert stage.alerts.texts == []


async def test_a_lost_login_is_told_once_and_replies_wait_for_it() -> None:
    stage = Stage()
    await stage.beat(online=True)
    assert stage.outbox.is_ready(IN_GROUP)
    for online in (False, False, None):
        await stage.beat(online=online)
        assert not stage.outbox.is_ready(IN_GROUP)
    assert len(stage.alerts.texts) == 1
    await stage.beat(online=True)
    await stage.troubles.wait_back()
    assert stage.outbox.is_ready(IN_GROUP)
    await stage.beat(online=False)
    assert len(stage.alerts.texts) == 2


@pytest.mark.parametrize("status", [None, "ok", [], {}])
async def test_a_sign_of_life_without_a_login_says_nothing(status: object) -> None:
    stage = Stage()
    await stage.notice(meta_event_type="heartbeat", status=status)
    assert stage.outbox.is_ready(IN_GROUP)
    assert stage.alerts.texts == []


@pytest.mark.parametrize(
    ("words", "code", "cause"),
    [
        ("机器人被禁言", 100, Cause.MUTED),
        ("You are muted", 100, Cause.MUTED),
        ("", 120, Cause.MUTED),
        ("没有权限", 100, Cause.NO_PERMISSION),
        ("No Permission", 100, Cause.NO_PERMISSION),
        ("", 102, Cause.NO_PERMISSION),
        ("EventChecker Failed: rich media transfer failed", 200, Cause.RISK),
        ("消息为空", 100, None),
        ("", "120", None),
    ],
)
def test_what_a_refusal_says(words: str, code: Any, cause: Cause | None) -> None:
    assert cause_of(refusal(words, code)) is cause


def test_a_time_out_is_no_refusal_whatever_its_words() -> None:
    assert is_uncertain(refusal("Timeout: EventChecker", 200))
    assert is_uncertain(refusal("", 1200))
    assert not is_uncertain(MUTED)


async def test_a_time_out_tells_nobody() -> None:
    stage = Stage(refusal("Timeout: NTEvent", 1200))
    assert (await stage.send()).outcome is SendOutcome.UNKNOWN
    assert stage.alerts.texts == []


async def test_what_is_remembered_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.channels.onebot_troubles._REMEMBERED", 2)
    stage = Stage()
    for group in (1, 2, 3):
        await stage.notice(notice_type="group_ban", sub_type="ban", group_id=group, user_id=10001, duration=9)
    known = [stage.troubles.ban_of("10001", str(group)) is not None for group in (1, 2, 3)]
    assert known == [False, True, True]
