"""`products.csv`, as shops export it from a spreadsheet, read again whenever it changes.

Invariant: a bad row is refused with its line and the others are kept; a file that can't be read at all
leaves the old catalogue in place.
"""

import csv
import io
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from loguru import logger

from bot.conversation.errors import ConfigurationError, RejectedInput
from bot.conversation.text import clean, content, normalise
from bot.conversation.watched_file import WatchedFile
from bot.knowledge.catalogue import SOURCE, Catalogue, Product, name_key
from bot.knowledge.splitting import decode

NAME_COLUMNS = ("product_name", "product", "name", "名称", "商品名", "商品名称", "产品名", "产品名称", "品名")
ALIAS_COLUMNS = ("alias", "aliases", "别名", "别称", "俗称", "又名", "简称")
SHOWN_AS = {
    "price": "价格",
    "description": "描述",
    "stock": "库存",
    "color": "颜色",
    "colour": "颜色",
    "size": "尺码",
}
"""Columns that programs name in English, as people read them."""
LONGEST_NAME = 60
MOST_PRODUCTS = 10_000
MOST_PROBLEMS = 3
"""Refused rows that are told one by one; the rest are counted."""
MOST_SPOILT = 100
"""Rows with a lone quotation mark, each of which is sought to the file's end: what follows isn't read."""

_SEPARATORS = re.compile(r"[,，、;；|/]+")
_DELIMITERS = ",\t;，"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueReading:
    """What a file gave."""

    catalogue: Catalogue
    problems: tuple[str, ...] = ()
    """Of refused rows, in 简体中文, each with its line."""


class CatalogueFile:
    """Gives the present `Catalogue` of a file."""

    def __init__(self, path: Path, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Reads nothing yet; no file is an empty catalogue. `monotonic` gives seconds."""
        nothing = CatalogueReading(catalogue=Catalogue())
        self._file = WatchedFile(path, what=SOURCE, read=read_catalogue, empty=nothing, monotonic=monotonic)
        self._problems: tuple[str, ...] = ()

    async def catalogue(self) -> Catalogue:
        reading = await self._file.content()
        self._problems = reading.problems
        return reading.catalogue

    @property
    def problem(self) -> str:
        """What is wrong with the file now, in 简体中文; "" when nothing is."""
        if self._file.problem or not self._problems:
            return self._file.problem
        more = len(self._problems) - MOST_PROBLEMS
        shown = "；".join(self._problems[:MOST_PROBLEMS])
        return f"{shown}；另有 {more} 行也没有读入" if more > 0 else shown


def read_catalogue(raw: bytes, name: str) -> CatalogueReading:
    """The products of a file of UTF-8, UTF-16 or GB18030.

    Raises:
        ConfigurationError: it is no text, or its first row has no column for the name.
    """
    try:
        text = decode(raw)
    except RejectedInput as error:
        raise ConfigurationError(name, "文字编码认不出来", "另存为“CSV UTF-8”") from error
    records = _records(text)
    header = next(records, None)
    if header is None:
        return CatalogueReading(catalogue=Catalogue())
    return _Reader(name, header).read(records)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    line: int
    cells: list[str]
    problem: str = ""


def _records(text: str) -> Iterator[_Record]:
    """The rows that aren't empty. A quotation mark that never closes spoils its own row only."""
    lines = list(io.StringIO(text))
    spoilt = 0
    first = next((line for line in lines if line.strip()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    position = 0
    while position < len(lines):
        reader = csv.reader(islice(lines, position, None), delimiter=delimiter, strict=True)
        begun = position
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield _Record(line=begun + 1, cells=[clean(cell) for cell in cells])
                begun = position + reader.line_num
            return
        except csv.Error:
            yield _Record(line=begun + 1, cells=[], problem="引号没有成对，或一格太长")
            position = begun + 1
            spoilt += 1
            if spoilt == MOST_SPOILT:
                return


@dataclass(slots=True)
class _Reader:
    """Rows to products, under the first row's columns."""

    file_name: str
    header: _Record
    products: list[Product] = field(default_factory=list[Product])
    problems: list[str] = field(default_factory=list[str])
    lines: dict[str, int] = field(default_factory=dict[str, int])
    """Of the names taken so far."""

    def read(self, records: Iterator[_Record]) -> CatalogueReading:
        columns = [normalise(cell) for cell in self.header.cells]
        name_at = next((place for place, column in enumerate(columns) if column in NAME_COLUMNS), None)
        if name_at is None:
            raise ConfigurationError(
                f"{self.file_name} 第 {self.header.line} 行",
                "表头里没有商品名称这一列",
                "第一行写列名，其中一列叫“名称”",
            )
        aliases_at = {place for place, column in enumerate(columns) if column in ALIAS_COLUMNS}
        for record in records:
            if problem := record.problem or self._take(record, name_at, aliases_at):
                self.problems.append(f"{self.file_name} 第 {record.line} 行：{problem}")
        if self.problems:
            logger.warning("{} 有 {} 行没有读入：{}", self.file_name, len(self.problems), self.problems[0])
        return CatalogueReading(catalogue=Catalogue(self.products), problems=tuple(self.problems))

    def _take(self, record: _Record, name_at: int, aliases_at: set[int]) -> str:
        """Keep a row's product, or say what is wrong with it."""
        cells = record.cells + [""] * (len(self.header.cells) - len(record.cells))
        if any(cells[len(self.header.cells) :]):
            return f"有 {len(record.cells)} 格，列名只有 {len(self.header.cells)} 个；含逗号的内容要加引号"
        if len(self.products) >= MOST_PRODUCTS:
            return f"超过 {MOST_PRODUCTS} 个商品"
        name = cells[name_at]
        aliases = [part for place in sorted(aliases_at) for part in _parts(cells[place]) if part != name]
        for each in (name, *aliases):
            if problem := _name_problem(each):
                return problem
        if (line := self.lines.setdefault(name_key(name), record.line)) != record.line:
            return f"“{name}”与第 {line} 行重复"
        self.products.append(
            Product(
                name=name,
                aliases=tuple(dict.fromkeys(aliases)),
                details=tuple(self._details(cells, {name_at, *aliases_at})),
                line=record.line,
            )
        )
        return ""

    def _details(self, cells: Sequence[str], taken: set[int]) -> Iterator[tuple[str, str]]:
        for place, (column, cell) in enumerate(zip(self.header.cells, cells, strict=False)):
            if place not in taken and cell and column:
                yield SHOWN_AS.get(normalise(column), column), cell


def _name_problem(name: str) -> str:
    """What is wrong with a name or an alias; "" for nothing."""
    if not name:
        return "没有名称"
    if len(name) > LONGEST_NAME:
        return f"名称有 {len(name)} 个字，不要超过 {LONGEST_NAME} 个"
    if len(content(name)) < 2:
        return f"“{name}”太短，会在很多话里误认"
    return ""


def _parts(cell: str) -> list[str]:
    return [part.strip() for part in _SEPARATORS.split(cell) if part.strip()]
