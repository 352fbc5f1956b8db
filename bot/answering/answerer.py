"""Answer with a chat model, and without it when it is away.

Invariant: whatever the model does, there is an answer; links in it never come from memory.
"""

from typing import Protocol

from loguru import logger

from bot.answering.extractive import ExtractiveAnswerer
from bot.answering.links import without_links
from bot.answering.prompt import Template, load_template, render_prompt
from bot.answering.question import Answer, Question
from bot.conversation.errors import ModelRefused, ModelUnavailable, ModelUnpaid
from bot.conversation.ports import ChatModel
from bot.conversation.wording import Wording


class Answerer(Protocol):
    """Turns a question with what was found for it into a reply."""

    async def answer(self, question: Question) -> Answer:
        """Never empty, never raises for a model that is away."""
        ...


class ModelAnswerer:
    """Asks a chat model; quotes memory and passages while it is away."""

    def __init__(
        self,
        *,
        model: ChatModel,
        fallback: ExtractiveAnswerer,
        wording: Wording,
        template: Template | None = None,
    ) -> None:
        """`template`: `load_template()` by default."""
        self._model = model
        self._fallback = fallback
        self._wording = wording
        self._template = template or load_template()

    async def answer(self, question: Question) -> Answer:
        """The model's answer. Away: what fits, said to be quoted. Refused: a polite refusal."""
        try:
            prompt = render_prompt(self._template, await self._fallback.readable(question))
            text = await self._model.complete(prompt)
        except ModelRefused:
            return Answer(text=self._wording.say("model_refused"), decided_by="notice")
        except ModelUnavailable as error:
            logger.warning("no model answer: {}: {}", type(error).__name__, error)
            return await self._without_model(question, is_unpaid=isinstance(error, ModelUnpaid))
        return Answer(text=self._without_memory_links(text, question), decided_by="model")

    async def _without_model(self, question: Question, *, is_unpaid: bool) -> Answer:
        extract = await self._fallback.extract(question)
        if not extract.is_empty:
            text = self._fallback.quote(question, extract, "extract_intro_model_away")
        elif is_unpaid:
            text = self._wording.say("model_unpaid")
        else:
            text = self._wording.say("model_away_unsure")
        return Answer(text=text, decided_by="extract")

    def _without_memory_links(self, text: str, question: Question) -> str:
        """Links the model took from memory go; its own, the operator's and the person's stay."""
        memory = "\n".join(
            (*(each.fact.text for each in question.facts), *(turn.question for turn in question.short_term))
        )
        read = (piece.text for each in question.passages for piece in each.context or (each.passage,))
        allowed = "\n".join((question.persona, question.text, *read))
        return without_links(text, self._wording.say("link_hidden"), allowed=allowed, only=memory)
