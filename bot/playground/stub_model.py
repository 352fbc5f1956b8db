"""The playground's own model: quotes what the prompt holds, as slowly as it is told to.

Invariant: it knows nothing but the prompt. It is asked about played messages alone, so what it forgot or never
heard shows in its answer as it would in a real model's.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from bot.conversation.ports import ChatLine
from bot.conversation.text import clip
from bot.conversation.wording import Wording
from bot.playground.playing import PLAYING, SLOWEST_SECONDS

PIECE_CHARACTERS = 4
"""Of what is streamed at once: a token or two."""
MOST_MEMORIES = 3
QUESTION_CHARACTERS = 30
PASSAGE_CHARACTERS = 80
_MEMORY = re.compile(r"^- “(.+)”（(\d{4}-\d{2}-\d{2})）$", re.MULTILINE)
_PASSAGE = re.compile(r"^《(.+?)》.*\n> (.+)$", re.MULTILINE)
"""As `bot.answering.prompt` writes them."""


class StubModel:
    """A `ChatModel`."""

    def __init__(
        self,
        wording: Wording,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wording = wording
        self._sleep = sleep
        self._monotonic = monotonic

    async def complete(
        self,
        lines: Sequence[ChatLine],
        on_text: Callable[[str], None] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        """Takes the seconds of the knobs, spread over the text. `schema` is not kept to."""
        knobs = PLAYING.get()
        seconds = 0.0 if knobs is None else min(max(knobs.latency_seconds, 0.0), SLOWEST_SECONDS)
        answer = "".join(self._sentences(lines))
        pieces = [answer[at : at + PIECE_CHARACTERS] for at in range(0, len(answer), PIECE_CHARACTERS)]
        began_at = self._monotonic()
        for number, piece in enumerate(pieces, start=1):
            # By the clock: a busy machine makes up for what each sleep was longer.
            wait_seconds = began_at + seconds * number / len(pieces) - self._monotonic()
            if wait_seconds > 0:
                await self._sleep(wait_seconds)
            if on_text is not None:
                on_text(piece)
        return answer

    def _sentences(self, lines: Sequence[ChatLine]) -> Iterator[str]:
        system = "\n".join(line.text for line in lines if line.role == "system")
        question = "\n".join(line.text for line in lines if line.role == "user")
        say = self._wording.say
        yield say("stub_asked", question=clip(" ".join(question.split()), QUESTION_CHARACTERS))
        memories = _MEMORY.findall(system)[:MOST_MEMORIES]
        for text, date in memories:
            yield say("stub_memory", text=text, date=date)
        passage = _PASSAGE.search(system)
        if passage is not None:
            yield say("stub_passage", source=passage[1], text=clip(passage[2], PASSAGE_CHARACTERS))
        if not memories and passage is None:
            yield say("stub_nothing")
        yield say("stub_signed")
