"""Where log lines go, and what they may hold.

Invariant: no person's text, phone, openid or secret is written above DEBUG. NoneBot's own lines quote
events, and its default sink formats even the lines it drops: both are replaced. Whatever is written, by us
or by others, a traceback included, passes `redact` as its last step.
"""

import contextlib
import logging
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TextIO

from loguru import logger

from bot.redaction import redact

if TYPE_CHECKING:
    from loguru import Record

FORMAT = "<green>{time:MM-DD HH:mm:ss}</green> <level>{level: <7}</level> {message}"

OURS = ("bot", "identity", "plugins", "__main__")
"""Top-level modules whose lines are held to the invariant; `python -m bot` is `__main__`."""

LONGEST_ENTRY = 16_000
"""Characters, a deep traceback. Looking through more would hold the loop for tens of milliseconds."""


def configure_logs(level: str, hidden: Iterable[str] = ()) -> None:
    """One sink on standard error. Tracebacks without the values of variables.

    `hidden`: secrets that no line may hold, whatever their form.
    """
    logger.remove()
    logger.add(
        _redacting(sys.stderr, tuple(hidden)),
        level=level,
        format=FORMAT,
        filter=_may_be_written,
        colorize=sys.stderr.isatty(),
        backtrace=False,
        diagnose=False,
    )
    root = logging.getLogger()
    if not any(isinstance(handler, Bridge) for handler in root.handlers):
        root.addHandler(Bridge(logging.WARNING))


def _redacting(stream: TextIO, hidden: tuple[str, ...]) -> Callable[[str], None]:
    """A sink that nothing private passes."""

    def write(entry: str) -> None:
        if len(entry) > LONGEST_ENTRY:
            entry = f"{entry[:LONGEST_ENTRY]}…\n"
        # What a sink raises loguru reports with the entry as it was: rather lose it.
        with contextlib.suppress(OSError, ValueError):
            stream.write(redact(entry, hidden))
            stream.flush()

    return write


class Bridge(logging.Handler):
    """Takes what libraries say through `logging` (asyncio quotes exceptions) to the one sink: without a
    handler Python would write it to standard error as it is."""

    def emit(self, record: logging.LogRecord) -> None:
        if logging.getLogger(record.name).handlers:
            return  # NoneBot has its own bridge from uvicorn, and the line has come over it.
        named = logger.patch(lambda written: written.update(name=record.name))
        known = record.levelname in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
        level = record.levelname if known else record.levelno
        named.opt(exception=record.exc_info).log(level, "{}", record.getMessage())


def _may_be_written(record: "Record") -> bool:
    """NoneBot and uvicorn at INFO quote events and addresses with their signatures."""
    name = record["name"] or ""
    is_ours = name.partition(".")[0] in OURS
    return is_ours or record["level"].no >= logger.level("WARNING").no
