"""How every command runs and speaks: refusals with their fix, answers for people or for machines.

Invariant: with `--json` standard output is one JSON document with "ok", also where nothing was done;
progress, questions and advice go to standard error.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, TypeAlias, TypeVar

import typer

from bot.conversation.errors import ConfigurationError, JideError, RejectedInput

T = TypeVar("T")

INTERRUPTED = 130
"""Exit code after Ctrl+C, as shells count: 128 + SIGINT."""
YES = ("y", "yes", "是", "好", "确定")

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="输出 JSON，给程序读")]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="不再询问")]
OnProgress: TypeAlias = Callable[[str, int, int], None]


class Refusal(RejectedInput):
    """What cannot be done, and apart from it what to type instead."""

    def __init__(self, problem: str, fix: str, code: int = 1) -> None:
        super().__init__(f"{problem}。修正：{fix}")
        self.problem = problem
        self.fix = fix
        self.code = code


class WrongUse(Refusal):
    """Typed in a way that no command takes; the fix is the usage line."""

    def __str__(self) -> str:
        return f"{self.problem}\n{self.fix}"


class Interrupted(JideError):
    """Ctrl+C."""

    def __init__(self) -> None:
        super().__init__("已中断")


def do(work: Coroutine[Any, Any, T]) -> T:
    """Run a command that waits for something."""
    return asyncio.run(work)


def tell(error: JideError, *, as_json: bool) -> int:
    """Say why it was not done. Returns the exit code: 2 for what was typed or set wrong, else 1, or 130."""
    match error:
        case ConfigurationError():
            problem, fix, code = f"设置 {error.key} 有误：{error.problem}", error.fix, 2
        case Refusal():
            problem, fix, code = error.problem, error.fix, 2 if isinstance(error, WrongUse) else error.code
        case _:
            problem, fix, code = str(error), "", INTERRUPTED if isinstance(error, Interrupted) else 1
    if as_json:
        say_json({"ok": False, "error": problem, "fix": fix})
    elif isinstance(error, ConfigurationError | Refusal):
        typer.echo(str(error), err=True)
    else:
        typer.echo(f"\n{error}" if code == INTERRUPTED else f"没有做成：{error}", err=True)
    return code


def typed(question: str, default: str = "", *, hides: bool = False) -> str:
    """One line from the keyboard. Raises EOFError at the end of input, KeyboardInterrupt at Ctrl+C."""
    while True:
        try:
            said: str = typer.prompt(
                question, default=default, show_default=bool(default), hide_input=hides, err=True
            )
            said.encode()  # a terminal that deletes half of a Chinese character leaves the other half
        except UnicodeError:
            typer.echo("这一行不是 UTF-8 编码，没有读，请再写一次", err=True)
        except typer.Abort as abort:  # typer's word for both
            if isinstance(abort.__context__, KeyboardInterrupt):
                raise abort.__context__ from None
            typer.echo(err=True)
            raise EOFError from None
        else:
            return said.strip()


def is_sure(question: str) -> bool:
    """Asked at the keyboard. Raises EOFError at the end of input."""
    return typed(f"{question}（y/N）").lower() in YES


def ask_first(question: str, refusal: str, *, yes: bool, as_json: bool) -> None:
    """Ask, unless told not to; a program is not asked. Raises Refusal for anything but a yes."""
    if yes:
        return
    try:
        is_agreed = not as_json and is_sure(question)
    except EOFError:
        is_agreed = False
    if not is_agreed:
        raise Refusal(refusal, "确定要做，就回答 y，或加 --yes")


def say_json(document: Mapping[str, object]) -> None:
    """ "ok" is true where the document does not say otherwise."""
    typer.echo(json.dumps({"ok": True, **document}, ensure_ascii=False, indent=2))


@contextmanager
def progress(*, is_shown: bool = True) -> Generator[OnProgress]:
    """Bars on standard error, one for each thing that is being done."""
    if not is_shown:
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=None)
            bars.update(tasks[what], completed=done, total=total or None)

        yield show


async def in_steps(begin: Callable[[OnProgress], Coroutine[Any, Any, T]], *, is_shown: bool) -> T:
    """Run what works in a thread and tells its steps. Raises Interrupted.

    Ctrl+C ends it at its next step. Where a step was its last it is finished instead, and its result says
    so: a thread that was left alone could still change the data after “已中断”.
    """
    stops = False
    with progress(is_shown=is_shown) as show:

        def step(what: str, done: int, total: int) -> None:
            if stops and (done < total or not total):
                raise Interrupted
            show(what, done, total)

        work = asyncio.ensure_future(begin(step))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            stops = True
            return await work
