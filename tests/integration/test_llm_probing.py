"""An engine that crashes its process takes a child along, not us."""

import sys

import pytest

from bot.llm.probing import survives


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("pass", True),
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", False),
        ("raise ImportError", False),
        ("import sys; sys.exit(3)", False),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGILL to send")
def test_a_program_survives_only_when_it_ends_well(program: str, outcome: bool) -> None:
    assert survives(program) is outcome


def test_a_program_that_hangs_is_given_up() -> None:
    assert not survives("import threading; threading.Event().wait()", timeout_seconds=0.5)


def test_without_an_interpreter_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    assert not survives("pass")
