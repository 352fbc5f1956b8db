"""Whatever people do after a backup, restoring it shows nobody more than they could see the moment before.

Six accounts on three channels. The copy is taken somewhere among the acts; afterwards it is replayed and read as the
bot reads. What is right is read from the database as it was, not worked out again: accounts are together if they
were in the copy and the moment before, and none of them left; a thing said is seen by those who are together if the
copy has it and it was in view the moment before, and is put away if it was put away.
"""

import asyncio
import hmac
import itertools
import sqlite3
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.conversation.errors import RejectedInput
from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.database import Database
from bot.storage.sql.departing import SqlDeparting
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.joining import by_id
from bot.storage.sql.link_codes import SqlLinkCodes
from bot.storage.sql.parking import SqlParking
from bot.storage.sql.replaying import Replay, replay
from bot.storage.sql.schema import from_ms
from bot.storage.sql.snapshot import copy_database, opened
from bot.storage.sql.turn_window import SqlTurnWindow
from identity.linking import CODES_ARE_COUNTED, Linking
from identity.model import Account, Decision
from tests.memory_stage import MODEL, HandClock, Stage, open_stage, vectors_of

EXAMPLES = 300
SECONDS = 600
"""For a machine that does much else beside."""
CHANNELS = ("wechat", "onebot", "qq")
ACCOUNTS = 6
PEPPERS = [bytes([number]) * 32 for number in range(3)]
"""A running bot may go on with the one before, beside a command that has the new one."""

Act = tuple[str, int, int, int]
"""What, who, with whom, and which pepper."""


def acts(*names: str) -> st.SearchStrategy[Act]:
    who = st.one_of(st.integers(0, 2), st.integers(0, ACCOUNTS - 1))  # with few, more happens between them
    return st.tuples(st.sampled_from(names), who, who, st.integers(0, len(PEPPERS) - 1))


@dataclass
class World:
    """A database in which every example has accounts of its own."""

    stage: Stage
    folder: Path
    runner: asyncio.Runner
    numbers: Iterator[int] = field(default_factory=itertools.count)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with asyncio.Runner() as runner, pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("备份")
        opened_ = open_stage(folder / "data")
        stage = runner.run(opened_.__aenter__())
        # That no byte is left in the file, and that it is on the disk, is shown elsewhere, and takes time.
        patch.setattr(stage.database, "quiesce_and_checkpoint", _nothing)
        patch.setattr("bot.storage.forget_ledger.os.fsync", lambda descriptor: None)
        runner.run(stage.database._writer.run(_hurry, is_alone=True))
        yield World(stage=stage, folder=folder, runner=runner)
        runner.run(opened_.__aexit__(None, None, None))


async def _nothing() -> None: ...


def _hurry(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = OFF").fetchall()


@dataclass(frozen=True)
class State:
    """Of a database, by account."""

    persons: dict[int, int]
    held: dict[int, set[str]]
    parked: dict[int, set[str]]
    """Facts and turns of each."""
    phones: dict[bytes, int]
    """The account that proved it."""
    decided: dict[int, str | None]
    """Conflicts, with what was decided."""


def state_of(connection: sqlite3.Connection, family: int) -> State:
    accounts = {
        row[0]: row[1]
        for row in connection.execute(
            "SELECT id, person_id FROM account WHERE openid LIKE ? AND parked_of IS NULL", (f"{family}-%",)
        )
    }
    state = State(persons=accounts, held=defaultdict(set), parked=defaultdict(set), phones={}, decided={})
    for table, text in (("fact", "text"), ("turn", "question")):
        rows = connection.execute(
            f"SELECT account.id, parked_of, parked_at, {text} FROM {table}"
            " JOIN shelf ON shelf.id = shelf_id JOIN account ON account.id = account_id"
        )
        for account, parked_of, parked_at, words in rows.fetchall():
            assert parked_of is None or parked_at is not None, "what is settled holds nothing"
            (state.held if parked_of is None else state.parked)[parked_of or account].add(words)
    state.phones.update(
        (phone, account)
        for phone, account in connection.execute("SELECT phone_hash, account_id FROM phone_link")
        if account in accounts
    )
    state.decided.update(
        (number, decision)
        for number, account, decision in connection.execute("SELECT id, account_id, decision FROM conflict")
        if account in accounts
    )
    return state


class Play:
    """One example."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.stage = world.stage
        self.family = next(world.numbers)
        path = world.folder / f"forgotten-{self.family}.jsonl"
        self.ledgers = [ForgetLedger(path, pepper, world.stage.clock, PEPPERS) for pepper in PEPPERS]
        self.left: set[int] = set()
        self.acts: dict[str, Callable[[Account, Account, ForgetLedger], Awaitable[None]]] = {
            "say": self.say,
            "turn": self.turn,
            "forget": self.forget,
            "clear": self.clear,
            "leave": self.leave,
            "link": self.link,
            "unlink": self.unlink,
            "undo": self.undo,
            "phone": self.phone,
            "decide": self.decide,
            "unsubscribe": self.unsubscribe,
            "come back": self.come_back,
            "decline": self.decline,
            "sweep": self.sweep,
        }

    def key(self, who: int) -> AccountKey:
        return AccountKey(channel=CHANNELS[who % 3], app_id="app", openid=f"{self.family}-{who}")

    async def account(self, who: int) -> Account:
        return await self.stage.accounts.create_account(self.key(who), "")

    async def play(self, act: Act) -> None:
        name, who, other, pepper = act
        self.stage.clock.advance(seconds=1)
        await self.acts[name](await self.account(who), await self.account(other), self.ledgers[pepper])

    async def say(self, who: Account, _: Account, ledger: ForgetLedger) -> None:
        text = f"事 {next(self.world.numbers)}"
        facts, rows = [self.stage.fact(text)], vectors_of([text])
        await self.stage.facts.keep(who.scope(""), facts, rows, MODEL, source_turn=None)

    async def turn(self, who: Account, _: Account, ledger: ForgetLedger) -> None:
        await self.stage.say(who, f"轮 {next(self.world.numbers)}")

    async def forget(self, who: Account, _: Account, ledger: ForgetLedger) -> None:
        facts = SqlFacts(self.stage.database, self.stage.clock, ledger)
        seen = (await facts.fact_sheet(who.scope(""))).facts
        await facts.forget_facts(who.scope(""), [each.id for each in seen[-1:]])

    async def clear(self, who: Account, _: Account, ledger: ForgetLedger) -> None:
        await SqlFacts(self.stage.database, self.stage.clock, ledger).clear_person(who.person)

    async def leave(self, who: Account, _: Account, ledger: ForgetLedger) -> None:
        self.left |= {each.id for each in await self.stage.accounts.accounts_of(who.person)}
        await SqlDeparting(self.stage.database, self.stage.clock, ledger).depart(who.person)

    async def link(self, who: Account, other: Account, ledger: ForgetLedger) -> None:
        self.stage.clock.advance(seconds=CODES_ARE_COUNTED.total_seconds())
        codes = SqlLinkCodes(self.stage.database, ledger)
        linking = Linking(codes, lambda text: hmac.digest(b"p" * 32, text, "sha256"), self.stage.clock)
        code = await linking.issue(other)
        assert code is not None
        if await linking.enter(who, code) is not None:
            await linking.entered_by(other)
            await linking.confirm(other)

    async def unlink(self, who: Account, _: Account, ledger: ForgetLedger) -> None:
        await self.accounts(ledger).part(who.id)

    async def undo(self, who: Account, _: Account, ledger: ForgetLedger) -> None:
        merges = [each for each in await self.stage.accounts.merges(who.person) if each.account == who.id]
        for last in [each for each in merges if not each.is_undone][-1:]:
            assert await self.accounts(ledger).undo_merge(last.id) is not None

    async def phone(self, who: Account, other: Account, ledger: ForgetLedger) -> None:
        number = f"{self.family} {self.place(other) % 3}".encode()
        try:
            await self.accounts(ledger).link_phone(who.id, number, 1, "code")
        except RejectedInput:
            return

    async def decide(self, who: Account, other: Account, ledger: ForgetLedger) -> None:
        own = {each.person for each in [await self.account(number) for number in range(ACCOUNTS)]}
        decision = Decision.KEEP if self.place(other) else Decision.MERGE
        for conflict in await self.stage.accounts.conflicts():
            if conflict.first in own and who.person in (conflict.first, conflict.second):
                await self.accounts(ledger).decide(conflict.id, decision)

    async def unsubscribe(self, who: Account, _: Account, ledger: ForgetLedger) -> None:
        await self.parking(ledger).park(who.id)

    async def come_back(self, who: Account, _: Account, ledger: ForgetLedger) -> None:
        await self.parking(ledger).restore(who.id)

    async def decline(self, who: Account, _: Account, ledger: ForgetLedger) -> None:
        await self.parking(ledger).discard(who.id)

    async def sweep(self, who: Account, _: Account, ledger: ForgetLedger) -> None:
        """What the account parked first, of all that it parked."""
        (row,) = await self.rows(f"SELECT min(parked_at) FROM account WHERE parked_of = {who.id}")
        if row[0] is not None:
            await self.parking(ledger).discard(who.id, from_ms(row[0]))

    def place(self, account: Account) -> int:
        return int(account.key.openid.partition("-")[2])

    def accounts(self, ledger: ForgetLedger) -> SqlAccounts:
        return SqlAccounts(self.stage.database, self.stage.clock, ledger)

    def parking(self, ledger: ForgetLedger) -> SqlParking:
        return SqlParking(self.stage.database, self.stage.clock, ledger)

    async def rows(self, sql: str) -> list[tuple[int, ...]]:
        return await self.stage.database.write(lambda connection: connection.execute(sql).fetchall())

    async def live(self) -> State:
        return await self.stage.database.write(lambda connection: state_of(connection, self.family))

    def copy(self) -> Path:
        self.left.clear()
        path = self.world.folder / f"copy-{self.family}.db"
        copy_database(self.stage.database.path, path)
        return path

    def replayed(self, path: Path) -> Replay:
        with opened(path) as connection:
            connection.execute("PRAGMA foreign_keys = ON").fetchall()
            connection.execute("BEGIN IMMEDIATE")
            done = replay(connection, self.ledgers[-1])
            connection.execute("COMMIT")
            assert connection.execute("PRAGMA foreign_key_check").fetchone() is None
        return done

    async def check(self, path: Path, before: State, now: State) -> None:
        """The copy as it was, against what it is after the replay: as it is read, and once all was given back."""
        left = self.left & before.persons.keys()

        def together(who: int) -> list[int]:
            return [
                each
                for each in before.persons
                if each == who
                or (
                    before.persons[each] == before.persons[who]
                    and now.persons[each] == now.persons[who]
                    and not {each, who} & left
                )
            ]

        known = {each: before.held[each] | before.parked[each] for each in before.persons}
        async with reading(path) as reader:
            for who in before.persons:
                with_whom = together(who)
                seen = set[str]().union(*(known[each] & now.held[each] for each in with_whom))
                assert await reader.together(who) == set(with_whom)
                assert await reader.sees(who) == seen
            after = await reader.database.write(lambda connection: state_of(connection, self.family))
            assert after.phones == {
                phone: account for phone, account in before.phones.items() if account not in left
            }
            for number, decision in after.decided.items():
                assert decision is not None or now.decided.get(number) != "keep"
            for who in before.persons:
                has_parked = bool(known[who] & now.parked[who])
                assert await reader.parking.has_parked(AccountId(who)) == has_parked
                assert await reader.parking.restore(AccountId(who)) == has_parked
            for who in before.persons:
                back = (known[each] & (now.held[each] | now.parked[each]) for each in together(who))
                assert await reader.sees(who) == set[str]().union(*back)


@dataclass(frozen=True)
class Reader:
    """The copy, as a bot has it that starts on it."""

    database: Database
    accounts: SqlAccounts
    facts: SqlFacts
    window: SqlTurnWindow
    parking: SqlParking

    async def account(self, number: int) -> Account:
        return await self.database.write(lambda connection: by_id(connection, AccountId(number)))

    async def together(self, number: int) -> set[int]:
        person = (await self.account(number)).person
        return {each.id for each in await self.accounts.accounts_of(person)}

    async def sees(self, number: int) -> set[str]:
        scope = (await self.account(number)).scope("")
        facts = (await self.facts.fact_sheet(scope)).facts
        turns = (await self.window.recent(scope)).turns
        return {each.text for each in facts} | {turn.question for turn in turns}


@asynccontextmanager
async def reading(path: Path) -> AsyncGenerator[Reader]:
    database, clock = Database(path), HandClock()
    await database.open()
    try:
        yield Reader(
            database=database,
            accounts=SqlAccounts(database, clock),
            facts=SqlFacts(database, clock),
            window=SqlTurnWindow(database, limit=100),
            parking=SqlParking(database, clock),
        )
    finally:
        await database.close()


async def restored(world: World, before: list[Act], since: list[Act]) -> None:
    play = Play(world)
    for act in before:
        await play.play(act)
    then = await play.live()
    path = play.copy()
    for act in since:
        await play.play(act)
    now = await play.live()
    play.replayed(path)
    await play.check(path, then, now)
    assert play.replayed(path).entries == 0
    path.unlink()


life = acts("say", "say", "say", "turn", "link", "link", "link", "phone", "unsubscribe", "unlink")
anything = acts(
    *("say", "turn", "forget", "clear", "leave", "link", "link", "unlink", "unlink", "undo", "undo"),
    *("phone", "decide", "unsubscribe", "unsubscribe", "come back", "come back", "decline", "sweep"),
)


@pytest.mark.timeout(SECONDS)
@given(
    before=st.lists(life, min_size=4, max_size=12),
    since=st.lists(anything, min_size=1, max_size=12),
)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_copy_shows_nobody_more_than_the_moment_before(
    world: World, before: list[Act], since: list[Act]
) -> None:
    world.runner.run(restored(world, before, since))
