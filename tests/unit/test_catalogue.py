"""The catalogue: rows to products, and the products that a question means."""

import csv
import io
from pathlib import Path

import pytest

from bot.conversation.errors import ConfigurationError
from bot.conversation.watched_file import CHECK_SECONDS
from bot.knowledge.catalogue import MOST_NAMED, Catalogue, Product
from bot.knowledge.catalogue_file import LONGEST_NAME, MOST_SPOILT, CatalogueFile, read_catalogue

SHEET = """名称,别名,价格,颜色,描述
A 款,A款连衣裙、小红裙,¥299,红色,"羊毛，只能手洗"
B 款,,¥199,蓝色,棉
iPhone 15,苹果15,5999,,
iPhone 15 Pro,,7999,,
"""


def catalogue(text: str = SHEET, encoding: str = "utf-8") -> Catalogue:
    return read_catalogue(text.encode(encoding), "products.csv").catalogue


def problems(text: str) -> tuple[str, ...]:
    return read_catalogue(text.encode(), "products.csv").problems


def named(question: str, text: str = SHEET) -> list[str]:
    return [product.name for product in catalogue(text).named_in(question)]


def test_a_row_is_a_product() -> None:
    first = catalogue().products[0]
    assert first == Product(
        name="A 款",
        aliases=("A款连衣裙", "小红裙"),
        details=(("价格", "¥299"), ("颜色", "红色"), ("描述", "羊毛，只能手洗")),
        line=2,
    )
    assert first.text == "A 款；别名：A款连衣裙、小红裙；价格：¥299；颜色：红色；描述：羊毛，只能手洗"
    assert (first.passage.document, first.passage.heading, first.passage.id) == ("商品目录", "A 款", 0)


def test_names_and_aliases_are_the_lexicon() -> None:
    assert catalogue().product_names() == (
        *("A 款", "A款连衣裙", "小红裙", "B 款", "iPhone 15", "苹果15", "iPhone 15 Pro"),
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_as_spreadsheets_write_it(encoding: str) -> None:
    text = SHEET.replace("¥", "").replace("\n", "\r\n")
    assert [each.name for each in catalogue(text, encoding).products] == [
        *("A 款", "B 款", "iPhone 15", "iPhone 15 Pro"),
    ]


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "，"])
def test_whatever_separates_the_cells(delimiter: str) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(
        [["price", "product_name", "产地"], ["9", "茶杯", "景德镇"]]
    )
    (product,) = catalogue(text.getvalue()).products
    assert (product.name, product.details) == ("茶杯", (("价格", "9"), ("产地", "景德镇")))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("A 款多少钱", ["A 款"]),
        ("a款多少钱", ["A 款"]),
        ("Ａ款有货吗", ["A 款"]),
        ("小红裙能机洗吗", ["A 款"]),
        ("A款和 B 款有什么区别", ["A 款", "B 款"]),
        ("B款好还是 A 款好", ["B 款", "A 款"]),
        ("A款连衣裙", ["A 款"]),
        ("BA款", []),
        ("SA 款", []),
        ("iphone 15 pro 多少钱", ["iPhone 15 Pro"]),
        ("iphone15多少钱", ["iPhone 15"]),
        ("iphone 155", []),
        ("那件红色的还有吗", ["A 款"]),
        ("红色的那件还有吗", ["A 款"]),
        ("请问一下蓝色的那款多少钱", ["B 款"]),
        ("那个便宜的", []),
        ("红色", []),
        ("今天天气怎么样", []),
        ("", []),
    ],
)
def test_what_a_question_names(question: str, expected: list[str]) -> None:
    assert named(question) == expected


def test_a_description_of_many_points_at_none() -> None:
    rows = "".join(f"第{number}款,红色\n" for number in range(4))
    assert named("那件红色的", f"名称,颜色\n{rows}") == []


def test_an_alias_may_be_shared_and_few_are_named() -> None:
    rows = "".join(f"第{number}款,连衣裙\n" for number in range(9))
    assert len(named("连衣裙有哪些", f"名称,别名\n{rows}")) == MOST_NAMED


def test_words_find_what_nobody_named() -> None:
    ((product, share),) = catalogue().like("羊毛的怎么洗", 1)
    assert product.name == "A 款"
    assert 0 < share <= 1
    assert catalogue().like("天气", 2) == []
    assert Catalogue().like("羊毛", 2) == []


def test_a_long_description_is_cut() -> None:
    (product,) = catalogue(f"名称,描述\n茶杯,{'很' * 2000}\n").products
    assert len(product.text) <= 600
    assert product.text.endswith("…")


@pytest.mark.parametrize(
    ("rows", "line", "reason"),
    [
        ("茶杯,9,多\n", 3, "列名只有 2 个"),
        (",9\n", 3, "没有名称"),
        ("茶,9\n", 3, "太短"),
        ("碗碟,10\n", 3, "与第 2 行重复"),
        (f"{'长' * (LONGEST_NAME + 1)},9\n", 3, f"{LONGEST_NAME + 1} 个字"),
        ('"茶杯,9\n', 3, "引号"),
        ('"茶杯"x,9\n', 3, "引号"),
    ],
)
def test_a_bad_row_is_refused_with_its_line_and_others_are_kept(rows: str, line: int, reason: str) -> None:
    text = f"名称,价格\n碗碟,8\n{rows}\n水壶,20\n"
    (problem,) = problems(text)
    assert problem.startswith(f"products.csv 第 {line} 行：")
    assert reason in problem
    assert [each.name for each in catalogue(text).products] == ["碗碟", "水壶"]


def test_lines_count_what_a_cell_spans() -> None:
    text = '名称,描述\n茶杯,"两\n行"\n\n,无名\n'
    assert problems(text) == ("products.csv 第 5 行：没有名称",)
    assert catalogue(text).products[0].details == (("描述", "两 行"),)


def test_a_short_row_has_empty_cells() -> None:
    assert [each.details for each in catalogue("名称,价格,描述\n茶杯\n").products] == [()]


def test_many_lone_quotation_marks_end_the_reading() -> None:
    assert len(problems("名称\n" + '"x\n' * (MOST_SPOILT + 50))) == MOST_SPOILT


@pytest.mark.parametrize("text", ["", "\n\n", "名称,价格\n"])
def test_an_empty_file_has_no_products(text: str) -> None:
    assert catalogue(text).products == ()


@pytest.mark.parametrize("raw", [b"\x89PNG\r\n\x1a\n\xff\xff\xff", "价格,描述\n1,2\n".encode()])
def test_a_file_without_names_is_refused(raw: bytes) -> None:
    with pytest.raises(ConfigurationError, match=r"products\.csv"):
        read_catalogue(raw, "products.csv")


class Ticks:
    """A monotonic clock moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += CHECK_SECONDS
        return self.now


async def test_an_edit_is_seen_and_a_bad_file_leaves_the_old_products(tmp_path: Path) -> None:
    path = tmp_path / "products.csv"
    file = CatalogueFile(path, Ticks())
    assert (await file.catalogue()).products == ()
    assert file.problem == ""
    path.write_text("名称\n茶杯\n", "utf-8")
    assert (await file.catalogue()).product_names() == ("茶杯",)
    path.write_text("名称\n茶杯\n水壶\n" + "".join(f"{letter}\n" for letter in "甲乙丙丁戊"), "utf-8")
    assert (await file.catalogue()).product_names() == ("茶杯", "水壶")
    assert "第 4 行" in file.problem and file.problem.endswith("另有 2 行也没有读入")
    path.write_text("价格\n1\n", "utf-8")
    assert (await file.catalogue()).product_names() == ("茶杯", "水壶")
    assert "表头" in file.problem
    path.write_text("名称\n茶壶\n", "utf-8")
    assert (await file.catalogue()).product_names() == ("茶壶",)
    assert file.problem == ""
