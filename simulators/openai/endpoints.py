"""Request and scripted answer in, HTTP response out: the shapes of the OpenAI API.

Invariant: pure functions; no I/O, no clock.
Shapes: https://platform.openai.com/docs/api-reference (chat, chat streaming, embeddings, models).
"""

import base64
import json
import struct
from dataclasses import dataclass
from typing import Any

from simulators.openai.answers import Answer, Request
from simulators.openai.vectors import vector_of

JSON = "application/json"
EVENTS = "text/event-stream"
CHARACTERS_PER_EVENT = 4
"""Small, so that even a short answer streams in several events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What goes over the wire."""

    status: int = 200
    content_type: str = JSON
    parts: tuple[bytes, ...] = ()

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
    if request.body.get("stream"):
        parts = tuple(_events(model, answer))
        return Response(
            content_type=EVENTS,
            parts=parts,
            delay_seconds=answer.delay_seconds,
            cut=answer.cut,
            is_stream=True,
        )
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
    return _scripted(answer, json.dumps(body, ensure_ascii=False).encode())


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


def _events(model: str, answer: Answer) -> list[bytes]:
    pieces = [
        answer.text[start : start + CHARACTERS_PER_EVENT]
        for start in range(0, len(answer.text), CHARACTERS_PER_EVENT)
    ]
    deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": piece}, None) for piece in pieces]
    deltas.append(({}, answer.finish_reason))
    events: list[bytes] = []
    for delta, finish_reason in deltas:
        event = {
            "id": "chatcmpl-simulated",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        }
        events.append(f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())
    return [*events, b"data: [DONE]\n\n"]


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
