"""What was forgotten is gone: from every file, from Redis, from search, after a restart, and after an old backup is restored.

Eight people talk for weeks. Four have something forgotten, each in another way: by words, by number, by time, and all of
it. The folder is read byte by byte before and after; the rows of everybody else are compared one by one.

Invariant: the words that are looked for are in nobody else's talk, and each was found before it was forgotten.
"""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from redis.asyncio import Redis

from benchmarks.memory.canaries import PEOPLE, Person
from benchmarks.memory.households import (
    QQ,
    WECHAT,
    Household,
    household,
    lasting_redis,
    stored_in,
    written,
)
from benchmarks.memory.people import HandClock
from benchmarks.memory.scanning import (
    Hit,
    Owners,
    all_rows,
    columns_of,
    digest,
    forms_of,
    forms_of_vector,
    scan,
    size_of,
)
from benchmarks.report import Figure
from bot.secrets_file import read_peppers
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.backup import make_backup
from bot.storage.sql.restoring import restore

START = datetime(2026, 11, 2, 1, 0, tzinfo=UTC)
GROUP = "30001"
TALKS = 18
"""Turns of everyday talk around: more than a summary waits for."""
ARCHIVES = (".tar.gz",)
"""A backup holds what is forgotten after it, by its nature; it is read after a restore."""


@dataclass
class Outcome:
    before: list[Hit] = field(default_factory=list[Hit])
    """That prove the scan: each form of each word, somewhere."""
    at_once: list[Hit] = field(default_factory=list[Hit])
    stopped: list[Hit] = field(default_factory=list[Hit])
    in_redis: list[str] = field(default_factory=list[str])
    restarted: list[str] = field(default_factory=list[str])
    restored: list[Hit] = field(default_factory=list[Hit])
    others: int = 0
    changed: list[str] = field(default_factory=list[str])
    said: list[str] = field(default_factory=list[str])
    seconds: list[float] = field(default_factory=list[float])
    files: tuple[int, int] = (0, 0)
    forms: int = 0


async def measure(lists: Path, folder: Path, say: Callable[[str], None]) -> list[Figure]:
    """The figures. The lists aren't needed."""
    data, redis_folder = folder / "data", folder / "redis"
    redis_folder.mkdir()
    clock, outcome = HandClock(START), Outcome()
    archive = folder / "before.tar.gz"
    async with lasting_redis(redis_folder) as url:
        async with household(data, url, clock, "first") as town:
            for number, person in enumerate(PEOPLE, 1):
                say(f"{number}/{len(PEOPLE)} 在聊")
                await _talk(town, person)
            forms = await _forms(town)
            await written(url, saves=True)
            outcome.before = _found(folder, forms)
            make_backup(data, archive, clock.now())
            for person in _forgetting():
                say(f"{person.name} 在忘")
                await _forget(town, person, data, outcome)
                outcome.at_once += _found(data, {person.name: forms[person.name]})
            outcome.in_redis = _held(await stored_in(url), forms)
        say("停下来扫")
        await written(url)
        outcome.stopped = _found(folder, forms)
        outcome.files = size_of(folder, but=ARCHIVES)
        async with household(data, url, clock, "second") as town:
            say("重启后再找")
            outcome.restarted = await _searched(town)
        outcome.stopped += _found(folder, forms)
        say("恢复旧备份")
        await _restore(archive, data, clock)
        async with Redis.from_url(url) as client:
            await client.flushall()
        outcome.restored = _found(data, forms)
        async with household(data, url, clock, "third") as town:
            outcome.restarted += await _searched(town)
        outcome.restored += _found(data, forms)
    outcome.forms = sum(map(len, forms.values()))
    return _figures(outcome)


def _forgetting() -> list[Person]:
    return [person for person in PEOPLE if person.orders]


async def _talk(town: Household, person: Person) -> None:
    """Told on one day, then days of other talk, some of which comes back to it; lists and pages wait to be read."""
    town.clock.time = START
    for channel in (QQ, WECHAT):
        await town.say(person.name, "您好，第一次来", channel=channel)
    await _link(town, person)
    town.clock.time = START + timedelta(days=20)  # cai's 昨天
    for text in person.tellings():
        town.clock.time += timedelta(minutes=3)
        await town.say(person.name, text, channel=WECHAT)
        await town.remember()
    for number in range(TALKS):
        town.clock.time += timedelta(minutes=2)
        await town.say(person.name, f"{person.name}想问第{number}件别的事，今天天气适合出门散步", channel=QQ)
        await town.remember()
    town.clock.time += timedelta(minutes=2)
    await town.say(person.name, f"{person.word}还有货吗，我那个{person.code.lower()}到哪了", channel=WECHAT)
    await town.say(person.name, f"我在群里也说一次{person.name}的事", channel=QQ, group=GROUP)
    await town.remember()
    for text in ("/我的记忆", "/导出", "/导出 JSON"):
        await town.say(person.name, text, channel=WECHAT)
    town.clock.time = START + timedelta(days=21)
    await town.say(person.name, f"{person.name}今天又来了，随便聊聊", channel=WECHAT)


async def _link(town: Household, person: Person) -> None:
    """The WeChat account and the QQ account become one person."""
    issued = await town.say(person.name, "/绑定", channel=QQ)
    code = issued.split("绑定码：", 1)[1].split("（", 1)[0]
    await town.say(person.name, f"/绑定 {code}", channel=WECHAT)
    for _ in range(2):
        await town.say(person.name, "确认绑定", channel=QQ)


async def _forms(town: Household) -> dict[str, dict[str, bytes]]:
    """What is looked for, by the person."""
    embedder = town.house.models.embedder
    assert embedder is not None
    forms: dict[str, dict[str, bytes]] = {}
    for person in _forgetting():
        words = {f"{word} {name}": form for word in person.canaries for name, form in forms_of(word).items()}
        for text, vector in zip(
            person.tellings(), await embedder.embed_passages(person.tellings()), strict=True
        ):
            words |= {f"{text} {name}": form for name, form in forms_of_vector(vector).items()}
        forms[person.name] = words
    return forms


async def _forget(town: Household, person: Person, data: Path, outcome: Outcome) -> None:
    path = data / "jide.db"
    columns, before = columns_of(path), all_rows(path)
    accounts = await town.accounts(person.name)
    for order in person.orders:
        orders = await _numbers(town, person) if order == "#" else [order]
        for each in orders:
            text = each.format(word=person.word, code=person.code, amount=person.amount)
            began = time.perf_counter()
            said = await town.say(person.name, text, channel=WECHAT)
            if "确认" in said:
                said = await town.say(person.name, "确认", channel=WECHAT)
            outcome.seconds.append(time.perf_counter() - began)
            outcome.said.append(f"{person.name} {text} → {said}")
    after = all_rows(path)
    mine = Owners(before, columns, accounts)
    for table, rows in before.items():
        # The ledger's number and the record of who asked for what.
        if table in ("stamp", "audit"):
            continue
        left = {digest(row) for row in after[table]}
        others = [row for row in rows if not mine.owns(table, row)]
        outcome.others += len(others)
        outcome.changed += [table for row in others if digest(row) not in left]


async def _numbers(town: Household, person: Person) -> list[str]:
    """Each memory that holds one of the words, the highest number first: a forgetting moves those behind it up."""
    listed = "\n".join([await town.say(person.name, f"/我的记忆 {page}", channel=QQ) for page in (1, 2)])
    lines = [line.split(".", 1) for line in listed.splitlines() if line[:1].isdigit()]
    numbers = [
        int(number)
        for number, text in lines
        if any(word in text or word.lower() in text for word in person.canaries)
    ]
    return [f"/忘记 第{number}条" for number in sorted(numbers, reverse=True)]


async def _searched(town: Household) -> list[str]:
    """What the words are still found in, asked for without naming them."""
    found: list[str] = []
    for person in _forgetting():
        town.prompts()
        for question in (
            "我最喜欢的杯子叫什么",
            "我的快递单号是多少",
            "我上次那件衣服花了多少钱",
            "我昨天说了什么",
        ):
            town.clock.time += timedelta(minutes=1)
            await town.say(person.name, question, channel=WECHAT)
        places = {
            "提示词": "\n".join(town.prompts()),
            "导出": str(await town.house.stores.export((await town.account(person.name)).person)),
            "记忆": str(
                await town.house.stores.facts.held_facts((await town.account(person.name)).scope(""))
            ),
        }
        found += [
            f"{person.name} {place} {word}"
            for place, text in places.items()
            for word in person.canaries
            if word.lower() in text.lower()
        ]
    return found


async def _restore(archive: Path, data: Path, clock: HandClock) -> None:
    peppers = read_peppers(data)
    ledger = ForgetLedger(data / "forgotten.jsonl", peppers.current, clock, peppers.keys_before)
    restore(archive, data, ledger, clock.now())
    shutil.rmtree(data / "backups", ignore_errors=True)


def _found(folder: Path, forms: dict[str, dict[str, bytes]]) -> list[Hit]:
    return [hit for each in forms.values() for hit in scan(folder, each, but=ARCHIVES)]


def _held(content: bytes, forms: dict[str, dict[str, bytes]]) -> list[str]:
    return [name for each in forms.values() for name, form in each.items() if form in content]


def _figures(outcome: Outcome) -> list[Figure]:
    files, size = outcome.files
    seen = {hit.file.split("/")[0] for hit in outcome.before}
    scanned = f"{len(_forgetting())} 人按词、按编号、按时间、全部忘掉；{files} 个文件 {size / 1e6:.1f} MB，{outcome.forms} 种写法"
    before = f"忘之前命中 {len(outcome.before)} 处（{'、'.join(sorted(seen))}）"
    counted: Sequence[tuple[str, int, str]] = (
        ("忘记：说完“已忘记”就扫数据文件夹，命中", len(outcome.at_once), f"{scanned}；{before}"),
        ("忘记：停机后扫每个文件和 Redis 的文件，命中", len(outcome.stopped), "SQLite、日志、账本、RDB、AOF"),
        ("忘记：Redis 的键里，命中", len(outcome.in_redis), "真实的 Valkey"),
        ("忘记：重启后、恢复后再问，命中", len(outcome.restarted), "提示词、导出、记忆；每人 4 问"),
        ("忘记：恢复忘之前的备份后再扫，命中", len(outcome.restored), "账本重放；备份文件本身除外"),
        ("忘记：别人的行变了", len(outcome.changed), f"{outcome.others} 行逐行比对"),
    )
    figures = [
        Figure(measure=measure, value=value, unit="处", goal="0", holds=value == 0, includes=includes)
        for measure, value, includes in counted
    ]
    seconds = sorted(outcome.seconds)
    figures.append(
        Figure(
            measure="忘记：从说到回执，中位",
            value=round(seconds[len(seconds) // 2] * 1000),
            unit="ms",
            includes=f"{len(seconds)} 次，连同重建数据库文件",
        )
    )
    return figures
