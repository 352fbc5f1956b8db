"""The closing line of each message: who decided, how long each stage took, in which conversation.

Invariant: a conversation is named by a keyed hash alone. The same conversation has the same name in every
line, so that its lines can be read together, and nobody without the pepper can say whose it is.
"""

import hmac
import time
from collections.abc import Callable
from functools import lru_cache

from loguru import logger

from bot.conversation.message import Message
from bot.decision import SILENCE
from bot.metrics import Metrics, StageTimes

_LABEL = b"log:v1"
"""Derives the key of these names from the pepper: a name in a log must not help to test a phone hash."""
NAME_BYTES = 5
"""Ten hexadecimal digits: among 10,000 conversations one pair in 20,000 logs shares a name."""

_TALKING = 4_096
"""Conversations whose names are kept: a keyed hash costs 0.05 ms, at each message."""


class Journal:
    """Writes the lines, and counts what they say."""

    def __init__(
        self, metrics: Metrics, pepper: bytes, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """`pepper`: the operator's, at least 32 bytes."""
        self._metrics = metrics
        key = hmac.digest(pepper, _LABEL, "sha256")

        @lru_cache(_TALKING)
        def keyed(text: str) -> str:
            return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256")[:NAME_BYTES].hex()

        self._keyed = keyed
        self._monotonic = monotonic
        self._last_close = monotonic()

    @property
    def idle_seconds(self) -> float:
        """Since the last message was closed, or since the start."""
        return self._monotonic() - self._last_close

    def close(self, message: Message, decided_by: str, times: StageTimes) -> None:
        """A message got its end."""
        self._last_close = self._monotonic()
        self._metrics.answers.labels(decided_by).inc()
        self._metrics.answer_seconds.observe(times.seconds)
        if decided_by != SILENCE.decided_by:
            self._metrics.faq_hits.note(decided_by == "faq")
        logger.info(
            "{} {} conversation={} decided_by={} ms: {}",
            message.sender.channel,
            "group" if message.conversation.is_group else "private",
            self.name_of(message),
            decided_by,
            times,
        )

    def name_of(self, message: Message) -> str:
        """The conversation's name in the log: hexadecimal digits."""
        told = message.conversation
        # NUL is in no id: no two conversations spell the same text.
        parts = (told.channel, told.app_id, told.group, "" if told.is_group else message.sender.openid)
        return self._keyed("\0".join(parts))
