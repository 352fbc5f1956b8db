"""Answer with a chat model, and without it when it is away.

Invariant: whatever the model does, there is an answer; links in it never come from memory.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from loguru import logger

from bot.alerts import Alerts, OperatorAlerts
from bot.answering.drafts import Draft
from bot.answering.extractive import ExtractiveAnswerer
from bot.answering.links import without_links
from bot.answering.prompt import Template, load_template, render_prompt
from bot.answering.question import Answer, Question
from bot.conversation.errors import ModelRefused, ModelUnavailable, ModelUnpaid
from bot.conversation.ports import ChatModel
from bot.conversation.wording import Wording
from bot.noting import note_prompt

UNPAID = "model_unpaid"
"""The key of the operator's alert."""


class Answerer(Protocol):
    """Turns a question with what was found for it into a reply."""

    async def answer(self, question: Question, draft: Draft | None = None) -> Answer:
        """Never empty, never raises for a model that is away.

        Where a draft is given, the text is in it while it is being written.
        """
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
        vision: ChatModel | None = None,
        alerts: Alerts | None = None,
    ) -> None:
        """`template`: `load_template()` by default. `vision`: who is asked where a picture was sent; without one
        pictures are passed over. It has a circuit of its own, so that slow pictures don't close the other."""
        self._model = model
        self._vision = vision
        self._fallback = fallback
        self._wording = wording
        self._alerts = alerts or OperatorAlerts()
        self._template = template or load_template()

    async def answer(self, question: Question, draft: Draft | None = None) -> Answer:
        """The model's answer. Away: what fits, said to be quoted. Refused: a polite refusal."""
        passed = self._filter(question)
        try:
            text = await self._ask(question, draft, passed)
        except ModelRefused:
            return _instead(draft, Answer(text=self._wording.say("model_refused"), decided_by="notice"))
        except ModelUnavailable as error:
            logger.warning("大模型没有给出回答：{}：{}", type(error).__name__, error)
            is_unpaid = isinstance(error, ModelUnpaid)
            if is_unpaid:
                await self._alerts.tell(
                    UNPAID, "大模型的账户欠费或密钥失效，现在只能回答常见问题：请充值，或检查 LLM__API_KEY"
                )
            return _instead(draft, await self._without_model(question, is_unpaid=is_unpaid))
        if not (text := passed(text)).strip():
            return _instead(draft, await self._without_model(question, is_unpaid=False))
        self._alerts.settle(UNPAID)
        return Answer(text=text, decided_by="model")

    async def _ask(self, question: Question, draft: Draft | None, passed: Callable[[str], str]) -> str:
        model = self._model
        if question.images and self._vision is not None:
            model = self._vision
        elif question.images:
            question = replace(question, images=())
        prompt = render_prompt(self._template, await self._fallback.readable(question))
        note_prompt(prompt)
        if draft is None:
            return await model.complete(prompt)
        draft.begin(passed)
        return await model.complete(prompt, draft.add)

    async def _without_model(self, question: Question, *, is_unpaid: bool) -> Answer:
        extract = await self._fallback.extract(question)
        if not extract.is_empty:
            text = self._fallback.quote(question, extract, "extract_intro_model_away")
        elif is_unpaid:
            text = self._wording.say("model_unpaid")
        else:
            text = self._fallback.unsure(question, "model_away_unsure")
        return Answer(text=text, decided_by="extract")

    def _filter(self, question: Question) -> Callable[[str], str]:
        """Links the model took from memory go; its own, the operator's and the person's stay."""
        remembered = (each.fact.text for each in (*question.facts, *question.group_facts))
        heard = (line.text for line in question.group_lines)
        told = (
            *(each.text for each in question.summaries),
            *(turn.question for turn in (*question.short_term, *question.said)),
        )
        memory = "\n".join((*remembered, *heard, *told))
        read = (piece.text for each in question.passages for piece in each.context or (each.passage,))
        allowed = "\n".join((question.persona, question.text, *read))
        hidden = self._wording.say("link_hidden")
        return lambda text: without_links(text, hidden, allowed=allowed, only=memory)


def _instead(draft: Draft | None, answer: Answer) -> Answer:
    """An answer that takes the place of the one being written."""
    if draft is not None:
        draft.discard()
    return answer
