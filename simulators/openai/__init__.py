"""A loopback OpenAI-compatible server with scripted answers, which records what it is asked.

    async with OpenAiServer() as server:
        server.script("好的", Answer.failure(429), Answer(text="慢", delay_seconds=2))
        ... # point the bot at server.base_url
        assert "花生" in server.prompts()[-1]

Beside a bot that runs as its own process: `python -m simulators.openai --port 0` (see `__main__`).

Invariant: listens on loopback only, calls nothing, and imports neither the bot nor its rooms.
"""

from simulators.openai.answers import Answer, Request, Script
from simulators.openai.server import OpenAiServer

__all__ = ["Answer", "OpenAiServer", "Request", "Script"]
