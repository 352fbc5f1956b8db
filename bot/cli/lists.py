"""Lists as operators have them: CSV of any usual encoding and separator, or JSON, with Chinese or English headings.

Invariant: a row comes with the line it begins on; one that cannot be read is told, not guessed.
"""

import csv
import io
import json
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.cli.running import Refusal

LARGEST_BYTES = 200 << 20
Rows = tuple[tuple[int, dict[str, str]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A list, read."""

    rows: Rows
    """Line and fields, without surrounding spaces."""
    wrong: tuple[tuple[int, str], ...] = ()


def read_table(path: Path, columns: Mapping[str, Sequence[str]], needed: Sequence[str]) -> Table:
    """Blocks. `columns`: our name of each → what it may be called. Raises Refusal."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise Refusal(f"{path} 太大", "分成几个文件")
        raw = path.read_bytes()
    except OSError as error:
        raise Refusal(f"读不了 {path}（{error.strerror}）", "检查名字和权限") from error
    text = _decoded(raw, path)
    if not text.strip():
        raise Refusal(f"{path} 是空的", "检查名单是不是存好了")
    if text.lstrip().startswith(("[", "{")):
        return _from_json(text, needed)
    return _from_csv(text, columns, needed)


def _decoded(raw: bytes, path: Path) -> str:
    has_utf16_mark = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if has_utf16_mark else ("utf-8-sig", "gb18030"):
        with suppress(UnicodeDecodeError):
            return raw.decode(encoding)
    raise Refusal(f"{path} 的编码看不懂", "另存为 UTF-8 的 CSV")


def _from_csv(text: str, columns: Mapping[str, Sequence[str]], needed: Sequence[str]) -> Table:
    first = text.partition("\n")[0]
    separator = max((",", "\t", ";", "，"), key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    rows: list[tuple[int, dict[str, str]]] = []
    wrong: list[tuple[int, str]] = []
    try:
        names = [_name(heading, columns) for heading in next(reader, list[str]())]
        if missing := [each for each in needed if each not in names]:
            raise Refusal(f"第一行没有列名 {'、'.join(missing)}", f"第一行写列名，例如 {','.join(needed)}")
        line = reader.line_num + 1
        for cells in reader:
            begun, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) < len(names):
                wrong.append((begun, f"只有 {len(cells)} 列，应有 {len(names)} 列"))
                continue
            pairs = zip(names, cells, strict=False)
            rows.append((begun, {name: cell.strip() for name, cell in pairs if name}))
    except csv.Error as error:
        raise Refusal(f"第 {reader.line_num} 行不是 CSV（{error}）", "检查引号和换行") from error
    return Table(rows=tuple(rows), wrong=tuple(wrong))


def _name(heading: str, columns: Mapping[str, Sequence[str]]) -> str:
    written = unicodedata.normalize("NFKC", heading).strip().lower().replace(" ", "")
    return next((name for name, known in columns.items() if written in known), "")


def _from_json(text: str, needed: Sequence[str]) -> Table:
    """A list of objects, or WeChat's own answer with `result_list`. Its rows are numbered as its lines."""
    try:
        document: Any = json.loads(text)
        entries: list[dict[str, Any]] = document if text.lstrip()[0] == "[" else document["result_list"]
        rows = tuple(
            (number, {name: str(entry.get(name) or "").strip() for name in needed})
            for number, entry in enumerate(entries, 1)
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refusal("JSON 看不懂", f"应是一列 {{{'、'.join(needed)}}}") from error
    return Table(rows=rows)
