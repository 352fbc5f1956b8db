"""The playground's own model, and who is answered by it."""

from datetime import UTC, datetime

import pytest

from bot.answering.drafts import Draft
from bot.answering.prompt import load_template, render_prompt
from bot.answering.question import Answer, Question
from bot.conversation.ports import ChatLine
from bot.conversation.wording import Wording
from bot.memory.fact import Fact, FactKind
from bot.memory.recall import RecalledFact
from bot.playground.answering import PlayedAnswerer
from bot.playground.playing import PLAYING, Knobs, ModelChoice
from bot.playground.stub_model import StubModel

AT = datetime(2026, 11, 29, 4, tzinfo=UTC)
WORDING = Wording.load()


class Sleeps:
    """A clock that stands still but for sleeping, each time a little longer than it was asked to."""

    def __init__(self, late: float = 0.0) -> None:
        self.seconds: list[float] = []
        self._late = late
        self._now = 0.0

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self._now += seconds + self._late

    def now(self) -> float:
        return self._now


def stub(sleeps: Sleeps | None = None) -> StubModel:
    sleeps = sleeps or Sleeps()
    return StubModel(WORDING, sleep=sleeps, monotonic=sleeps.now)


@pytest.fixture
def playing():
    knobs = Knobs()
    token = PLAYING.set(knobs)
    yield knobs
    PLAYING.reset(token)


def fact(text: str, number: int = 1) -> RecalledFact:
    kept = Fact(id=number, kind=FactKind.PREFERENCE, text=text, importance=1, said_at=AT, channel="wechat")
    return RecalledFact(fact=kept, score=1, dense=None, lexical=1)


def question(text: str = "我能吃什么", facts: tuple[RecalledFact, ...] = ()) -> Question:
    return Question(
        text=text,
        quoted="",
        persona="你是记得。",
        short_term=(),
        facts=facts,
        passages=(),
        at=AT,
        is_group=False,
    )


def prompt(**values: object) -> tuple[ChatLine, ...]:
    return render_prompt(load_template(), question(**values))  # type: ignore[arg-type]


async def test_it_quotes_the_memories_of_the_prompt_and_knows_nothing_else() -> None:
    model = stub()
    told = await model.complete(prompt(facts=(fact("我对花生过敏"), fact("我住在杭州", 2))))
    assert "“我能吃什么”" in told
    assert "“我对花生过敏”（2026-11-29）" in told and "“我住在杭州”（2026-11-29）" in told
    untold = await model.complete(prompt())
    assert "花生" not in untold and "没有记下" in untold


async def test_it_takes_the_seconds_it_is_told_to_and_streams_all_of_its_text(playing: Knobs) -> None:
    sleeps, pieces = Sleeps(), list[str]()
    model = stub(sleeps)
    playing.latency_seconds = 12
    answer = await model.complete(prompt(), pieces.append)
    assert "".join(pieces) == answer and len(pieces) > 5
    assert sum(sleeps.seconds) == pytest.approx(12) and len(sleeps.seconds) == len(pieces)
    playing.latency_seconds = 1e9
    sleeps.seconds.clear()
    await model.complete(prompt())
    assert sum(sleeps.seconds) == pytest.approx(20)
    playing.latency_seconds = 0
    sleeps.seconds.clear()
    await model.complete(prompt())
    assert sleeps.seconds == []


async def test_on_a_busy_machine_it_takes_no_longer(playing: Knobs) -> None:
    playing.latency_seconds = 12
    sleeps = Sleeps(late=0.05)
    await stub(sleeps).complete(prompt(facts=(fact("我对花生过敏"),)))
    assert sleeps.now() == pytest.approx(12.05)


async def test_its_first_sentence_is_finished_long_before_its_last(playing: Knobs) -> None:
    """What a person is shown at WeChat's last attempt, fourteen seconds into twenty."""
    pieces: list[str] = []
    await stub().complete(prompt(facts=(fact("我对花生过敏"),)), pieces.append)
    draft = Draft()
    for piece in pieces[: len(pieces) * 14 // 20]:
        draft.add(piece)
    assert draft.take().startswith("您说的是“我能吃什么”。")


async def test_outside_the_playground_it_does_not_dawdle() -> None:
    sleeps = Sleeps()
    assert await stub(sleeps).complete(prompt())
    assert sleeps.seconds == []


class Named:
    def __init__(self, name: str) -> None:
        self._name = name

    async def answer(self, question: Question, draft: Draft | None = None) -> Answer:
        return Answer(text=self._name, decided_by="model")


async def test_only_a_played_message_whose_player_chose_so_meets_the_stub(playing: Knobs) -> None:
    answerer = PlayedAnswerer(ordinary=Named("ordinary"), stub=Named("stub"))
    playing.model = ModelChoice.STUB
    assert (await answerer.answer(question())).text == "stub"
    playing.model = ModelChoice.CONFIGURED
    assert (await answerer.answer(question())).text == "ordinary"


async def test_a_real_message_never_meets_the_stub() -> None:
    answerer = PlayedAnswerer(ordinary=Named("ordinary"), stub=Named("stub"))
    assert (await answerer.answer(question())).text == "ordinary"
