"""The chat model and the embedder: what the settings name, else what is built in."""

import contextlib

from bot.conversation.errors import TransientError
from bot.llm.deadline import DeadlineEmbedder
from bot.llm.nano_embedder import NanoEmbedder, make_nano_embedder
from bot.llm.openai_chat import OpenAiChat
from bot.llm.openai_embedder import OpenAiEmbedder
from bot.settings import Settings


class Models:
    """The chat model and the embedder that the settings name, or what is built in."""

    def __init__(self, settings: Settings) -> None:
        llm, embedding = settings.llm, settings.embedding
        self.chat: OpenAiChat | None = None
        if llm.base_url:
            self.chat = OpenAiChat(
                base_url=llm.base_url,
                api_key=llm.api_key,
                model=llm.model,
                timeout_seconds=llm.timeout_seconds,
            )
        self._engine: NanoEmbedder | OpenAiEmbedder | None = None
        if embedding.base_url:
            self._engine = OpenAiEmbedder(
                base_url=embedding.base_url, api_key=embedding.api_key, model=embedding.model
            )
        else:
            self._engine = make_nano_embedder()
        self.embedder = (
            DeadlineEmbedder(self._engine, embedding.deadline_seconds) if self._engine is not None else None
        )

    async def warm(self) -> None:
        """Import and connect now, so that the first question does not pay for it within its deadline."""
        for model in (self.chat, self._engine):
            if isinstance(model, OpenAiChat | OpenAiEmbedder):
                with contextlib.suppress(TransientError):
                    await model.warm()

    async def close(self) -> None:
        for model in (self.chat, self._engine):
            if model is not None:
                await model.close()
