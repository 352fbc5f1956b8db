"""What the operator types: `jide run | chat | ingest | memory | doctor | backup …`.

Invariant: a command imports what it needs when it runs, so that `jide --help` answers at once; every
refusal is Chinese, or JSON with `--json`, with exit code 1 or 2 (130 after Ctrl+C), never a traceback.
"""

import sys
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bot.cli import identities, moving, upkeep
from bot.cli.help_pages import Commands
from bot.cli.running import AsJson, Yes, ask_first, do

Who: TypeAlias = Annotated[
    str, typer.Argument(metavar="谁", help="人的编号，或 渠道:编号（对机器人发 /我的编号 可查）")
]

app = Commands(name="jide", help="记得：会记住每个人的公众号与 QQ 群机器人。")
memory_app = Commands(help="查看、导出、清除一个人的记忆。")
identity_app = Commands(help="账号与人。")
simulate_app = Commands(help="不需要真账号：向运行中的机器人发一条真实格式的消息。")
app.add_typer(memory_app, name="memory")
app.add_typer(identity_app, name="identity")
app.add_typer(simulate_app, name="simulate")


@app.command()
def run() -> None:
    """启动机器人。例：jide run"""
    from bot.__main__ import main as start

    start()


@app.command()
def migrate(as_json: AsJson = False) -> None:
    """把数据库升级到当前版本，先自动备份；启动时也会自动做。例：jide migrate"""
    from bot.cli.operations import migrate_database

    do(migrate_database(as_json=as_json))


@app.command()
def chat(
    account: Annotated[
        str, typer.Option("--as", metavar="账号", help="以哪个账号聊天，写成 渠道:编号")
    ] = "terminal:me",
) -> None:
    """在终端里聊天，与公众号、QQ 走同一条路。例：jide chat --as wechat:oABC123"""
    from bot.cli.terminal_chat import chat_as

    do(chat_as(account))


@app.command()
def ingest(
    paths: Annotated[list[str], typer.Argument(metavar="路径", help="txt、md 文件或文件夹，可写多个")],
    account: Annotated[
        str,
        typer.Option("--account", metavar="编号", help="只给这个公众号（AppID）或 QQ 机器人用；不写则都用"),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """把资料存进知识库；存好了、没有变化的不重做。例：jide ingest data/documents"""
    from bot.cli.operations import ingest_paths

    do(ingest_paths(paths, account, as_json=as_json))


@memory_app.command("show")
def memory_show(who: Who, as_json: AsJson = False) -> None:
    """列出一个人的记忆。例：jide memory show wechat:oABC123"""
    from bot.cli.operations import show_memory

    do(show_memory(who, as_json=as_json))


@memory_app.command("export")
def memory_export(
    who: Who,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="文件", help="写到哪个文件；不写则显示出来")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """导出一个人的账号、记忆和对话，JSON 格式。例：jide memory export wechat:oABC123 --to 他的数据.json"""
    from bot.cli.operations import export_memory

    do(export_memory(who, to, as_json=as_json))


@memory_app.command("forget")
def memory_forget(
    who: Who,
    reason: Annotated[str, typer.Option("--reason", metavar="原因", help="记入审计")] = "命令行",
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """清除一个人的全部记忆，机器人运行时也可以。例：jide memory forget wechat:oABC123 --yes"""
    ask_first(f"清除 {who} 的全部记忆，不能恢复。确定吗？", "没有清除", yes=yes, as_json=as_json)
    from bot.cli.operations import forget_memory

    do(forget_memory(who, reason, as_json=as_json))


@memory_app.command("extract")
def memory_extract(
    text: Annotated[str, typer.Argument(metavar="一句话", help="有空格就加引号")], as_json: AsJson = False
) -> None:
    """看一句话里会提取出什么、会不会存进长期记忆，只看不存。例：jide memory extract "昨天那单SF1234567890123还没到" """
    from bot.cli.extracting import extract_text

    do(extract_text(text, as_json=as_json))


@memory_app.command("why")
def memory_why(
    who: Who,
    text: Annotated[str, typer.Argument(metavar="问题", help="有空格就加引号")],
    as_json: AsJson = False,
) -> None:
    """一个问题会想起哪些私聊记忆，每条的分数，没取的为什么没取；只看不答。例：jide memory why wechat:oABC123 "我能吃什么零食" """
    from bot.cli.tracing import explain_recall

    do(explain_recall(who, text, as_json=as_json))


@identity_app.command("phone")
def identity_phone(
    account: Annotated[str, typer.Argument(metavar="账号", help="写成 渠道:编号")],
    phone: Annotated[str, typer.Argument(metavar="手机号", help="已核实的；只保存它的加密摘要")],
    as_json: AsJson = False,
) -> None:
    """登记一个已核实的手机号；同一手机号的账号归为一个人。例：jide identity phone wechat:oABC123 13800138000"""
    from bot.cli.operations import prove_phone

    do(prove_phone(account, phone, as_json=as_json))


@identity_app.command("new-pepper")
def identity_new_pepper(yes: Yes = False, as_json: AsJson = False) -> None:
    """原来的 data/pepper 确实丢了，就用现在的这个；已验证的手机号要重新验证。例：jide identity new-pepper"""
    ask_first(
        "之后就算找回原来的 data/pepper 也要重新验证手机号。确定吗？", "没有改", yes=yes, as_json=as_json
    )
    from bot.cli.safekeeping import take_new_pepper

    do(take_new_pepper(as_json=as_json))


@simulate_app.command("wechat")
def simulate_wechat(
    text: Annotated[str, typer.Argument(metavar="一句话", help="要说的话；有 --scenario 时不写")] = "",
    name: Annotated[str, typer.Option("--as", metavar="名字", help="谁在说，任意")] = "小明",
    scenario: Annotated[
        Path | None, typer.Option("--scenario", metavar="文件", help="照 YAML 剧本演一遍，有不符就以 1 退出")
    ] = None,
    account: Annotated[
        str, typer.Option("--account", metavar="AppID", help="配置了几个公众号时，扮演哪一个；不写则是第一个")
    ] = "",
) -> None:
    """扮作微信服务器，发一条关注者的消息，或演一个剧本。例：jide simulate wechat "记住：我对花生过敏" --as 小明
    例：jide simulate wechat --scenario simulators/wechat/scenarios/first_words.yaml"""
    from bot.cli.simulating import play_on_wechat, say_on_wechat

    if scenario is None:
        do(say_on_wechat(text, name, account))
    else:
        do(play_on_wechat(scenario, text, account))


@simulate_app.command("onebot")
def simulate_onebot(
    text: Annotated[str, typer.Argument(metavar="一句话", help="要说的话")],
    name: Annotated[str, typer.Option("--as", metavar="名字", help="谁在说，任意")] = "小明",
    group: Annotated[
        int, typer.Option("--group", metavar="群号", help="数字；在哪个群里说（@ 机器人）；不写是私聊")
    ] = 0,
) -> None:
    """扮作 QQ 客户端（OneBot），发一条消息。例：jide simulate onebot "你好" --as 小明 --group 100"""
    from bot.cli.simulating import say_on_onebot

    do(say_on_onebot(text, name, group))


upkeep.register(app)
moving.register(app)
identities.register(app, identity_app)


def main() -> None:
    """The console script. Log lines are the running bot's: a command says what it has to say itself."""
    from bot.logs import configure_logs

    configure_logs("WARNING")
    app(prog_name="jide", args=sys.argv[1:])
