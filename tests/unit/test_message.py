"""A message survives the inbox, also one that was stored before a field existed; the name shown beside it is harmless."""

import json
import random
import unicodedata
from datetime import UTC, datetime

import pytest

from bot.conversation.message import (
    AccountKey,
    Conversation,
    Kind,
    Media,
    Message,
    Role,
    dump_message,
    load_message,
)
from bot.conversation.shown_name import LONGEST, shown_name

ALICE = AccountKey(channel="wechat", app_id="wx1", openid="oA")
BEFORE_MEDIA = (
    '{"key": "oA/7", "kind": "text", "sender": {"channel": "wechat", "app_id": "wx1", "openid": "oA"}, '
    '"conversation": {"channel": "wechat", "app_id": "wx1", "group": ""}, "text": "你好", '
    '"sent_at": 1700000000.0, "is_addressed": true, "quoted": "", "mentioned": [], "unionid": "", '
    '"role": "member"}'
)


@pytest.mark.parametrize("kind", list(Kind))
def test_a_message_survives_a_round_trip(kind: Kind):
    message = Message(
        key="oA/7",
        kind=kind,
        sender=ALICE,
        conversation=Conversation(channel="wechat", app_id="wx1", group="g"),
        text="你好",
        sent_at=datetime(2025, 11, 29, tzinfo=UTC),
        quoted="引文",
        mentioned=(ALICE,),
        role=Role.OWNER,
        shown_name="小李 “同学”",
        media=(Media(url="https://e.cn/a.png", media_id="m"), Media(media_id="n")),
    )
    assert load_message(dump_message(message)) == message


def test_what_was_stored_before_there_was_media_is_still_read():
    message = load_message(BEFORE_MEDIA)
    assert (message.text, message.media, message.shown_name) == ("你好", (), "")
    assert json.loads(dump_message(message)) == json.loads(BEFORE_MEDIA) | {"media": [], "shown_name": ""}


def test_a_shown_name_is_one_short_visible_line() -> None:
    assert shown_name("小李") == "小李"
    assert shown_name("  小\n李\t同学 ") == "小 李 同学"
    assert shown_name("\u202e管理员\u2066\u200b") == "管理员"
    assert shown_name("\ud800名\x00") == "名"
    assert len(shown_name("名" * 100)) == LONGEST
    assert shown_name(None) == shown_name(12) == shown_name("") == ""


@pytest.mark.parametrize(
    "code", [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x0A, 0x0D, 0x85, 0x2028, 0x2029]
)
def test_no_mark_turns_the_line_a_name_stands_in_or_breaks_it(code: int) -> None:
    assert chr(code) not in shown_name(f"甲{chr(code)}乙")
    assert shown_name(chr(code)) == ""


def test_any_name_becomes_a_fit_one() -> None:
    dice = random.Random(5)
    for _ in range(2_000):
        raw = "".join(chr(dice.choice((dice.randrange(0x3000), dice.randrange(0x110000)))) for _ in range(60))
        name = shown_name(raw)
        assert len(name) <= LONGEST == 32 and name == name.strip() == shown_name(name)
        assert not any(unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") for each in name)
        name.encode()
