"""What the player set when something was said counts for it, whatever is set afterwards."""

import pytest

from bot.conversation.message import AccountKey, Message
from bot.playground.playing import MOST_SAID, PLAYING, Knobs, ModelChoice, as_when_said
from bot.playground.qq_state import Place
from bot.playground.why import WhyRecords
from bot.ports import Delivery
from identity.model import Account
from tests.story_fakes import delivery, message
from tests.unit.test_playground_qq import OneBotPlay
from tests.unit.test_playground_wechat import Play, at_once, settled


def seconds() -> float | None:
    knobs = PLAYING.get()
    return None if knobs is None else knobs.latency_seconds


@pytest.fixture
def knobs():
    knobs = Knobs(latency_seconds=12)
    token = PLAYING.set(knobs)
    yield knobs
    PLAYING.reset(token)


def test_a_message_that_was_said_is_answered_as_it_was_then(knobs: Knobs) -> None:
    knobs.hold("1")
    knobs.latency_seconds, knobs.model = 20, ModelChoice.CONFIGURED
    for _ in range(2):
        with as_when_said("1"):
            assert seconds() == 12, "tried again it is so again"
            assert PLAYING.get() == Knobs(latency_seconds=12)
    with as_when_said("2"):
        assert seconds() == 20
        knobs.latency_seconds = 3
        assert seconds() == 20, "it is under way"
    assert PLAYING.get() is knobs


def test_of_a_real_message_nothing_is_set() -> None:
    with as_when_said("1"):
        assert PLAYING.get() is None


def test_no_more_is_held_than_is_shown(knobs: Knobs) -> None:
    for number in range(MOST_SAID + 1):
        knobs.hold(str(number))
    knobs.latency_seconds = 0
    assert [knobs.when_said(key).latency_seconds for key in ("0", "1", str(MOST_SAID))] == [0, 12, 12]


async def test_on_wechat_it_is_held_as_soon_as_it_is_said() -> None:
    play = Play(at_once())
    play.stage.knobs.latency_seconds = 12
    play.stage.say("小明", "你好")
    play.stage.knobs.latency_seconds = 0
    assert play.stage.knobs.when_said(play.last().key).latency_seconds == 12
    await play.stage.close()


async def test_on_qq_too(monkeypatch: pytest.MonkeyPatch) -> None:
    play = OneBotPlay(monkeypatch)
    play.stage.knobs.latency_seconds = 12
    play.stage.say(Place.PRIVATE, "小明", "你好")
    play.stage.knobs.latency_seconds = 0
    (line,) = play.lines(Place.PRIVATE)
    assert play.stage.knobs.when_said(line.key).latency_seconds == 12
    await settled()
    await play.stage.close()


class Nobody:
    async def find_account(self, key: AccountKey) -> Account | None:
        return None


class Teller:
    """A story that says what it was told to take."""

    async def answer(
        self, inbox_id: int, message: Message, *, is_resumed: bool, waited_seconds: float = 0.0
    ) -> Delivery:
        return delivery(inbox_id, str(seconds()))

    async def apologise(self, inbox_id: int, message: Message) -> Delivery:
        raise AssertionError


async def test_the_story_is_told_as_when_the_message_was_said(knobs: Knobs) -> None:
    story = WhyRecords(Nobody()).around(Teller(), lambda *_, **__: None)  # type: ignore[arg-type]
    knobs.hold("1")
    knobs.latency_seconds = 20
    sender = AccountKey(channel="wechat", app_id="playground", openid="o")
    said = {
        key: (await story.answer(1, message(key, sender=sender), is_resumed=False)).pages
        for key in ("1", "2")
    }
    assert said == {"1": ("12",), "2": ("20",)}
