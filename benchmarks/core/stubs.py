"""A chat model and an embedder that answer at once: what the house costs without them.

Invariant: only benchmarks use them; the judge gets an answer it keeps, with the summary it asked for, so that memory is
written as with a real model.
"""

import json
import zlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bot.conversation.ports import ChatLine, Matrix, Vector

DIMENSION = 384
"""As the built-in embedder's."""
DIRECTIONS = 4_096


class StubChat:
    """A `ChatModel`."""

    async def complete(
        self,
        lines: Sequence[ChatLine],
        on_text: Callable[[str], None] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        asked = lines[-1].text
        if not asked.startswith('{"said"'):
            return "好的，我知道了。您之前提到的事我都记着，需要的话随时问我。"
        wanted = json.loads(asked)
        fact = {"text": wanted["said"], "kind": "event", "importance": 0.5}
        told = "；".join(turn["user"] for turn in wanted.get("earlier_turns", ()))
        judged = {"keep": True, "reason": "事实", "summary": told, "facts": [fact]}
        return json.dumps(judged, ensure_ascii=False)


class StubEmbedder:
    """An `Embedder`: some direction, the same for the same text."""

    model_id = "stub"
    dimension = DIMENSION

    def __init__(self) -> None:
        rows = np.random.default_rng(0).standard_normal((DIRECTIONS, DIMENSION), dtype=np.float32)
        self._rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)

    async def embed_query(self, text: str) -> Vector:
        return self._rows[zlib.crc32(text.encode()) % DIRECTIONS]

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return np.stack([await self.embed_query(text) for text in texts])
