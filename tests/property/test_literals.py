"""Words that an expression requires stand in whatever RE2 says it matches."""

import pytest
import re2
from hypothesis import assume, example, given
from hypothesis import strategies as st

from bot.rules.expressions import Expressions
from bot.rules.literals import fold_literal, required_words

CHARACTERS = "退款a(b)K|ß好sſ.-]"
ATOMS = st.sampled_from(
    [
        *("退", "款", "a", "K", "s", "ß", "好", "-", "]", ".", "^", "$", r"\b", r"\d", r"\.", r"\(", r"\x41"),
        *("[ab]", "[^a]", "[a-c]", "[]a]", r"[\]a]", "[[:alpha:]]", r"\pL", r"\p{Han}", "(?i)", r"\Qa\E"),
    ]
)


def joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pieces = st.lists(inner, min_size=1, max_size=4)
    return (
        pieces.map("".join)
        | pieces.map("|".join)
        | st.tuples(st.sampled_from(["(", "(?:", "(?P<n>", "(?i:", "(?-i:"]), inner).map(
            lambda p: f"{p[0]}{p[1]})"
        )
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "??", "{2}", "{0,2}", "{1,}", "{,2}", "{1}"])).map(
            "".join
        )
    )


EXPRESSIONS = st.recursive(ATOMS, joined, max_leaves=12)


def compiled(pattern: str) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        assume(False)
        raise


@given(EXPRESSIONS, st.text(CHARACTERS, max_size=12))
@example("k", "\u212a")  # The Kelvin sign, which RE2 takes for a k.
@example("s", "ſ")
@example("ß", "ẞ")
@example("(?-i:K)", "K")
def test_a_match_holds_a_required_word(pattern: str, text: str) -> None:
    if compiled(pattern).search(text) is None:
        return
    words = required_words(pattern)
    assert words is None or any(word in fold_literal(text) for word in words), (pattern, words)


@given(st.lists(EXPRESSIONS, min_size=1, max_size=5), st.text(CHARACTERS, max_size=12))
@example(["退(?i)*"], "")
def test_together_they_find_what_each_finds(patterns: list[str], text: str) -> None:
    alone = [index for index, pattern in enumerate(patterns) if compiled(pattern).search(text)]
    assert [found.index for found in Expressions(patterns).search(text)] == alone


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("退款", {"退款"}),
        ("(退款|退货)多少(钱|元)", {"退款多少钱", "退款多少元", "退货多少钱", "退货多少元"}),
        ("(款+)+$", {"款"}),
        (r"^(查|查询)?快递(单号)?\s*SF\d{12}$", {"sf"}),
        ("(几点|什么时候).{0,6}(开门|营业)", {"几点", "什么时候"}),
        ("WiFi密码", {"wifi密码"}),
        (r"\d{4,}元", {"元"}),
        ("[吗么]$", {"吗", "么"}),
        (r"c\+\+", {"c++"}),
    ],
)
def test_the_words_of_usual_expressions(pattern: str, words: set[str]) -> None:
    assert required_words(pattern) == words


@pytest.mark.parametrize(
    "pattern", [r"^\d+$", "退?", "退|", "退*", ".", "[a-z]", "[^退]", r"\Q退\E", "ß", "(", "*x*", ""]
)
def test_where_no_word_is_sure_there_is_none(pattern: str) -> None:
    assert required_words(pattern) is None
