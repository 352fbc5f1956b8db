"""The forget ledger: what was forgotten, in a file outside database and backups, so that it stays forgotten.

Invariant: a line is on the disk before the transaction it belongs to commits, and it names accounts,
places, messages and facts by keyed hashes alone: no openid and no word of anyone is in it.

One line a forgetting, `{"n": 12, "after": 11, …}`: number 12, begun on a database that held forgettings up
to number 11. One that failed to commit is in nobody's `after`, and so it drops out of the chain that a
database's own number begins (see `effective`). `{"done": 12}` says that number 12 was committed.
Whoever appends holds the write lock of the database, so two processes never write at once.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bot.conversation.errors import ConfigurationError, StoreUnavailable
from bot.conversation.ports import Clock
from bot.storage.ledger_lines import FORMAT, Act, Forgetting, LedgerContent, TooNew, read_entry, write_entry

NAME_CHARACTERS = 32
"""128 bits of a hash: no two of a house's rows share them."""
_TAIL_BYTES = 64 << 10
"""Read first for the last line: a forgetting of a thousand turns takes 35 kB."""


class ForgetLedger:
    """The file `data/forgotten.jsonl`."""

    def __init__(self, path: Path, pepper: bytes, clock: Clock, older: Sequence[bytes] = ()) -> None:
        """Nothing is read or made yet. `older`: peppers that earlier lines were written with."""
        self.path = path
        self._older = tuple(older)
        self._key = hmac.digest(pepper, b"forget-ledger:v1", "sha256")
        self.clock = clock
        self.key_id = self._hash("key")[:8]

    def under(self, key_id: str) -> "ForgetLedger | None":
        """The ledger as it makes names with that key. None: the key is none of ours."""
        if key_id == self.key_id:
            return self
        known = (ForgetLedger(self.path, pepper, self.clock) for pepper in self._older)
        return next((each for each in known if each.key_id == key_id), None)

    def account(self, channel: str, app_id: str, openid: str) -> str:
        """The name of an account."""
        return self._hash("account", channel, app_id, openid)

    def place(self, place: str) -> str:
        """The name of a group (`Conversation.place`)."""
        return self._hash("place", place)

    def message(self, channel: str, app_id: str, key: str) -> str:
        """The name of a message, of what was answered to it, and of the turn they make."""
        return self._hash("message", channel, app_id, key)

    def fact(self, account: tuple[str, str, str], place: str, text: str) -> str:
        """The name of a fact: whose, where, and its words."""
        return self._hash("fact", *account, place, text)

    def begin(
        self,
        stamp: int,
        *,
        accounts: Iterable[str] = (),
        places: Iterable[str] = (),
        facts: Iterable[str] = (),
        messages: Iterable[str] = (),
        replies: Iterable[str] = (),
        act: Act | None = None,
    ) -> int:
        """Write a line and sync it. `stamp` is the number that the database holds. Returns the new one.

        Call it inside the transaction. Raises StoreUnavailable: then nothing may be forgotten yet.
        """
        number = max(stamp, self._tail().last) + 1
        line = Forgetting(
            number=number,
            after=stamp,
            key_id=self.key_id,
            at=self.clock.now().isoformat(timespec="seconds"),
            version=FORMAT,
            accounts=frozenset(accounts),
            places=frozenset(places),
            facts=frozenset(facts),
            messages=frozenset(messages),
            replies=frozenset(replies),
            act=act,
        )
        self._append(write_entry(line))
        return number

    def confirm(self, stamp: int) -> None:
        """Note that number `stamp` was committed: the database says so. Raises StoreUnavailable."""
        tail = self._tail()
        if stamp and stamp not in tail.done and stamp <= tail.last:
            self._append({"done": stamp})

    def read(self) -> LedgerContent:
        """The whole file; empty where there is none. Raises ConfigurationError for a damaged one.

        An unfinished last line was never synced: its forgetting was never committed.
        """
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return LedgerContent()
        except OSError as error:
            raise self._refusal(f"读不了（{error.strerror}）") from error
        return self._parse(raw[: raw.rfind(b"\n") + 1].splitlines())

    def _tail(self) -> LedgerContent:
        """The last lines of the file, at least one forgetting. Raises StoreUnavailable."""
        size = _TAIL_BYTES
        try:
            while True:
                raw, is_whole = _end_of(self.path, size)
                lines = raw[: raw.rfind(b"\n") + 1].splitlines()
                content = self._parse(lines if is_whole else lines[1:])
                if content.last or is_whole:
                    return content
                size *= 8
        except FileNotFoundError:
            return LedgerContent()
        except OSError as error:
            raise StoreUnavailable(f"{self.path.name}: {error.strerror}") from error
        except ConfigurationError as error:
            raise StoreUnavailable(str(error)) from error

    def _parse(self, lines: Sequence[bytes]) -> LedgerContent:
        forgettings: list[Forgetting] = []
        done: set[int] = set()
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                if "done" in entry:
                    done.add(int(entry["done"]))
                else:
                    forgettings.append(read_entry(entry))
            except TooNew as error:
                raise ConfigurationError(
                    str(self.path), f"第 {number} 行是更新的程序写的", "升级程序再用这个数据文件夹"
                ) from error
            except (ValueError, KeyError, TypeError) as error:
                raise self._refusal(f"第 {number} 行看不懂") from error
        return LedgerContent(
            forgettings=tuple(sorted(forgettings, key=lambda each: each.number)), done=frozenset(done)
        )

    def _append(self, line: dict[str, Any]) -> None:
        """Durable when it returns. What a crash left of a line is cut off first."""
        raw = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        try:
            is_new = not self.path.exists()
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                end = _end_of_last_line(descriptor)
                os.ftruncate(descriptor, end)
                os.lseek(descriptor, end, os.SEEK_SET)
                os.write(descriptor, raw)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if is_new:
                sync_folder(self.path.parent)
        except OSError as error:
            raise StoreUnavailable(f"{self.path.name}: {error.strerror}") from error

    def _hash(self, *parts: str) -> str:
        # Each part with its length: no two lists of parts run together into the same bytes.
        joined = b"".join(b"%d:%b" % (len(raw), raw) for raw in (part.encode() for part in parts))
        return hmac.new(self._key, joined, hashlib.sha256).hexdigest()[:NAME_CHARACTERS]

    def _refusal(self, problem: str) -> ConfigurationError:
        return ConfigurationError(
            str(self.path),
            problem,
            "从别处的副本恢复这个文件；没有副本就把它改名移走，之前忘掉的就不再受它保护",
        )


def _end_of(path: Path, size: int) -> tuple[bytes, bool]:
    """The last bytes of a file, and whether that is all of it."""
    with path.open("rb") as file:
        start = max(0, file.seek(0, os.SEEK_END) - size)
        file.seek(start)
        return file.read(), start == 0


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable. Windows cannot, and need not."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _end_of_last_line(descriptor: int) -> int:
    end = os.lseek(descriptor, 0, os.SEEK_END)
    while end:
        start = max(0, end - 4096)
        os.lseek(descriptor, start, os.SEEK_SET)
        found = os.read(descriptor, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
