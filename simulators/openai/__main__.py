"""The server as a process: `python -m simulators.openai --port 0 [--dimension 64] [--by-marker]`.

Prints one line, its base address (`http://127.0.0.1:PORT/v1`), when it listens; ends on SIGTERM or
Ctrl+C. A test drives it over HTTP:

    GET  /_requests   {"requests": [{"path", "body", "authorization"}], "prompts": ["role: text…"]}
    POST /_script     {"reset": true,
                       "answers": ["好的", {"status": 429}],
                       "rules": [{"contains": "判断", "answer": "否"}],
                       "embeddings": [{"status": 500}]}

An answer is a string or an object with the fields of `Answer`, its pace and faults included. `reset` forgets
requests and scripts before the rest of the same body is taken. With `--by-marker` a question names its own pace
(see `pace`).
"""

import argparse
import asyncio
import contextlib
import signal

from simulators.openai.answers import echo
from simulators.openai.pace import by_marker
from simulators.openai.server import OpenAiServer


async def serve(port: int, dimension: int, *, is_by_marker: bool = False) -> None:
    """Until SIGTERM or SIGINT."""
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        # Windows' loops have no signal handlers; Ctrl+C raises KeyboardInterrupt there.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, ending.set)
    async with OpenAiServer(port=port, dimension=dimension) as server:
        if is_by_marker:
            server.chat.default = lambda request: by_marker(request) or echo(request)
        print(server.base_url, flush=True)  # noqa: T201 (the one line its starter reads)
        await ending.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m simulators.openai", description="Scripted OpenAI server."
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    parser.add_argument("--dimension", type=int, default=64, help="of the vectors")
    parser.add_argument("--by-marker", action="store_true", help="a question may name its pace: [[total=7]]")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(options.port, options.dimension, is_by_marker=options.by_marker))


if __name__ == "__main__":
    main()
