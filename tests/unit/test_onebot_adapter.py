"""The OneBot connection: bad frames are passed over, and logged without their content."""

import json
from typing import Any

import pytest
from loguru import logger
from nonebot.drivers import Request, WebSocket
from nonebot.exception import NoLogException

from bot.channels.onebot_adapter import LIMIT_CHARACTERS, OneBotAdapter, SkimmedSocket, is_acceptable

MESSAGE: dict[str, Any] = {
    "time": 1,
    "self_id": 10001,
    "post_type": "message",
    "message_type": "private",
    "message_id": 5,
    "user_id": 20001,
    "message": "密码是 8866",
}


@pytest.mark.parametrize(
    "frame",
    [
        json.dumps(MESSAGE),
        json.dumps(MESSAGE | {"time": "1", "self_id": "10001"}),
        json.dumps(MESSAGE | {"notice_type": ""}),
        '{"status":"ok","retcode":0,"data":null,"echo":"1"}',
        "{}",
    ],
)
def test_events_and_answers_pass(frame: str) -> None:
    assert is_acceptable(frame)


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "{not json",
        "[]",
        "null",
        '"x"',
        "5",
        "[" * 100_000,
        json.dumps(MESSAGE | {"post_type": 5}),
        json.dumps(MESSAGE | {"message_type": ["private"]}),
        json.dumps(MESSAGE | {"sub_type": {}}),
        json.dumps(MESSAGE | {"notice_type": "notify"}),
        json.dumps(MESSAGE | {"time": "soon"}),
        json.dumps(MESSAGE | {"time": None}),
        json.dumps({"post_type": "message"}),
        json.dumps(MESSAGE | {"raw_message": "x" * LIMIT_CHARACTERS}),
    ],
)
def test_everything_else_is_passed_over(frame: str) -> None:
    assert not is_acceptable(frame)


class Frames(WebSocket):
    """A connection that has received these frames."""

    def __init__(self, *frames: str | bytes) -> None:
        super().__init__(request=Request("GET", "ws://127.0.0.1/"))
        self._frames = list(frames)

    @property
    def closed(self) -> bool:
        return not self._frames

    async def accept(self) -> None: ...

    async def close(self, code: int = 1000, reason: str = "") -> None: ...

    async def receive(self) -> str | bytes:
        return self._frames.pop(0)

    async def receive_text(self) -> str:
        raise NotImplementedError

    async def receive_bytes(self) -> bytes:
        raise NotImplementedError

    async def send_text(self, data: str) -> None: ...

    async def send_bytes(self, data: bytes) -> None: ...


async def test_the_next_good_frame_arrives_and_the_bad_ones_are_not_quoted() -> None:
    lines: list[str] = []
    sink = logger.add(lambda line: lines.append(str(line)), level="TRACE")
    good = json.dumps(MESSAGE)
    try:
        assert await SkimmedSocket(Frames("{密码是 8866", b"\xff\xfe", good)).receive() == good
    finally:
        logger.remove(sink)
    assert len(lines) == 2
    assert "8866" not in "".join(lines)


def test_a_message_has_no_log_line_and_is_described_by_its_id() -> None:
    for raw in (MESSAGE, MESSAGE | {"message_type": "group", "group_id": 30001}):
        event = OneBotAdapter.json_to_event(dict(raw))
        assert event is not None
        with pytest.raises(NoLogException):
            event.get_log_string()
        said = f"{event.get_event_description()} {event!r}"
        assert not any(secret in said for secret in ("8866", "20001", "30001"))
