"""The documents say what is so: the settings table, the commands, the files they name."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from bot.cli import app
from tools.settings_table import with_table

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/operators/*.md"), *ROOT.glob("docs/engineers/*.md")])
_LINK = re.compile(r"\]\(([^)#]+)\)")
_COMMAND = re.compile(r"`(?:\.venv/bin/)?(jide [^`]+)`|^(?:\.venv/bin/)?(jide [^#\n]*)", re.MULTILINE)
_MAKE = re.compile(r"`make ([a-z-]+)`|^make ([a-z-]+)", re.MULTILINE)


def test_the_settings_table_is_todays() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert with_table(readme) == readme, "run: python tools/settings_table.py --write"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for target in _LINK.findall(document.read_text("utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_exist(document: Path) -> None:
    for quoted, line in _COMMAND.findall(document.read_text("utf-8")):
        words = shlex.split((quoted or line).replace("…", "X").strip())[1:]
        command = get_command(app)
        while words and hasattr(command, "commands") and words[0] in command.commands:  # type: ignore[attr-defined]
            command = command.commands[words.pop(0)]  # type: ignore[attr-defined]
        assert not hasattr(command, "commands") or not words or "|" in words[0] or words[0].startswith("-"), (
            f"{document.name}: {quoted or line}"
        )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_make_targets_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for quoted, line in _MAKE.findall(document.read_text("utf-8")):
        assert (quoted or line) in targets, document.name
