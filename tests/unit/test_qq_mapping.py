"""QQ official events become messages: own words only, ids only, addressed or not."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from nonebot.adapters.qq.models import Dispatch
from nonebot.adapters.qq.models import Message as GuildMessage
from pydantic import ValidationError

from bot.channels.qq_adapter import QQAdapter
from bot.channels.qq_mapping import QQMapping
from bot.conversation.message import AccountKey, Kind, Media, Message, Role, dump_message, load_message

NOW = datetime(2026, 3, 1, tzinfo=UTC)
AT = "2026-03-01T08:00:05+08:00"
MAPPING = QQMapping(nicknames=["小记", "小记同学"], prefix="#", now=lambda: NOW)


def account(openid: str) -> AccountKey:
    return AccountKey(channel="qq", app_id="102", openid=openid)


def event(type_: str, **data: Any) -> Any:
    return QQAdapter.payload_to_event(
        Dispatch.model_validate({"op": 0, "t": type_, "id": f"{type_}:e1", "d": data})
    )


def mapped(type_: str, **data: Any) -> Message | None:
    return MAPPING.to_message(event(type_, **data), app_id="102", bot_id="B")


def said(type_: str, **data: Any) -> Message:
    message = mapped(type_, **data)
    assert message is not None
    assert load_message(dump_message(message)) == message
    return message


def private(content: str | None = "在吗", **data: Any) -> Message:
    fields = {"id": "M1", "author": {"user_openid": "U1"}, "content": content, "timestamp": AT, **data}
    return said("C2C_MESSAGE_CREATE", **fields)


def group(content: str | None = "在吗", *, type_: str = "GROUP_MESSAGE_CREATE", **data: Any) -> Message:
    fields = {"id": "M2", "author": {"member_openid": "A1"}, "group_openid": "G1", "timestamp": AT}
    return said(type_, **{**fields, "content": content, **data})


def at_group(content: str | None = " 在吗", **data: Any) -> Message:
    return group(content, type_="GROUP_AT_MESSAGE_CREATE", **data)


def channel(content: str | None = "在吗", *, type_: str = "AT_MESSAGE_CREATE", **data: Any) -> Message:
    fields = {"id": "M3", "author": {"id": "P1"}, "guild_id": "7", "channel_id": "9", "timestamp": AT}
    return said(type_, **{**fields, "content": content, **data})


def face(words: str) -> str:
    return base64.b64encode(json.dumps({"text": words}, ensure_ascii=False).encode()).decode()


def test_a_private_message() -> None:
    message = private(" 在吗 \n", author={"user_openid": "U1", "union_openid": ""})
    assert message == Message(
        key="c2c:M1",
        kind=Kind.TEXT,
        sender=account("U1"),
        conversation=message.conversation,
        text="在吗",
        sent_at=datetime(2026, 3, 1, 0, 0, 5, tzinfo=UTC),
    )
    assert not message.conversation.is_group


def test_a_private_message_with_the_other_id_alone() -> None:
    assert private(author={"id": "U1"}).sender == account("U1")


@pytest.mark.parametrize("union", ["", None, " "])
def test_an_empty_union_openid_is_none(union: str | None) -> None:
    assert private(author={"user_openid": "U1", "union_openid": union}).unionid == ""


def test_a_union_openid_joins_private_chat_group_and_guild() -> None:
    assert private(author={"user_openid": "U1", "union_openid": "X"}).unionid == "X"
    assert at_group(author={"member_openid": "A1", "union_openid": "X"}).unionid == "X"
    assert channel(author={"id": "P1", "union_openid": "X"}).unionid == "X"


def test_a_group_message_that_mentions_the_bot() -> None:
    message = at_group(" /帮助 ")
    assert (message.text, message.is_addressed, message.role) == ("/帮助", True, Role.MEMBER)
    assert (message.key, message.conversation.group, message.sender) == ("group:M2", "G1", account("A1"))


def test_the_old_name_of_a_group_will_do() -> None:
    assert at_group(group_openid="", group_id="G2").conversation.group == "G2"


def test_without_a_group_nothing_is_private_instead() -> None:
    fields = {"id": "M2", "author": {"member_openid": "A1"}, "content": "x", "timestamp": AT}
    assert mapped("GROUP_AT_MESSAGE_CREATE", **fields) is None


@pytest.mark.parametrize(
    ("stated", "role"),
    [
        ("owner", Role.OWNER),
        ("admin", Role.ADMIN),
        ("member", Role.MEMBER),
        (None, Role.MEMBER),
        ("god", Role.MEMBER),
    ],
)
def test_the_role_is_what_the_platform_states(stated: str | None, role: Role) -> None:
    assert at_group(author={"member_openid": "A1", "member_role": stated}).role is role


def test_a_nameless_member_has_no_memory() -> None:
    assert at_group(author={}).is_anonymous


def test_group_talk_is_nobodys_business() -> None:
    assert not group("中午吃什么").is_addressed


@pytest.mark.parametrize(
    ("content", "text"), [("<@BOT> 日报", "日报"), ("日报<@BOT>", "日报"), ("喊 <@BOT>  来", "喊 来")]
)
def test_the_mention_stays_in_the_content_where_everything_is_shown(content: str, text: str) -> None:
    message = group(content, mentions=[{"id": "BOT", "is_you": True, "bot": True}])
    assert (message.text, message.is_addressed, message.mentioned) == (text, True, ())


def test_everyone_is_nobody_in_particular() -> None:
    everyone = [{"scope": "all", "is_you": True, "username": "全体成员"}]
    assert not group("@everyone 开会", mentions=everyone).is_addressed
    assert group("@everyone 开会", mentions=everyone).text == "开会"


def test_others_are_mentioned_by_id() -> None:
    mentions = [
        {
            "scope": "single",
            "id": "x",
            "member_openid": "A2",
            "is_you": False,
            "bot": False,
            "username": "甲",
        },
        {"id": "A1", "member_openid": "A1"},
        {"id": "OTHERBOT", "bot": True},
    ]
    message = group("<@A2> 你好", mentions=mentions)
    assert (message.mentioned, message.is_addressed, message.text) == ((account("A2"),), False, "你好")


@pytest.mark.parametrize(
    ("content", "text"), [("小记你好", "你好"), ("小记同学，在吗", "在吗"), ("#天气", "天气"), ("小记", "")]
)
def test_called_by_name_or_prefix(content: str, text: str) -> None:
    assert (group(content).text, group(content).is_addressed) == (text, True)


def test_a_name_in_a_private_chat_is_a_call_only_when_set_apart() -> None:
    assert private("小记，你好").text == "你好"
    assert private("小记事本是什么").text == "小记事本是什么"


def test_bots_are_not_listened_to() -> None:
    author = {"member_openid": "A9", "bot": True}
    assert mapped("GROUP_MESSAGE_CREATE", id="M", author=author, group_openid="G1", content="x") is None
    guild = {"id": "M", "guild_id": "7", "channel_id": "9", "content": "x"}
    assert mapped("MESSAGE_CREATE", author={"id": "P9", "bot": True}, **guild) is None
    assert mapped("MESSAGE_CREATE", author={"id": "B"}, **guild) is None


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (f'好的<faceType=1,faceId="277",ext="{face("汪汪")}">', "好的[汪汪]"),
        (f'<faceType=4,faceId="",ext="{face("[酷]")}">', "[酷]"),
        (f'好<faceType=1,faceId="1",ext="{base64.b64encode(b"[" * 9000).decode()}">', "好"),
        ('好<faceType=1,faceId="1",ext="???">', '好<faceType=1,faceId="1",ext="???">'),
        ('好<faceType=1,faceId="1",ext="abc">', "好"),
        ("看<emoji:4>这里<#123>", "看这里"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2 &amp;lt;", "1 < 2 && 3 > 2 &lt;"),
        ("me@everyone.com", "me@everyone.com"),
        ("字\x00\ud800母", "字母"),
        (None, ""),
    ],
)
def test_codes_are_no_words(content: str | None, text: str) -> None:
    assert private(content).text == text


def test_a_quotation_is_context() -> None:
    message = private(
        "这个多少钱",
        message_type=103,
        message_scene={"source": "default", "ext": ["ref_msg_idx=REFIDX_1==", "msg_idx=REFIDX_2"]},
        msg_elements=[
            {"content": "别的", "msg_idx": "REFIDX_0"},
            {"content": "<@A2> 我叫李四", "msg_idx": "REFIDX_1=="},
        ],
    )
    assert (message.text, message.quoted) == ("这个多少钱", "我叫李四")


def test_a_quotation_without_a_mark_and_one_that_is_none() -> None:
    quoting = {"message_type": 103, "msg_elements": [{"content": "a"}, {"content": None}]}
    assert private("x", **quoting).quoted == "a"
    assert private("x", **{**quoting, "message_type": 0}).quoted == ""
    assert private("x", message_type=103).quoted == ""
    assert len(private("x", message_type=103, msg_elements=[{"content": "长" * 9000}]).quoted) == 1000


def test_quoting_a_bot_of_this_name_calls_it() -> None:
    quoting = event(
        "GROUP_MESSAGE_CREATE",
        id="M",
        author={"member_openid": "A1"},
        group_openid="G1",
        content="展开说说",
        message_type=103,
        msg_elements=[{"content": "我说的"}],
    )
    quoting.to_me = True  # set by the adapter, which knows the bot's own name
    message = MAPPING.to_message(quoting, app_id="102")
    assert message is not None
    assert message.is_addressed
    assert message.quoted == "我说的"


def attachments(*types: str) -> list[dict[str, Any]]:
    return [
        {"content_type": type_, "url": f"https://c.qq.cn/{n}", "filename": "a"}
        for n, type_ in enumerate(types)
    ]


@pytest.mark.parametrize(
    ("types", "text", "kind"),
    [
        (["image/jpeg"], "", Kind.IMAGE),
        (["image/png", "image/gif"], "", Kind.IMAGE),
        (["image/png"], "这是什么", Kind.TEXT),
        (["file"], "", Kind.UNSUPPORTED),
        (["video/mp4"], "", Kind.UNSUPPORTED),
        (["image/png", "file"], "", Kind.UNSUPPORTED),
        (["voice"], "", Kind.VOICE),
        ([""], "", Kind.UNSUPPORTED),
    ],
)
def test_attachments(types: list[str], text: str, kind: Kind) -> None:
    message = private(text, attachments=attachments(*types))
    assert (message.kind, message.text) == (kind, text)
    assert len(message.media) == sum(type_.startswith("image/") for type_ in types)


def test_a_picture_has_an_address() -> None:
    picture = {"content_type": "image/png", "url": "//c.qq.cn/x"}
    assert private("", attachments=[picture]).media == (Media(url="https://c.qq.cn/x"),)
    assert channel("", attachments=[{"url": "c.qq.cn/x"}]).media == (Media(url="https://c.qq.cn/x"),)
    assert channel("", attachments=[{"url": "c.qq.cn/x"}]).kind is Kind.IMAGE


def test_what_was_heard_are_the_words_of_a_voice_message() -> None:
    message = private("", attachments=[{"content_type": "voice", "asr_refer_text": "明天几点开门"}])
    assert (message.kind, message.text) == (Kind.VOICE, "明天几点开门")


def test_a_card_is_not_the_words_of_who_shares_it() -> None:
    shared = private('{"app":"x"}', message_type=3, ark_data={"prompt": "推荐联系人"})
    assert (shared.kind, shared.text, shared.quoted) == (Kind.LINK, "", "推荐联系人")
    assert private("", message_type=3).kind is Kind.UNSUPPORTED


def test_a_message_in_a_channel() -> None:
    message = channel("<@!B> 你好 <@!P2>", mentions=[{"id": "B", "bot": True}, {"id": "P2"}])
    assert (message.key, message.conversation.group, message.text) == ("channel:M3", "channel-9", "你好")
    assert (message.mentioned, message.is_addressed) == ((account("P2"),), True)


def test_channel_talk_is_a_call_only_by_mention_or_name() -> None:
    assert not channel("你好", type_="MESSAGE_CREATE").is_addressed
    assert channel("<@!B> 你好", type_="MESSAGE_CREATE").is_addressed
    assert not channel("<@!C> 你好", type_="MESSAGE_CREATE").is_addressed
    assert channel("小记你好", type_="MESSAGE_CREATE").is_addressed


@pytest.mark.parametrize(
    ("roles", "role"),
    [
        (["4"], Role.OWNER),
        (["1", "2"], Role.ADMIN),
        (["5"], Role.MEMBER),
        ([], Role.MEMBER),
        (None, Role.MEMBER),
    ],
)
def test_roles_of_a_guild(roles: list[str] | None, role: Role) -> None:
    assert channel(member={"roles": roles}).role is role


def test_a_direct_message_says_where_it_is_answered() -> None:
    message = channel("在吗", type_="DIRECT_MESSAGE_CREATE", member={"roles": ["4"]})
    assert (message.key, message.conversation.group, message.role) == ("direct:7:M3", "", Role.MEMBER)
    assert message.is_addressed


def test_a_quoted_channel_message_is_context() -> None:
    replying = event(
        "AT_MESSAGE_CREATE", id="M", guild_id="7", channel_id="9", author={"id": "P1"}, content="对"
    )
    replying.reply = GuildMessage.model_validate(
        {"id": "1", "channel_id": "9", "guild_id": "7", "author": {"id": "P2"}, "content": "<@!P1> 是吗"}
    )
    message = MAPPING.to_message(replying, app_id="102")
    assert message is not None
    assert (message.text, message.quoted) == ("对", "是吗")


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        (AT, 1772323205),
        ("2026-03-01T00:00:05Z", 1772323205),
        ("2026-03-01T08:00:05", 1772323205),
        ("1772323205", 1772323205),
        (1772323205, 1772323205),
        (1772323205000, 1772323205),
        ("gestern", NOW.timestamp()),
        ("", NOW.timestamp()),
        (None, NOW.timestamp()),
        (10**30, NOW.timestamp()),
    ],
)
def test_times(stamp: Any, seconds: float) -> None:
    assert private(timestamp=stamp).sent_at == datetime.fromtimestamp(seconds, UTC)


@pytest.mark.parametrize(("type_", "kind"), [("FRIEND_ADD", Kind.FOLLOW), ("FRIEND_DEL", Kind.UNFOLLOW)])
def test_friends_come_and_go(type_: str, kind: Kind) -> None:
    message = said(type_, openid="U1", timestamp=1699240365, author={"union_openid": "X"})
    assert (message.kind, message.sender, message.unionid) == (kind, account("U1"), "X")
    assert message.key == f"event:{type_}:e1"
    assert message.sent_at == datetime.fromtimestamp(1699240365, UTC)
    assert not message.conversation.is_group


@pytest.mark.parametrize(
    ("type_", "kind"), [("GROUP_ADD_ROBOT", Kind.FOLLOW), ("GROUP_DEL_ROBOT", Kind.UNFOLLOW)]
)
def test_groups_take_the_bot_in_and_out(type_: str, kind: Kind) -> None:
    message = said(type_, group_openid="G1", op_member_openid="A1", timestamp=1699240365)
    assert (message.kind, message.conversation.group, message.is_anonymous) == (kind, "G1", True)
    assert message.key == f"event:{type_}:e1"


def test_an_event_without_an_id_is_known_again_and_cannot_be_answered() -> None:
    for timestamp, key in ((1699240365, "mute:FRIEND_ADD:U1:1699240365"), (None, "mute:FRIEND_ADD:U1:0")):
        payload = Dispatch.model_validate(
            {"op": 0, "t": "FRIEND_ADD", "d": {"openid": "U1", "timestamp": timestamp}}
        )
        message = MAPPING.to_message(QQAdapter.payload_to_event(payload), app_id="102")
        assert message is not None
        assert message.key == key


@pytest.mark.parametrize("type_", ["C2C_MSG_REJECT", "C2C_MSG_RECEIVE"])
def test_receiving_switched_off_or_on_is_nothing_to_answer(type_: str) -> None:
    assert mapped(type_, openid="U1", timestamp=1699240365) is None


@pytest.mark.parametrize("type_", ["GROUP_MSG_REJECT", "GROUP_MSG_RECEIVE"])
def test_so_it_is_in_groups(type_: str) -> None:
    assert mapped(type_, group_openid="G1", op_member_openid="A1", timestamp=1699240365) is None


@pytest.mark.parametrize(
    ("fields", "openid", "group_id"),
    [
        ({"user_openid": "U1", "chat_type": 2}, "U1", ""),
        ({"group_openid": "G1", "group_member_openid": "A1", "chat_type": 1}, "A1", "G1"),
        ({"guild_id": "7", "channel_id": "9", "chat_type": 0}, "P1", "channel-9"),
    ],
)
def test_a_tapped_button_is_a_click(fields: dict[str, Any], openid: str, group_id: str) -> None:
    resolved = {"button_data": " /帮助", "user_id": "P1"}
    message = said("INTERACTION_CREATE", id="i", type=11, timestamp=AT, data={"resolved": resolved}, **fields)
    assert (message.kind, message.text, message.key) == (Kind.CLICK, "/帮助", "event:INTERACTION_CREATE:e1")
    assert (message.sender, message.conversation.group) == (account(openid), group_id)


def test_a_tap_without_words_is_nothing() -> None:
    assert (
        mapped("INTERACTION_CREATE", id="i", type=12, chat_type=2, data={"resolved": {"user_id": "P1"}})
        is None
    )


def test_other_events_are_nobodys_message() -> None:
    assert mapped("GROUP_MEMBER_ADD", group_openid="G1", member_openid="A1", timestamp=1699240365) is None


def test_nothing_of_an_event_is_in_its_log_line() -> None:
    talk = event("C2C_MESSAGE_CREATE", id="M1", author={"user_openid": "U1"}, content="私房话", timestamp=AT)
    added = event("FRIEND_ADD", openid="U1", timestamp=1699240365)
    member = event("GROUP_MEMBER_ADD", group_openid="G1", member_openid="U1", timestamp=1699240365)
    for line in (each.get_log_string() for each in (talk, added, member)):
        assert "U1" not in line
        assert "私房话" not in line


def test_what_makes_an_event_must_be_there() -> None:
    with pytest.raises(ValidationError):
        event("C2C_MESSAGE_CREATE", content="x")
    with pytest.raises(LookupError):
        event("SOMETHING_NEW", content="x")


def test_an_apology_takes_no_number_of_an_answer() -> None:
    for type_ in ("C2C_MESSAGE_CREATE", "GROUP_MESSAGE_CREATE", "GROUP_AT_MESSAGE_CREATE"):
        talk = event(
            type_, id="M", author={"user_openid": "U", "member_openid": "A"}, group_openid="G", content=""
        )
        assert talk._reply_seq >= 900


def test_the_name_that_is_shown_is_for_a_group_and_a_channel() -> None:
    assert at_group(author={"member_openid": "A1", "username": " 甲\n"}).shown_name == "甲"
    assert at_group(author={"member_openid": "A1"}).shown_name == ""
    assert private(author={"user_openid": "U1", "username": "甲"}).shown_name == ""


@pytest.mark.parametrize(
    ("nick", "shown"),
    [("团长", "团长"), ("", "甲"), (None, "甲"), ("\u2066\u200b", "甲"), ("\u202e长", "长")],
)
def test_in_a_channel_the_nick_goes_before_the_name(nick: str | None, shown: str) -> None:
    author = {"id": "P1", "username": "甲"}
    assert channel(author=author, member={"nick": nick}).shown_name == shown
    assert channel(author=author).shown_name == "甲"
    direct = channel(author=author, member={"nick": nick}, type_="DIRECT_MESSAGE_CREATE")
    assert direct.shown_name == ""
