"""What the sieve leaves out is not found: of any pattern of the house, in any text."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation.sieve import Sieve, needed, places
from bot.memory import sorting
from bot.memory.claims import attributes, stances, states, takeovers
from bot.memory.never import own_words
from bot.memory.time_zh import chain, not_times

ROOT = Path(__file__).resolve().parents[2]
SMALL = [
    *(
        r"甲",
        r"甲|乙",
        r"[一-丈]戊",
        r"[^甲]乙",
        r"(?:甲乙)?丙",
        r"甲*乙+",
        r"(甲|乙丙)\1?丁",
        r"(?=甲)..",
        r"(?<=甲)乙",
    ),
    *(
        r"(?!甲)乙",
        r"(?<!甲)乙$",
        r"^甲?$",
        r"",
        r"\d甲",
        r"\w",
        r".",
        r"(?i)kiss",
        r"(?i:s)甲",
        r"(?i)[k-s]",
        r"K",
    ),
    *(
        r"甲{0,2}乙{1,2}",
        r"(?>甲|乙)丙",
        r"甲++乙",
        r"(甲)?(?(1)乙|丙)",
        r"甲乙|甲丙|丁",
        r"[\u4e00-\u9fff]甲",
        r"(?x) 甲 # 乙",
    ),
    *(r"甲{0}乙", r"[甲\s]", r"(?i)\u017f", r"(?i)é", r"甲(?:)", r"(?:|甲)乙", r"(?s:.)甲", r"(?i:甲a|b)"),
]
TABLES: dict[str, list[re.Pattern[str]]] = {
    "small": [re.compile(each) for each in SMALL],
    "states": [words for _, _, words in states._states()[0]],
    "never": [words for _, _, words in own_words._patterns()],
    "topics": [after for _, _, after in takeovers._topics()[0]],
    "stances": [*stances._DENIED, *stances._FINISHED, *stances._HELD],
    "attributes": [words for _, words in attributes._plain()[0]],
    "sorts": [words for _, _, words in sorting._SORTS],
    "no times": [*not_times._NO_TIMES],
    "times": [one.pattern for one in chain._ALL],
}


def letters(patterns: list[re.Pattern[str]]) -> str:
    """The characters of the patterns themselves, and the other cases of some."""
    return "".join(
        sorted({*"".join(each.pattern for each in patterns), *"kKsSiI\u017f\u212a\u0130\u0131éÉ \n09"})
    )


def words(patterns: list[re.Pattern[str]]) -> list[str]:
    """Runs of plain characters in the patterns, which is what they look for."""
    runs = {run for each in patterns for run in re.findall(r"[\u4e00-\u9fff]+|[a-z]{2,}|[0-9]", each.pattern)}
    return sorted(runs)


def check(patterns: list[re.Pattern[str]], text: str) -> int:
    """How many patterns are found."""
    found = {place for place, each in enumerate(patterns) if each.search(text)}
    assert found <= set(SIEVES[id(patterns)].fitting(text))
    return len(found)


SIEVES = {id(patterns): Sieve(patterns) for patterns in TABLES.values()}


@pytest.mark.parametrize("name", TABLES)
def test_what_is_found_in_any_text_was_left_in(name: str) -> None:
    patterns = TABLES[name]
    pieces = st.sampled_from(words(patterns)) | st.sampled_from(letters(patterns))

    @settings(deadline=None, max_examples=300)
    @given(st.lists(pieces, max_size=12).map("".join))
    def run(text: str) -> None:
        check(patterns, text)

    run()


@pytest.mark.parametrize("name", [name for name in TABLES if name != "small"])
def test_what_is_found_in_the_lists_was_left_in(name: str) -> None:
    files = [*(ROOT / "benchmarks/lists").rglob("*.*"), *(ROOT / "tests/data").iterdir()]
    texts = {
        piece
        for file in files
        if file.suffix in (".tsv", ".jsonl", ".txt")
        for piece in re.split(r'["\t\n]', file.read_text("utf-8"))
        if piece
    }
    assert sum(check(TABLES[name], text) for text in sorted(texts)[::5]) > 0


def test_little_is_left_in() -> None:
    patterns = TABLES["states"]
    assert len(list(SIEVES[id(patterns)].fitting("我住在滨江区江南大道120号"))) < len(patterns) / 20


def test_places_come_in_order() -> None:
    sieve = Sieve([re.compile(each) for each in ("乙", ".", "甲", "甲|乙")])
    assert list(sieve.fitting("甲")) == [1, 2, 3]
    assert list(sieve.fitting("乙甲")) == [0, 1, 2, 3]
    assert list(places(0)) == []


@pytest.mark.parametrize(
    ("pattern", "sets"),
    [
        ("甲乙", {"甲", "乙"}),
        ("甲?乙", {"乙"}),
        ("甲|乙", {"甲乙"}),
        ("[^甲]", set()),
        (r"\d", set()),
        ("(?i)k", {"kK\u212a"}),
        ("(?i)é", set()),
        ("(?!甲)乙", {"乙"}),
        ("(?:甲|)乙", {"乙"}),
    ],
)
def test_what_a_pattern_needs(pattern: str, sets: set[str]) -> None:
    assert set(needed(re.compile(pattern))) == {frozenset(each) for each in sets}
