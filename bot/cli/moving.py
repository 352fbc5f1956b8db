"""The two commands that carry a bot to another machine: move and unpack.

Invariant: as for `bot.cli`: what a command needs is imported when it runs. A passphrase is never an argument:
those stand in the list of processes and in the shell's history.
"""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bot.cli.running import AsJson

PassphraseFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--passphrase-file",
        metavar="文件",
        help="第一行是口令；不写就提问，不在终端里则读标准输入的第一行",
    ),
]


def move(
    file: Annotated[Path, typer.Argument(metavar="文件", help="写到哪里")],
    passphrase_file: PassphraseFile = None,
    force: Annotated[bool, typer.Option("--force", help="文件已存在也换掉")] = False,
    as_json: AsJson = False,
) -> None:
    """把整个机器人（数据、设置、密钥、忘记账本）打成一个用口令加密的包，搬到另一台机器；运行中也可以。

    例：jide move /media/u盘/搬家.jide

    例：jide move 搬家.jide --passphrase-file 口令.txt --json
    """
    from bot.cli.bundles import move_out

    move_out(file, passphrase_file, overwrites=force, as_json=as_json)


def unpack(
    file: Annotated[Path, typer.Argument(metavar="文件", help="jide move 写的")],
    passphrase_file: PassphraseFile = None,
    force: Annotated[
        bool, typer.Option("--force", help="数据文件夹不空也解开；原来的挪到 backups 里，七天后自动删除")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """在新机器上解开 jide move 的包，放进空的数据文件夹；全部核对过才放，先停下机器人。

    例：jide unpack /media/u盘/搬家.jide
    """
    from bot.cli.bundles import move_in

    move_in(file, passphrase_file, overwrites=force, as_json=as_json)


def register(app: typer.Typer) -> None:
    """Add these commands to `jide`."""
    for command in (move, unpack):
        app.command()(command)
