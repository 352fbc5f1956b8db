"""Secrets that the bot makes for itself at first use: the pepper and the try-out accounts.

`data/pepper` is the key and its number, `<hex> 2`; a key without one is number 1. `data/pepper.old` has those
it replaced, one a line: they are kept, for forgettings that were noted with them.

Invariant: a secret appears under its name whole or not at all, readable by its owner only; where two
processes make it at once, both get the same one.
"""

import hmac
import json
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bot.conversation.errors import ConfigurationError
from bot.conversation.message import PLAYGROUND

PEPPER_BYTES = 32
"""The key of an HMAC-SHA256: as long as its output (RFC 2104 §3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TryoutAccounts:
    """The accounts of a bot that has none: reachable from this machine by who can read the file."""

    app_id: str
    """Always `PLAYGROUND`."""
    wechat_token: str
    onebot_access_token: str


def read_pepper(data_folder: Path) -> bytes:
    """The secret half of every phone hash: `data/pepper`, made at first use. 32 bytes.

    Raises ConfigurationError for a damaged file: a new pepper would orphan every phone link.
    """
    path = data_folder / "pepper"
    return _pepper(path, _read_or_make(path, secrets.token_hex(PEPPER_BYTES)))[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peppers:
    """The present key and those before it."""

    current: bytes = field(repr=False)
    version: int = 1
    older: tuple[tuple[int, bytes], ...] = field(default=(), repr=False)
    """By number, the newest first."""

    @property
    def keys_before(self) -> tuple[bytes, ...]:
        return tuple(key for _, key in self.older)

    @property
    def checks_before(self) -> tuple[int, ...]:
        return tuple(map(pepper_check, self.keys_before))


def read_peppers(data_folder: Path) -> Peppers:
    """The pepper, made at first use, with those before it. Raises ConfigurationError."""
    path, before = data_folder / "pepper", data_folder / "pepper.old"
    version, current = _pepper(path, _read_or_make(path, secrets.token_hex(PEPPER_BYTES)))
    try:
        lines = before.read_text("utf-8").splitlines()
    except FileNotFoundError:
        lines = []
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(str(before), "读不了这个文件", "检查它的权限和内容") from error
    older = {_pepper(before, line) for line in lines if line.strip()}
    # A crash between the writing of the two files leaves the present one in both.
    return Peppers(
        current=current,
        version=version,
        older=tuple(sorted((each for each in older if each[1] != current), reverse=True)),
    )


def known_peppers(data_folder: Path) -> Peppers | None:
    """Those of a folder, where it has any that can be read."""
    if not (data_folder / "pepper").is_file():
        return None
    with suppress(ConfigurationError):
        return read_peppers(data_folder)
    return None


def keep_also(data_folder: Path, others: Peppers) -> Peppers:
    """Have the keys of another folder stand among those before. Raises ConfigurationError or OSError."""
    known = read_peppers(data_folder)
    ours = {known.current, *known.keys_before}
    theirs = [each for each in ((others.version, others.current), *others.older) if each[1] not in ours]
    lines = [f"{key.hex()} {number}\n" for number, key in (*known.older, *theirs)]
    _write(data_folder / "pepper.old", "".join(lines))
    return read_peppers(data_folder)


def replace_pepper(data_folder: Path) -> Peppers:
    """A new pepper; the present one joins those before it. One caller at a time: what a killed one left goes.

    Raises ConfigurationError or OSError.
    """
    known = read_peppers(data_folder)
    for draft in data_folder.glob(".pepper.*"):
        draft.unlink(missing_ok=True)
    before = ((known.version, known.current), *known.older)
    _write(data_folder / "pepper.old", "".join(f"{key.hex()} {number}\n" for number, key in before))
    fresh = Peppers(current=secrets.token_bytes(PEPPER_BYTES), version=known.version + 1, older=before)
    _write(data_folder / "pepper", f"{fresh.current.hex()} {fresh.version}\n")
    return fresh


class PepperFile:
    """The pepper as it is in the folder now: another process may replace it at any time."""

    def __init__(self, data_folder: Path) -> None:
        """Raises ConfigurationError."""
        self._folder = data_folder
        self._peppers = read_peppers(data_folder)
        self._seen = self._look()

    def read(self) -> Peppers:
        """One look at the file's name where it is unchanged. A file that is damaged now keeps the last."""
        seen = self._look()
        if seen is not None and seen != self._seen:
            with suppress(ConfigurationError):
                self._peppers = read_peppers(self._folder)
                self._seen = seen
        return self._peppers

    def _look(self) -> tuple[int, int] | None:
        try:
            found = (self._folder / "pepper").stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns


def pepper_check(pepper: bytes) -> int:
    """A number that tells peppers apart and says nothing of them: what a database notes of its own. 56 bits."""
    return int.from_bytes(hmac.digest(pepper, b"pepper-check:v1", "sha256")[:7])


def read_tryout(data_folder: Path) -> TryoutAccounts:
    """The try-out accounts: `data/tryout.json`, made at first use.

    Raises ConfigurationError for a damaged file.
    """
    path = data_folder / "tryout.json"
    fresh = TryoutAccounts(
        app_id=PLAYGROUND, wechat_token=secrets.token_hex(16), onebot_access_token=secrets.token_hex(32)
    )
    text = _read_or_make(path, json.dumps(asdict(fresh), indent=2))
    try:
        accounts = TryoutAccounts(**json.loads(text))
    except (ValueError, TypeError):
        accounts = None
    if (
        accounts is None
        or accounts.app_id != PLAYGROUND
        or not all(map(_is_token, asdict(accounts).values()))
    ):
        raise ConfigurationError(str(path), "内容损坏", "删掉这个文件，下次启动会重新生成")
    return accounts


def _pepper(path: Path, line: str) -> tuple[int, bytes]:
    digits, _, number = line.strip().partition(" ")
    try:
        version, pepper = int(number or 1), bytes.fromhex(digits)
    except ValueError:
        version, pepper = 0, b""
    if len(pepper) != PEPPER_BYTES or version < 1:
        raise ConfigurationError(
            str(path), "内容损坏，应是 64 位十六进制", "从备份恢复这个文件，不要新造一个"
        )
    return version, pepper


def _write(path: Path, text: str) -> None:
    """In place of what is there, at once and durably."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _is_token(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _read_or_make(path: Path, fresh: str) -> str:
    try:
        return path.read_text("utf-8").strip()
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(str(path), "读不了这个文件", "检查它的权限和内容") from error
    try:
        _make(path, fresh)
        return path.read_text("utf-8").strip()
    except OSError as error:
        raise ConfigurationError(
            str(path), f"写不了这个文件（{error.strerror}）", "检查数据文件夹的权限和剩余空间"
        ) from error


def _make(path: Path, fresh: str) -> None:
    """Write beside the name, then link: the first process wins, and no reader sees half a secret."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(fresh + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
