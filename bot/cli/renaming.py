"""`jide identity migrate`: openids that WeChat changed, when an official account was moved to another owner.

Invariant: lines that contradict one another would make strangers one person, and none of them is carried out.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer

from bot.cli.lists import Table, read_table
from bot.cli.operations import opened_house
from bot.cli.running import Refusal, progress, say_json
from bot.cli.wrong_lines import Claim, Clashes, Wrong, check_openid, tell_wrong, wrong_as_json
from bot.container import House
from bot.conversation.errors import RejectedInput
from bot.settings import Settings
from identity.lists import Moved, OpenidPair

BATCH = 500
"""Pairs in one transaction: a person's message waits for it some hundredths of a second."""
CHANNEL = "wechat"
COLUMNS = {
    "ori_openid": ("ori_openid", "old", "old_openid", "旧openid", "旧"),
    "new_openid": ("new_openid", "new", "新openid", "新"),
}


@dataclass(slots=True, kw_only=True)
class _Done:
    """What came of a list."""

    is_rehearsal: bool
    source: str
    wrong: Sequence[Wrong]
    is_contradictory: bool
    found: Counter[Moved] = field(default_factory=Counter[Moved])
    elsewhere: Counter[str] = field(default_factory=Counter[str])
    """Other AppIDs → how many of the old openids are theirs."""

    @property
    def is_in_vain(self) -> bool:
        """Nothing of the list was found, or all of it elsewhere."""
        missed = self.found[Moved.UNKNOWN] or self.elsewhere
        is_known = self.found[Moved.DONE] and not self.elsewhere
        return bool(missed and not is_known and not self.changed)

    @property
    def changed(self) -> int:
        return sum(self.found[each] for each in (Moved.RENAMED, Moved.JOINED, Moved.CONFLICT))


async def migrate_openids(
    file: Path, app_id: str, from_app: str, *, is_rehearsal: bool, as_json: bool
) -> None:
    """Raises typer.Exit(1) where lines contradict one another, or nothing of the list was found."""
    table = await asyncio.to_thread(read_table, file, COLUMNS, tuple(COLUMNS))
    async with opened_house() as house:
        into = app_id or _only_app(house.settings)
        source = from_app or into
        await _refuse_unknown(house, {into, source})
        pairs, wrong = _pairs(table)
        clashes = _clashes(pairs, is_one_app=source == into)
        done = _Done(
            is_rehearsal=is_rehearsal,
            source=source,
            wrong=sorted([*wrong, *clashes.items()]),
            is_contradictory=bool(clashes),
        )
        await _move(
            house,
            [pair for line, pair in pairs.items() if line not in clashes],
            into,
            done,
            shows=not as_json,
        )
    if as_json:
        _say(done)
    else:
        _tell(done)
    if done.is_in_vain or done.is_contradictory:
        raise typer.Exit(1)


async def _move(house: House, pairs: Sequence[OpenidPair], into: str, done: _Done, *, shows: bool) -> None:
    openids = house.stores.openids
    with progress(is_shown=shows) as show:
        for start in range(0, len(pairs), BATCH):
            batch = pairs[start : start + BATCH]
            outcomes = await openids.move(batch, CHANNEL, done.source, into, is_rehearsal=done.is_rehearsal)
            done.found.update(outcomes)
            missed = [
                pair
                for pair, outcome in zip(batch, outcomes, strict=True)
                if outcome in (Moved.UNKNOWN, Moved.DONE)
            ]
            if missed:
                done.elsewhere.update(await openids.elsewhere(missed, CHANNEL, done.source, into))
            show("换 openid", start + len(batch), len(pairs))


def _only_app(settings: Settings) -> str:
    """Raises Refusal."""
    accounts = settings.wechat.accounts
    if not accounts:
        raise Refusal(
            "还没有设置公众号，不知道换成谁的 openid", "先设置 WECHAT__APP_ID，或加 --account AppID"
        )
    return accounts[0].app_id


async def _refuse_unknown(house: House, apps: set[str]) -> None:
    """Raises Refusal: a slip of the pen would give accounts an AppID that nobody has."""
    known = [each.app_id for each in house.settings.wechat.accounts]
    known += [each for each in await house.stores.openids.apps(CHANNEL) if each not in known]
    for each in apps:
        if each not in known:
            raise Refusal(
                f"设置和数据库里都没有公众号 {each}",
                f"有的是 {'、'.join(known)}" if known else "先设置 WECHAT__APP_ID",
            )


def _pairs(table: Table) -> tuple[dict[int, OpenidPair], list[Wrong]]:
    """By line."""
    pairs: dict[int, OpenidPair] = {}
    wrong = list(table.wrong)
    for line, fields in table.rows:
        before, after = fields["ori_openid"], fields["new_openid"]
        if not before or not after:
            wrong.append((line, "缺 openid：微信说这个人没有关注，或名单不全"))
            continue
        try:
            check_openid(before)
            check_openid(after)
        except RejectedInput as refusal:
            wrong.append((line, str(refusal)))
        else:
            pairs[line] = OpenidPair(before=before, after=after)
    return pairs, wrong


def _clashes(pairs: dict[int, OpenidPair], *, is_one_app: bool) -> dict[int, str]:
    clashes = Clashes()
    clashes.find(
        (Claim(line=line, about=each.after, says=each.before) for line, each in pairs.items()),
        "这个 new_openid 在第 {lines} 行是另一个 ori_openid 的",
    )
    clashes.find(
        (Claim(line=line, about=each.before, says=each.after) for line, each in pairs.items()),
        "这个 ori_openid 在第 {lines} 行有另一个 new_openid",
    )
    if is_one_app:
        both = {each.before for each in pairs.values()} & {each.after for each in pairs.values()}
        for line, each in pairs.items():
            if each.before in both or each.after in both:
                clashes.note(line, "同一个 openid 既是旧的又是新的：名单写反了，或两次迁移混在了一起")
    return clashes.wrong


def _say(done: _Done) -> None:
    say_json(
        {
            "ok": not done.is_in_vain and not done.is_contradictory,
            "dry_run": done.is_rehearsal,
            **{each.value: done.found[each] for each in Moved},
            "elsewhere": dict(done.elsewhere),
            "bad": wrong_as_json(done.wrong),
        }
    )


def _tell(done: _Done) -> None:
    found = done.found
    typer.echo(
        f"{'会换' if done.is_rehearsal else '换了'} openid {found[Moved.RENAMED]} 个，"
        f"两边都有、归为一人 {found[Moved.JOINED]} 个，"
        f"已经换过 {found[Moved.DONE]} 个，没有这个账号 {found[Moved.UNKNOWN]} 个，"
        f"待管理员裁决 {found[Moved.CONFLICT]} 个，有误 {len(done.wrong)} 行"
    )
    if done.elsewhere:
        apps = list(done.elsewhere)
        held = "、".join(f"{app}（{count} 个）" for app, count in done.elsewhere.items())
        which = f"加 --from {apps[0]} 再执行一次" if len(apps) == 1 else "用 --from 指定其中一个"
        typer.echo(f"名单里的旧 openid 在数据库里属于公众号 {held}：{which}", err=True)
    elif found[Moved.UNKNOWN]:
        typer.echo(
            f"没有这个账号 {found[Moved.UNKNOWN]} 个：老账号的 AppID 用 --from 指定；"
            "没和机器人说过话的人本来就没有，不用管",
            err=True,
        )
    tell_wrong(done.wrong)
