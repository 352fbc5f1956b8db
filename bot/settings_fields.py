"""Every setting by the name the operator writes, what was written for it, and how it is refused.

Invariant: a refusal names the key as written, where it was written, and the fix; never a value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from bot.conversation.errors import ConfigurationError
from bot.settings import Settings
from bot.settings_groups import Section


@dataclass(frozen=True, slots=True, kw_only=True)
class RawValue:
    """The text of a setting and where it was written."""

    text: str
    where: str


def known_fields() -> dict[str, FieldInfo]:
    """Every setting by the name the operator writes, in order."""
    found: dict[str, FieldInfo] = {}
    for name, field in Settings.model_fields.items():
        if field.exclude:
            continue
        group = field.annotation
        if isinstance(group, type) and issubclass(group, Section):
            found |= {f"{name}__{inner}".upper(): info for inner, info in group.model_fields.items()}
        else:
            found[name.upper()] = field
    return found


def refusal(
    key: str, problem: str, values: Mapping[str, RawValue], known: Mapping[str, FieldInfo]
) -> ConfigurationError:
    where = f"（写在 {values[key].where}）" if key in values else ""
    field = known[key]
    default: Any = field.default
    example: Any = field.examples[0] if field.examples else default
    return ConfigurationError(key, problem + where, f"{field.description}。例：{key}={env_text(example)}")


def env_text(value: Any) -> str:
    """A default as the operator would write it."""
    match value:
        case bool():
            return "true" if value else "false"
        case tuple():
            return ",".join(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case float() if value.is_integer():
            return str(int(value))
        case Path():
            return f"./{value}"
        case _:
            return str(value)
