"""A cheap look ahead of a full reading hides nothing that the full reading finds."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.answering import links
from bot.answering.links import without_links
from bot.conversation.local_time import LOCAL_TIME
from bot.memory.entities import amounts, contacts, folding, orders, phones, products
from bot.memory.references import finding, numbers
from bot.memory.time_zh import finder, latest
from bot.memory.time_zh.calendar import NoSuchDay
from bot.memory.time_zh.elements import Context
from bot.memory.time_zh.letters import fold

ROOT = Path(__file__).resolve().parents[2]
ALWAYS = re.compile("")
TIMES = [
    datetime(2026, 7, 1, 9, tzinfo=UTC),
    datetime(2024, 2, 29, 17, 59, tzinfo=UTC),
    datetime(2026, 1, 1, 0, 5, tzinfo=UTC),
    datetime(2025, 12, 20, 16, 30, tzinfo=UTC),
]
LONGEST = 200


def pieces(file: Path) -> Iterator[str]:
    """Whatever stands between quotation marks or tabs: messages, questions, answers."""
    for piece in re.split(r'["\t\n]', file.read_text("utf-8")):
        if 1 < len(piece) <= LONGEST:
            yield piece


def listed_texts() -> Iterator[str]:
    """Of the lists every twelfth; of the tests of these readers, which hold a text for every rule, all."""
    files = [*(ROOT / "benchmarks/lists").rglob("*.*"), *(ROOT / "tests/data").iterdir()]
    listed = {piece for file in files if file.suffix in (".tsv", ".jsonl", ".txt") for piece in pieces(file)}
    yield from sorted(listed)[::12]
    for pattern in ("test_entities_*.py", "test_time_zh*.py", "test_references.py", "test_naming.py"):
        for file in sorted((ROOT / "tests/unit").glob(pattern)):
            yield from (piece for piece in pieces(file) if not piece.isascii() or piece.isalnum())


TEXTS = sorted({*listed_texts(), "之前买的件呢子大褂", "上次买的双棉拖"})
WORDS = [
    *(
        "一",
        "二",
        "两",
        "三",
        "五",
        "十",
        "几",
        "半",
        "百",
        "千",
        "万",
        "0",
        "1",
        "2",
        "5",
        "8",
        "12",
        "30",
        "300",
        "2026",
    ),
    *(
        "年",
        "月",
        "日",
        "号",
        "上",
        "下",
        "前",
        "后",
        "今天",
        "昨晚",
        "周",
        "末",
        "早上",
        "晚",
        "点",
        "时",
        "分",
        "小时",
    ),
    *(
        "约",
        "从",
        "截至",
        "自",
        "第",
        "到",
        "至",
        "和",
        "以内",
        "以前",
        "每",
        "元",
        "块",
        "毛",
        "¥",
        "$",
        "k",
        "欧",
        "镑",
    ),
    *(
        "花了",
        "退我",
        "包邮",
        "的",
        "那",
        "这",
        "之前",
        "上次",
        "件",
        "双",
        "单",
        "款",
        "个",
        "买",
        "杯子",
        "订单",
        "尾号",
        "结尾",
    ),
    *(
        "微信",
        "138",
        "0000",
        "95588",
        "****",
        "电话",
        "打",
        "123456",
        "加",
        "qq",
        "vx",
        "wxid_",
        "abc_12",
        "12345",
        "SF",
        "@",
        "www.",
        "http://",
        ".com",
        "/",
        "-",
        ":",
        ".",
        " ",
        "，",
    ),
]
TELLING = st.lists(st.sampled_from(WORDS), max_size=10).map("".join)


def all_readers() -> Any:
    class Readers(dict[str, Any]):
        def get(self, _: str, default: Any = None) -> Any:  # type: ignore[override]
            del default
            return (finder._expression_at, finder._session_at, finder._recurrence_at, finder._length_at)

    return Readers()


def find_times(text: str) -> object:
    return [finder.find_times.__wrapped__(text, each) for each in TIMES[: 1 + len(text) % 4]]


def find_latest(text: str) -> object:
    read: list[object] = []
    for at in (TIMES[0], TIMES[3]):
        now = at.astimezone(LOCAL_TIME)
        context = Context(now=now, anchor=now)
        read += [_latest(fold(text), place, context) for place in range(len(text))]
    return read


def _latest(text: str, place: int, context: Context) -> object:
    try:
        return latest.latest(text, place, context)
    except NoSuchDay as day:
        return str(day)


PRECHECKS: list[tuple[Callable[[str], object], dict[tuple[Any, str], Any]]] = [
    (amounts.find_sums, {(amounts, "may_cost"): lambda _: True}),
    (lambda text: list(contacts.find_contacts(text)), {(contacts, "may_name_contact"): lambda _: True}),
    (contacts.without_links, {(contacts, "may_hold_link"): lambda _: True}),
    (lambda text: list(orders.find_orders(text)), {(orders, "_HAS_DIGITS"): ALWAYS}),
    (lambda text: list(orders.find_tails(text)), {(orders, "_HAS_DIGITS"): ALWAYS}),
    (lambda text: list(phones.find_phones(text)), {(phones, "may_hold_phone"): lambda _: True}),
    (
        lambda text: without_links(text, "（链接）"),
        {(links, "may_hold_link"): lambda _: True},
    ),
    (
        lambda text: list(products.find_products(text)),
        {(products, "_MAY_NAME_MODEL"): ALWAYS, (products, "_MAY_POINT"): ALWAYS},
    ),
    (
        numbers.numbers_told.__wrapped__,
        {(numbers, "may_name_order"): lambda _: True},
    ),
    (folding.folded, {(folding, "_IS_FOLDED"): re.compile("(?!)")}),
    (finding._described, {(finding, "_MAY_DESCRIBE"): ALWAYS}),
    (
        find_times,
        {
            (finder, "_begins"): lambda: re.compile("(?s:.)"),
            (finder, "_READERS"): all_readers(),
        },
    ),
    (find_latest, {(latest, "_is_latest"): lambda *_: False}),
]
IDS = [
    "sums",
    "contacts",
    "links",
    "orders",
    "tails",
    "phones",
    "links in answers",
    "products",
    "numbers told",
    "folded",
    "described",
    "times",
    "latest",
]


@pytest.mark.parametrize(("find", "prechecks"), PRECHECKS, ids=IDS)
def test_nothing_of_the_lists_is_hidden(
    find: Callable[[str], object], prechecks: dict[tuple[Any, str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [find(text) for text in TEXTS]
    assert any(found)
    for (module, name), without in prechecks.items():
        monkeypatch.setattr(module, name, without)
    assert [find(text) for text in TEXTS] == found


@pytest.mark.parametrize(("find", "prechecks"), PRECHECKS, ids=IDS)
def test_nothing_of_any_text_is_hidden(
    find: Callable[[str], object], prechecks: dict[tuple[Any, str], Any]
) -> None:
    @settings(deadline=None)
    @given(TELLING)
    def check(text: str) -> None:
        found = find(text)
        with pytest.MonkeyPatch.context() as without:
            for (module, name), replacement in prechecks.items():
                without.setattr(module, name, replacement)
            assert find(text) == found

    check()
