"""`jide identity conflicts | decide | merges | undo`: what an admin also does by /冲突 and /裁决, at the keyboard.

Invariant: the store decides, in its own transaction, so a running bot sees all of it with its next message; of an
account no more is shown than its channel and a mask of its id.
"""

from collections.abc import Sequence
from datetime import datetime

import typer

from bot.cli.operations import find_person, opened_house
from bot.cli.running import Refusal, say_json
from bot.commands.context import channel_name
from bot.commands.people import mask
from bot.container import House
from bot.conversation.errors import RejectedInput
from bot.conversation.local_time import LOCAL_TIME
from bot.conversation.message import AccountKey
from bot.conversation.scope import PersonId
from identity.history import OPERATOR, ConflictRecord, MergeRecord
from identity.model import Account, Conflict, ConflictKind, Decision

MAY_NOT_JOIN = {
    ConflictKind.PHONES: "两边各有验证过的手机号",
    ConflictKind.UNIONIDS: "合起来在同一个平台会有两个 unionid",
}
KEPT = "各记各的，不再为此询问"
WHY = {
    "unionid": "unionid 相同",
    "code": "本人绑定",
    "unlink": "本人解绑",
    "changeopenid": "公众号迁移",
    "phone": "手机号相同",
    "conflict": "裁决了 {detail} 号冲突",
}
"""What stands before a colon in the reason of a merge or a conflict."""


async def list_conflicts(*, shows_decided: bool, as_json: bool) -> None:
    async with opened_house() as house:
        records = await house.stores.history.conflicts(with_decided=shows_decided)
        if as_json:
            say_json({"conflicts": [await _conflict_as_json(house, each) for each in records]})
            return
        for each in records:
            typer.echo("\n".join(await _conflict_lines(house, each)))
    waiting = sum(each.decision is None for each in records)
    if waiting:
        typer.echo(f"等待裁决的共 {waiting} 个。裁决：jide identity decide <编号> merge 或 keep")
    else:
        typer.echo("没有等待裁决的身份冲突")


async def ask_about_conflict(number: int, decision: Decision) -> str:
    """What to ask before it is decided. Raises Refusal where it cannot be."""
    async with opened_house() as house:
        conflict = await _waiting(house, number)
        first = await _person(house, conflict.first)
        second = await _person(house, conflict.second)
    if decision is Decision.KEEP:
        return f"{first} 和 {second} 分开：{KEPT}。确定吗？"
    return f"把 {first} 并入 {second}，两边的记忆合在一起。确定吗？"


async def decide_conflict(number: int, decision: Decision, *, as_json: bool) -> None:
    async with opened_house() as house:
        conflict = await house.stores.accounts.decide(number, decision, OPERATOR)
        if conflict is None:
            await _waiting(house, number)
            raise Refusal(f"{number} 号冲突刚刚有变化", "再执行一次")
        moved = [each.merge.id for each in await house.stores.history.merged_for(_reason_of(number))]
    if as_json:
        say_json(
            {
                "conflict": number,
                "decision": decision.value,
                "first": conflict.first,
                "second": conflict.second,
                "merges": moved,
            }
        )
    elif decision is Decision.MERGE:
        typer.echo(f"已合并：{conflict.first} 号人并入 {conflict.second} 号人")
        typer.echo(f"要撤销：{_undoing(moved)}", err=True)
    else:
        typer.echo(f"已分开：{conflict.first} 号人和 {conflict.second} 号人，{KEPT}")


async def list_merges(who: str, limit: int, *, as_json: bool) -> None:
    """`who`: "" for everybody."""
    async with opened_house() as house:
        person = await find_person(house, who) if who else None
        records = await house.stores.history.merges(person, limit)
        if as_json:
            say_json({"merges": [_merge_as_json(each) for each in records]})
            return
        for each in records:
            typer.echo(_merge_line(house, each))
    if records:
        typer.echo("撤销一条：jide identity undo <编号>")
    else:
        typer.echo("没有合并过")


async def ask_about_merge(number: int) -> str:
    """What to ask before it is undone. Raises Refusal where it cannot be."""
    async with opened_house() as house:
        record = await _undoable(house, number)
        name, merge = _quoted(house, record.key), record.merge
    return f"把{name}从 {merge.after} 号人放回 {merge.before} 号人，记忆跟着账号走。确定吗？"


async def undo_merge(number: int, *, as_json: bool) -> None:
    async with opened_house() as house:
        try:
            back = await house.stores.accounts.undo_merge(number, OPERATOR)
        except RejectedInput:
            back = None
        if back is None:
            await _undoable(house, number)
            raise Refusal(f"{number} 号合并刚刚有变化", "再执行一次")
        alike = await _undone_alike(house, number)
        name = _quoted(house, back.key)
    if as_json:
        say_json({"merge": number, "account": _key_as_json(back.key), "person": back.person, "alike": alike})
        return
    typer.echo(f"已撤销：{name}现在是 {back.person} 号人")
    if alike:
        typer.echo(f"那次一起合并的还有：{_undoing(alike)}", err=True)


async def _waiting(house: House, number: int) -> Conflict:
    """Raises Refusal."""
    record = await house.stores.history.conflict(number)
    if record is None:
        raise Refusal(f"没有 {number} 号冲突", "编号用 jide identity conflicts 看")
    if record.decision is None:
        return record.conflict
    moved = await house.stores.history.merged_for(_reason_of(number))
    standing = [each.merge.id for each in moved if each.can_be_undone]
    raise Refusal(
        f"{number} 号冲突已裁决为 {record.decision.value}（{_when(record.decided_at)}）",
        f"要改回来：{_undoing(standing)}" if standing else "jide identity conflicts --all 可看全部",
    )


async def _undoable(house: House, number: int) -> MergeRecord:
    """Raises Refusal."""
    record = await house.stores.history.merge(number)
    if record is None:
        raise Refusal(f"没有 {number} 号合并", "编号用 jide identity merges 看")
    if record.merge.is_undone:
        raise Refusal(f"{number} 号合并早已撤销", "jide identity merges 可看全部")
    if not record.can_be_undone:
        raise Refusal(
            f"{number} 号合并之后，这个账号又变过一次", f"先撤销后来的：{_undoing([record.latest])}"
        )
    return record


async def _undone_alike(house: House, number: int) -> list[int]:
    """What was moved with it and still is where it was moved."""
    record = await house.stores.history.merge(number)
    if record is None:
        return []
    merge = record.merge
    moved = await house.stores.history.merged_for(merge.reason)
    return [
        each.merge.id
        for each in moved
        if (each.merge.at, each.merge.before, each.merge.after) == (merge.at, merge.before, merge.after)
        and each.can_be_undone
    ]


async def _conflict_lines(house: House, record: ConflictRecord) -> list[str]:
    conflict = record.conflict
    head = f"{conflict.id} 号冲突，{_when(conflict.at)}：{_why(conflict.detail)}，但{MAY_NOT_JOIN[conflict.kind]}"
    first, second = conflict.first, conflict.second
    lines = [head, f"  {await _person(house, first)}", f"  {await _person(house, second)}"]
    if record.decision is not None:
        return [*lines, f"  {_when(record.decided_at)} 已裁决：{record.decision.value}"]
    count = len(await house.stores.accounts.accounts_of(first))
    return [
        *lines,
        f"  merge：{first} 号人的 {count} 个账号并入 {second} 号人，两边的记忆合在一起，可以撤销",
        f"  keep：{KEPT}",
    ]


async def _conflict_as_json(house: House, record: ConflictRecord) -> dict[str, object]:
    conflict = record.conflict
    return {
        "id": conflict.id,
        "kind": conflict.kind.value,
        "reason": conflict.detail,
        "at": conflict.at.isoformat(timespec="seconds"),
        "first": await _person_as_json(house, conflict.first),
        "second": await _person_as_json(house, conflict.second),
        "merge_moves_into": conflict.second,
        "decision": None if record.decision is None else record.decision.value,
        "decided_at": None if record.decided_at is None else record.decided_at.isoformat(timespec="seconds"),
    }


def _merge_line(house: House, record: MergeRecord) -> str:
    merge = record.merge
    said = f"{merge.id}  {_when(merge.at)}  {_account(house, record.key)}："
    said += f"{merge.before} 号人 → {merge.after} 号人，{_why(merge.reason)}"
    if merge.is_undone:
        return f"{said}（已撤销）"
    return said if record.can_be_undone else f"{said}（之后又变过：{record.latest}）"


def _merge_as_json(record: MergeRecord) -> dict[str, object]:
    merge = record.merge
    return {
        "id": merge.id,
        "account": _key_as_json(record.key),
        "from": merge.before,
        "to": merge.after,
        "reason": merge.reason,
        "at": merge.at.isoformat(timespec="seconds"),
        "undone": merge.is_undone,
        "can_be_undone": record.can_be_undone,
    }


async def _person(house: House, person: PersonId) -> str:
    accounts: Sequence[Account] = await house.stores.accounts.accounts_of(person)
    shown = "、".join(_account(house, each.key) for each in accounts)
    return f"{person} 号人（{shown or '账号都归了别人'}）"


async def _person_as_json(house: House, person: PersonId) -> dict[str, object]:
    accounts = await house.stores.accounts.accounts_of(person)
    return {"person": person, "accounts": [_key_as_json(each.key) for each in accounts]}


def _account(house: House, key: AccountKey) -> str:
    return f"{channel_name(house.wording, key.channel)} {mask(key.openid)}"


def _quoted(house: House, key: AccountKey) -> str:
    return f"账号“{_account(house, key)}”"


def _key_as_json(key: AccountKey) -> dict[str, str]:
    return {"channel": key.channel, "masked": mask(key.openid)}


def _why(reason: str) -> str:
    word, _, detail = reason.partition(":")
    return WHY.get(word, reason).format(detail=detail)


def _reason_of(conflict: int) -> str:
    return f"conflict:{conflict}"


def _undoing(merges: Sequence[int]) -> str:
    return "；".join(f"jide identity undo {each}" for each in merges)


def _when(at: datetime | None) -> str:
    return "" if at is None else f"{at.astimezone(LOCAL_TIME):%Y-%m-%d %H:%M}"
