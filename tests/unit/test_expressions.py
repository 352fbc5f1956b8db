"""Many expressions at once: found as if each were tried, refused when they cost too much."""

import pytest

from bot.conversation.phrases import Phrases
from bot.rules import expressions
from bot.rules.expressions import Expressions, Found, check_expression
from bot.rules.faq import FaqBook, FaqRule, Match


def found(patterns: list[str], text: str) -> list[Found]:
    return list(Expressions(patterns).search(text))


def test_places_are_characters_and_the_order_is_the_lists() -> None:
    assert found([r"\d+", "款", "没有"], "退款 12 元") == [
        Found(index=0, start=3, end=5),
        Found(index=1, start=1, end=2),
    ]


def test_with_and_without_fixed_words_case_is_folded() -> None:
    assert [each.index for each in found(["WIFI", "[a-z]{4}", r"^wi"], "WiFi")] == [0, 1, 2]


def test_the_set_out_of_memory_tries_each(monkeypatch: pytest.MonkeyPatch) -> None:
    class Exhausted:
        def __init__(self) -> None:
            self.size = 0

        def Add(self, pattern: str) -> int:  # noqa: N802
            self.size += 1
            return self.size - 1

        def Compile(self) -> None: ...  # noqa: N802

        def Match(self, text: str) -> None:  # noqa: N802
            return None

    monkeypatch.setattr(expressions.re2.Set, "SearchSet", lambda options: Exhausted())
    assert [each.index for each in found([r"^\d+$", "[a-z]", "款"], "a款")] == [1, 2]


@pytest.mark.parametrize("pattern", ["(.{1,100}){1,100}z", r"\p{L}{1,1000}x", "(((退{1,50}){1,50}){1,50})款"])
def test_an_expression_that_would_cost_too_much_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="次数"):
        check_expression(pattern)


@pytest.mark.parametrize("pattern", [r"\p{Han}{2,8}省", "[一-龥]{1,100}路", "(退.{0,100}){2}款", r"1\d{10}"])
def test_usual_expressions_are_small_enough(pattern: str) -> None:
    check_expression(pattern)


def test_few_expressions_stay_on_the_loop_many_or_large_do_not() -> None:
    def book(*patterns: str) -> FaqBook:
        return FaqBook([FaqRule(id="a", match=Match.REGEX, patterns=patterns, answer="a")])

    assert not book("退款", r"^SF\d{12}$").is_heavy
    assert not FaqBook().is_heavy
    assert book("(a|b)*a(a|b){900}c").is_heavy
    assert book(*(f"(第|编号){number}(个|号).{{0,9}}" for number in range(200))).is_heavy


def test_phrases_overlap_and_share_owners() -> None:
    phrases = Phrases()
    for owner, phrase in enumerate(["退款", "款", "退款吗", "退款"]):
        phrases.add(phrase, owner)
    assert list(phrases.found_in("退款退")) == [(0, "退款"), (1, "款")]
    assert phrases.owners("退款") == [0, 3]
    assert list(phrases.found_in("")) == []
