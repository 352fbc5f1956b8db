"""Events reach the page whole, and a stream ends with whatever ends first."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from starlette.responses import StreamingResponse

from bot.console.site import streaming
from bot.console.site.streaming import Stream, as_event


class Told:
    """Events from a queue; None ends them."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue()
        self.is_closed = False

    async def events(self) -> AsyncIterator[tuple[str, str]]:
        try:
            while (event := await self.queue.get()) is not None:
                yield event
        finally:
            self.is_closed = True


def lines_of(stream: Stream, told: Told, may_see: Callable[[], bool] = lambda: True) -> AsyncIterator[str]:
    response = stream.response(told.events(), may_see)
    assert isinstance(response, StreamingResponse)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-store"
    return response.body_iterator  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("<p>一</p>", ["data: <p>一</p>"]),
        ("a\nb", ["data: a", "data: b"]),
        ("a\r\nb\rc", ["data: a", "data: b", "data: c"]),
        ("a\n\nevent: x", ["data: a", "data: ", "data: event: x"]),
        ("", ["data: "]),
    ],
)
def test_no_text_breaks_out_of_its_event(content: str, lines: list[str]) -> None:
    assert as_event("fragment", content) == "\n".join(["event: fragment", *lines]) + "\n\n"


async def test_what_is_told_arrives_in_order_and_its_end_ends_the_stream() -> None:
    told = Told()
    for event in (("fragment", "1"), ("fragment", "2"), None):
        told.queue.put_nowait(event)
    arrived = [line async for line in lines_of(Stream(), told)]
    assert arrived == [as_event("fragment", "1"), as_event("fragment", "2")]
    assert told.is_closed


async def test_a_server_that_stops_ends_a_stream_that_waits() -> None:
    stream, told = Stream(), Told()
    told.queue.put_nowait(("fragment", "1"))
    lines = lines_of(stream, told)
    assert await anext(lines)
    waiting = asyncio.ensure_future(anext(lines, "the end"))
    await asyncio.sleep(0)
    stream.close()
    assert await waiting == "the end"
    assert told.is_closed


async def test_a_reader_that_goes_closes_what_was_told() -> None:
    told = Told()
    told.queue.put_nowait(("fragment", "1"))
    lines = lines_of(Stream(), told)
    await anext(lines)
    await lines.aclose()  # type: ignore[attr-defined]
    assert told.is_closed


async def test_a_quiet_stream_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.0)
    told = Told()
    lines = lines_of(Stream(), told)
    assert await anext(lines) == ": \n\n"
    told.queue.put_nowait(("fragment", "1"))
    assert as_event("fragment", "1") in [await anext(lines) for _ in range(3)]
    await lines.aclose()  # type: ignore[attr-defined]


async def test_who_may_not_see_any_more_is_told_nothing_more() -> None:
    told, is_in = Told(), [True]
    told.queue.put_nowait(("fragment", "1"))
    lines = lines_of(Stream(), told, lambda: is_in[0])
    assert await anext(lines) == as_event("fragment", "1")
    is_in[0] = False
    told.queue.put_nowait(("fragment", "of another"))
    assert await anext(lines, "the end") == "the end"
    assert told.is_closed


async def test_a_quiet_stream_ends_at_a_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.0)
    told, is_in = Told(), [True]
    lines = lines_of(Stream(), told, lambda: is_in[0])
    assert await anext(lines) == ": \n\n"
    is_in[0] = False
    assert await anext(lines, "the end") == "the end"
    assert told.is_closed
