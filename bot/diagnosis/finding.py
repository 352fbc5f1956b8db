"""A finding: one sentence about one thing, and the way to mend it."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is."""

    FINE = "ok"
    WARNING = "warning"
    """The bot runs, with less or with a risk."""
    FAILURE = "failure"
    """Something does not work: the exit code says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Sentences are 简体中文 and hold no secret and nobody's words."""

    check: str
    """The name of the check, for machines."""
    level: Level
    said: str
    fix: str = ""
    """What to do; empty only where all is well."""


def fine(check: str, said: str) -> Finding:
    return Finding(check=check, level=Level.FINE, said=said)


def warning(check: str, said: str, fix: str) -> Finding:
    return Finding(check=check, level=Level.WARNING, said=said, fix=fix)


def failure(check: str, said: str, fix: str) -> Finding:
    return Finding(check=check, level=Level.FAILURE, said=said, fix=fix)
