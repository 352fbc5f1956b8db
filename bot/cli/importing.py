"""`jide identity import`: the operator's list of customers, read and carried out.

Invariant: a row that is wrong is told with its line, and stops no other; what comes of a list does not depend on the
order of its rows; one that was interrupted, or was read before, is simply read again.
"""

import asyncio
from collections import Counter
from pathlib import Path

import typer

from bot.cli.lists import Table, read_table
from bot.cli.operations import opened_house
from bot.cli.running import Refusal, progress, say_json
from bot.cli.wrong_lines import SHOWN, Claim, Clashes, Wrong, check_openid, tell_wrong, wrong_as_json
from bot.container.keys import KeysOfFile
from bot.conversation.errors import RejectedInput
from bot.conversation.message import AccountKey
from bot.secrets_file import PepperFile
from bot.settings import CHANNELS, Settings
from identity.directory import Proof
from identity.lists import Linked, PhoneRow
from identity.phone import PhoneHasher

BATCH = 500
"""Rows in one transaction: a person's message waits for it some hundredths of a second."""

PHONE_COLUMNS = {
    "openid": ("openid", "编号", "账号", "用户编号"),
    "phone": ("phone", "mobile", "手机号", "手机", "手机号码", "电话"),
    "channel": ("channel", "渠道"),
    "app_id": ("app_id", "appid", "应用", "公众号"),
}


async def import_phones(file: Path, *, is_rehearsal: bool, as_json: bool) -> None:
    table = await asyncio.to_thread(read_table, file, PHONE_COLUMNS, ("openid", "phone"))
    found: Counter[Linked] = Counter()
    conflicts: list[int] = []
    async with opened_house() as house:
        keys = KeysOfFile(PepperFile(house.settings.data_folder))
        hasher = keys.current()
        rows, wrong = _phone_rows(table, house.settings, hasher)
        with progress(is_shown=not as_json) as show:
            for start in range(0, len(rows), BATCH):
                batch = rows[start : start + BATCH]
                outcomes = await house.stores.phones.import_rows(
                    batch, Proof.IMPORT.value, is_rehearsal=is_rehearsal
                )
                found.update(outcomes)
                conflicts += [
                    row.line
                    for row, outcome in zip(batch, outcomes, strict=True)
                    if outcome is Linked.CONFLICT
                ]
                show("导入", start + len(batch), len(rows))
        if keys.current() is not hasher:
            raise Refusal("导入时换了密钥", "再执行一次：已导入的不会重做")
    _tell_import(found, conflicts, wrong, is_rehearsal=is_rehearsal, as_json=as_json)


def _phone_rows(table: Table, settings: Settings, hasher: PhoneHasher) -> tuple[list[PhoneRow], list[Wrong]]:
    rows: list[PhoneRow] = []
    wrong = list(table.wrong)
    for line, fields in table.rows:
        try:
            rows.append(
                PhoneRow(line=line, key=_key(fields, settings), hashes=hasher.hashes(fields["phone"]))
            )
        except RejectedInput as refusal:
            wrong.append((line, str(refusal)))
    clashes = Clashes()
    clashes.find(
        (Claim(line=each.line, about=each.key, says=each.hashes[0].digest) for each in rows),
        "同一个 openid 在第 {lines} 行是另一个手机号",
    )
    wrong += clashes.wrong.items()
    return [each for each in rows if each.line not in clashes.wrong], sorted(wrong)


def _key(fields: dict[str, str], settings: Settings) -> AccountKey:
    """Raises RejectedInput."""
    channel = fields.get("channel", "").lower() or "wechat"
    if channel not in CHANNELS:
        raise RejectedInput(f"没有渠道“{channel}”，写 {'、'.join(CHANNELS)} 之一")
    openid, app_id = fields["openid"], fields.get("app_id", "")
    check_openid(openid)
    if not app_id and channel != "wechat":
        raise RejectedInput("这个渠道要写 app_id：QQ 写机器人的 QQ 号，官方机器人写它的 AppID")
    return AccountKey(channel=channel, app_id=app_id or _default_app(settings), openid=openid)


def _default_app(settings: Settings) -> str:
    """Raises Refusal."""
    accounts = settings.wechat.accounts
    if not accounts:
        raise Refusal("还没有设置公众号，不知道是谁的 openid", "先设置 WECHAT__APP_ID，或在 app_id 一列写明")
    return accounts[0].app_id


def _tell_import(
    found: Counter[Linked], conflicts: list[int], wrong: list[Wrong], *, is_rehearsal: bool, as_json: bool
) -> None:
    if as_json:
        counts = {each.value: found[each] for each in Linked if each is not Linked.CONFLICT}
        say_json({"dry_run": is_rehearsal, **counts, "conflicts": conflicts, "bad": wrong_as_json(wrong)})
        return
    typer.echo(
        f"{'会' if is_rehearsal else '已'}登记 {found[Linked.NEW]} 个，归为一人 {found[Linked.JOINED]} 个，"
        f"早已登记 {found[Linked.KNOWN]} 个，有冲突 {len(conflicts)} 个，有误 {len(wrong)} 行"
    )
    if conflicts:
        lines = "、".join(map(str, conflicts[:SHOWN]))
        typer.echo(f"有冲突的是第 {lines} 行：等管理员裁决，jide identity conflicts 可看", err=True)
    tell_wrong(wrong)
