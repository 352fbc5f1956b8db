"""Which model judges what to remember, and which key goes where."""

import pytest

from bot.container.models import Models
from bot.llm.openai_chat import OpenAiChat
from bot.metrics import Metrics
from bot.settings import Settings
from bot.settings_groups import LlmSettings
from bot.settings_memory import MemorySettings

LLM = {"base_url": "http://127.0.0.1:1/v1", "api_key": "sk-chat", "model": "big"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, object, object]]:
    """Address, key and model of each client that is made."""
    made: list[tuple[object, object, object]] = []

    class Noted(OpenAiChat):
        def __init__(self, **options: object) -> None:
            made.append((options["base_url"], options["api_key"], options["model"]))
            super().__init__(**options)  # type: ignore[arg-type]

    monkeypatch.setattr("bot.container.models.OpenAiChat", Noted)
    return made


def models(llm: dict[str, str], memory: dict[str, str]) -> Models:
    settings = Settings(llm=LlmSettings(**llm), memory=MemorySettings(**memory))  # type: ignore[arg-type]
    return Models(settings, Metrics())


@pytest.mark.parametrize("memory", [{}, {"model": "big"}])
def test_without_another_name_the_chat_model_judges(
    asked: list[tuple[object, object, object]], memory: dict[str, str]
) -> None:
    made = models(LLM, memory)
    assert made.memory is made.chat is not None and len(asked) == 1


def test_a_cheaper_model_of_the_same_house(asked: list[tuple[object, object, object]]) -> None:
    made = models(LLM, {"model": "small"})
    assert made.memory is not made.chat
    assert asked[-1] == (LLM["base_url"], "sk-chat", "small")


def test_the_chats_key_goes_to_no_other_address(asked: list[tuple[object, object, object]]) -> None:
    models(LLM, {"base_url": "http://127.0.0.1:2/v1", "model": "small"})
    assert asked[-1] == ("http://127.0.0.1:2/v1", "", "small")
    models(LLM, {"base_url": "http://127.0.0.1:2/v1", "api_key": "sk-own"})
    assert asked[-1] == ("http://127.0.0.1:2/v1", "sk-own", "big")


def test_memory_may_have_a_model_where_answers_have_none(asked: list[tuple[object, object, object]]) -> None:
    made = models({}, {"base_url": "http://127.0.0.1:2/v1", "model": "small"})
    assert made.chat is None and made.memory is not None and len(asked) == 1
