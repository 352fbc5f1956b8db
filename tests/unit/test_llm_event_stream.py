"""Server-sent events in every form that servers give them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.llm.event_stream import DONE, LONGEST_LINE, EventStream


def read(*chunks: bytes) -> list[object]:
    stream = EventStream()
    found = [payload for chunk in chunks for payload in stream.feed(chunk)]
    return [*found, *stream.finish()]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("gap", [1, 2])
def test_every_line_end_and_a_missing_empty_line(end: str, gap: int) -> None:
    body = (end * gap).join(['data: {"a": 1}', 'data:{"a": 2}', "data: [DONE]", ""]).encode()
    assert read(body) == [{"a": 1}, {"a": 2}, DONE]


def test_what_is_not_data_is_passed_over() -> None:
    body = b'\xef\xbb\xbf: ping\n\nevent: x\nid: 1\nretry: 5\nnonsense\ndata: {"a": 1}\n\n\xff\xfe\n\ndata: ping\n\n'
    stream = EventStream()
    assert [*stream.feed(body), *stream.finish()] == [{"a": 1}]
    assert not stream.is_broken


def test_a_document_over_several_lines_is_one() -> None:
    assert read(b'data: {"a":\ndata: 1}\n\n') == [{"a": 1}]


def test_the_last_line_may_lack_its_end() -> None:
    assert read(b'data: {"a": 1}\n\ndata: [DONE]') == [{"a": 1}, DONE]


@pytest.mark.parametrize("body", [b'data: {"a": \n\n', b'data: {"a\n\ndata: {"b": 1}\n\n', b'data: {"a": 1'])
def test_a_broken_object_is_told(body: bytes) -> None:
    stream = EventStream()
    assert {"a": 1} not in [*stream.feed(body), *stream.finish()]
    assert stream.is_broken


def test_a_line_without_an_end_takes_no_more_memory_than_a_line() -> None:
    stream = EventStream()
    for _ in range(3):
        list(stream.feed(b"x" * LONGEST_LINE))
    assert stream.is_broken
    assert len(stream._rest) <= LONGEST_LINE


@given(
    texts=st.lists(st.text(), max_size=5),
    end=st.sampled_from(["\n", "\r\n"]),
    cuts=st.lists(st.integers(0, 400), max_size=12),
)
def test_chunks_never_matter(texts: list[str], end: str, cuts: list[int]) -> None:
    """Neither inside a character, nor between CR and LF; U+2028 and U+0085 end no line."""
    lines = [f"data: {json.dumps({'t': text}, ensure_ascii=False)}" for text in texts]
    body = "".join(line + end * 2 for line in lines).encode("utf-8", "replace")
    places = sorted(min(cut, len(body)) for cut in cuts)
    chunks = [body[start:stop] for start, stop in zip([0, *places], [*places, len(body)], strict=True)]
    assert read(*chunks) == read(body)
    assert [payload["t"] for payload in read(body)] == [  # type: ignore[index]
        text.encode("utf-8", "replace").decode() for text in texts
    ]


@given(st.lists(st.binary(max_size=60)))
def test_no_bytes_make_it_fail(chunks: list[bytes]) -> None:
    read(*chunks)
