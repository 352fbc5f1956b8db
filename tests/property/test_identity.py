"""Whatever people link, part, say, contradict and forget: each sees their own, and takes it along when they part.

Five people with an account on each of three channels. The model knows which accounts are together, and what each
said of a topic, one thing after the other; whoever says a new thing contradicts what they see of the topic.
"""

import asyncio
import hmac
import itertools
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.conversation.errors import RejectedInput
from bot.conversation.message import AccountKey
from bot.memory.fact import Fact
from bot.storage.sql.departing import SqlDeparting
from bot.storage.sql.link_codes import SqlLinkCodes
from bot.storage.sql.parking import SqlParking
from bot.storage.sql.turn_window import SqlTurnWindow
from identity.linking import CODES_ARE_COUNTED, Linking
from identity.model import Account, LinkOutcome
from tests.memory_stage import DIMENSION, GROUP, MODEL, PRIVATE, Stage, open_stage, vectors_of

EXAMPLES = 500
SECONDS = 600
"""For a machine that does much else beside."""
CHANNELS = ("wechat", "onebot", "qq")
PEOPLE = 5
PLACES = (PRIVATE.place, GROUP.place)
TOPICS, VALUES = 2, 3

Act = tuple[str, int, int, str, int, int]
"""What, who, with whom, where, of which topic, and what of it."""


def acts(*names: str, people: int) -> st.SearchStrategy[Act]:
    everybody = st.integers(0, people * len(CHANNELS) - 1)
    who = st.one_of(st.integers(0, 3), everybody)  # with few, more happens between them
    return st.tuples(
        st.sampled_from(names),
        who,
        who,
        st.sampled_from(PLACES),
        st.integers(0, TOPICS - 1),
        st.integers(0, VALUES - 1),
    )


@dataclass(eq=False)
class Told:
    """One fact as it was stored."""

    id: int
    account: int
    place: str
    topic: int
    text: str
    is_forgotten: bool = False
    is_parked: bool = False
    """Its account unsubscribed, and was not asked yet whether it wants it back."""
    contradicted_by: "Told | None" = None


@dataclass
class Model:
    """Who is together, and what was told. Accounts are numbers: `person * 3 + channel`."""

    labels: Iterator[int] = field(default_factory=lambda: itertools.count(100))
    person: dict[int, int] = field(default_factory=dict[int, int])
    moves: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """Of each account, the persons it came from, the last one last."""
    phones: dict[int, int] = field(default_factory=dict[int, int])
    unions: dict[int, int] = field(default_factory=dict[int, int])
    arrived: list[int] = field(default_factory=list[int])
    told: list[Told] = field(default_factory=list[Told])
    turns: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    parked_turns: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    last: dict[tuple[int, str, int], Told] = field(default_factory=dict[tuple[int, str, int], Told])
    """What an account itself said last of a topic in a place."""
    blurred: set[int] = field(default_factory=set[int])
    """Topics of which a contradiction was forgotten, or what was put away came back beside what was said since:
    whether the contradicted shows again is left open."""

    def arrive(self, who: int) -> None:
        self.arrived.append(who)
        self.person[who], self.moves[who] = next(self.labels), []

    def together(self, who: int) -> list[int]:
        return [each for each in self.arrived if self.person[each] == self.person[who]]

    def move(self, who: int, person: int) -> None:
        self.moves[who].append(self.person[who])
        self.person[who] = person

    def join(self, who: int, owner: int) -> None:
        for each in self.together(who):
            self.move(each, self.person[owner])

    def have_phones(self, *accounts: int) -> bool:
        proven = set(self.phones.values())
        return all(proven.intersection(self.together(each)) for each in accounts)

    def may_join(self, who: int, owner: int) -> bool:
        for channel in range(len(CHANNELS)):
            mine, theirs = (
                {
                    self.unions[each]
                    for each in self.together(side)
                    if each in self.unions and each % 3 == channel
                }
                for side in (who, owner)
            )
            if theirs and mine - theirs:
                return False
        return not self.have_phones(who, owner)

    def of_person(self, who: int, place: str) -> list[Told]:
        """All that is held of the account's person there, in view or not."""
        ours = self.together(who)
        return [
            each
            for each in self.told
            if each.account in ours and each.place == place and not (each.is_forgotten or each.is_parked)
        ]


@dataclass
class World:
    """A database in which every example has accounts of its own."""

    stage: Stage
    linking: Linking
    window: SqlTurnWindow
    parking: SqlParking
    departing: SqlDeparting
    runner: asyncio.Runner
    numbers: Iterator[int] = field(default_factory=itertools.count)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with asyncio.Runner() as runner:
        opened = open_stage(tmp_path_factory.mktemp("身份"))
        stage = runner.run(opened.__aenter__())
        codes = SqlLinkCodes(stage.database)
        linking = Linking(codes, lambda text: hmac.digest(b"p" * 32, text, "sha256"), stage.clock)
        with pytest.MonkeyPatch.context() as patch:
            # That no byte is left in the file, and that it is on the disk, is shown elsewhere, and takes time.
            patch.setattr(stage.database, "quiesce_and_checkpoint", _nothing)
            runner.run(stage.database._writer.run(_hurry, is_alone=True))
            yield World(
                stage=stage,
                linking=linking,
                window=SqlTurnWindow(stage.database, limit=100),
                parking=SqlParking(stage.database, stage.clock),
                departing=SqlDeparting(stage.database, stage.clock),
                runner=runner,
            )
        runner.run(opened.__aexit__(None, None, None))


async def _nothing() -> None: ...


def _hurry(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = OFF").fetchall()


class Play:
    """One example: carries out acts on the store and on the model."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.stage = world.stage
        self.model = Model()
        self.family = next(world.numbers)
        self.acts: dict[str, Callable[[Act], Awaitable[None]]] = {
            "say": self.say,
            "turn": self.turn,
            "forget": self.forget,
            "forget another's": self.forget_anothers,
            "clear": self.clear,
            "link": self.link,
            "unlink": self.unlink,
            "undo": self.undo,
            "unionid": self.unionid,
            "phone": self.phone,
            "leave": self.leave,
            "unsubscribe": self.unsubscribe,
            "come back": self.come_back,
            "decline": self.decline,
        }

    async def account(self, who: int) -> Account:
        """As of now; made at first."""
        key = AccountKey(channel=CHANNELS[who % 3], app_id="app", openid=f"{self.family}-{who // 3}")
        known = await self.stage.accounts.find_account(key)
        if known is None:
            self.model.arrive(who)
            known = await self.stage.accounts.create_account(key, "")
        return known

    async def seen(self, who: int, place: str) -> tuple[Fact, ...]:
        return tuple((await self.stage.facts.fact_sheet((await self.account(who)).scope(place))).facts)

    async def play(self, act: Act) -> None:
        for who in act[1:3]:
            await self.account(who)
        await self.acts[act[0]](act)

    async def say(self, act: Act) -> None:
        """Something of a topic, which contradicts what is seen of it."""
        _, who, _, place, topic, value = act
        scope = (await self.account(who)).scope(place)
        text = f"题目{topic} 是 {value}"
        before = {fact.id: fact for fact in await self.seen(who, place)}
        kept = await self.stage.facts.keep(
            scope, [self.stage.fact(text)], vectors_of([text]), MODEL, source_turn=None
        )
        for number in kept:
            self.model.told.append(Told(id=number, account=who, place=place, topic=topic, text=text))
        own = [
            each for each in self.model.told if (each.account, each.place, each.text) == (who, place, text)
        ]
        said = own[-1]
        self.model.last[who, place, topic] = said
        theirs = [each for each in self.model.of_person(who, place) if each.id in before]
        contradicted = [each for each in theirs if each.topic == topic and each.text != text]
        if contradicted:
            await self.stage.facts.supersede(scope, [each.id for each in contradicted], said.id)
        for each in contradicted:
            each.contradicted_by = said
        assert [each.text for each in await self.seen(who, place) if each.text.startswith(text[:4])] == [text]

    async def turn(self, act: Act) -> None:
        _, who, _, place, *_ = act
        text = f"第 {next(self.world.numbers)} 轮"
        await self.stage.say(
            await self.account(who), text, place=GROUP if place else PRIVATE, consolidate=False
        )
        self.model.turns.append((who, place, text))

    async def forget(self, act: Act) -> None:
        _, who, _, place, topic, value = act
        text = f"题目{topic} 是 {value}"
        meant = [fact.id for fact in await self.seen(who, place) if fact.text == text]
        await self.stage.facts.forget_facts((await self.account(who)).scope(place), meant)
        for each in self.model.of_person(who, place) if meant else ():
            if each.text == text:
                each.is_forgotten = True
                self.model.blurred.add(topic)

    async def forget_anothers(self, act: Act) -> None:
        _, who, _, place, *_ = act
        own = {each.id for each in self.model.of_person(who, place)}
        others = [each.id for each in self.model.told if each.id not in own]
        assert (
            await self.stage.facts.forget_facts((await self.account(who)).scope(place), others)
        ).total == 0

    async def clear(self, act: Act) -> None:
        who = act[1]
        await self.stage.facts.clear_person((await self.account(who)).person)
        self._cleared(who)

    def _cleared(self, who: int) -> None:
        ours = self.model.together(who)
        for each in self.model.told:
            if each.account in ours:
                each.is_forgotten = True
                self.model.blurred.add(each.topic)
        self.model.turns = [turn for turn in self.model.turns if turn[0] not in ours]
        self.model.parked_turns = [turn for turn in self.model.parked_turns if turn[0] not in ours]

    async def link(self, act: Act) -> None:
        _, who, other, *_ = act
        self.stage.clock.advance(seconds=CODES_ARE_COUNTED.total_seconds())
        first = await self.account(other)
        code = await self.world.linking.issue(first)
        assert code is not None
        entered = await self.world.linking.enter(await self.account(who), code)
        if self.model.person[who] == self.model.person[other]:
            assert entered is None
            return
        assert await self.world.linking.entered_by(first) == await self.account(who)
        outcome, _ = await self.world.linking.confirm(first)
        if self.model.have_phones(who, other):
            assert outcome is LinkOutcome.CONFLICT
        else:
            assert outcome is LinkOutcome.LINKED
            self.model.join(who, other)

    async def unlink(self, act: Act) -> None:
        who = act[1]
        await self.stage.accounts.part((await self.account(who)).id)
        if len(self.model.together(who)) > 1:
            self.model.move(who, next(self.model.labels))

    async def undo(self, act: Act) -> None:
        who = act[1]
        account = await self.account(who)
        merges = [
            each
            for each in await self.stage.accounts.merges(account.person)
            if each.account == account.id and not each.is_undone
        ]
        assert bool(merges) == bool(self.model.moves[who])
        if merges:
            assert await self.stage.accounts.undo_merge(merges[-1].id) is not None
            self.model.person[who] = self.model.moves[who].pop()

    async def unionid(self, act: Act) -> None:
        _, who, _, _, _, value = act
        await self.stage.accounts.learn_unionid((await self.account(who)).id, f"{self.family} {value}")
        if who in self.model.unions:
            return
        same = (each for each in self.model.arrived if each % 3 == who % 3)
        owner = next((each for each in same if self.model.unions.get(each) == value), None)
        self.model.unions[who] = value
        if owner is None or self.model.person[owner] == self.model.person[who]:
            return
        if self.model.may_join(who, owner):
            self.model.join(who, owner)

    async def phone(self, act: Act) -> None:
        _, who, _, _, _, value = act
        account, number = await self.account(who), f"{self.family} {value}".encode()
        owner = self.model.phones.setdefault(value, who)
        is_joining = self.model.person[owner] != self.model.person[who]
        if is_joining and not self.model.may_join(who, owner):
            with pytest.raises(RejectedInput):
                await self.stage.accounts.link_phone(account.id, number, 1, "code")
            return
        await self.stage.accounts.link_phone(account.id, number, 1, "code")
        if is_joining:
            self.model.join(who, owner)

    async def leave(self, act: Act) -> None:
        who = act[1]
        await self.world.departing.depart((await self.account(who)).person)
        self._cleared(who)
        for each in self.model.together(who):
            self.model.person[each], self.model.moves[each] = next(self.model.labels), []
            self.model.unions.pop(each, None)
            self.model.phones = {
                phone: prover for phone, prover in self.model.phones.items() if prover != each
            }

    async def unsubscribe(self, act: Act) -> None:
        who = act[1]
        await self.world.parking.park((await self.account(who)).id)
        for each in self.model.told:
            each.is_parked = each.is_parked or each.account == who
        self.model.parked_turns += [turn for turn in self.model.turns if turn[0] == who]
        self.model.turns = [turn for turn in self.model.turns if turn[0] != who]

    async def come_back(self, act: Act) -> None:
        who = act[1]
        await self.world.parking.restore((await self.account(who)).id)
        for each in self._parked(who):
            each.is_parked = False
            self.model.blurred.add(each.topic)
        self.model.turns += [turn for turn in self.model.parked_turns if turn[0] == who]
        self.model.parked_turns = [turn for turn in self.model.parked_turns if turn[0] != who]

    async def decline(self, act: Act) -> None:
        who = act[1]
        await self.world.parking.discard((await self.account(who)).id)
        for each in self._parked(who):
            each.is_forgotten = True
            self.model.blurred.add(each.topic)
        self.model.parked_turns = [turn for turn in self.model.parked_turns if turn[0] != who]

    def _parked(self, who: int) -> list[Told]:
        return [each for each in self.model.told if each.account == who and each.is_parked]

    async def check(self) -> None:
        persons = {who: (await self.account(who)).person for who in self.model.arrived}
        for one, other in itertools.combinations(self.model.arrived, 2):
            is_one = self.model.person[one] == self.model.person[other]
            assert (persons[one] == persons[other]) == is_one, (one, other)
        for who, place in itertools.product(self.model.arrived, PLACES):
            await self._check_view(who, place)

    async def _check_view(self, who: int, place: str) -> None:
        model = self.model
        scope = (await self.account(who)).scope(place)
        facts = await self.seen(who, place)
        ours = {each.id: each for each in model.of_person(who, place)}
        shown = [ours.get(fact.id) for fact in facts]
        assert None not in shown, "it was told elsewhere, or by somebody else, or forgotten"
        texts = [fact.text for fact in facts]
        assert len(texts) == len(set(texts))
        for each in shown:
            later = each and each.contradicted_by
            assert later is None or later.is_forgotten or later.id not in ours, "it was contradicted"
        sheet = await self.stage.facts.vector_sheet(scope, MODEL, DIMENSION)
        assert set(sheet.fact_ids.tolist()) <= {fact.id for fact in facts}
        turns = [turn.question for turn in (await self.world.window.recent(scope)).turns]
        together = model.together(who)
        assert sorted(turns) == sorted(
            text for teller, there, text in model.turns if teller in together and there == place
        )
        if len(together) == 1:
            self._check_own(who, place, set(texts))

    def _check_own(self, who: int, place: str, texts: set[str]) -> None:
        """Alone, an account has what it had, and what it gained itself: of each topic what it said last."""
        for topic in range(TOPICS):
            seen = {text for text in texts if text.startswith(f"题目{topic} ")}
            last = self.model.last.get((who, place, topic))
            own = set() if last is None or last.is_forgotten or last.is_parked else {last.text}
            assert own <= seen
            assert seen == own or topic in self.model.blurred


async def played(world: World, events: list[Act]) -> Play:
    play = Play(world)
    for event in events:
        await play.play(event)
        await play.check()
    return play


anything = acts(
    *("say", "say", "say", "say", "turn", "forget", "forget another's", "clear", "leave"),
    *("link", "link", "link", "unlink", "unlink", "undo", "unionid", "phone"),
    *("unsubscribe", "come back", "decline"),
    people=PEOPLE,
)
talk = acts("say", "say", "say", "say", "turn", "forget", people=1)


def said(who: int, value: int) -> Act:
    return ("say", who, who, "", 0, value)


@pytest.mark.timeout(SECONDS)
@given(events=st.lists(anything, min_size=5, max_size=20))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nobody_sees_what_they_may_not(world: World, events: list[Act]) -> None:
    world.runner.run(played(world, events))


@given(
    before=st.lists(talk, max_size=6), between=st.lists(talk, max_size=10), after=st.lists(talk, max_size=3)
)
@example(before=[said(0, 0)], between=[said(1, 1), said(1, 2), said(0, 2)], after=[])
@example(before=[said(0, 0)], between=[said(1, 1), said(0, 0), said(1, 1)], after=[said(0, 0)])
@example(before=[], between=[said(0, 0), said(1, 1), said(0, 2)], after=[said(1, 0)])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_unlinking_undoes_linking(
    world: World, before: list[Act], between: list[Act], after: list[Act]
) -> None:
    """What happened in between stays with the account it happened on; met again, they part as well once more."""
    pair = [("link", 1, 0, "", 0, 0)]
    apart: list[Act] = [("unlink", 1, 1, "", 0, 0)]
    played_ = played(world, [*before, *pair, *between, *apart, *after, *pair, *apart])
    play = world.runner.run(played_)
    assert play.model.person[0] != play.model.person[1]
