"""The operator's persona: who the bot says it is. `data/persona.md`, read again when it changes."""

import contextlib
import os
import stat
from pathlib import Path


class Persona:
    """The persona text and the bot's name (its first `# heading`)."""

    def __init__(self, path: Path, default: Path) -> None:
        self._path = path
        self._default = default
        self._stamp: tuple[int, int] | None = None
        self._text = ""

    def text(self) -> str:
        """Markdown. The default where the operator wrote none, or emptied it."""
        source, status = self._source()
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp != self._stamp:
            self._text = source.read_text("utf-8-sig", errors="replace").strip()
            self._stamp = stamp
        return self._text or self._default.read_text("utf-8").strip()

    def _source(self) -> tuple[Path, os.stat_result]:
        """Looked up at each message, so with one call where the operator has a text."""
        with contextlib.suppress(OSError):
            status = self._path.stat()
            if stat.S_ISREG(status.st_mode):
                return self._path, status
        return self._default, self._default.stat()

    def name(self) -> str:
        """Of the first heading; the house's own where the operator's text has none."""
        headings = (line.lstrip("# ").strip() for line in self.text().splitlines() if line.startswith("#"))
        return next(filter(None, headings), "记得")
