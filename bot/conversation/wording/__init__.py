"""Every sentence a person can receive, by key, in one language; the operator may override any.

Invariant: a value is inserted as it is, once: a person's text is never used as a template, and braces
in it survive. What a reader may tap (`‹words›`) is the catalogue's alone.
"""

import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from bot.conversation.errors import ConfigurationError
from bot.conversation.taps import with_taps

DEFAULT_LANGUAGE = "zh_CN"
LANGUAGES = (DEFAULT_LANGUAGE, "en")

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


class Wording:
    """The catalogue in one language."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        """`sentences` hold `{name}` where a value goes, and `‹words›` around what can be tapped."""
        self._sentences = {key: with_taps(sentence) for key, sentence in sentences.items()}

    @classmethod
    def load(cls, language: str = DEFAULT_LANGUAGE, overrides: Path | None = None) -> "Wording":
        """The built-in sentences, with the operator's own (`data/wording.toml`, may be missing) above.

        Raises:
            ConfigurationError: an unknown language, or an override that names no sentence or value.
        """
        if language not in LANGUAGES:
            raise ConfigurationError("LANGUAGE", f"没有“{language}”", f"可用的有 {'、'.join(LANGUAGES)}")
        sentences = built_in(language)
        if overrides is not None and overrides.is_file():
            sentences |= _read_overrides(overrides, sentences)
        return cls(sentences)

    def say(self, key: str, **values: object) -> str:
        """The sentence with its values in place, its taps marked. More values than it has places are fine.

        Raises:
            KeyError: no such sentence, or a value is missing: a mistake in the code.
        """
        return _PLACEHOLDER.sub(lambda place: str(values[place[1]]), self._sentences[key])

    def mark_page(self, page: str, number: int, total: int) -> str:
        """A page as it is handed over: which it is, and how to get the next. A lone page stays as it is.

        `number` counts from 1.
        """
        if total < 2:
            return page
        mark = self.say("page_more" if number < total else "page_last", number=number, total=total)
        return page.rstrip("\n") + mark


def built_in(language: str) -> dict[str, str]:
    """The sentences that come with the house, without overrides."""
    return tomllib.loads(resources.files(__name__).joinpath(f"{language}.toml").read_text("utf-8"))


def placeholders(sentence: str) -> frozenset[str]:
    """The names of the values a sentence has places for."""
    return frozenset(_PLACEHOLDER.findall(sentence))


def _read_overrides(path: Path, sentences: Mapping[str, str]) -> dict[str, str]:
    try:
        own = tomllib.loads(path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise ConfigurationError(path.name, "不是 UTF-8 编码", "用编辑器另存为 UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(path.name, f"TOML 写法不对（{error}）", '每行写成 名称 = "文字"') from error
    for key, sentence in own.items():
        _check_override(f"{path.name} 的 {key}", key, sentence, sentences)
    return own


def _check_override(place: str, key: str, sentence: object, sentences: Mapping[str, str]) -> None:
    if key not in sentences:
        raise ConfigurationError(place, "没有这一句", "照 bot/conversation/wording 里的名称写，或删掉这一行")
    if not isinstance(sentence, str) or not sentence.strip():
        raise ConfigurationError(place, "不是文字，或是空的", '写成 名称 = "文字"')
    unknown = placeholders(sentence) - placeholders(sentences[key])
    if unknown:
        known = "、".join(f"{{{name}}}" for name in sorted(placeholders(sentences[key]))) or "没有"
        raise ConfigurationError(place, f"没有 {{{min(unknown)}}} 这个值", f"这一句可用的值：{known}")
