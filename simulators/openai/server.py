"""The server: HTTP/1.1 on a loopback port, in the caller's event loop.

Invariant: leaving the context ends every connection at once, also one that waits out a scripted delay.
"""

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

import h11

from simulators.openai.answers import Answer, Request, Says, Script, as_answer
from simulators.openai.endpoints import (
    Response,
    chat_response,
    embedding_response,
    json_response,
    models_response,
)

LARGEST_BODY = 16 * 1024 * 1024
"""Above every prompt and batch the bot may send: what exceeds it is a runaway."""
READ_BYTES = 65536


class OpenAiServer:
    """Chat, embeddings, models; `script…` before, `requests` and `prompts()` after."""

    def __init__(self, *, port: int = 0, dimension: int = 64) -> None:
        """Port 0 takes a free one. `dimension` of the vectors; a request's `dimensions` overrides it."""
        self.requests: list[Request] = []
        self.chat = Script()
        self.embeddings = Script(default=lambda _: Answer())
        self.dimension = dimension
        self._port = port
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        """What LLM__BASE_URL or EMBEDDING__BASE_URL is set to."""
        return f"http://127.0.0.1:{self._port}/v1"

    def script(self, *answers: Says) -> None:
        """Queue answers to the next chat requests."""
        self.chat.queue.extend(as_answer(answer) for answer in answers)

    def script_embeddings(self, *answers: Answer) -> None:
        """Queue faults for the next embedding requests."""
        self.embeddings.queue.extend(answers)

    def when(self, text: str, answer: Says) -> None:
        """Answer so whenever `text` occurs in a prompt."""
        self.chat.rules.append((text, as_answer(answer)))

    def answer_with(self, function: Callable[[Request], Says | None]) -> None:
        """Ask `function` when no rule matches and the queue is empty; None means the default answer."""
        self.chat.function = function

    def prompts(self) -> list[str]:
        """The chats so far, oldest first: `role: text` lines."""
        return [request.prompt for request in self.requests if request.path.endswith("/chat/completions")]

    def reset(self) -> None:
        """Forget requests and scripts."""
        self.requests.clear()
        self.chat.clear()
        self.embeddings.clear()

    async def __aenter__(self) -> "OpenAiServer":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._converse(reader, writer)
        except (ConnectionError, h11.ProtocolError, asyncio.CancelledError):
            # The client left, sent something that isn't HTTP, or we are closing: nothing to answer.
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        while (received := await _read_request(connection, reader)) is not None:
            response = self._respond(*received)
            await asyncio.sleep(response.delay_seconds)
            await _send(connection, writer, response)
            if response.cut or connection.our_state is not h11.DONE:
                return
            connection.start_next_cycle()

    def _respond(self, head: h11.Request, payload: bytes) -> Response:
        method, path = head.method.decode(), head.target.decode("latin-1").partition("?")[0]
        try:
            body: Any = json.loads(payload) if payload else {}
        except ValueError:
            return json_response({"error": {"message": "not JSON", "code": "invalid_json"}}, 400)
        if not isinstance(body, dict):
            return json_response({"error": {"message": "not an object", "code": "invalid_json"}}, 400)
        if path.startswith("/_"):
            return self._control(method, path, body)
        authorization = dict(head.headers).get(b"authorization", b"").decode("latin-1")
        request = Request(path=path, body=body, authorization=authorization)
        self.requests.append(request)
        match method, path:
            case "POST", "/v1/chat/completions":
                return chat_response(request, self.chat.next_answer(request))
            case "POST", "/v1/embeddings":
                return embedding_response(request, self.embeddings.next_answer(request), self.dimension)
            case "GET", "/v1/models":
                return models_response()
            case _:
                return json_response({"error": {"message": "no such endpoint", "code": "not_found"}}, 404)

    def _control(self, method: str, path: str, body: dict[str, Any]) -> Response:
        """`GET /_requests` and `POST /_script`: for tests whose bot, and this server, are processes."""
        match method, path:
            case "GET", "/_requests":
                recorded = [
                    {"path": request.path, "body": request.body, "authorization": request.authorization}
                    for request in self.requests
                ]
                return json_response({"requests": recorded, "prompts": self.prompts()})
            case "POST", "/_script":
                try:
                    self._take_script(body)
                except (ValueError, TypeError, KeyError) as error:
                    return json_response({"error": {"message": str(error), "code": "bad_script"}}, 400)
                return json_response({"queued": len(self.chat.queue), "rules": len(self.chat.rules)})
            case _:
                return json_response({"error": {"message": "no such endpoint", "code": "not_found"}}, 404)

    def _take_script(self, body: dict[str, Any]) -> None:
        unknown = body.keys() - {"reset", "answers", "rules", "embeddings"}
        if unknown:
            raise ValueError(f"unknown: {sorted(unknown)}")
        answers = [Answer.from_json(value) for value in body.get("answers", [])]
        rules = [(str(rule["contains"]), Answer.from_json(rule["answer"])) for rule in body.get("rules", [])]
        faults = [Answer.from_json(value) for value in body.get("embeddings", [])]
        if body.get("reset"):
            self.reset()
        self.script(*answers)
        self.chat.rules.extend(rules)
        self.script_embeddings(*faults)


async def _read_request(
    connection: h11.Connection, reader: asyncio.StreamReader
) -> tuple[h11.Request, bytes] | None:
    """The next request with its body, or None when the client is done."""
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(READ_BYTES))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > LARGEST_BODY:
                return None
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            return head, bytes(body)
        else:
            return None


async def _send(connection: h11.Connection, writer: asyncio.StreamWriter, response: Response) -> None:
    headers = [("content-type", response.content_type), *response.headers]
    if not response.is_stream:
        headers.append(("content-length", str(sum(map(len, response.parts)))))
    await _write(connection, writer, h11.Response(status_code=response.status, headers=headers))
    # On a schedule, so that the delays of a busy machine don't add up.
    due = asyncio.get_running_loop().time()
    pauses = itertools.chain(response.pauses, itertools.repeat(0.0))
    for part, pause in zip(_sent_parts(response), pauses, strict=False):
        due += pause
        if pause:
            await asyncio.sleep(due - asyncio.get_running_loop().time())
        await _write(connection, writer, h11.Data(data=part))
    if not response.cut:
        await _write(connection, writer, h11.EndOfMessage())


async def _write(connection: h11.Connection, writer: asyncio.StreamWriter, event: h11.Event) -> None:
    writer.write(connection.send(event) or b"")
    await writer.drain()


def _sent_parts(response: Response) -> tuple[bytes, ...]:
    if not response.cut:
        return response.parts
    if response.is_stream:
        return response.parts[: len(response.parts) // 2]
    return tuple(part[: len(part) // 2] for part in response.parts)
