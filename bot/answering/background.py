"""How near a question is to sentences that have nothing to do with it, so that nearness means something.

Invariant: raw inner products of small embedding models sit in a narrow band (.80–.95 for e5), so they
are only used as a distance above this background, in units of the model's own spread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import anyio
import numpy as np

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Embedder, Vector

FIRST_USE_SECONDS = 2.0
"""The bank takes ~0.5 s of CPU with the built-in model; the first question may wait this long for it,
inside the five seconds WeChat allows for an answer."""
_SMALLEST_SPREAD = 1e-4
"""Below it the vectors of the bank are one and the same: no embedder that means anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The background of one question."""

    mean: float
    """Mean inner product with the bank."""
    spread: float
    """Standard deviation of the inner products among the bank's sentences: the model's unit."""

    def margin(self, dense: float) -> float:
        """How many units above the background an inner product is."""
        return (dense - self.mean) / self.spread


class Background:
    """A bank of everyday sentences, embedded once, at first use."""

    def __init__(self, embedder: Embedder | None, sentences: Sequence[str] | None = None) -> None:
        self._embedder = embedder
        self._sentences = tuple(sentences or everyday_sentences())
        self._centre: Vector | None = None
        """The mean of the bank: a question's product with it is the mean of its products."""
        self._spread = 0.0
        self._lock = anyio.Lock()

    async def warm(self) -> None:
        """Embed the bank, without a deadline: for the start. Raises EmbedderUnavailable."""
        async with self._lock:
            if self._centre is None and self._embedder is not None:
                bank = await self._embedder.embed_passages(self._sentences)
                others = ~np.eye(len(bank), dtype=np.bool_)
                self._spread = float((bank @ bank.T)[others].std())
                self._centre = bank.mean(axis=0)

    async def level(self, query: Vector | None) -> Level | None:
        """The background of a question; None without a vector or an embedder that answers in time."""
        if query is None:
            return None
        if self._centre is None:
            with anyio.move_on_after(FIRST_USE_SECONDS):
                try:
                    await self.warm()
                except EmbedderUnavailable:
                    return None
        centre = self._centre
        if centre is None or self._spread < _SMALLEST_SPREAD or len(centre) != len(query):
            return None
        return Level(mean=float(centre @ query), spread=self._spread)


def everyday_sentences() -> tuple[str, ...]:
    """The sentences of background.txt."""
    lines = files("bot.answering").joinpath("background.txt").read_text("utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
