"""The commands that keep a bot well: init, doctor, backup, restore, reindex, service, faq.

Invariant: as for `bot.cli`: what a command needs is imported when it runs.
"""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.help_pages import Commands
from bot.cli.running import AsJson, Yes, ask_first, do

service_app = Commands(help="开机自动运行（Linux systemd）。")
faq_app = Commands(help="标准问答。")


def init(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="不提问，全部用默认值")] = False,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="名字=值",
            help="不提问，写这一项，可写多次；只写名字，就从同名的环境变量取值（密钥这样写）",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="已有设置文件也重写，旧的改名留着")] = False,
    as_json: AsJson = False,
) -> None:
    """问几个问题，写好 data/jide.env，密钥留空就随机生成。

    例：jide init

    例：jide init --json --set WECHAT__APP_ID=wx0123456789abcdef --set PORT=8080
    """
    from bot.cli.initialising import initialise

    initialise(given or [], asks=not (yes or given or as_json), overwrites=force, as_json=as_json)


def doctor(as_json: AsJson = False) -> None:
    """全面检查，每个问题都说怎么改；有错误时退出码是 1。例：jide doctor"""
    from bot.cli.doctoring import examine_all

    do(examine_all(as_json=as_json))


def backup(
    file: Annotated[
        Path | None, typer.Argument(metavar="文件", help="写到哪里；不写则放在数据文件夹的 backups 里")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """备份数据库和您的文件，机器人不用停；写完会核对。例：jide backup /media/u盘/jide.tar.gz"""
    from bot.cli.safekeeping import back_up_data

    do(back_up_data(file, as_json=as_json))


def restore(
    file: Annotated[Path, typer.Argument(metavar="文件", help="jide backup 写的")],
    yes: Yes = False,
    without_ledger: Annotated[
        bool, typer.Option("--without-ledger", help="忘记账本用不了时也恢复：备份之后忘掉的会回来")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """用备份换掉现在的数据，先停下机器人；忘掉的不会回来。例：jide restore data/backups/jide-….tar.gz"""
    ask_first(
        "用备份换掉现在的数据，备份之后的对话和记忆都会没有。确定吗？", "没有恢复", yes=yes, as_json=as_json
    )
    from bot.cli.safekeeping import restore_data

    do(restore_data(file, uses_ledger=not without_ledger, as_json=as_json))


def reindex(
    again: Annotated[bool, typer.Option("--again", help="删掉全部向量，从头重做")] = False,
    as_json: AsJson = False,
) -> None:
    """换了向量模型之后，马上重做向量，机器人开着也行；中断了再执行会接着做。例：jide reindex"""
    from bot.cli.reindexing import reindex_all

    do(reindex_all(again=again, as_json=as_json))


@service_app.command("install")
def service_install(
    user: Annotated[bool, typer.Option("--user", help="只为当前用户安装，不需要 sudo")] = False,
    shows: Annotated[bool, typer.Option("--print", help="只显示内容，不写文件")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="已有内容不同的也换掉")] = False,
    as_json: AsJson = False,
) -> None:
    """写一个 systemd 服务，开机自动运行。例：jide service install --user"""
    from bot.cli.service import install

    install(is_for_user=user, only_shows=shows, overwrites=yes, as_json=as_json)


@faq_app.command("test")
def faq_test(
    text: Annotated[str, typer.Argument(metavar="一句话", help="照人会说的写")],
    channel: Annotated[
        str, typer.Option("--channel", metavar="渠道", help="从哪里说的：wechat、onebot 或 qq")
    ] = "wechat",
    as_json: AsJson = False,
) -> None:
    """一句话会命中哪条标准问答，别的为什么没有。例：jide faq test "怎么退款" --channel onebot"""
    from bot.cli.faq_testing import test_text

    do(test_text(text, channel, as_json=as_json))


def register(app: typer.Typer) -> None:
    """Add these commands to `jide`."""
    for command in (init, doctor, backup, restore, reindex):
        app.command()(command)
    app.add_typer(service_app, name="service")
    app.add_typer(faq_app, name="faq")
