"""Orders to forget in plain words: what goes is what was meant, and the rest stays.

Each row of the list has ten dated memories of one person, the order, and which of them it means. The order goes the bot's
way: recognised as one, read, found over the memories of a real database. What is asked about first counts as gone.

Invariant: the list tunes nothing here.
"""

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.memory.people import HandClock
from benchmarks.report import Figure
from bot.commands.forgetting import MOST_UNASKED
from bot.commands.parsing import Command, parse
from bot.conversation.message import AccountKey
from bot.conversation.scope import Scope
from bot.memory.fact import FactKind, NewFact
from bot.memory.forget import Forget
from bot.memory.forget_request import Means
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.database import Database
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.turn_log import SqlTurnLog

LIST = "forget.jsonl"


class Tally:
    def __init__(self) -> None:
        self.rows = Counter[str]()
        self.whole = Counter[str]()
        """Rows where just what was meant went."""
        self.meant = 0
        self.gone = 0
        self.wrongly = 0
        """Without being asked about."""
        self.shown = 0
        """That were not meant, in what is asked about."""
        self.kept = 0
        self.asked = 0


async def measure(lists: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """The figures. Raises FileNotFoundError."""
    text = (lists / LIST).read_text("utf-8")
    rows: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines() if line.strip()]
    database = Database(folder / "jide.sqlite3")
    database.prepare()
    await database.open()
    tally = Tally()
    try:
        for number, row in enumerate(rows, start=1):
            say(f"{number}/{len(rows)}")
            await _forget(database, number, row, tally)
    finally:
        await database.close()
    return _figures(tally)


async def _forget(database: Database, number: int, row: dict[str, Any], tally: Tally) -> None:
    now = datetime.fromisoformat(row["now"]).astimezone(UTC)
    clock = HandClock(now)
    facts = SqlFacts(database, clock)
    account = await SqlAccounts(database, clock).create_account(
        AccountKey(channel="wechat", app_id="wx0", openid=f"p{number}"), ""
    )
    scope = account.scope("")
    told = [
        NewFact(
            kind=FactKind.EVENT,
            text=each,
            importance=0.5,
            said_at=datetime.fromisoformat(at).astimezone(UTC),
        )
        for each, at in zip(row["memories"], row["said_at"], strict=True)
    ]
    ids = await facts.keep(scope, told, None, "", source_turn=None)
    gone, is_sure = await _meant(facts, SqlTurnLog(database), scope, row["request"], now)
    tally.asked += not is_sure
    wanted = {ids[index] for index in row["gone"]}
    tally.rows[row["kind"]] += 1
    tally.whole[row["kind"]] += gone == wanted
    tally.meant += len(wanted)
    tally.gone += len(gone & wanted)
    tally.kept += len(ids) - len(wanted)
    if is_sure:
        tally.wrongly += len(gone - wanted)
    else:
        tally.shown += len(gone - wanted)


async def _meant(
    facts: SqlFacts, log: SqlTurnLog, scope: Scope, request: str, now: datetime
) -> tuple[set[int], bool]:
    """Which memories would go, and whether without a question."""
    call = parse(request)
    if call is not None and call.command is Command.CLEAR:
        return {fact.id for fact in await facts.held_facts(scope)}, False
    if call is None or call.command is not Command.FORGET:
        return set(), True
    found = await Forget(facts, log).find(scope, call.argument, now)
    is_much = found.request.means is Means.ALL or len(found.facts) > MOST_UNASKED
    return {fact.id for fact in found.facts}, found.is_sure and not is_much and not call.is_asking


def _figures(tally: Tally) -> list[Figure]:
    kinds = "，".join(f"{kind} {tally.whole[kind]}/{count}" for kind, count in sorted(tally.rows.items()))
    return [
        Figure(
            measure="要求忘记的话：该忘的忘了",
            value=tally.gone / tally.meant,
            unit="",
            includes=f"{sum(tally.rows.values())} 句，{tally.meant} 条该忘；整句全对：{kinds}；先问一遍的 {tally.asked} 句",
        ),
        Figure(
            measure="要求忘记的话：没问就忘了不该忘的",
            value=tally.wrongly,
            unit="条",
            goal="0",
            holds=tally.wrongly == 0,
            includes=f"{tally.kept} 条不该忘；先问一遍时列出来的，另有 {tally.shown} 条不该忘",
        ),
    ]
