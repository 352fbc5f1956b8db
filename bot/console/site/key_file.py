"""The password of the pages and who is signed in: `data/console.json`.

Invariant: the file holds hashes alone, is readable by its owner only, and is whole or not there. Deleting it
takes the password and every session back; the next start hands out a setup token.
"""

import json
import os
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from bot.conversation.errors import ConfigurationError

NAME = "console.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What the file says."""

    password: str = ""
    """Argon2's own form, `$argon2id$…`; empty: none was set yet."""
    sessions: tuple[tuple[str, datetime], ...] = ()
    """SHA-256 of the cookie, in hex, and the end (aware, UTC), the oldest first."""


class KeyFile:
    """Reads once, writes each change. One process at a time has the folder."""

    def __init__(self, data_folder: Path) -> None:
        """Raises ConfigurationError for a file that is damaged or can't be read."""
        self._path = data_folder / NAME
        self.keys = self._read()

    def set_password(self, hashed: str) -> None:
        """Ends every session. Blocks. Raises OSError."""
        self._write(Keys(password=hashed))

    def set_sessions(self, sessions: tuple[tuple[str, datetime], ...]) -> None:
        """Blocks. Raises OSError."""
        self._write(replace(self.keys, sessions=sessions))

    def end_session(self, digest: str) -> None:
        """At once, whatever becomes of the file. Blocks. Raises OSError: the next start knows it still."""
        left = tuple(each for each in self.keys.sessions if each[0] != digest)
        self.keys = replace(self.keys, sessions=left)
        self._write(self.keys)

    def _read(self) -> Keys:
        try:
            return _parse(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return Keys()
        except OSError as error:
            raise ConfigurationError(str(self._path), "读不了这个文件", "检查它的权限") from error
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigurationError(
                str(self._path), "内容损坏", "删掉这个文件，下次启动会给出重新设密码的地址"
            ) from error

    def _write(self, keys: Keys) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._path.with_name(f".{NAME}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(_document(keys))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._path)
        finally:
            draft.unlink(missing_ok=True)
        self.keys = keys


def _document(keys: Keys) -> str:
    sessions = [{"sha256": digest, "ends": ends.isoformat()} for digest, ends in keys.sessions]
    return json.dumps({"password": keys.password, "sessions": sessions}, indent=2) + "\n"


def _parse(text: str) -> Keys:
    """Raises ValueError, TypeError or KeyError."""
    document = cast("dict[str, Any]", json.loads(text))
    password: object = document["password"]
    if not isinstance(password, str) or (password and not password.startswith("$argon2id$")):
        raise ValueError("no hash of Argon2id")
    sessions = tuple(
        (str(each["sha256"]), datetime.fromisoformat(each["ends"])) for each in document["sessions"]
    )
    if any(ends.tzinfo is None for _, ends in sessions):
        raise ValueError("an end without a zone")
    return Keys(password=password, sessions=sessions)
