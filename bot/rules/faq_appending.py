"""Rules put at the end of the operator's FAQ file.

Invariant: what is there stays as it is, to the byte, and a copy of it is kept; what comes out is read back before
it takes the file's name.
"""

import os
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import yaml
from yaml.nodes import ScalarNode, SequenceNode

from bot.conversation.errors import ConfigurationError
from bot.rules.faq import FaqRule
from bot.rules.faq_yaml import Loader, read_book

_STILL_THERE = "把原来的规则写成每条以“- ”开头的列表，再来一次"


_OTHER_BREAKS = frozenset("\r\x85\u2028\u2029")
"""What YAML 1.1 ends a line at beside `\\n`: kept as itself in double quotes alone."""


class _Dumper(yaml.SafeDumper):
    """Lines stay lines."""


def _represent(_: yaml.SafeDumper, text: str) -> ScalarNode:
    has_others = not _OTHER_BREAKS.isdisjoint(text)
    style = '"' if has_others else "|" if "\n" in text else None
    return ScalarNode("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent)


def with_rules(text: str, rules: Sequence[FaqRule], name: str, heading: str) -> str:
    """The file's text with these rules behind what it has. `heading`: one line, which becomes a comment.

    Raises ConfigurationError: the file is wrong as it is, or has a form that nothing can be put behind.
    """
    before = read_book(text, name).rules
    added = [f"# {heading}", *(line for rule in rules for line in _lines(rule))]
    indent = " " * _column(text)
    joined = (text if not text or text.endswith("\n") else f"{text}\n") + "\n"
    joined += "".join(f"{indent}{line}".rstrip() + "\n" for line in added)
    try:
        after = read_book(joined, name).rules
    except ConfigurationError as error:
        raise ConfigurationError(name, "在后面加不上规则", _STILL_THERE) from error
    if [replace(rule, line=0) for rule in after] != [replace(rule, line=0) for rule in (*before, *rules)]:
        raise ConfigurationError(name, "在后面加不上规则", _STILL_THERE)
    return joined


def is_writable(rules: Sequence[FaqRule]) -> bool:
    """Whether they would be read back as they are, behind an empty file."""
    try:
        with_rules("", rules, "", "")
    except ConfigurationError:
        return False
    return True


def append_rules(path: Path, rules: Sequence[FaqRule], heading: str) -> Path | None:
    """Put them behind what the file has. Returns where the old file was kept; None where there was none.

    Raises ConfigurationError, and OSError.
    """
    try:
        text, kept = _read(path), path.with_name(f"{path.name}.{datetime.now().astimezone():%Y%m%d-%H%M%S}")
    except FileNotFoundError:
        text, kept = "", None
    joined = with_rules(text.removeprefix("\ufeff"), rules, path.name, heading)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        if kept is not None:
            shutil.copy2(path, kept)
            shutil.copy2(path, draft)  # who may read it stays so
        with draft.open("w", encoding="utf-8", newline="") as file:
            file.write(joined)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return kept


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ConfigurationError(path.name, "不是 UTF-8 编码", "用编辑器另存为 UTF-8") from error


def _lines(rule: FaqRule) -> list[str]:
    fields: dict[str, object] = {
        "id": rule.id,
        "match": rule.match.value,
        "patterns": list(rule.patterns),
        "answer": rule.answer,
    }
    if rule.channels:
        fields["channels"] = sorted(rule.channels)
    written = yaml.dump([fields], Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=10**6)
    return written.removesuffix("\n").split("\n")


def _column(text: str) -> int:
    """Where the dashes of the list stand."""
    root = Loader(text).get_single_node()
    if isinstance(root, SequenceNode) and not root.flow_style:
        return root.start_mark.column
    return 0
