"""OneBot events become messages: own words only, ids only, addressed or not."""

from datetime import UTC, datetime
from typing import Any

import pytest
from nonebot.adapters.onebot.v11 import Message as Segments
from nonebot.adapters.onebot.v11 import MessageEvent, MessageSegment
from nonebot.adapters.onebot.v11.event import Reply

from bot.channels.onebot_adapter import OneBotAdapter
from bot.channels.onebot_mapping import OneBotMapping
from bot.conversation.message import AccountKey, Kind, Message, Role, dump_message, load_message

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MAPPING = OneBotMapping(nicknames=["小记", "小记同学"], prefix="#", now=lambda: NOW)


def account(openid: str) -> AccountKey:
    return AccountKey(channel="onebot", app_id="10001", openid=openid)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "data": {"text": words}}


def at(qq: int | str) -> dict[str, Any]:
    return {"type": "at", "data": {"qq": qq}}


def attachment(type_: str) -> dict[str, Any]:
    return {"type": type_, "data": {"file": "A"}}


def event(message: Any, *, group: int | str | None = 30001, **fields: Any) -> dict[str, Any]:
    kind = {"message_type": "group", "group_id": group} if group else {"message_type": "private"}
    return {
        "time": 1773153399,
        "self_id": 10001,
        "post_type": "message",
        "sub_type": "normal" if group else "friend",
        "message_id": 5,
        "user_id": 20001,
        "message": message,
        "raw_message": "",
        "font": 14,
        "sender": {"user_id": 20001, "nickname": "甲", "card": "", "role": "member"},
        **kind,
        **fields,
    }


def mapped(raw: dict[str, Any], mapping: OneBotMapping = MAPPING) -> Message | None:
    parsed = OneBotAdapter.json_to_event(raw)
    return mapping.to_message(parsed, self_id="10001", app_id="10001") if parsed else None


def said(raw: dict[str, Any], mapping: OneBotMapping = MAPPING) -> Message:
    message = mapped(raw, mapping)
    assert message is not None
    assert load_message(dump_message(message)) == message
    return message


def test_a_private_message() -> None:
    message = said(event([text(" 在吗 \n")], group=None))
    assert message == Message(
        key="private:20001:5:1773153399",
        kind=Kind.TEXT,
        sender=account("20001"),
        conversation=message.conversation,
        text="在吗",
        sent_at=datetime.fromtimestamp(1773153399, UTC),
    )
    assert not message.conversation.is_group


def test_a_group_message_that_is_nobodys_business() -> None:
    message = said(event([text("中午吃什么")]))
    assert message.conversation.group == "30001"
    assert message.conversation.place == "onebot:10001:30001"
    assert not message.is_addressed


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        ([at(10001), text(" 你好")], "你好"),
        ([at("10001"), at("10001"), text("你好 ")], "你好"),
        ([text("你好"), at("10001")], "你好"),
        ([text("问一下"), at("10001"), text("天气")], "问一下 天气"),
        ([text("问一下 "), at("10001"), text(" 天气")], "问一下 天气"),
        ([at("10001")], ""),
        ([at("10001"), text(" 小记，你好")], "你好"),
        ([at("10001"), text(" 小记事本是什么")], "小记事本是什么"),
        ([at("10001"), text(" #话题")], "#话题"),
        ("[CQ:at,qq=10001] 你好&#91;笑&#93;", "你好[笑]"),
        ([text("小记你好")], "你好"),
        ([text("小记同学，你好")], "你好"),
        ([text("小记")], ""),
        ([text("#天气")], "天气"),
        ([text("# 天气")], "天气"),
    ],
)
def test_addressed_in_a_group_without_the_address_in_the_text(segments: Any, expected: str) -> None:
    message = said(event(segments))
    assert message.is_addressed
    assert message.text == expected
    assert message.kind is Kind.TEXT


@pytest.mark.parametrize(
    "segments",
    [
        [text("[有人@我] 你好")],
        [text("@小记 你好")],
        [text("@10001 你好")],
        [text("[CQ:at,qq=10001] 你好")],
        [text("你好小记")],
        [at("all"), text("开会")],
        [at("0"), text("开会")],
        [at("20002"), text("你好")],
    ],
)
def test_what_does_not_address_the_bot(segments: Any) -> None:
    assert not said(event(segments)).is_addressed


def test_a_card_addresses_nobody_and_names_nobody() -> None:
    sender = {"user_id": 20001, "nickname": "小记", "card": "[有人@我]", "role": "member"}
    message = said(event([text("你好")], sender=sender))
    assert not message.is_addressed
    assert message.text == "你好"
    assert message.sender == account("20001")


def test_a_slash_prefix_stays_with_its_command() -> None:
    message = said(event([text("/帮助")]), OneBotMapping(prefix="/"))
    assert message.is_addressed
    assert message.text == "/帮助"


def test_without_settings_only_mentions_address() -> None:
    plain = OneBotMapping()
    assert not said(event([text("小记你好")]), plain).is_addressed
    assert said(event([at(10001), text("小记你好")]), plain).text == "小记你好"


@pytest.mark.parametrize(
    ("words", "expected"), [("小记，你好", "你好"), ("小记事本是什么", "小记事本是什么"), ("#话题", "#话题")]
)
def test_in_private_only_a_name_set_apart_is_a_call(words: str, expected: str) -> None:
    assert said(event([text(words)], group=None)).text == expected


def test_others_mentioned_are_kept_apart_from_the_text() -> None:
    message = said(event([at(10001), text("清除记忆"), at(20002), at("20002"), at("all"), text("谢谢")]))
    assert message.mentioned == (account("20002"),)
    assert message.text == "清除记忆 谢谢"


def quoting(author: int, words: str) -> Message:
    parsed = OneBotAdapter.json_to_event(
        event([{"type": "reply", "data": {"id": "111"}}, text("那改成后天")])
    )
    assert isinstance(parsed, MessageEvent)
    parsed.reply = Reply(  # what the adapter does after asking the client for the message
        time=1,
        message_type="group",
        message_id=111,
        real_id=111,
        sender={"user_id": author},  # pyright: ignore[reportArgumentType]
        message=Segments([MessageSegment.text(words), MessageSegment.at(1)]),
    )
    message = MAPPING.to_message(parsed, self_id="10001", app_id="10001")
    assert message is not None
    return message


def test_a_reply_to_the_bot_is_addressed_and_the_quotation_is_not_the_speakers() -> None:
    message = quoting(10001, "我叫李四，明天送到。")
    assert message.is_addressed
    assert message.text == "那改成后天"
    assert message.quoted == "我叫李四，明天送到。"


def test_a_reply_to_somebody_else_is_not() -> None:
    assert not quoting(20002, "明天见").is_addressed


def test_a_reply_whose_message_cannot_be_read_is_still_a_message() -> None:
    message = said(event([{"type": "reply", "data": {"id": "111"}}, at(10001), text(" 继续")]))
    assert (message.text, message.quoted, message.is_addressed) == ("继续", "", True)


@pytest.mark.parametrize(
    ("segments", "kind", "words"),
    [
        ([attachment("image")], Kind.IMAGE, ""),
        ([attachment("file"), text(" ")], Kind.UNSUPPORTED, ""),
        ([{"type": "forward", "data": {"id": "x"}}], Kind.UNSUPPORTED, ""),
        ([{"type": "json", "data": {"data": '{"prompt":"我叫李四"}'}}], Kind.LINK, ""),
        ([{"type": "mface", "data": {"summary": "[笑]"}}], Kind.TEXT, "[笑]"),
        ([{"type": "type_of_2030", "data": {}}], Kind.UNSUPPORTED, ""),
        ([attachment("record")], Kind.VOICE, ""),
        ([{"type": "face", "data": {"id": "14"}}], Kind.TEXT, ""),
        ([{"type": "face", "data": {"id": "14"}}, text("早")], Kind.TEXT, "早"),
        ([attachment("image"), text("这个多少钱")], Kind.TEXT, "这个多少钱"),
        ([], Kind.TEXT, ""),
    ],
)
def test_kinds(segments: Any, kind: Kind, words: str) -> None:
    message = said(event(segments, group=None))
    assert (message.kind, message.text) == (kind, words)


@pytest.mark.parametrize(
    "anonymous",
    [
        {"user_id": 80000000},
        {"user_id": "80000000"},
        {"sub_type": "anonymous", "user_id": 7},
        {"user_id": 7, "anonymous": {"id": "1", "name": "匿名", "flag": "F"}},
    ],
)
def test_anonymous_members_have_no_identity(anonymous: dict[str, Any]) -> None:
    assert said(event([at(10001), text("我叫李四")], **anonymous)).is_anonymous


def test_anonymous_null_is_an_ordinary_member() -> None:
    assert not said(event([text("hi")], anonymous=None)).is_anonymous


@pytest.mark.parametrize(
    ("user_id", "openid"), [("20001", "20001"), (-5, "-5"), (3425462029, "3425462029"), ("u-1", "u-1")]
)
def test_ids_of_any_kind(user_id: int | str, openid: str) -> None:
    message = said(event([text("x")], user_id=user_id, message_id="abc-1", group="g-1"))
    assert message.sender == account(openid)
    assert message.key == f"g-1:{openid}:abc-1:1773153399"
    assert message.conversation.group == "g-1"


@pytest.mark.parametrize(
    ("sender", "role"),
    [
        ({"role": "owner"}, Role.OWNER),
        ({"role": "admin"}, Role.ADMIN),
        ({"role": "member"}, Role.MEMBER),
        ({"role": None}, Role.MEMBER),
        ({"role": "superadmin"}, Role.MEMBER),
        ({}, Role.MEMBER),
        ({"role": "admin", "level": 24, "age": "", "user_id": "x"}, Role.ADMIN),
    ],
)
def test_roles(sender: dict[str, Any], role: Role) -> None:
    assert said(event([text("x")], sender=sender)).role is role


@pytest.mark.parametrize(
    ("time", "sent_at"),
    [
        (1773153399000, datetime.fromtimestamp(1773153399, UTC)),
        (0, NOW),
        (-1, NOW),
        (10**20, NOW),
        ("1773153399", datetime.fromtimestamp(1773153399, UTC)),
    ],
)
def test_times(time: Any, sent_at: datetime) -> None:
    assert said(event([text("x")], time=time)).sent_at == sent_at


def test_the_same_message_id_at_another_time_is_another_message() -> None:
    assert said(event([text("x")])).key != said(event([text("x")], time=1773153400)).key


def test_own_messages_are_nothing_to_answer() -> None:
    assert mapped(event([text("ok")], user_id=10001)) is None
    assert mapped(event([text("ok")], user_id=10001, post_type="message_sent")) is None


def test_what_cannot_be_stored_is_dropped_from_the_text() -> None:
    assert said(event([text("a\x00b\ud800c")], group=None)).text == "abc"


def test_the_playground_keeps_its_own_accounts() -> None:
    parsed = OneBotAdapter.json_to_event(event([at(10001), text("hi")]))
    assert parsed is not None
    message = MAPPING.to_message(parsed, self_id="10001", app_id="playground")
    assert message is not None
    assert message.sender.app_id == message.conversation.app_id == "playground"
    assert message.is_addressed


def notice(notice_type: str, **fields: Any) -> dict[str, Any]:
    return {"time": 1, "self_id": 10001, "post_type": "notice", "notice_type": notice_type, **fields}


def test_joining_a_group_is_a_follow_of_nobody_in_particular() -> None:
    message = mapped(
        notice("group_increase", sub_type="invite", group_id=3, user_id=10001, operator_id=20001)
    )
    assert message is not None
    assert (message.kind, message.conversation.group) == (Kind.FOLLOW, "3")
    assert message.is_anonymous
    assert message.key == "group_increase:3:1"


def test_a_new_friend_is_a_follow() -> None:
    message = mapped(notice("friend_add", user_id=20001))
    assert message is not None
    assert (message.kind, message.sender, message.conversation.group) == (Kind.FOLLOW, account("20001"), "")


@pytest.mark.parametrize(
    "raw",
    [
        notice("group_increase", sub_type="approve", group_id=3, user_id=20001, operator_id=0),
        notice("group_decrease", sub_type="kick_me", group_id=3, user_id=10001, operator_id=0),
        notice("group_recall", group_id=3, user_id=20001, operator_id=1, message_id=5),
        notice("notify", sub_type="poke", user_id=20001, target_id=10001),
        notice("friend_add"),
        notice("group_increase", user_id=10001),
        notice("essence"),
        {"time": 1, "self_id": 10001, "post_type": "meta_event", "meta_event_type": "lifecycle"},
        {"time": 1, "self_id": 10001, "post_type": "request", "request_type": "friend", "user_id": 1},
    ],
)
def test_other_events_are_nothing_to_answer(raw: dict[str, Any]) -> None:
    assert mapped(raw) is None


@pytest.mark.parametrize(
    "broken",
    [
        {"message": 5},
        {"message": [5]},
        {"user_id": None},
        {"user_id": []},
        {"sender": "x"},
        {"group_id": {}},
        {"group_id": ""},
        {"group_id": 0},
        {"group_id": None},
        {"message_type": "private", "user_id": 0},
        {"message_type": "guild"},
    ],
)
def test_a_broken_message_is_no_message(broken: dict[str, Any]) -> None:
    assert mapped(event([text("x")]) | broken) is None


@pytest.mark.parametrize(
    ("sender", "shown"),
    [
        ({"card": "团长\n# 规则", "nickname": "甲"}, "团长 # 规则"),
        ({"card": "", "nickname": "甲"}, "甲"),
        ({"card": "\u202e", "nickname": "甲"}, "甲"),
        ({"card": None, "nickname": "甲"}, "甲"),
        ({"nickname": "名" * 99}, "名" * 32),
        ({}, ""),
    ],
)
def test_the_name_a_group_shows_is_the_card_or_else_the_nickname(sender: dict[str, Any], shown: str) -> None:
    message = said(event([text("你好")], sender={"user_id": 20001, **sender}))
    assert message.shown_name == shown
    assert message.sender == account("20001")


def test_in_private_no_name_is_shown() -> None:
    assert said(event([text("你好")], group=None)).shown_name == ""
