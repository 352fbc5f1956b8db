"""An instruction-following model behind any OpenAI-compatible endpoint.

Invariant: `complete` returns text worth sending, or raises an error of the house by the deadline.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel, Field, ValidationError

from bot.conversation.errors import ModelRefused, ModelUnavailable
from bot.conversation.ports import ChatLine
from bot.conversation.tokens import estimate_tokens
from bot.llm.circuit import Circuit
from bot.llm.openai_connection import OpenAiConnection, Ways
from bot.llm.plain_text import without_unsafe_characters
from bot.llm.provider_faults import REFUSAL, as_house_error, is_refusing, judge, read_error
from bot.llm.streamed_answer import CLOSING, OPENING

IMAGE_TOKENS = 1_000
"""What a picture costs, about, where the server doesn't say: providers count 85 to 1,700 by its size."""
_NAMES_FORM = re.compile(
    r"response[_ ]?format|json|schema|grammar|structured|not support|unsupported|extra (fields|inputs)"
    r"|unknown (field|param|arg)|unrecogni[sz]ed|invalid.{0,20}param|不支持"
)
_THINKING = re.compile(rf"\A(?:\s*{OPENING}.*?(?:{CLOSING}|\Z))+", re.DOTALL)


class _Part(BaseModel):
    text: str | None = None


class _Answer(BaseModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Answer
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice]


class _Usage(BaseModel):
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)


class _Metered(BaseModel):
    usage: _Usage


class OpenAiChat:
    """A `ChatModel`."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        model: str,
        timeout_seconds: float,
        circuit: Circuit | None = None,
        on_tokens: Callable[[int, int], None] | None = None,
    ) -> None:
        """`timeout_seconds` covers a whole `complete`, its retry included.

        `on_tokens(prompt, completion)` is told what each answer cost.
        """
        self._connection = OpenAiConnection(
            base_url=base_url, api_key=api_key, timeout_seconds=timeout_seconds, circuit=circuit
        )
        self._model = model
        self._on_tokens = on_tokens

    @property
    def is_resting(self) -> bool:
        """It failed again and again, and is not asked for a while."""
        return self._connection.is_resting

    async def warm(self) -> None:
        """Import and build the client ahead of the first message. Raises ModelUnavailable."""
        await self._connection.warm()

    async def complete(
        self,
        lines: Sequence[ChatLine],
        on_text: Callable[[str], None] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        """The model's answer, never empty. See the port."""
        body: dict[str, object] = {"model": self._model, "messages": [_as_message(line) for line in lines]}
        if on_text is None:
            forms = None if schema is None else _forms(schema)
            document = await self._connection.post("/chat/completions", body, forms)
            return self._read(document, lines)
        pieces: list[str] = []

        def hand_on(piece: str) -> None:
            pieces.append(piece)
            on_text(piece)

        try:
            document = await self._connection.stream("/chat/completions", body, hand_on)
        except ModelUnavailable:
            if pieces:  # half an answer is paid for too
                self._note_tokens(None, lines, "".join(pieces))
            raise
        answer = self._read(document, lines)
        if not pieces:  # the server doesn't stream
            on_text(answer)
        return answer

    async def close(self) -> None:
        await self._connection.close()

    def _read(self, document: object, lines: Sequence[ChatLine]) -> str:
        try:
            answer = read_answer(document, self._connection.host)
        except (ModelRefused, ModelUnavailable):
            self._note_tokens(document, lines, "")
            raise
        self._note_tokens(document, lines, answer)
        return answer

    def _note_tokens(self, document: object, lines: Sequence[ChatLine], answer: str) -> None:
        if self._on_tokens is None:
            return
        try:
            usage = _Metered.model_validate(document).usage
        except ValidationError:  # many servers name none
            asked = estimate_tokens("".join(line.text for line in lines))
            pictures = sum(len(line.images) for line in lines)
            self._on_tokens(asked + pictures * IMAGE_TOKENS, estimate_tokens(answer))
        else:
            self._on_tokens(usage.prompt_tokens, usage.completion_tokens)


def _forms(schema: Mapping[str, object]) -> Ways:
    """An object of this schema, any object, or whatever the prompt brings about."""
    named = {"name": "answer", "strict": True, "schema": dict(schema)}
    return Ways(
        name="form",
        bodies=(
            {"response_format": {"type": "json_schema", "json_schema": named}},
            {"response_format": {"type": "json_object"}},
            {},
        ),
        refusals=_NAMES_FORM,
    )


def _as_message(line: ChatLine) -> dict[str, object]:
    """Plain content where there is no picture: older servers know no parts."""
    text = without_unsafe_characters(line.text)
    if not line.images:
        return {"role": line.role, "content": text}
    parts: list[dict[str, object]] = [{"type": "image_url", "image_url": {"url": url}} for url in line.images]
    if text:
        parts.insert(0, {"type": "text", "text": text})
    return {"role": line.role, "content": parts}


def read_answer(document: object, where: str) -> str:
    """The text of a completion.

    Raises:
        ModelRefused: the provider withheld it.
        ModelUnavailable: empty, or not a completion. Some gateways send errors with status 200.
    """
    try:
        choices = _Completion.model_validate(document).choices
    except ValidationError:
        # `from None`: pydantic quotes the input, which is what the model wrote to a person.
        error = read_error(200, document)
        raise as_house_error(judge(error), error, where) from None
    if not choices:
        raise ModelUnavailable(f"{where} 的回答是空的")
    choice = choices[0]
    if is_refusing(choice.finish_reason) or choice.message.refusal:
        raise ModelRefused(REFUSAL)
    content = choice.message.content
    if isinstance(content, list):
        content = "".join(part.text or "" for part in content)
    text = without_unsafe_characters(_THINKING.sub("", content or "")).strip()
    if not text:
        raise ModelUnavailable(f"{where} 的回答是空的")
    return text
