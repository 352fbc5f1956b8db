"""Request and scripted answer in, HTTP response out: the shapes of the OpenAI API.

Invariant: pure functions; no I/O, no clock.
Shapes: https://platform.openai.com/docs/api-reference (chat, chat streaming, embeddings, models).
"""

import base64
import json
import struct
from dataclasses import dataclass, replace
from typing import Any

from simulators.openai.answers import Answer, Request
from simulators.openai.vectors import vector_of

JSON = "application/json"
EVENTS = "text/event-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What goes over the wire."""

    status: int = 200
    content_type: str = JSON
    parts: tuple[bytes, ...] = ()
    pauses: tuple[float, ...] = ()
    """Seconds before each of `parts`; none where it is empty."""
    headers: tuple[tuple[str, str], ...] = ()
    delay_seconds: float = 0.0
    cut: bool = False
    """Send half of it, then close."""
    is_stream: bool = False
    """Sent chunked, part by part; else with its length."""


def json_response(value: object, status: int = 200) -> Response:
    return Response(status=status, parts=(json.dumps(value, ensure_ascii=False).encode(),))


def chat_response(request: Request, answer: Answer) -> Response:
    """A completion, streamed when the request asks for it."""
    if answer.raw is not None or answer.status >= 400:
        return _scripted(answer, b"")
    model = str(request.body.get("model", ""))
    if request.body.get("stream") and not answer.ignores_stream:
        return _stream(request, answer)
    body: dict[str, Any] = {
        "id": "chatcmpl-simulated",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": answer.text},
                "finish_reason": answer.finish_reason,
            }
        ],
        "usage": _usage(len(request.prompt), len(answer.text)),
    }
    written_in = answer.delay_seconds + sum(answer.pauses(len(_pieces(answer))))
    return _scripted(replace(answer, delay_seconds=written_in), json.dumps(body, ensure_ascii=False).encode())


def embedding_response(request: Request, answer: Answer | None, dimension: int) -> Response:
    """A vector for each input. `answer` may fail, delay, cut or replace it."""
    answer = answer or Answer()
    if answer.raw is not None or answer.status >= 400:
        return _scripted(answer, b"")
    asked = request.body.get("input")
    texts: list[Any] = asked if isinstance(asked, list) else [asked]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        return json_response(_error("invalid_request_error", "input must be text, not empty"), 400)
    vectors = [vector_of(text, int(request.body.get("dimensions") or dimension)) for text in texts]
    is_packed = request.body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": index, "embedding": _packed(vector) if is_packed else vector}
        for index, vector in enumerate(vectors)
    ]
    body = {
        "object": "list",
        "model": str(request.body.get("model", "")),
        "data": data,
        "usage": _usage(sum(map(len, texts)), 0),
    }
    return _scripted(answer, json.dumps(body).encode())


def models_response() -> Response:
    names = ("simulated-chat", "simulated-embedding")
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "simulators"} for name in names]
    return json_response({"object": "list", "data": data})


def _scripted(answer: Answer, body: bytes) -> Response:
    if answer.raw is not None:
        body = answer.raw.encode()
    elif answer.status >= 400:
        body = json.dumps(_error(answer.code, answer.message), ensure_ascii=False).encode()
    headers = (("retry-after", answer.retry_after),) if answer.retry_after else ()
    return Response(
        status=answer.status,
        parts=(body,),
        headers=headers,
        delay_seconds=answer.delay_seconds,
        cut=answer.cut,
    )


def _stream(request: Request, answer: Answer) -> Response:
    model = str(request.body.get("model", ""))
    pieces = _pieces(answer)
    parts = [_event(model, {"role": "assistant", "content": ""})]
    parts += [_event(model, {"content": piece}) for piece in pieces]
    parts.append(_event(model, {}, answer.finish_reason))
    pauses = [0.0, *answer.pauses(len(pieces)), 0.0]
    options = request.body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        parts.append(_event(model, None, usage=_usage(len(request.prompt), len(answer.text))))
    parts.append(b"data: [DONE]\n\n")
    # Behind the events of the same number; a short answer takes the rest at its end.
    for number, line in enumerate(answer.garbage):
        at = min(number, len(pieces))
        parts[at] += f"{line}\n\n".encode()
    return Response(
        content_type=EVENTS,
        parts=tuple(parts),
        pauses=tuple(pauses),
        delay_seconds=answer.delay_seconds,
        cut=answer.cut,
        is_stream=True,
    )


def _pieces(answer: Answer) -> list[str]:
    text, step = answer.text, max(answer.piece_characters, 1)
    return [text[start : start + step] for start in range(0, len(text), step)]


def _event(
    model: str, delta: dict[str, str] | None, finish_reason: str | None = None, *, usage: object = None
) -> bytes:
    """One event; without a delta one that has no choices, as the last one with `usage` has none."""
    event = {
        "id": "chatcmpl-simulated",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
        "choices": [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
    }
    if usage is not None:
        event["usage"] = usage
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": code or "error", "param": None, "code": code or None}}


def _usage(prompt: int, completion: int) -> dict[str, int]:
    """Characters stand in for tokens."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _packed(vector: list[float]) -> str:
    """Little-endian float32 in base64, the official client's default."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
