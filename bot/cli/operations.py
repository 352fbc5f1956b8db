"""The operator's one-shot commands, over the same house as the running bot.

Invariant: each opens the stores, does one thing, and closes them; beside a running bot as well.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import typer

from bot.cli.running import say_json
from bot.container import House
from bot.conversation.errors import RejectedInput
from bot.conversation.scope import PersonId
from bot.memory.fact import Fact
from bot.settings_source import read_settings
from identity.directory import Proof
from identity.model import Account

NAMESAKES = 200
"""Accounts looked through for one openid, which may occur under several apps."""


@asynccontextmanager
async def opened_house() -> AsyncGenerator[House]:
    """The house of the settings in this folder, its stores open, nothing running."""
    house = House(read_settings())
    try:
        await house.open()
        yield house
    finally:
        await house.close()


async def migrate_database() -> None:
    async with opened_house() as house:
        typer.echo(f"数据库已是当前版本：{house.stores.database.path}")


async def ingest_paths(paths: list[str]) -> None:
    from rich.progress import Progress

    async with opened_house() as house:
        for path in paths:
            with Progress() as progress:
                bar = progress.add_task(Path(path).name, total=None)
                report = await house.ingest.ingest(
                    Path(path), lambda done, total, bar=bar: progress.update(bar, completed=done, total=total)
                )
            typer.echo(
                f"{path}：存入 {report.documents} 份，共 {report.passages} 段；没有变化 {report.skipped} 份"
            )
            if report.without_vectors:
                typer.echo(f"其中 {report.without_vectors} 段没有向量，暂时只能按关键词查找", err=True)
            for name, reason in report.unreadable:
                typer.echo(f"没有读 {name}：{reason}", err=True)


async def show_memory(who: str, *, as_json: bool) -> None:
    async with opened_house() as house:
        accounts = await _accounts(house, who)
        account = accounts[0]
        sheet = await house.stores.facts.fact_sheet(account.scope(""))
        if as_json:
            say_json(
                {
                    "person": account.person,
                    "accounts": [each.key.address for each in accounts],
                    "facts": [_fact_as_json(fact) for fact in sheet.facts],
                }
            )
            return
        for each in accounts:
            typer.echo(f"人 {each.person}，账号 {each.key.address}")
        for fact in sheet.facts:
            typer.echo(f"  {fact.said_at.astimezone():%Y-%m-%d}  {fact.kind.value}  {fact.text}")
        typer.echo(f"共 {len(sheet.facts)} 条私聊记忆")


async def export_memory(who: str, to: Path | None) -> None:
    async with opened_house() as house:
        account = (await _accounts(house, who))[0]
        document = await house.stores.export(account.person)
        document["exported_at"] = datetime.now(UTC).isoformat(timespec="seconds")
        if to is None:
            say_json(document)
            return
        text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        try:
            await asyncio.to_thread(_write_private, to, text)
        except OSError as error:
            raise RejectedInput(f"写不了 {to}（{error.strerror}）") from error
        typer.echo(f"已写 {to}：记忆 {len(document['facts'])} 条，对话 {len(document['turns'])} 轮")


async def forget_memory(who: str, reason: str, *, as_json: bool) -> None:
    async with opened_house() as house:
        account = (await _accounts(house, who))[0]
        receipt = await house.stores.facts.clear_person(account.person)
        await house.window.drop(account.scope(""))
        await house.stores.audit.record(None, "clear_person", account.person, reason, f"{receipt.total} rows")
        if as_json:
            say_json({"person": account.person, **asdict(receipt)})
            return
        typer.echo(
            f"已清除 {account.key.address}：记忆 {receipt.facts} 条，对话 {receipt.turns} 轮，"
            f"待发回答 {receipt.deliveries} 条，待整理 {receipt.jobs} 项"
        )


async def prove_phone(address: str, phone: str) -> None:
    async with opened_house() as house:
        account = (await _accounts(house, address))[0]
        person = (await house.directory.prove_phone(account, phone, Proof.IMPORT)).person
        typer.echo(f"已登记，账号 {address} 属于人 {person}")


def _fact_as_json(fact: Fact) -> dict[str, object]:
    return {
        "id": fact.id,
        "kind": fact.kind.value,
        "text": fact.text,
        "importance": fact.importance,
        "said_at": fact.said_at.isoformat(timespec="seconds"),
        "channel": fact.channel,
    }


def _write_private(path: Path, text: str) -> None:
    """A new file that only its owner can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


async def _accounts(house: House, who: str) -> tuple[Account, ...]:
    """The accounts of a person number, or the account of an address, first.

    Raises RejectedInput where there is none.
    """
    if who.lstrip("#").isdecimal():
        found = await house.stores.accounts.accounts_of(PersonId(int(who.lstrip("#"))))
    else:
        openid = who.partition(":")[2]
        same_openid = await house.directory.find(openid, NAMESAKES)
        found = tuple(account for account in same_openid if account.key.address == who)
    if not found:
        raise RejectedInput(f"没有找到“{who}”。可写人的编号，或 渠道:编号（对机器人发 /我的编号 可查）")
    return found
