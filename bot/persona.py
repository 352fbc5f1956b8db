"""The operator's persona: who the bot says it is. Read again when its file changes.

Invariant: an official account without a persona of its own has the one that all share.
"""

import contextlib
import os
import re
import stat
from pathlib import Path

OWN_FOLDER = "accounts"
"""`data/accounts/APPID/persona.md`: for one official account or bot alone."""
_FOLDER_NAME = re.compile(r"[A-Za-z0-9_\-]{1,64}", re.ASCII)


class Persona:
    """The persona text and the bot's name (its first `# heading`)."""

    def __init__(self, path: Path, default: "Path | Persona") -> None:
        """`default`: what holds where the operator wrote none, or emptied it; a file of the house's own, which doesn't
        change, or another persona."""
        self._path = path
        if isinstance(default, Persona):
            self._default_text = default.text
        else:
            text = default.read_text("utf-8").strip()
            self._default_text = lambda: text
        self._stamp: tuple[int, int] | None = None
        self._text = ""

    def text(self) -> str:
        """Markdown."""
        status = self._status()
        stamp = (status.st_mtime_ns, status.st_size) if status else None
        if stamp != self._stamp:
            text = self._path.read_text("utf-8-sig", errors="replace") if status else ""
            self._text, self._stamp = text.strip(), stamp
        if self._text:
            return self._text
        return self._default_text()

    def _status(self) -> os.stat_result | None:
        """None where there is no file. Asked at each message."""
        with contextlib.suppress(OSError):
            status = self._path.stat()
            if stat.S_ISREG(status.st_mode):
                return status
        return None

    def name(self) -> str:
        """Of the first heading; the house's own where the operator's text has none."""
        headings = (line.lstrip("# ").strip() for line in self.text().splitlines() if line.startswith("#"))
        return next(filter(None, headings), "记得")


class Personas:
    """Of each official account or bot."""

    def __init__(self, folder: Path, default: Path) -> None:
        """`folder`: the operator's data. `default`: the house's own text."""
        self._folder = folder
        self._shared = Persona(folder / "persona.md", default)
        self._own: dict[str, Persona] = {}

    def of(self, app_id: str) -> Persona:
        if (own := self._own.get(app_id)) is not None:
            return own
        # An id that is no name of a folder must not lead out of it.
        if not _FOLDER_NAME.fullmatch(app_id):
            return self._shared
        path = self._folder / OWN_FOLDER / app_id / "persona.md"
        return self._own.setdefault(app_id, Persona(path, self._shared))
