"""Somebody who types `jide …`: in this process, in a project folder of their own."""

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli import app


class Operator:
    """Types commands in a project folder."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.data = project / "data"

    def types(self, *arguments: str, typed: str | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), input=typed)

    def gets(self, *arguments: str) -> str:
        """What a command that succeeds prints."""
        done = self.types(*arguments)
        assert done.exit_code == 0, done.output
        return done.stdout

    def reads(self, *arguments: str) -> Any:
        """The document of a command that succeeds."""
        document = json.loads(self.gets(*arguments, "--json"))
        assert document["ok"] is True
        return document

    def reads_document(self, *arguments: str, code: int) -> Any:
        """What a command prints that was done, but not all of it."""
        done = self.types(*arguments, "--json")
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    def reads_refusal(self, *arguments: str, code: int = 1) -> Any:
        """The document of a command that refuses: nothing else is said on standard output."""
        done = self.types(*arguments, "--json")
        assert done.exit_code == code, done.output
        document = json.loads(done.stdout)
        assert document["ok"] is False and document["error"]
        assert "\\u" not in done.stdout, "Chinese is not escaped"
        return document

    def is_refused(self, *arguments: str, typed: str | None = None) -> str:
        done = self.types(*arguments, typed=typed)
        assert done.exit_code == 1, done.output
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done.output

    def says(self, text: str, account: str = "wechat:oA") -> None:
        done = self.types("chat", "--as", account, typed=f"{text}\n")
        assert done.exit_code == 0, done.output

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Also to change what no command changes."""
        with sqlite3.connect(self.data / "jide.db") as connection:
            found = connection.execute(sql).fetchall()
        connection.close()
        return found

    def count(self, table: str) -> int:
        with sqlite3.connect(self.data / "jide.db") as connection:
            found = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        connection.close()
        return found


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Operator]:
    project = tmp_path / "项目 一"
    project.mkdir()
    monkeypatch.chdir(project)
    for name in [each for each in os.environ if "__" in each or each in ("PORT", "HOST", "JIDE_DATA_DIR")]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PORT", "1")  # nobody answers there
    yield Operator(project)
