"""A loopback OpenAI-compatible server with scripted answers, which records what it is asked.

    async with OpenAiServer() as server:
        server.script("好的", Answer.failure(429), Answer(text="慢", delay_seconds=2))
        ... # point the bot at server.base_url
        assert "花生" in server.prompts()[-1]

Beside a bot that runs as its own process: `python -m simulators.openai --port 0` (see `__main__`).

**Pace.** A request with `"stream": true` is answered in server-sent events of `piece_characters` each:

    Answer(text, first_piece_seconds=0.8, pieces_per_second=25)   # as a model would write it
    Answer(text, first_piece_seconds=0.8, total_seconds=7)        # done after 7 s, evenly

A request that isn't streamed waits as long as the stream would have taken. The pace is chosen for each request
by a rule (`server.when("慢", Answer(…))`), by a function (`server.answer_with`), or by the asker: with
`server.answer_with(by_marker)`, `--by-marker` on the command line, a question that holds
`[[total=7 first=1 sentences=6]]` is answered at that pace (see `pace`).

**Faults of a stream.** `cut=True`: half the events, then the connection closes. `stall_seconds`: silence in the
middle. `garbage=("data: {", ": ping")`: lines between the first events. `ignores_stream=True`: one JSON document.
`raw`: any body at all, also events of your own. `usage` comes in a last event when
`stream_options.include_usage` asks for it.

**Pictures.** Parts of type `image_url` are accepted; `Request.images` has their addresses, a prompt says `[image]`.

Invariant: listens on loopback only, calls nothing, and imports neither the bot nor its rooms.
"""

from simulators.openai.answers import Answer, Request, Script
from simulators.openai.pace import by_marker
from simulators.openai.server import OpenAiServer

__all__ = ["Answer", "OpenAiServer", "Request", "Script", "by_marker"]
