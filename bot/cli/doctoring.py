"""`jide doctor`: show what the examination found.

Invariant: exit code 1 where anything fails; a warning is none.
"""

from dataclasses import asdict
from pathlib import Path

import typer

from bot.cli.running import say_json
from bot.container.examination import Examination, examine
from bot.diagnosis import Level

MARKS = {Level.FINE: "✓", Level.WARNING: "!", Level.FAILURE: "✗"}
COLOURS = {
    Level.FINE: typer.colors.GREEN,
    Level.WARNING: typer.colors.YELLOW,
    Level.FAILURE: typer.colors.RED,
}


async def examine_all(*, as_json: bool) -> None:
    """Raises typer.Exit(1) where something fails."""
    seen = await examine(Path.cwd())
    failures = sum(each.level is Level.FAILURE for each in seen.findings)
    warnings = sum(each.level is Level.WARNING for each in seen.findings)
    if as_json:
        say_json(
            {
                "ok": failures == 0,
                "failures": failures,
                "warnings": warnings,
                "in_use": dict(seen.in_use),
                "findings": [asdict(each) for each in seen.findings],
            }
        )
    else:
        _show(seen)
        typer.echo(f"错误 {failures} 项，提醒 {warnings} 项")
    if failures:
        raise typer.Exit(1)


def _show(seen: Examination) -> None:
    for label, name in seen.in_use.items():
        typer.echo(f"{label}：{name}")
    for each in seen.findings:
        typer.secho(f"{MARKS[each.level]} {each.said}", fg=COLOURS[each.level])
        if each.fix:
            typer.echo(f"  修正：{each.fix}")
