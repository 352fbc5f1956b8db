"""Who answers: for a played message whom its player chose, for everybody else's always the same.

Invariant: a message that nobody plays never meets the stub.
"""

from bot.answering.answerer import Answerer
from bot.answering.drafts import Draft
from bot.answering.question import Answer, Question
from bot.playground.playing import PLAYING, ModelChoice


class PlayedAnswerer:
    """An `Answerer` before two others."""

    def __init__(self, *, ordinary: Answerer, stub: Answerer) -> None:
        self._ordinary = ordinary
        self._stub = stub

    async def answer(self, question: Question, draft: Draft | None = None) -> Answer:
        knobs = PLAYING.get()
        is_stub = knobs is not None and knobs.model is ModelChoice.STUB
        return await (self._stub if is_stub else self._ordinary).answer(question, draft)
