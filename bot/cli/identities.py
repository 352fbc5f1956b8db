"""The commands about whose account is whose: lists of phones, moved accounts, a new pepper.

Invariant: as for `bot.cli`: what a command needs is imported when it runs.
"""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bot.cli.help_pages import Commands
from bot.cli.running import AsJson, Yes, ask_first, do

rotate_app = Commands(help="换密钥。")

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
    as_json: AsJson = False,
) -> None:
    """公众号迁移后，照微信的 changeopenid 名单换 openid，记忆跟着走。例：jide identity migrate 名单.json"""
    from bot.cli.importing import migrate_openids

    do(migrate_openids(file, app_id, from_app, as_json=as_json))


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
    app.add_typer(rotate_app, name="rotate")
