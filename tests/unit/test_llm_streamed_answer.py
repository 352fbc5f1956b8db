"""A streamed completion: what is handed on, what the whole is, and when there is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.llm.openai_chat import read_answer
from bot.llm.streamed_answer import StreamedAnswer, Unreadable


def event(content: object = None, finish: str | None = None, **fields: object) -> bytes:
    delta = {} if content is None else {"content": content}
    document = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **fields}
    return f"data: {json.dumps(document)}\n\n".encode()


END = event(finish="stop") + b"data: [DONE]\n\n"


def read(*chunks: bytes) -> tuple[list[str], Any]:
    pieces: list[str] = []
    answer = StreamedAnswer(pieces.append)
    for chunk in chunks:
        answer.feed(chunk)
    return pieces, answer.document()


def text_of(*chunks: bytes) -> str:
    pieces, document = read(*chunks)
    text = read_answer(document, "host")
    assert "".join(pieces).rstrip() == text
    return text


def test_pieces_in_order_and_the_whole() -> None:
    pieces, document = read(event(""), event("您"), event("好。"), END)
    assert pieces == ["您", "好。"]
    assert read_answer(document, "host") == "您好。"


@pytest.mark.parametrize("end", [event(finish="stop"), b"data: [DONE]\n\n", event("", "length")])
def test_one_sign_of_the_end_is_enough(end: bytes) -> None:
    assert text_of(event("您好"), end) == "您好"


@pytest.mark.parametrize("end", [b"", event("", ""), event("", "null"), b": ping\n\n", b"data: {\n\n"])
def test_without_an_end_it_is_no_answer(end: bytes) -> None:
    with pytest.raises(Unreadable):
        read(event("您好"), end)


def test_a_broken_piece_in_the_middle_is_no_answer() -> None:
    """「299 元」 must not become 「29 元」."""
    with pytest.raises(Unreadable):
        read(event("29"), b'data: {"choices": [{"delta": {"conte\n\n', event(" 元"), END)


def test_garbage_that_is_no_piece_is_passed_over() -> None:
    garbage = (
        b"\x00\xff\n\n",
        b"data: ping\n\n",
        b"data: null\n\n",
        b"data: []\n\n",
        b"data: 7\n\n",
        b"data: {}\n\n",
    )
    more = (
        b'data: {"choices": null}\n\n',
        b'data: {"choices": [7]}\n\n',
        event(7),
        event([7, {"text": None}]),
    )
    assert text_of(*garbage, event("您"), *garbage, *more, event("好"), END) == "您好"


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["<think>想", "一想</thi", "nk>\n\n", "您好"], "您好"),
        (["<", "thi", "nk>", "想</think>您", "好"], "您好"),
        (["<think>a</think><think>b</think> 您好"], "您好"),
        (["<think>", "想</", "think", ">", " \n", "您好"], "您好"),
        (["<thin"], "<thin"),
        (["<b>您</b>"], "<b>您</b>"),
        ([" \n", "您好 ", "\n"], "您好"),
        (["您好<think>不是想法</think>"], "您好<think>不是想法</think>"),
        (["a\x00b", "\ud83d", "\ude00", "c\ude00", "\ud83d"], "ab😀c"),
        (["\ud83d", "好"], "好"),
    ],
)
def test_what_may_be_sent(pieces: list[str], text: str) -> None:
    assert text_of(*map(event, pieces), END) == text


def test_thoughts_alone_are_no_answer() -> None:
    pieces, document = read(event("<think>没有想完"), END)
    assert pieces == []
    assert document["choices"][0]["message"]["content"] == ""


def test_parts_and_thoughts_in_a_field_of_their_own() -> None:
    thought = b'data: {"choices": [{"delta": {"reasoning_content": "x", "content": null}}]}\n\n'
    assert text_of(thought, event([{"text": "一"}, {"text": "二"}]), END) == "一二"


def test_one_event_with_the_whole_message() -> None:
    whole = b'data: {"choices": [{"message": {"content": "\\u4e00"}, "finish_reason": "stop"}]}\n\n'
    assert text_of(whole) == "一"
    assert text_of(event("一"), whole) == "一"


def test_a_document_in_place_of_a_stream() -> None:
    document = {"choices": [{"message": {"content": "一"}}], "usage": {"prompt_tokens": 1}}
    for body in (json.dumps(document), json.dumps(document, indent=2)):
        assert read(*(bytes([byte]) for byte in body.encode())) == ([], document)


@pytest.mark.parametrize("body", [b"", b"<html>\n</html>", b"{", b"[" * 100_000])
def test_neither_a_stream_nor_json(body: bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        read(body)


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"code": "x", "message": "y"}},
        {"object": "error", "message": "y", "code": 400},
        {"code": "DataInspectionFailed", "message": "y"},
    ],
)
def test_an_error_in_the_stream_is_the_document(error: object) -> None:
    body = f"event: error\ndata: {json.dumps(error)}\n\n".encode()
    assert read(event("您"), body) == (["您"], error)


def test_the_last_count_of_tokens_stands() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    last = f'data: {{"choices": [], "usage": {json.dumps(usage)}}}\n\n'.encode()
    _, document = read(
        event("您", usage={"prompt_tokens": 3, "completion_tokens": 1}), event("", "stop"), last
    )
    assert document["usage"] == usage
    assert read(event("您", usage=usage), event("好", usage=None), END)[1]["usage"] == usage


@given(
    text=st.text(st.sampled_from("a好 \n<think>/\x00\ud83d\ude00")),
    cuts=st.lists(st.integers(0, 80), max_size=8),
    splits=st.lists(st.integers(0, 900), max_size=8),
)
def test_cutting_changes_nothing(text: str, cuts: list[int], splits: list[int]) -> None:
    """Any text in any pieces in any chunks: the whole is that of an answer that wasn't streamed."""
    places = sorted(min(cut, len(text)) for cut in cuts)
    pieces = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    body = b"".join(map(event, pieces)) + END
    bounds = sorted(min(split, len(body)) for split in splits)
    chunks = [body[start:end] for start, end in zip([0, *bounds], [*bounds, len(body)], strict=True)]
    handed_on, document = read(*chunks)
    content = document["choices"][0]["message"]["content"]
    assert content == "".join(handed_on)
    assert read(event(text) + END)[1] == document
    assert not set("\x00\ud83d\ude00") & set(content)
    assert content == content.lstrip()
