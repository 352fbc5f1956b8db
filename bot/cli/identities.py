"""The commands about whose account is whose: lists of phones, moved accounts, conflicts, merges, a new pepper.

Invariant: as for `bot.cli`: what a command needs is imported when it runs.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bot.cli.help_pages import Commands
from bot.cli.running import AsJson, Yes, ask_first, do

rotate_app = Commands(help="换密钥。")

LARGEST_NUMBER = 10**18 - 1
"""A number that SQLite's integers hold."""


class Ruling(StrEnum):
    """`identity.model.Decision`, which would be imported for every command."""

    MERGE = "merge"
    KEEP = "keep"


Rehearses: TypeAlias = Annotated[bool, typer.Option("--dry-run", help="只看会怎样，什么都不改")]


def identity_import(
    file: Annotated[Path, typer.Argument(metavar="文件", help="CSV；UTF-8 或 GBK，第一行是列名")],
    dry_run: Rehearses = False,
    as_json: AsJson = False,
) -> None:
    """导入客户名单：列 openid、phone，可加 channel、app_id（或 编号、手机号、渠道、应用）。可重复执行。

    例：jide identity import 客户.csv --dry-run
    """
    from bot.cli.importing import import_phones

    do(import_phones(file, is_rehearsal=dry_run, as_json=as_json))


def identity_migrate(
    file: Annotated[Path, typer.Argument(metavar="文件", help="CSV 或 JSON：ori_openid、new_openid")],
    app_id: Annotated[
        str, typer.Option("--account", metavar="AppID", help="迁入的公众号；不写则是设置里的第一个")
    ] = "",
    from_app: Annotated[
        str, typer.Option("--from", metavar="AppID", help="迁出的公众号；不写则与迁入的相同")
    ] = "",
    dry_run: Rehearses = False,
    as_json: AsJson = False,
) -> None:
    """公众号迁移后，照微信的 changeopenid 名单换 openid，记忆跟着走。自相矛盾的行都不用，退出码是 1。

    例：jide identity migrate 名单.json --from wx0123456789abcdef --dry-run
    """
    from bot.cli.renaming import migrate_openids

    do(migrate_openids(file, app_id, from_app, is_rehearsal=dry_run, as_json=as_json))


def identity_conflicts(
    shows_all: Annotated[bool, typer.Option("--all", help="裁决过的也列出来")] = False,
    as_json: AsJson = False,
) -> None:
    """列出身份冲突：哪两个人像是一个人、为什么没有自动合并、两种裁决各会怎样。例：jide identity conflicts"""
    from bot.cli.deciding import list_conflicts

    do(list_conflicts(shows_decided=shows_all, as_json=as_json))


def identity_decide(
    number: Annotated[
        int, typer.Argument(metavar="编号", help="冲突的编号，一个整数", min=1, max=LARGEST_NUMBER)
    ],
    ruling: Annotated[
        Ruling, typer.Argument(metavar="merge|keep", help="merge（合成一个人）或 keep（两个人分开）")
    ],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """裁决一个身份冲突，机器人运行时也可以，马上生效；合并可以撤销。例：jide identity decide 3 merge"""
    from bot.cli.deciding import ask_about_conflict, decide_conflict
    from identity.model import Decision

    decision = Decision(ruling.value)
    if not yes:
        ask_first(do(ask_about_conflict(number, decision)), "没有裁决", yes=False, as_json=as_json)
    do(decide_conflict(number, decision, as_json=as_json))


def identity_merges(
    person: Annotated[
        str, typer.Option("--person", metavar="谁", help="人的编号，或 渠道:编号；不写则是所有人")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="条数", help="最多列多少条", min=1, max=10_000)
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """列出账号换过人的记录，新的在前：谁从几号人到几号人、为什么、能不能撤销。

    例：jide identity merges --person wechat:oABC123
    """
    from bot.cli.deciding import list_merges

    do(list_merges(person, limit, as_json=as_json))


def identity_undo(
    number: Annotated[
        int,
        typer.Argument(
            metavar="编号", help="jide identity merges 列出的编号，一个整数", min=1, max=LARGEST_NUMBER
        ),
    ],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """撤销一次合并或分开：账号回到原来的人那里，记忆跟着账号走；机器人运行时也可以。例：jide identity undo 12"""
    from bot.cli.deciding import ask_about_merge, undo_merge

    if not yes:
        ask_first(do(ask_about_merge(number)), "没有撤销", yes=False, as_json=as_json)
    do(undo_merge(number, as_json=as_json))


@rotate_app.command("pepper")
def rotate_pepper(
    finish: Annotated[
        bool, typer.Option("--finish", help="不再等：还在用旧密钥的手机号删去，要重新验证")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """换一个新的 data/pepper，机器人不用停；手机号、绑定码、忘记账本、日志里的会话名都靠它。

    例：jide rotate pepper
    """
    question = (
        "还在用旧密钥的手机号都会删去，主人要重新验证。确定吗？"
        if finish
        else "换一个新的 data/pepper，旧的留在 data/pepper.old。确定吗？"
    )
    ask_first(question, "没有换", yes=yes, as_json=as_json)
    from bot.cli.safekeeping import rotate

    do(rotate(finishes=finish, as_json=as_json))


def register(app: typer.Typer, identity_app: typer.Typer) -> None:
    """Add these commands to `jide` and to `jide identity`."""
    identity_app.command("import")(identity_import)
    identity_app.command("migrate")(identity_migrate)
    identity_app.command("conflicts")(identity_conflicts)
    identity_app.command("decide")(identity_decide)
    identity_app.command("merges")(identity_merges)
    identity_app.command("undo")(identity_undo)
    app.add_typer(rotate_app, name="rotate")
