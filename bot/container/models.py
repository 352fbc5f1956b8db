"""The chat model and the embedder: what the settings name, else what is built in."""

import contextlib

from bot.conversation.errors import EmbedderUnavailable, TransientError
from bot.conversation.ports import ChatModel
from bot.llm.deadline import DeadlineEmbedder
from bot.llm.nano_embedder import NanoEmbedder, make_nano_embedder
from bot.llm.openai_chat import OpenAiChat
from bot.llm.openai_embedder import OpenAiEmbedder
from bot.llm.token_embedder import E5TokenEmbedder, make_token_embedder
from bot.metering import MeteredChat, WatchedEmbedder
from bot.metrics import Metrics
from bot.settings import Settings
from bot.settings_groups import LlmSettings


class Models:
    """The chat model and the embedder that the settings name, or what is built in."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        llm, embedding = settings.llm, settings.embedding
        self.chat_client = _chat(llm, llm.model, metrics)
        self.chat: ChatModel | None = MeteredChat(self.chat_client, metrics) if self.chat_client else None
        self._vision_client = (
            self.chat_client if llm.vision_model == llm.model else _chat(llm, llm.vision_model, metrics)
        )
        self.vision: ChatModel | None = (
            MeteredChat(self._vision_client, metrics) if self._vision_client else None
        )
        """Looks at pictures. None: nobody does."""
        self._memory_client = _memory_client(settings, metrics)
        self._memory = MeteredChat(self._memory_client, metrics) if self._memory_client else None
        self._engine: NanoEmbedder | OpenAiEmbedder | None = None
        if embedding.base_url:
            self._engine = OpenAiEmbedder(
                base_url=embedding.base_url, api_key=embedding.api_key, model=embedding.model
            )
        else:
            self._engine = make_nano_embedder()
        self.tokens: E5TokenEmbedder | None = None
        """Only beside the built-in embedder: one that was chosen knows better."""
        if isinstance(self._engine, NanoEmbedder):
            self.tokens = make_token_embedder()
        self.embedder: WatchedEmbedder | None = None
        if self._engine is not None:
            self.embedder = WatchedEmbedder(DeadlineEmbedder(self._engine, embedding.deadline_seconds))

    @property
    def memory(self) -> ChatModel | None:
        """Judges what to remember: the chat model where no other is named."""
        return self._memory or self.chat

    async def warm(self) -> None:
        """Import and connect now, so that the first question does not pay for it within its deadline."""
        if self.chat_client is not None:
            with contextlib.suppress(TransientError):
                await self.chat_client.warm()
        if isinstance(self._engine, OpenAiEmbedder) and self.embedder is not None:
            try:
                await self._engine.warm()
            except EmbedderUnavailable:
                self.embedder.is_away = True

    async def close(self) -> None:
        for model in (self.chat_client, self._vision_client, self._memory_client, self._engine, self.tokens):
            if model is not None:
                await model.close()


def _chat(llm: LlmSettings, name: str, metrics: Metrics) -> OpenAiChat | None:
    """None where no such model is configured."""
    if not llm.base_url or not name:
        return None
    return OpenAiChat(
        base_url=llm.base_url,
        api_key=llm.api_key,
        model=name,
        timeout_seconds=llm.timeout_seconds,
        on_tokens=metrics.note_tokens,
    )


def _memory_client(settings: Settings, metrics: Metrics) -> OpenAiChat | None:
    """None where the settings name none apart. A key is only sent to the address it was given for."""
    llm, memory = settings.llm, settings.memory
    if not memory.base_url and memory.model in ("", llm.model):
        return None
    apart = llm.model_copy(
        update={
            "base_url": memory.base_url or llm.base_url,
            "api_key": memory.api_key or ("" if memory.base_url else llm.api_key),
        }
    )
    return _chat(apart, memory.model or llm.model, metrics)
