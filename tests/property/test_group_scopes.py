"""What was said in one place enters no prompt of another: private, one group, another group.

The whole house but the platforms: messages go through the turnstile, memory is kept by the worker, and what the
chat model is sent is looked at word by word.
"""

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.container import Channels, House
from bot.container.models import Models
from bot.conversation.message import AccountKey, Conversation, Kind, Message, Role
from bot.conversation.ports import ChatLine, Matrix, Vector
from bot.delivery import GoesOn, SendOutcome, Sent
from bot.metering import WatchedEmbedder
from bot.metrics import Metrics
from bot.settings import Settings
from tests.story_fakes import HandClock

APP, CHANNEL = "10001", "onebot"
PRIVATE, ONE, OTHER = "", "30001", "30002"
PEOPLE = 3
EXAMPLES = 500

places = st.sampled_from([PRIVATE, ONE, OTHER])
people = st.integers(0, PEOPLE - 1)
acts = st.one_of(
    st.tuples(st.sampled_from(["tell", "mention", "chat", "ask", "ask"]), people, places),
    st.tuples(st.sampled_from(["write for the group"]), people, st.sampled_from([ONE, OTHER])),
    st.tuples(st.sampled_from(["open", "shut"]), people, st.just(PRIVATE)),
)


@dataclass
class Listener:
    """A chat model that says little and keeps every prompt."""

    prompts: list[str] = field(default_factory=list[str])

    async def complete(
        self,
        lines: Sequence[ChatLine],
        on_text: Callable[[str], None] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        asked = lines[-1].text
        if asked.startswith('{"said"'):
            fact = {"text": json.loads(asked)["said"], "kind": "event", "importance": 0.5}
            return json.dumps({"keep": True, "reason": "", "facts": [fact]}, ensure_ascii=False)
        self.prompts.append("\n".join(line.text for line in lines))
        return "好的。"


class EveryWordNear:
    """An embedder to which all texts are nearly one: nothing is kept apart by distance."""

    model_id = "near"
    dimension = 8

    async def embed_query(self, text: str) -> Vector:
        return self._of([text])[0]

    async def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._of(texts)

    def _of(self, texts: Sequence[str]) -> Matrix:
        made = np.ones((len(texts), self.dimension), np.float32)
        made[:, 0] += [len(text) % 7 / 100 for text in texts]
        return made / np.linalg.norm(made, axis=1, keepdims=True)


class Taking:
    """A QQ client that takes everything."""

    replies_passively = False

    def is_ready(self, message: Message) -> bool:
        return True

    async def send(self, message: Message, pages: tuple[str, ...], goes_on: GoesOn) -> Sent:
        return Sent(outcome=SendOutcome.SENT, pages=len(pages))


@dataclass
class World:
    """A house, and what each example may know."""

    house: House
    model: Listener
    clock: HandClock
    runner: asyncio.Runner
    numbers: Iterator[int] = field(default_factory=itertools.count)

    async def say(self, who: str, group: str, text: str, *, is_addressed: bool = True) -> None:
        self.clock.advance(seconds=30)
        await self.house.turnstile.pass_through(
            Message(
                key=f"m{next(self.numbers)}",
                kind=Kind.TEXT,
                sender=AccountKey(channel=CHANNEL, app_id=APP, openid=who),
                conversation=Conversation(channel=CHANNEL, app_id=APP, group=group),
                text=text,
                sent_at=self.clock.now(),
                is_addressed=is_addressed,
                role=Role.OWNER,
            )
        )
        await self.house.worker.work_off()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    data: Path = tmp_path_factory.mktemp("群")
    model, clock = Listener(), HandClock()

    class Stubbed(Models):
        def __init__(self, settings: Settings, metrics: Metrics) -> None:
            super().__init__(settings, metrics)
            self.chat = model
            self.embedder = WatchedEmbedder(EveryWordNear())

    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        patch.setattr("bot.container.house.Models", Stubbed)
        house = House(
            Settings(jide_data_dir=data, ai_label=False), Channels(outboxes={CHANNEL: Taking()}), clock
        )
        runner.run(house.open())
        yield World(house=house, model=model, clock=clock, runner=runner)
        runner.run(house.close())


@given(acts=st.lists(acts, min_size=3, max_size=9))
@example(acts=[("tell", 0, PRIVATE), ("ask", 0, ONE)])
@example(acts=[("tell", 0, PRIVATE), ("open", 0, PRIVATE), ("ask", 0, ONE), ("ask", 1, ONE)])
@example(acts=[("write for the group", 0, ONE), ("ask", 1, ONE), ("ask", 1, OTHER), ("ask", 1, PRIVATE)])
@example(acts=[("tell", 0, ONE), ("ask", 0, PRIVATE), ("ask", 0, OTHER)])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_prompt_holds_only_what_its_place_may_know(world: World, acts: list[tuple[str, int, str]]) -> None:
    world.runner.run(play(world, acts))


@dataclass
class Told:
    """Where each secret was told, and by whom; "" where it was written for the whole group."""

    by: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    opened: set[str] = field(default_factory=set[str])

    def may_show(self, secret: str, asker: str, place: str) -> bool:
        teller, where = self.by[secret]
        if where == place and place != PRIVATE:
            return True  # its line, its turn, or the group's memory: everybody there heard it
        is_own = teller == asker
        return is_own and where == PRIVATE and (place == PRIVATE or asker in self.opened)

    def misses(self, shown: str, asker: str, place: str) -> set[tuple[str, str]]:
        """Of those whose secrets must be recalled here: the ones of whom not one is shown."""
        wanted = [("", place), (asker, place)]
        wanted += [(asker, PRIVATE)] if asker in self.opened else []
        told = {each: [secret for secret, by in self.by.items() if by == each] for each in wanted}
        return {each for each, own in told.items() if own and not any(secret in shown for secret in own)}


async def play(world: World, acts: list[tuple[str, int, str]]) -> None:
    told = Told()
    family = next(world.numbers)
    for act, person, where in acts:
        who, place = f"{family}-{person}", where and f"{family}{where}"
        secret = f"暗号{next(world.numbers)}号"
        match act:
            case "tell":
                told.by[secret] = (who, place)
                await world.say(who, place, f"记住：我家的门锁用{secret}")
            case "mention":
                told.by[secret] = (who, place)
                await world.say(who, place, f"我昨天把{secret}写在本子上了")
            case "chat":
                told.by[secret] = (who, place)
                await world.say(who, place, f"今晚吃{secret}火锅", is_addressed=place == PRIVATE)
            case "write for the group":
                told.by[secret] = ("", place)
                await world.say(who, place, f"/群记住 周五的集合口令是{secret}")
            case "open" | "shut":
                (told.opened.add if act == "open" else told.opened.discard)(who)
                await world.say(who, place, f"/群里可用 {'开' if act == 'open' else '关'}")
            case _:
                world.model.prompts.clear()
                await world.say(who, place, "我家的门锁、集合口令、本子上写的暗号，都是几号？")
                shown = "\n".join(world.model.prompts)
                assert world.model.prompts, "nobody was asked"
                wrong = [each for each in told.by if each in shown and not told.may_show(each, who, place)]
                assert wrong == [], (who, place, acts)
                assert told.misses(shown, who, place) == set(), "what is one's own is found"
