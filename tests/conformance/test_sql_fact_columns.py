"""Few facts are read row by row, many by columns: the same facts, whatever they hold."""

import sqlite3
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.memory.fact import FactKind
from bot.memory.lexical import FactIndex
from bot.memory.told_times import times_told, written
from bot.storage.sql import fact_columns
from bot.storage.sql.fact_columns import FEW_NEWER, TooMany, few, many
from bot.storage.sql.looking import covered_by
from bot.storage.sql.schema import to_ms
from identity.model import Account
from tests.memory_stage import MODEL, START, Stage, open_stage

TEXTS = ["", "有，逗号,和'引号'", "一\x00二", "\\u0000", "😀", "第四件", "第五件", "第六件", "第七件"]


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as stage:
        yield stage


async def tell(stage: Stage, account: Account, texts: list[str]) -> tuple[int, ...]:
    kinds = list(FactKind)
    facts = [
        replace(
            stage.fact(text),
            kind=kinds[number % len(kinds)],
            importance=number / 7,
            said_at=START + timedelta(minutes=-number),
            expires_at=START + timedelta(days=number) if number % 3 == 2 else None,
        )
        for number, text in enumerate(texts)
    ]
    return await stage.facts.keep(account.scope(""), facts, None, MODEL, source_turn=None)


async def both(stage: Stage, account: Account, beyond: int = 0) -> tuple[fact_columns.Columns, ...]:
    now = to_ms(stage.clock.now())

    def look(connection: sqlite3.Connection) -> tuple[fact_columns.Columns, ...]:
        (shelf,) = covered_by(connection, account.scope("")).shelves
        return few(connection, shelf, beyond, now, most=1000), many(connection, shelf, beyond, now)

    return await stage.database.view(look)


@pytest.mark.parametrize(
    "texts", [TEXTS, [text for text in TEXTS if "\0" not in text]], ids=["with NUL", "without"]
)
async def test_both_ways_give_the_same(stage: Stage, texts: list[str]) -> None:
    account = await stage.arrive("a")
    ids = await tell(stage, account, texts)
    stage.clock.advance(hours=5)
    await stage.facts.keep(account.scope(""), [stage.fact(texts[3])], None, MODEL, source_turn=None)
    stage.clock.advance(days=3)
    (rows, ends), (columns, first_end) = await both(stage, account)
    shown = [each for each, number in zip(ids, range(len(texts)), strict=True) if number != 2]
    assert sorted(rows.ids.tolist()) == shown
    assert rows.by_time() == columns.by_time()
    assert [fact.said_again_at is not None for fact in columns.by_time()].count(True) == 1
    assert {fact.text for fact in columns} == {text for number, text in enumerate(texts) if number != 2}
    assert min(ends) == min(first_end) == to_ms(START + timedelta(days=5))


async def test_what_is_newer_is_found_among_few_and_many_newer_ones_of_others(stage: Stage) -> None:
    account, other = await stage.arrive("a"), await stage.arrive("b")
    (first, *_) = await tell(stage, account, ["一", "二"])
    for count in (2, FEW_NEWER + 5):
        await tell(stage, other, [f"别人的{count} {number}" for number in range(count)])
        (rows, _), (columns, _) = await both(stage, account, first)
        assert [fact.text for fact in rows] == [fact.text for fact in columns] == ["二"]


async def test_more_than_were_allowed_are_too_many(stage: Stage) -> None:
    account = await stage.arrive("a")
    await tell(stage, account, ["一", "二", "三"])
    now = to_ms(stage.clock.now())

    def look(connection: sqlite3.Connection, most: int) -> int:
        (shelf,) = covered_by(connection, account.scope("")).shelves
        return len(few(connection, shelf, 0, now, most=most)[0])

    assert await stage.database.view(lambda connection: look(connection, 3)) == 3
    with pytest.raises(TooMany):
        await stage.database.view(lambda connection: look(connection, 2))


async def test_nothing_is_nothing(stage: Stage) -> None:
    account = await stage.arrive("a")
    (one,) = await tell(stage, account, ["一"])
    (rows, ends), (columns, first_end) = await both(stage, account, one)
    assert (rows, ends) == (columns, first_end) == ((), [])


async def test_the_times_told_are_kept_beside_the_words(stage: Stage) -> None:
    account = await stage.arrive("a")
    texts = ["我对花生过敏", "昨天买了鞋", "上个月去了三亚"]
    await tell(stage, account, texts)
    await stage.database.write(
        lambda connection: connection.execute("UPDATE fact SET told_times = NULL WHERE id = 3").rowcount
    )
    for rows, _ in await both(stage, account):
        told = dict(zip(rows.texts, rows.told_times, strict=True))
        said_at = {fact.text: fact.said_at for fact in rows}
        assert told[texts[0]] == ""
        assert told[texts[1]] == written(times_told(texts[1], said_at[texts[1]])) != ""
        assert told[texts[2]] is None
        assert [bool(FactIndex(rows).times_told(row)) for row in range(3)] == [
            "我" not in t for t in rows.texts
        ]
