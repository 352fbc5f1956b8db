"""`data/jide.env` as programs write it: what is set is checked, changed in its place, and the rest stays.

Invariant: the file takes its name whole or not at all and only its owner can read it; comments and lines that are
not asked to change stay as they are; no value ever appears in an error.
"""

import io
import os
import re
import secrets
import string
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from bot.conversation.errors import ConfigurationError, RejectedInput
from bot.settings import Settings
from bot.settings_fields import known_fields
from bot.settings_source import read_settings

NAME = "jide.env"
NOWHERE = Path("/nonexistent")
"""Read from here, settings are what is given alone: no file of the machine has a part in them."""
_HEAD = "# 记得的设置。由 {author} 写成，可以用编辑器改；全部设置的说明在 .env.prod。"
_SECRET_CHARACTERS = string.ascii_letters + string.digits
"""What WeChat's console takes."""

Answers = dict[str, str]


def random_secret(length: int) -> str:
    """Letters and digits."""
    return "".join(secrets.choice(_SECRET_CHARACTERS) for _ in range(length))


def check(answers: Mapping[str, str]) -> Settings:
    """The settings that these answers make. Raises ConfigurationError."""
    try:
        return read_settings(NOWHERE, answers)
    except ConfigurationError as error:  # nothing is written yet, so nowhere to look is named
        raise ConfigurationError(error.key, error.problem.partition("（写在 ")[0], error.fix) from error


def text_of(answers: Mapping[str, str], author: str = "jide init") -> str:
    """A new file: every answer under its description."""
    return "\n".join([_HEAD.format(author=author), "", *_lines(answers)]) + "\n"


def quoted(value: str) -> str:
    """A value that a dotenv file gives back as it is."""
    if re.fullmatch(r"[\w./:@,+=*-]*", value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def read(folder: Path) -> str:
    """The file's text; "" where there is none. Raises RejectedInput."""
    path = folder / NAME
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise RejectedInput(f"读不了 {path}：检查它的权限，并用 UTF-8 保存") from error


def answers_in(text: str) -> Answers:
    """What a file's text sets, by upper-case name; the last of two wins."""
    return {each.key.upper(): each.value for each in _bindings(text) if each.key and each.value is not None}


def merged(text: str, changes: Mapping[str, str]) -> str:
    """The text with `changes` in it: in their places where they were set, else at the end.

    An empty value means the default; one that was not set is left out.
    """
    pending = dict(changes)
    parts: list[str] = []
    for binding in _bindings(text):
        key = (binding.key or "").upper()
        written = binding.original.string
        if key not in changes:
            parts.append(written)
            continue
        if key in pending:  # what repeats it further down goes: the last would win
            before = written[: len(written) - len(written.lstrip())]
            parts.append(f"{before}{key}={quoted(pending.pop(key))}{_line_end(written)}")
    kept = "".join(parts)
    fresh = {key: value for key, value in pending.items() if value}
    if not kept.strip():
        return text_of(fresh, author="控制台的「接入」页")
    if fresh and not kept.endswith("\n"):
        kept += "\n"
    return kept + "".join(f"{line}\n" for line in _lines(fresh))


def write(path: Path, text: str, *, keeps_old: bool = False) -> Path | None:
    """Returns where the old file was kept. Raises RejectedInput."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    kept = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if keeps_old and path.exists():
            kept = path.with_name(f"{path.name}.{datetime.now().astimezone():%Y%m%d-%H%M%S}")
            path.replace(kept)
            kept.chmod(0o600)
        draft.replace(path)
    except OSError as error:
        raise RejectedInput(f"写不了 {path}（{error.strerror}）：检查权限和剩余空间") from error
    finally:
        draft.unlink(missing_ok=True)
    return kept


def change(folder: Path, changes: Mapping[str, str]) -> Settings:
    """Set these in the file of a data folder. Returns what the file then says, alone.

    Raises ConfigurationError, with nothing written, or RejectedInput.
    """
    text = merged(read(folder), changes)
    settings = check(answers_in(text))
    write(folder / NAME, text)
    return settings


def overruled(keys: Iterable[str]) -> tuple[str, ...]:
    """Those that the process environment sets too: it is stronger than the file."""
    environment = {key.upper() for key in os.environ}
    return tuple(key for key in keys if key in environment)


def _lines(answers: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    for key, field in known_fields().items():
        if key in answers:
            lines += [f"# {field.description}", f"{key}={quoted(answers[key])}"]
    return lines


def _bindings(text: str) -> list[Binding]:
    return list(parse_stream(io.StringIO(text, newline="")))


def _line_end(written: str) -> str:
    return "\r\n" if written.endswith("\r\n") else "\n"
