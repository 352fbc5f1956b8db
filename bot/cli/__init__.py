"""What the operator types: `jide run | chat | ingest | memory | doctor | backup …`.

Invariant: a command imports what it needs when it runs, so that `jide --help` answers at once; every
refusal is one Chinese line and exit code 1 or 2, never a traceback.
"""

import sys
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bot.cli import upkeep
from bot.cli.running import AsJson, Yes, ask_first, do

Who: TypeAlias = Annotated[str, typer.Argument(help="人的编号，或 渠道:编号")]

app = typer.Typer(
    name="jide",
    help="记得：会记住每个人的公众号与 QQ 群机器人。",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
memory_app = typer.Typer(help="查看、删除一个人的记忆。", no_args_is_help=True)
identity_app = typer.Typer(help="账号与人。", no_args_is_help=True)
simulate_app = typer.Typer(help="不需要真账号：向运行中的机器人发一条真实格式的消息。", no_args_is_help=True)
app.add_typer(memory_app, name="memory")
app.add_typer(identity_app, name="identity")
app.add_typer(simulate_app, name="simulate")


@app.command()
def run() -> None:
    """启动机器人。例：jide run"""
    from bot.__main__ import main as start

    start()


@app.command()
def migrate() -> None:
    """把数据库升级到当前版本（启动时也会自动做）。"""
    from bot.cli.operations import migrate_database

    do(migrate_database())


@app.command()
def chat(
    account: Annotated[str, typer.Option("--as", help="以哪个账号聊天，写成 渠道:编号")] = "terminal:me",
) -> None:
    """在终端里聊天，与公众号、QQ 走同一条路。例：jide chat --as wechat:oABC123"""
    from bot.cli.terminal_chat import chat_as

    do(chat_as(account))


@app.command()
def ingest(paths: Annotated[list[str], typer.Argument(help="txt、md 文件或文件夹，可写多个")]) -> None:
    """把资料存进知识库。例：jide ingest data/documents"""
    from bot.cli.operations import ingest_paths

    do(ingest_paths(paths))


@memory_app.command("show")
def memory_show(who: Who, as_json: AsJson = False) -> None:
    """列出一个人的记忆。例：jide memory show wechat:oABC123"""
    from bot.cli.operations import show_memory

    do(show_memory(who, as_json=as_json))


@memory_app.command("export")
def memory_export(
    who: Who,
    to: Annotated[Path | None, typer.Option("--to", help="写到哪个文件；不写则显示出来")] = None,
) -> None:
    """导出一个人的账号、记忆和对话，JSON 格式。例：jide memory export wechat:oABC123 --to 他的数据.json"""
    from bot.cli.operations import export_memory

    do(export_memory(who, to))


@memory_app.command("forget")
def memory_forget(
    who: Who,
    reason: Annotated[str, typer.Option("--reason", help="原因，记入审计")] = "命令行",
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """清除一个人的全部记忆，机器人运行时也可以。例：jide memory forget wechat:oABC123 --yes"""
    if not yes:
        ask_first(f"清除 {who} 的全部记忆，不能恢复。确定吗？", "没有清除")
    from bot.cli.operations import forget_memory

    do(forget_memory(who, reason, as_json=as_json))


@identity_app.command("phone")
def identity_phone(
    account: Annotated[str, typer.Argument(help="账号，写成 渠道:编号")],
    phone: Annotated[str, typer.Argument(help="已核实的手机号；只保存它的加密摘要")],
) -> None:
    """登记一个已核实的手机号；同一手机号的账号归为一个人。例：jide identity phone wechat:oABC123 13800138000"""
    from bot.cli.operations import prove_phone

    do(prove_phone(account, phone))


@identity_app.command("new-pepper")
def identity_new_pepper(yes: Yes = False) -> None:
    """原来的 data/pepper 确实丢了，就用现在的这个；已验证的手机号要重新验证。例：jide identity new-pepper"""
    if not yes:
        ask_first("之后就算找回原来的 data/pepper 也要重新验证手机号。确定吗？", "没有改")
    from bot.cli.safekeeping import take_new_pepper

    do(take_new_pepper())


@simulate_app.command("wechat")
def simulate_wechat(
    text: Annotated[str, typer.Argument(help="要说的话")],
    name: Annotated[str, typer.Option("--as", help="谁在说，任意名字")] = "小明",
) -> None:
    """扮作微信服务器，发一条关注者的消息。例：jide simulate wechat "记住：我对花生过敏" --as 小明"""
    from bot.cli.simulating import say_on_wechat

    do(say_on_wechat(text, name))


@simulate_app.command("onebot")
def simulate_onebot(
    text: Annotated[str, typer.Argument(help="要说的话")],
    name: Annotated[str, typer.Option("--as", help="谁在说，任意名字")] = "小明",
    group: Annotated[int, typer.Option("--group", help="在哪个群里说（@ 机器人）；不写是私聊")] = 0,
) -> None:
    """扮作 QQ 客户端（OneBot），发一条消息。例：jide simulate onebot "你好" --as 小明 --group 100"""
    from bot.cli.simulating import say_on_onebot

    do(say_on_onebot(text, name, group))


upkeep.register(app)


def main() -> None:
    """The console script. Log lines are the running bot's: a command says what it has to say itself."""
    from bot.logs import configure_logs

    configure_logs("WARNING")
    app(prog_name="jide", args=sys.argv[1:])
