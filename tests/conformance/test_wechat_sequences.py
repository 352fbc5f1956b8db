"""Every sequence of posts of the fixtures, plain and encrypted, through the app, by WeChat's clock."""

import json
from typing import Any

import pytest

from bot.channels.wechat import Event
from bot.channels.wechat_mapping import to_message
from bot.conversation.message import Kind, dump_message
from tests.conformance.wechat_app import ACCOUNT, SAFE_ACCOUNT, WeChatApp, wechat_app
from tests.shared_files import require_shared

ENTRIES: list[dict[str, Any]] = [
    entry
    for entry in json.loads(require_shared("fixtures/wechat_inbound_xml.json").read_text("utf-8"))
    if entry["kind"] == "wechat_inbound:sequence"
]
CLOCK = 1_700_000_000.0
BOTH = pytest.mark.parametrize("account", [ACCOUNT, SAFE_ACCOUNT], ids=["plain", "aes"])


async def play(entry: dict[str, Any], account: Any) -> tuple[WeChatApp, list[bytes]]:
    """The app after all steps, and each step's response body."""
    at = 0.0
    bodies: list[bytes] = []
    async with (
        wechat_app(account, now=lambda: CLOCK + at) as app,
        app.wechat(now=lambda: CLOCK + at) as wechat,
    ):
        for post in entry["input"]["steps"]:
            at = post["at"]
            response = await app.post(*wechat.post(post["xml"]))
            assert response.status_code == 200
            bodies.append(response.content)
        await app.settle()
    return app, bodies


def test_the_sequences_are_all_there():
    assert {entry["id"] for entry in ENTRIES} == {
        "wx-seq-retry-4x",
        "wx-seq-msgid-collision-users",
        "wx-seq-two-events-same-second",
        "wx-seq-subscribe-duplicate",
        "wx-seq-location-flood",
        "wx-seq-unsubscribe-refollow",
    }


@BOTH
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
async def test_sequence(entry: dict[str, Any], account: Any):
    app, bodies = await play(entry, account)
    expected = entry["expected"]
    events: list[Event] = app.seen
    if "handler_runs" in expected:
        assert len(events) == expected["handler_runs"]
        assert len({event.key for event in events}) == len(events)
    if expected.get("handler_runs") == 1:
        # The retries get the very bytes of the first delivery.
        assert len(set(bodies)) == 1
    if "stored_locations" in expected:
        assert (bodies, app.seen) == ([b"success"] * len(bodies), [])
    if expected.get("same_openid"):
        messages = [message for event in events if (message := to_message(event))]
        assert [message.kind for message in messages] == [Kind.UNFOLLOW, Kind.FOLLOW]
        assert len({message.sender for message in messages}) == 1
        assert len({message.key for message in messages}) == 2
        assert all(json.loads(dump_message(message)) for message in messages)
