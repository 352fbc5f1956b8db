"""Every sentence of the pages, by view and key, in both languages.

Invariant: a value is inserted as it is, once: braces in it survive. What comes out is text, escaped by the template.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from starlette.requests import Request

FOLDER = Path(__file__).parent / "words"
LANGUAGES = ("zh", "en")
TAGS = {"zh": "zh-CN", "en": "en"}
"""Of a page's `lang`."""
FRAME = "frame"
"""What every view may say: the navigation, the faults, words that all of them use."""
COOKIE = "jide_language"
QUERY = "language"

_PLACE = re.compile(r"\{([a-z_]+)\}")


class Words:
    """The sentences of the views in all languages."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._sentences = {
            language: {path.stem: _read(path) for path in sorted((folder / language).glob("*.toml"))}
            for language in LANGUAGES
        }

    def say(self, language: str, view: str, key: str, **values: object) -> str:
        """The view's own sentence, else the frame's.

        Raises KeyError: no such sentence, or a value is missing: a mistake in the code.
        """
        sentences = self._sentences[language]
        own = sentences.get(view, {})
        sentence = own[key] if key in own else sentences[FRAME][key]
        return _PLACE.sub(lambda place: str(values[place[1]]), sentence)

    def has(self, view: str, key: str) -> bool:
        """The default language has the sentence."""
        sentences = self._sentences[LANGUAGES[0]]
        return key in sentences.get(view, {}) or key in sentences[FRAME]


def language_of(request: Request) -> str:
    """What the reader chose, now or before, else what their browser asks for, else Chinese."""
    for chosen in (request.query_params.get(QUERY), request.cookies.get(COOKIE)):
        if chosen in LANGUAGES:
            return chosen
    for wish in request.headers.get("accept-language", "").split(","):
        language = wish.strip().lower()[:2]
        if language in LANGUAGES:
            return language
    return LANGUAGES[0]


def _read(path: Path) -> Mapping[str, str]:
    return tomllib.loads(path.read_text("utf-8"))
