"""However messages interleave, repeat, lose their callers or meet an outage: one run per key, in order."""

import asyncio
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import Message
from bot.ports import Admission, Delivery
from tests.story_fakes import HANG_SECONDS, InboxInMemory, WayIn, message


@dataclass(frozen=True, slots=True)
class Arrival:
    """One call of the turnstile. Waits are turns of the loop."""

    person: int
    number: int
    wait_before: int
    commit_takes: int
    answer_takes: int
    leaves_after: int | None
    """The caller goes away."""
    is_store_away: bool

    @property
    def key(self) -> str:
        return f"{self.person}-{self.number}"


ARRIVALS = st.lists(
    st.builds(
        Arrival,
        person=st.integers(0, 1),
        number=st.integers(0, 4),
        wait_before=st.integers(0, 4),
        commit_takes=st.integers(0, 4),
        answer_takes=st.integers(0, 30),
        leaves_after=st.none() | st.integers(0, 5),
        is_store_away=st.sampled_from([False, False, True]),
    ),
    max_size=14,
)


class SlowInbox(InboxInMemory):
    """Each commit takes its own time, and may meet an outage. The arrival's number is the text."""

    def __init__(self, arrivals: list[Arrival]) -> None:
        super().__init__()
        self._arrivals = arrivals

    async def admit(self, message: Message) -> Admission:
        arrival = self._arrivals[int(message.text)]
        for _ in range(arrival.commit_takes):
            await asyncio.sleep(0)
        if arrival.is_store_away:
            raise StoreUnavailable("away")
        return await super().admit(message)


async def arrive(way: WayIn, arrivals: list[Arrival]) -> list[Delivery | BaseException]:
    calls: list[asyncio.Task[Delivery]] = []
    for number, arrival in enumerate(arrivals):
        for _ in range(arrival.wait_before):
            await asyncio.sleep(0)
        way.story.yields[arrival.key] = arrival.answer_takes
        call = way.start(message(arrival.key, str(number), by=str(arrival.person)))
        calls.append(call)
        await asyncio.sleep(0)
        if arrival.leaves_after is not None:
            for _ in range(arrival.leaves_after):
                await asyncio.sleep(0)
            call.cancel()
    async with asyncio.timeout(HANG_SECONDS):
        answers = await asyncio.gather(*calls, return_exceptions=True)
        await way.turnstile.drain()
    return answers


async def check(arrivals: list[Arrival]) -> None:
    way = WayIn()
    way.turnstile._inbox = SlowInbox(arrivals)  # pyright: ignore[reportPrivateUsage]
    way.story._inbox = way.turnstile._inbox  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    answers = await arrive(way, arrivals)
    assert len(way.story.began) == len(set(way.story.began)), "one run per key"
    assert way.story.overlaps == []
    for person in range(2):
        ran = [
            int(text)
            for key, text in zip(way.story.began, way.story.texts, strict=True)
            if key.startswith(f"{person}-")
        ]
        assert ran == sorted(ran), "in the order of arrival"
    for arrival, answer in zip(arrivals, answers, strict=True):
        match answer:
            case Delivery():
                assert answer.pages == (f"答:{arrival.key}",)
            case StoreUnavailable():
                assert any(other.is_store_away and other.key == arrival.key for other in arrivals)
            case _:
                assert isinstance(answer, asyncio.CancelledError)
                assert arrival.leaves_after is not None
    reached = {arrival.key for arrival in arrivals if not arrival.is_store_away}
    if not any(arrival.is_store_away for arrival in arrivals):
        assert set(way.story.began) == reached, "none is lost, whoever goes away"


@settings(max_examples=150, deadline=None)
@given(ARRIVALS)
def test_each_persons_messages_run_once_and_in_order(arrivals: list[Arrival]) -> None:
    asyncio.run(check(arrivals))
