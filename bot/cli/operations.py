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
from functools import partial
from pathlib import Path

import typer

from bot.cli.running import Refusal, progress, say_json
from bot.container import House
from bot.container.migrating import migrate
from bot.conversation.errors import RejectedInput
from bot.conversation.scope import PersonId
from bot.knowledge.ingest import IngestReport
from bot.memory.fact import Fact
from bot.settings_source import read_settings
from identity.directory import Proof
from identity.model import Account

NAMESAKES = 200
"""Accounts looked through for one openid, which may occur under several apps."""
LONGEST_NUMBER = 18
"""Digits that SQLite's integers hold in any case."""
ONCE_MORE = "改好路径再执行一次：已存的不会重做"


@asynccontextmanager
async def opened_house() -> AsyncGenerator[House]:
    """The house of the settings in this folder, its stores open, nothing running."""
    house = House(read_settings())
    try:
        await house.open()
        yield house
    finally:
        await house.close()


async def migrate_database(*, as_json: bool) -> None:
    done = await migrate(read_settings())
    if as_json:
        say_json(
            {
                "database": str(done.path),
                "from": done.before,
                "to": done.after,
                "migrated": done.before != done.after,
                "backup": str(done.backup) if done.backup else None,
            }
        )
    elif done.before == done.after:
        typer.echo(f"数据库已是当前版本 {done.after}：{done.path}")
    elif done.before is None:
        typer.echo(f"已建好数据库，版本 {done.after}：{done.path}")
    else:
        typer.echo(f"数据库已从版本 {done.before} 升级到 {done.after}：{done.path}")
    if done.backup and not as_json:
        typer.echo(f"升级前的备份：{done.backup}，七天后自动删除")


async def ingest_paths(paths: list[str], account: str, *, as_json: bool) -> None:
    """One path that is refused stops no other. Raises typer.Exit(1) where one was.

    `account`: whose documents they are; "" for everybody's.
    """
    reports: list[tuple[str, IngestReport]] = []
    refusals: list[str] = []
    async with opened_house() as house:
        _check_account(house, account)
        with progress(is_shown=not as_json) as show:
            for path in paths:
                try:
                    report = await house.ingest.ingest(
                        Path(path), partial(show, Path(path).name), app_id=account
                    )
                except RejectedInput as refusal:
                    refusals.append(str(refusal))
                else:
                    reports.append((path, report))
    if as_json:
        failure = {"ok": False, "error": "；".join(refusals), "fix": ONCE_MORE} if refusals else {}
        say_json({**failure, "sources": [_report_as_json(*each) for each in reports]})
    else:
        for each in reports:
            _show_report(*each)
        for refusal in refusals:
            typer.echo(f"没有做成：{refusal}", err=True)
    if refusals:
        raise typer.Exit(1)


def _check_account(house: House, account: str) -> None:
    """A slip of the pen would hide the documents from everybody. Raises Refusal."""
    known = [each.app_id for each in house.settings.wechat.accounts]
    if account and account not in known and not account.isdecimal():
        raise Refusal(f"没有公众号 {account}", f"已配置的：{'、'.join(known) or '无'}；QQ 机器人写它的 QQ 号")


async def show_memory(who: str, *, as_json: bool) -> None:
    async with opened_house() as house:
        accounts = await find_accounts(house, who)
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


async def export_memory(who: str, to: Path | None, *, as_json: bool) -> None:
    async with opened_house() as house:
        account = (await find_accounts(house, who))[0]
        document = await house.stores.export(account.person)
        document["exported_at"] = datetime.now(UTC).isoformat(timespec="seconds")
        text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        if to is None:
            say_json(document) if as_json else typer.echo(text, nl=False)
            return
        try:
            await asyncio.to_thread(_write_private, to, text)
        except OSError as error:
            raise Refusal(f"写不了 {to}（{error.strerror}）", "换一个名字或文件夹") from error
        facts, turns = len(document["facts"]), len(document["turns"])
        if as_json:
            say_json({"file": str(to), "facts": facts, "turns": turns})
        else:
            typer.echo(f"已写 {to}：记忆 {facts} 条，对话 {turns} 轮")


async def forget_memory(who: str, reason: str, *, as_json: bool) -> None:
    async with opened_house() as house:
        account = (await find_accounts(house, who))[0]
        receipt = await house.stores.facts.clear_person(account.person)
        await house.window.drop(account.scope(""), for_good=True)
        await house.stores.audit.record(None, "clear_person", account.person, reason, f"{receipt.total} rows")
        if as_json:
            say_json({"person": account.person, **asdict(receipt)})
            return
        typer.echo(
            f"已清除 {account.key.address}：记忆 {receipt.facts} 条，对话 {receipt.turns} 轮，"
            f"待发回答 {receipt.deliveries} 条，待整理 {receipt.jobs} 项"
        )


async def prove_phone(address: str, phone: str, *, as_json: bool) -> None:
    async with opened_house() as house:
        account = (await find_accounts(house, address))[0]
        person = (await house.directory.prove_phone(account, phone, Proof.IMPORT)).person
        if as_json:
            say_json({"account": account.key.address, "person": person})
        else:
            typer.echo(f"已登记，账号 {address} 属于人 {person}")


def _show_report(path: str, report: IngestReport) -> None:
    typer.echo(f"{path}：存入 {report.documents} 份，共 {report.passages} 段；没有变化 {report.skipped} 份")
    if report.without_vectors:
        typer.echo(f"其中 {report.without_vectors} 段没有向量，暂时只能按关键词查找", err=True)
    for name, reason in report.unreadable:
        typer.echo(f"没有读 {name}：{reason}", err=True)


def _report_as_json(path: str, report: IngestReport) -> dict[str, object]:
    unreadable = [{"file": name, "reason": reason} for name, reason in report.unreadable]
    return {"path": path, **asdict(report), "unreadable": unreadable}


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


async def find_person(house: House, who: str) -> PersonId:
    """As `_accounts`, but a number may be of a person whose accounts went to others. Raises Refusal."""
    number = _number(who)
    return (await find_accounts(house, who))[0].person if number is None else number


async def find_accounts(house: House, who: str) -> tuple[Account, ...]:
    """The accounts of a person number, or the account of an address, first.

    Raises Refusal where there is none.
    """
    if (number := _number(who)) is not None:
        found = await house.stores.accounts.accounts_of(number)
    else:
        openid = who.partition(":")[2]
        same_openid = await house.directory.find(openid, NAMESAKES)
        found = tuple(account for account in same_openid if account.key.address == who)
    if not found:
        raise Refusal(f"没有找到“{who}”", "写人的编号，或 渠道:编号（对机器人发 /我的编号 可查）")
    return found


def _number(who: str) -> PersonId | None:
    """Of a person, where it is one that the database can hold."""
    digits = who.lstrip("#")
    return PersonId(int(digits)) if digits.isdecimal() and len(digits) <= LONGEST_NUMBER else None
