"""What memory and knowledge are asked: the words of a message with their vector, and the talk it goes on.

Invariant: without the embedder, or where it is late, words alone serve.
"""

from dataclasses import dataclass

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Embedder, Vector
from bot.memory.talk import Talk


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One message's."""

    text: str
    vector: Vector | None
    talk: Talk | None


class Queries:
    def __init__(self, embedder: Embedder | None) -> None:
        """None: keywords serve."""
        self._embedder = embedder

    async def of(self, text: str, talk: str) -> Query:
        """`talk`: see `talk_of`. The message's own vector is made first: it also serves knowledge."""
        vector = await self._vector(text)
        # An embedder that was late once is not waited for twice.
        talk_vector = await self._vector(talk) if vector is not None else None
        return Query(text=text, vector=vector, talk=Talk(text=talk, vector=talk_vector) if talk else None)

    async def _vector(self, text: str) -> Vector | None:
        if self._embedder is None or not text:
            return None
        try:
            return await self._embedder.embed_query(text)
        except EmbedderUnavailable:
            return None
