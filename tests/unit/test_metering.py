"""What is counted around the ports, and that nothing else changes."""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from bot.conversation.errors import EmbedderUnavailable, ModelRefused, ModelUnavailable, StoreUnavailable
from bot.conversation.ports import ChatLine, Matrix, Vector
from bot.memory.judge import Judgement
from bot.memory.summary import DueSummary
from bot.metering import MeteredChat, MeteredJudge, OrderWatch, WatchedEmbedder
from bot.metrics import Metrics
from tests.story_fakes import InboxInMemory, StoryByHand, message
from tests.unit.test_metrics import samples

NOW = datetime(2026, 3, 4, tzinfo=UTC)


class Says:
    """A model, a judge and an embedder that do what is next in the list."""

    def __init__(self, *next_: object) -> None:
        self.next = list(next_)

    def _one(self) -> object:
        one = self.next.pop(0)
        if isinstance(one, BaseException):
            raise one
        return one

    async def complete(
        self,
        lines: Sequence[ChatLine],
        on_text: Callable[[str], None] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        return str(self._one())

    async def judge(
        self,
        text: str,
        said_at: datetime,
        *,
        is_group: bool,
        due: DueSummary | None = None,
        known: Sequence[str] = (),
    ) -> Judgement:
        judgement = self._one()
        assert isinstance(judgement, Judgement)
        return judgement

    model_id = "m"
    dimension = 3

    async def embed_query(self, text: str) -> Vector:
        self._one()
        return np.ones(3, np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self._one()
        return np.ones((len(texts), 3), np.float32)


async def test_a_model_that_does_not_answer_is_an_error_and_one_that_declines_is_none():
    metrics = Metrics()
    chat = MeteredChat(Says("好", ModelUnavailable("away"), ModelRefused("no"), "好"), metrics)
    assert await chat.complete([]) == "好"
    with pytest.raises(ModelUnavailable):
        await chat.complete([])
    with pytest.raises(ModelRefused):
        await chat.complete([])
    assert await chat.complete([]) == "好"
    assert samples(metrics)["llm_error_ratio",] == 0.25


async def test_a_call_that_is_given_up_says_nothing_of_the_model():
    metrics = Metrics()
    with pytest.raises(asyncio.CancelledError):
        await MeteredChat(Says(asyncio.CancelledError()), metrics).complete([])
    assert math.isnan(samples(metrics)["llm_error_ratio",])


async def test_judgements_that_could_be_read():
    metrics = Metrics()
    read = Judgement(keep=True, reason="")
    unread = Judgement(keep=False, reason="", understood=False)
    dropped = Judgement(keep=False, reason="small talk", was_read=False)
    judge = MeteredJudge(Says(read, unread, read, dropped), metrics)
    for text in ("我叫八六", "我对花生过敏", "我住在北京"):
        await judge.judge(text, NOW, is_group=False)
    assert samples(metrics)["entity_extraction_success_rate",] == pytest.approx(2 / 3)
    await judge.judge("你好", NOW, is_group=False)
    assert samples(metrics)["entity_extraction_success_rate",] == pytest.approx(2 / 3)


async def test_an_outage_of_the_judge_is_no_judgement():
    metrics = Metrics()
    with pytest.raises(ModelUnavailable):
        await MeteredJudge(Says(ModelUnavailable("away")), metrics).judge("我叫八六", NOW, is_group=False)
    assert math.isnan(samples(metrics)["entity_extraction_success_rate",])


async def test_an_embedder_is_away_until_it_answers():
    embedder = WatchedEmbedder(Says(1, EmbedderUnavailable("late"), 1, EmbedderUnavailable("away"), 1, 1))
    assert (await embedder.embed_query("问")).shape == (3,)
    assert not embedder.is_away
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed_query("问")
    assert embedder.is_away
    await embedder.embed_query("问")
    assert not embedder.is_away
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed_passages(["文"])
    await embedder.embed_passages([])
    assert embedder.is_away, "nothing was asked, so nothing was shown"
    await embedder.embed_passages(["文"])
    assert not embedder.is_away
    assert (embedder.model_id, embedder.dimension) == ("m", 3)


def watched() -> tuple[OrderWatch, StoryByHand, Metrics]:
    inbox, metrics = InboxInMemory(), Metrics()
    story = StoryByHand(inbox)
    return OrderWatch(story, metrics), story, metrics


def violations(metrics: Metrics) -> float:
    return samples(metrics)["message_order_violations_total",]


async def test_in_order_is_no_violation_also_when_a_try_is_repeated():
    watch, story, metrics = watched()
    story.failures["1"] = [StoreUnavailable("away")]
    with pytest.raises(StoreUnavailable):
        await watch.answer(1, message("1"), is_resumed=False)
    for number in (1, 2, 5):
        await watch.answer(number, message(str(number)), is_resumed=False)
    await watch.answer(3, message("3", by="zhang"), is_resumed=False)
    assert violations(metrics) == 0


async def test_an_earlier_message_after_a_later_one_is_a_violation():
    watch, _, metrics = watched()
    for number in (2, 1, 3):
        await watch.answer(number, message(str(number)), is_resumed=False)
    assert violations(metrics) == 1


async def test_two_at_once_of_one_person_are_a_violation():
    watch, story, metrics = watched()
    story.gates["1"] = asyncio.Event()
    first = asyncio.create_task(watch.answer(1, message("1"), is_resumed=False))
    await asyncio.sleep(0)
    await watch.answer(2, message("2"), is_resumed=False)
    await watch.answer(3, message("3", by="zhang"), is_resumed=False)
    assert violations(metrics) == 1
    story.gates["1"].set()
    await first
    await watch.answer(4, message("4"), is_resumed=False)
    assert violations(metrics) == 1
