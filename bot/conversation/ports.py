"""The ports that more than one room needs: a clock, an embedder, a chat model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
"""`(d,)` float32, L2-normalised."""
Matrix: TypeAlias = NDArray[np.float32]
"""`(n, d)` float32, each row L2-normalised."""


class Clock(Protocol):
    """The time of day. Tests bring their own."""

    def now(self) -> datetime:
        """Aware, UTC."""
        ...


class Embedder(Protocol):
    """Text to vectors. Questions and passages are embedded differently by most models."""

    @property
    def model_id(self) -> str:
        """Names model and version: vectors of different ids are never compared."""
        ...

    @property
    def dimension(self) -> int: ...

    async def embed_query(self, text: str) -> Vector:
        """Raises EmbedderUnavailable when there is no vector by the deadline."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Rows in the order of `texts`. Without a deadline: for work after the reply.

        Raises EmbedderUnavailable.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLine:
    """One line of a prompt."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[str, ...] = ()
    """`data:image/…;base64,…` addresses, shown behind the text. Only for a model that sees."""


class ChatModel(Protocol):
    """An instruction-following model."""

    async def complete(
        self,
        lines: Sequence[ChatLine],
        on_text: Callable[[str], None] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        """The model's whole answer, never empty.

        `schema`: JSON Schema that the answer is asked to keep to, as far as the endpoint can; the prompt must ask
        for JSON too, and the answer may be anything. Only without `on_text`.

        With `on_text` it is streamed: each piece is handed on in order as it comes, nothing twice. The pieces
        joined are the answer, but for white space at its end. Where this raises, what was handed on is half an
        answer and stands for nothing.

        Raises ModelUnavailable (no whole answer by the deadline, out of money, nonsense) or ModelRefused.
        """
        ...
