"""Where log lines go, and what they may hold.

Invariant: no person's text, phone, openid or secret is written above DEBUG. NoneBot's own lines quote
events, and its default sink formats even the lines it drops: both are replaced.
"""

import sys
from typing import TYPE_CHECKING

from loguru import logger

if TYPE_CHECKING:
    from loguru import Record

FORMAT = "<green>{time:MM-DD HH:mm:ss}</green> <level>{level: <7}</level> {message}"

OURS = ("bot", "identity", "plugins", "__main__")
"""Top-level modules whose lines are held to the invariant; `python -m bot` is `__main__`."""


def configure_logs(level: str) -> None:
    """One sink on standard error. Tracebacks without the values of variables."""
    logger.remove()
    logger.add(
        sys.stderr, level=level, format=FORMAT, filter=_may_be_written, backtrace=False, diagnose=False
    )


def _may_be_written(record: "Record") -> bool:
    """NoneBot and uvicorn at INFO quote events and addresses with their signatures."""
    name = record["name"] or ""
    is_ours = name.partition(".")[0] in OURS
    return is_ours or record["level"].no >= logger.level("WARNING").no
