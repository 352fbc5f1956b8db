"""Past its deadline a question has no vector; passages are waited for."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Matrix, Vector
from bot.llm.deadline import DeadlineEmbedder


class HeldEmbedder:
    """Answers when `released`, and notes callers that left."""

    model_id = "held:2"
    dimension = 2

    def __init__(self) -> None:
        self.released = asyncio.Event()
        self.left = 0

    async def embed_query(self, text: str) -> Vector:
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.left += 1
            raise
        return np.array([1, 0], dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        await self.released.wait()
        return np.ones((len(texts), 2), dtype=np.float32)


async def test_a_question_past_its_deadline_is_given_up_and_its_work_too() -> None:
    held = HeldEmbedder()
    with pytest.raises(EmbedderUnavailable):
        await DeadlineEmbedder(held, seconds=0).embed_query("问")
    assert held.left == 1


async def test_a_question_in_time_gets_its_vector() -> None:
    held = HeldEmbedder()
    held.released.set()
    embedder = DeadlineEmbedder(held, seconds=60)
    assert (await embedder.embed_query("问")).tolist() == [1, 0]
    assert (embedder.model_id, embedder.dimension) == ("held:2", 2)


async def test_passages_have_no_deadline() -> None:
    held = HeldEmbedder()
    waiting = asyncio.create_task(DeadlineEmbedder(held, seconds=0).embed_passages(["一", "二"]))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    held.released.set()
    assert (await waiting).shape == (2, 2)


async def test_a_caller_that_is_cancelled_stays_cancelled() -> None:
    asking = asyncio.create_task(DeadlineEmbedder(HeldEmbedder(), seconds=60).embed_query("问"))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
