"""The rule decides how many memories are recalled; a model only where the rule cannot, and never late."""

import asyncio
import hashlib
import json
import re
from collections.abc import Sequence
from importlib.resources import files

import pytest

from bot.conversation.errors import ModelRefused, ModelUnavailable
from bot.conversation.ports import ChatLine
from bot.memory.complexity import ORDINARY_K, k_of, read_k
from bot.memory.sizing import PROMPT_FILE, Sizing
from tests.memory_fakes import ScriptedModel

ORDINARY = "我的猫和邻居家那只相处得来嘛"
PROMPTS = {"版本 1": "9fa8b567cc746c5c52f3aa22fda072566fe34065174e20ff018db1c4401a7bcb"}
"""What each version says, as SHA-256: a prompt that changes is a new version."""


def test_this_question_is_one_the_rule_cannot_size() -> None:
    assert k_of(ORDINARY) == ORDINARY_K


@pytest.mark.parametrize(
    ("answer", "k"), [("问题类型：复杂 检索条目数量：9", 9), ("问题类型：简单", 3), ("检索条目数量：99", 10)]
)
async def test_the_model_says_how_many(answer: str, k: int) -> None:
    model = ScriptedModel(answer)
    assert await Sizing(model).k(f"{ORDINARY} 4111111111111111") == k
    ((system, user),) = model.asked
    assert "4111" not in user.text and json.loads(user.text)["question"].startswith(ORDINARY)
    assert "问题类型：… 检索条目数量：…" in system.text


@pytest.mark.parametrize("answer", ["不知道", "", ModelUnavailable("away"), ModelRefused("no")])
async def test_without_an_answer_the_rule_stays(answer: str | Exception) -> None:
    assert await Sizing(ScriptedModel(answer)).k(ORDINARY) == ORDINARY_K


@pytest.mark.parametrize("question", ["我叫什么？", "总结一下我买过的所有东西", "上周我说了什么", ""])
async def test_what_the_rule_sees_costs_no_call(question: str) -> None:
    assert await Sizing(ScriptedModel()).k(question) == k_of(question) != ORDINARY_K


async def test_without_a_model_the_rule_decides() -> None:
    assert await Sizing().k(ORDINARY) == ORDINARY_K


async def test_a_late_model_is_not_waited_for() -> None:
    class Hanging:
        async def complete(self, lines: Sequence[ChatLine], *more: object, **others: object) -> str:
            await asyncio.Event().wait()
            raise AssertionError("nobody sets it")

    assert await Sizing(Hanging(), deadline_seconds=0).k(ORDINARY) == ORDINARY_K  # type: ignore[arg-type]


def test_a_changed_prompt_has_a_new_version_and_its_numbers_are_read() -> None:
    prompt = files("bot.memory.prompts").joinpath(PROMPT_FILE).read_text("utf-8")
    version = re.search("版本 [0-9]+", prompt.splitlines()[0])
    assert version and hashlib.sha256(prompt.encode()).hexdigest() == PROMPTS[version.group()]
    for kind, count in re.findall(r"- (\S+?)：.*?([0-9]+) 条", prompt):
        assert read_k(f"问题类型：{kind} 检索条目数量：{count}") == int(count)
