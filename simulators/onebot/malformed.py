"""Frames that no client should send and some do.

Invariant: pure; none of them is a message anybody could answer.
"""

import json

MALFORMED: dict[str, str | bytes] = {
    "no JSON": "{",
    "empty": "",
    "null": "null",
    "a list": "[]",
    "a word": '"x"',
    "a number": "1e999",
    "no fields": "{}",
    "bytes": b"\xff\xfe\x00",
    "deep": "[" * 5_000 + "]" * 5_000,
    "a lone surrogate": '{"post_type": "message", "raw_message": "\\ud800"}',
    "an unknown type": json.dumps({"time": 1, "self_id": 10001, "post_type": "nothing"}),
    "a type of the wrong kind": json.dumps({"time": 1, "self_id": 10001, "post_type": []}),
    "a message without a sender": json.dumps(
        {"time": 1, "self_id": 10001, "post_type": "message", "message_type": "group", "message": []}
    ),
    "a message that is a number": json.dumps(
        {
            "time": 1,
            "self_id": 10001,
            "post_type": "message",
            "message_type": "private",
            "sub_type": "friend",
            "message_id": 1,
            "user_id": 1,
            "message": 7,
            "raw_message": "7",
            "font": 0,
            "sender": {},
        }
    ),
    "segments without data": json.dumps(
        {
            "time": 1,
            "self_id": 10001,
            "post_type": "message",
            "message_type": "private",
            "sub_type": "friend",
            "message_id": 2,
            "user_id": 1,
            "message": [{"type": "text"}],
            "raw_message": "",
            "font": 0,
            "sender": {},
        }
    ),
    "an answer to no call": json.dumps({"status": "ok", "retcode": 0, "data": None, "echo": "never asked"}),
    "an answer without echo": json.dumps({"status": "failed", "retcode": 1400, "data": None}),
}
"""By what is wrong with each: `await qq.send_raw(MALFORMED["null"])`."""
