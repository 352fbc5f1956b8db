"""A message survives the inbox, also one that was stored before a field existed."""

import json
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
        media=(Media(url="https://e.cn/a.png", media_id="m"), Media(media_id="n")),
    )
    assert load_message(dump_message(message)) == message


def test_what_was_stored_before_there_was_media_is_still_read():
    message = load_message(BEFORE_MEDIA)
    assert (message.text, message.media) == ("你好", ())
    assert json.loads(dump_message(message)) == json.loads(BEFORE_MEDIA) | {"media": [], "shown_name": ""}
