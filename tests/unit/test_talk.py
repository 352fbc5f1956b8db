"""What goes along with a message: the person's own words of the same talk."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Matrix, Vector
from bot.conversation.turn import Turn
from bot.memory.query import Queries
from bot.memory.talk import CHARACTERS, TURNS, talk_of

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def turns(*questions: str, minutes_ago: int = 1) -> tuple[Turn, ...]:
    count = len(questions)
    return tuple(
        Turn(
            id=number,
            question=question,
            answer="好的，记下了。",
            at=NOW - timedelta(minutes=minutes_ago + count - number),
        )
        for number, question in enumerate(questions, start=1)
    )


def test_goes_on_with_what_the_person_said() -> None:
    talk = talk_of("嗯，因为我喜欢蓝色的", NOW, turns("我想买把伞", "要折叠的"))
    assert talk == "我想买把伞 要折叠的 嗯，因为我喜欢蓝色的"


def test_says_nothing_of_the_bots_words() -> None:
    assert "记下" not in talk_of("嗯，因为我喜欢蓝色的", NOW, turns("我想买把伞"))


@pytest.mark.parametrize("question", ["我的鞋码是多少？", "你们几点关门"])
def test_a_simple_question_stands_for_itself(question: str) -> None:
    assert talk_of(question, NOW, turns("我想买把伞")) == ""


@pytest.mark.parametrize("question", ["那蓝色的有吗？", "但是如果下雨呢？", "如果不合适怎么办？"])
def test_a_question_that_goes_on_does_not(question: str) -> None:
    assert talk_of(question, NOW, turns("我想买把伞")).startswith("我想买把伞")


def test_nothing_goes_along_from_an_earlier_session() -> None:
    assert talk_of("嗯，因为我喜欢蓝色的", NOW, turns("我想买把伞", minutes_ago=45)) == ""


def test_nothing_goes_along_at_the_beginning() -> None:
    assert talk_of("嗯，因为我喜欢蓝色的", NOW, ()) == ""


def test_is_bounded_and_keeps_the_message() -> None:
    message = "嗯，因为我喜欢蓝色的"
    talk = talk_of(message, NOW, turns(*(f"第{number}句话" * 30 for number in range(TURNS + 3))))
    assert len(talk) == CHARACTERS
    assert talk.endswith(message)


class LateEmbedder:
    """Late from its `after`th question on."""

    model_id = "late"
    dimension = 2

    def __init__(self, after: int) -> None:
        self.asked: list[str] = []
        self._after = after

    async def embed_query(self, text: str) -> Vector:
        self.asked.append(text)
        if len(self.asked) > self._after:
            raise EmbedderUnavailable("late")
        return np.ones(2, np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        raise NotImplementedError


async def test_an_embedder_that_was_late_is_not_asked_for_the_talk() -> None:
    embedder = LateEmbedder(after=0)
    query = await Queries(embedder).of("蓝色的", "伞 蓝色的")
    assert embedder.asked == ["蓝色的"]
    assert query.vector is None
    assert query.talk is not None
    assert query.talk.vector is None


async def test_without_the_talks_vector_its_words_serve() -> None:
    query = await Queries(LateEmbedder(after=1)).of("蓝色的", "伞 蓝色的")
    assert query.vector is not None
    assert query.talk is not None
    assert (query.talk.text, query.talk.vector) == ("伞 蓝色的", None)


async def test_nothing_is_embedded_where_nothing_is_asked() -> None:
    embedder = LateEmbedder(after=9)
    query = await Queries(embedder).of("", "")
    assert embedder.asked == []
    assert query.talk is None
