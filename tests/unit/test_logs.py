"""What is written to the log, and what never is."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from loguru import logger

from bot.logs import configure_logs

CANARY = "金丝雀八二四六"
SOURCE = """
from loguru import logger

def say(level, text):
    logger.log(level, text)

def fail(secret):
    words = [secret]
    try:
        return words[7]
    except IndexError as error:
        logger.opt(exception=error).error("it failed")
"""


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    logger.remove()


def module_named(name: str, folder: Path) -> ModuleType:
    """A module whose lines carry this name."""
    path = folder / f"{name.replace('.', '_')}.py"
    path.write_text(SOURCE, "utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize("name", ["bot.assistant", "bot", "plugins.chat", "identity.directory", "__main__"])
def test_our_lines_are_written(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("INFO")
    module_named(name, tmp_path).say("INFO", "一行")
    assert "一行" in written(capsys)


@pytest.mark.parametrize("name", ["nonebot", "nonebot.message", "uvicorn.access", "botany", "pluginsmith.x"])
def test_lines_of_others_are_dropped_up_to_a_warning(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """NoneBot writes every event, with its text, at SUCCESS and INFO."""
    configure_logs("TRACE")
    for level in ("TRACE", "DEBUG", "INFO", "SUCCESS"):
        module_named(name, tmp_path).say(level, f"[message.private]: {CANARY}")
    assert written(capsys) == ""
    module_named(name, tmp_path).say("WARNING", "磁盘快满了")
    assert "磁盘快满了" in written(capsys)


def test_a_line_without_a_module_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("INFO")
    logger.patch(lambda record: record.update(name=None)).info("无名")  # type: ignore[call-arg]
    assert written(capsys) == ""


def test_the_level_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("WARNING")
    module = module_named("bot.assistant", tmp_path)
    module.say("INFO", "小事")
    module.say("ERROR", "大事")
    text = written(capsys)
    assert "大事" in text
    assert "小事" not in text


def test_tracebacks_hold_no_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """loguru's own default writes the value of every variable beside the source line."""
    module = module_named("bot.assistant", tmp_path)
    logger.remove()
    logger.add(sys.stderr)
    module.fail(CANARY)
    assert CANARY in written(capsys), "the canary sings where nobody forbids it"
    configure_logs("TRACE")
    module.fail(CANARY)
    text = written(capsys)
    assert "it failed" in text
    assert "IndexError: list index out of range" in text
    assert "bot_assistant.py" in text
    assert CANARY not in text


def test_configuring_again_replaces_the_sink(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Importing NoneBot adds a sink of its own, so the start configures twice."""
    logger.add(sys.stderr)
    configure_logs("INFO")
    configure_logs("INFO")
    module_named("bot.assistant", tmp_path).say("INFO", "一行")
    assert written(capsys).count("一行") == 1
