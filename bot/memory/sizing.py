"""How many memories a question deserves: by rule first; where the rule finds nothing to go by, as a model says, if one
is asked.

Invariant: there is always a number, in time: a model that is away, late or unreadable leaves the rule's.
"""

import json
from importlib.resources import files

import anyio

from bot.conversation.errors import ModelRefused, ModelUnavailable
from bot.conversation.masking import mask_secrets
from bot.conversation.ports import ChatLine, ChatModel
from bot.memory.complexity import LONGEST_READ, ORDINARY_K, k_of, read_k

PROMPT_FILE = "complexity.md"
DEADLINE_SECONDS = 1.5
"""The person waits for it, and WeChat for five seconds in all."""


class Sizing:
    def __init__(self, model: ChatModel | None = None, *, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        """`model` None: the rule alone."""
        self._model = model
        self._deadline_seconds = deadline_seconds
        self._prompt = files("bot.memory.prompts").joinpath(PROMPT_FILE).read_text("utf-8")

    async def k(self, question: str) -> int:
        """From `SIMPLE_K` to `COMPLEX_K`. Never raises for the model."""
        by_rule = k_of(question)
        if self._model is None or by_rule != ORDINARY_K:
            return by_rule
        masked, _ = mask_secrets(question[:LONGEST_READ])
        asked = json.dumps({"question": masked}, ensure_ascii=False)
        lines = (ChatLine(role="system", text=self._prompt), ChatLine(role="user", text=asked))
        with anyio.move_on_after(self._deadline_seconds):
            try:
                return read_k(await self._model.complete(lines)) or by_rule
            except (ModelUnavailable, ModelRefused):
                return by_rule
        return by_rule
