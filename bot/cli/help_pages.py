"""What typer says by itself, said in Chinese for every command: help pages and usage errors.

Invariant: a page names everything a command takes, and holds its examples whole, so that they can be copied;
a usage error names what is wrong and the usage line. No command words its own.
"""

import difflib
import io
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from bot.cli.running import INTERRUPTED, Interrupted, WrongUse, tell
from bot.conversation.errors import JideError

EXAMPLE = "例："
"""Begins an example in a command's docstring."""
HELP = ["--help", "-h"]
LEAST_COLUMNS = 40


class Command(TyperCommand):
    """A command with a Chinese page and Chinese usage errors."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(page(self, ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            raise wrong_use(_said(error, self), self, ctx) from error


class Group(TyperGroup):
    """Commands under one word. The outermost tells every refusal and ends the process."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(page(self, ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args:
            typer.echo(page(self, ctx), err=True, nl=False)
            raise typer.Exit(2)
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            raise wrong_use(_said(error, self), self, ctx) from error

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        if args[0] not in self.commands:
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            raise wrong_use(f"没有命令“{args[0]}”{_is_it(near)}", self, ctx)
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        as_json = "--json" in (sys.argv[1:] if args is None else args)
        try:
            code = super().main(args, *rest, **{**options, "standalone_mode": False})
            if code == INTERRUPTED:  # what typer makes of KeyboardInterrupt
                raise Interrupted
        except JideError as error:
            code = tell(error, as_json=as_json)
        sys.exit(code)


class Commands(typer.Typer):
    """Makes such groups of such commands."""

    def __init__(self, help: str, name: str | None = None) -> None:  # noqa: A002 (typer's name)
        super().__init__(
            name=name,
            help=help,
            cls=Group,
            context_settings={"help_option_names": HELP},
            add_completion=False,
            pretty_exceptions_enable=False,
        )

    def command(self, name: str | None = None, **options: Any) -> Any:
        options.setdefault("cls", Command)
        return super().command(name, **options)


def page(command: TyperCommand | TyperGroup, ctx: Any) -> str:
    """A help page, with tables as wide as the terminal."""
    said, *examples = (part.strip() for part in (command.help or "").split(EXAMPLE))
    lines = [f"用法：{_usage(command, ctx)}", "", said]
    if examples:
        lines += ["", EXAMPLE, *(f"  {example}" for example in examples)]
    if isinstance(command, TyperGroup):
        rows = [
            (name, (each.help or "").split(EXAMPLE)[0].strip()) for name, each in command.commands.items()
        ]
        lines += ["", "命令：", *_table(rows), "", f"一条命令的说明和例子：{ctx.command_path} <命令> --help"]
        return "\n".join(lines) + "\n"
    arguments = [(_value(each), each.help or "") for each in _arguments(command)]
    if arguments:
        lines += ["", "参数：", *_table(arguments)]
    options = [_option_row(each) for each in command.params if isinstance(each, TyperOption)]
    return "\n".join([*lines, "", "选项：", *_table([*options, (", ".join(HELP), "显示这一页")])]) + "\n"


def wrong_use(problem: str, command: TyperCommand | TyperGroup, ctx: Any) -> WrongUse:
    return WrongUse(problem, f"用法：{_usage(command, ctx)}（说明：{ctx.command_path} --help）")


def _said(error: typer.TyperException, command: TyperCommand | TyperGroup) -> str:
    """typer keeps the classes of these errors to itself: they are told apart by their names."""
    told: Any = error
    match type(error).__name__:
        case "NoSuchOption":
            known = [name for each in command.params for name in each.opts]
            near = difflib.get_close_matches(str(told.option_name), known, n=1)
            return f"没有选项 {told.option_name}{_is_it(near)}"
        case "BadOptionUsage":
            flags = [each for each in command.params if isinstance(each, TyperOption) and each.is_flag]
            is_flag = any(told.option_name in each.opts for each in flags)
            return f"{told.option_name} 后面{'不写值' if is_flag else '要写值'}"
        case "MissingParameter":
            return f"缺少 {_name(told.param)}"
        case "BadParameter" if isinstance(told.param, TyperArgument):
            return f"{_name(told.param)} 不对：应是{_spaced(told.param.help or '')}"
        case "BadParameter":
            return f"{_name(told.param)} 的值不对：要写{_explained(told.param)}"
        case _:
            extra = re.search(r" \((.*)\)$", error.message, re.DOTALL)
            return f"多写了“{extra[1] if extra else error.message}”：有空格的一句话要加引号"


def _usage(command: TyperCommand | TyperGroup, ctx: Any) -> str:
    if isinstance(command, TyperGroup):
        return f"{ctx.command_path} <命令> …"
    pieces = [_value(each) if each.required else f"[{_value(each)}]" for each in _arguments(command)]
    return " ".join([ctx.command_path, *(["[选项]"] if command.params else []), *pieces])


def _arguments(command: TyperCommand) -> list[TyperArgument]:
    return [each for each in command.params if isinstance(each, TyperArgument)]


def _value(param: TyperArgument | TyperOption) -> str:
    """What is written in its place."""
    fallback = param.help if isinstance(param, TyperArgument) else "值"
    return f"<{param.metavar or fallback}>" + ("…" if param.nargs == -1 else "")


def _name(param: TyperArgument | TyperOption) -> str:
    return _value(param) if isinstance(param, TyperArgument) else param.opts[0]


def _explained(param: TyperArgument | TyperOption) -> str:
    return f"{_value(param)}，{param.help}"


def _spaced(text: str) -> str:
    """As it stands after Chinese."""
    return f" {text}" if text[:1].isascii() else text


def _option_row(option: TyperOption) -> tuple[str, str]:
    names = ", ".join([*option.opts, *option.secondary_opts])
    shown = names if option.is_flag else f"{names} {_value(option)}"
    default: Any = option.default
    return shown, (option.help or "") + (f"（默认 {default}）" if default and not option.is_flag else "")


def _is_it(near: Sequence[str]) -> str:
    return f"，是不是 {near[0]}？" if near else ""


def _table(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Lines of two columns: rich knows how wide Chinese is."""
    from rich.console import Console
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in rows:
        grid.add_row(f"  {name}", text)
    width = max(LEAST_COLUMNS, shutil.get_terminal_size().columns)
    console = Console(file=io.StringIO(), width=width, color_system=None, markup=False, emoji=False)
    with console.capture() as shown:
        console.print(grid)
    return [line.rstrip() for line in shown.get().splitlines()]
