"""How every command runs and speaks: refusals in one line, answers for people or for machines.

Invariant: what a machine reads is JSON on standard output and nothing else; progress and advice go to
standard error.
"""

import json
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Annotated, Any, TypeAlias

import typer

from bot.conversation.errors import ConfigurationError, JideError

INTERRUPTED = 130
"""Exit code after Ctrl+C, as shells count: 128 + SIGINT."""

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="输出 JSON，给程序读")]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="不再询问")]
OnProgress: TypeAlias = Callable[[str, int, int], None]


def do(work: Coroutine[Any, Any, None]) -> None:
    """Run a command that waits for something."""
    import asyncio

    with refusals_told():
        asyncio.run(work)


@contextmanager
def refusals_told() -> Generator[None]:
    """A refusal is a Chinese line and exit code 1, a wrong setting 2."""
    try:
        yield
    except ConfigurationError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    except JideError as error:
        typer.echo(f"没有做成：{error}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        typer.echo(err=True)
        raise typer.Exit(INTERRUPTED) from None


def is_sure(question: str) -> bool:
    """Asked at the keyboard; no answer is a no."""
    try:
        return typer.confirm(question)
    except typer.Abort:
        typer.echo(err=True)
        return False


def ask_first(question: str, refusal: str) -> None:
    """Ask; anything but a yes ends the command with 1."""
    if not is_sure(question):
        typer.echo(refusal, err=True)
        raise typer.Exit(1)


def say_json(document: object) -> None:
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


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
