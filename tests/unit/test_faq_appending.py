"""Rules put behind an operator's own, which stay to the byte."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation.errors import ConfigurationError
from bot.rules.faq import FaqRule, Match
from bot.rules.faq_appending import append_rules, is_writable, with_rules
from bot.rules.faq_yaml import read_book

RULE = FaqRule(
    id="公众号-时间: #1",
    match=Match.EXACT,
    patterns=("09:00", "'a': *b"),
    answer='第一行\n\n  <a href="https://x.cn">点这里</a> 😀',
    channels=frozenset({"wechat"}),
)
OWN = "# 我的\n- id: own\n  patterns: [退款]\n  answer: |\n    可以退\n\n# 结尾"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# 只有注释\n",
        OWN,
        f"{OWN}\n\n\n",
        "  - patterns: [x]\n    answer: b",
        "- patterns: [x]\n  answer: b\r\n",
    ],
)
def test_what_is_there_stays_and_what_is_added_reads_as_it_was(text: str) -> None:
    joined = with_rules(text, [RULE], "faq.yaml", "从公众号导入")
    assert joined.startswith(text)
    *before, added = read_book(joined, "faq.yaml").rules
    assert replace(added, line=0) == RULE
    assert tuple(before) == read_book(text, "faq.yaml").rules
    assert "# 从公众号导入\n" in joined


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[{patterns: [a], answer: b}]",
        f"{OWN}\n...\n",
        "- id: '公众号-时间: #1'\n  patterns: [x]\n  answer: y",
    ],
)
def test_what_nothing_can_be_put_behind_is_refused_in_words(text: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        with_rules(text, [RULE], "faq.yaml", "从公众号导入")
    assert "加不上" in refusal.value.problem


def test_a_file_that_is_wrong_is_named_with_its_line() -> None:
    with pytest.raises(ConfigurationError) as refusal:
        with_rules("- patterns: [x]\n", [RULE], "faq.yaml", "从公众号导入")
    assert refusal.value.key == "faq.yaml 第 1 行"


@pytest.mark.parametrize("answer", ["a\u2028b", "a\u2029b\n  c", "a\x85b", "x\x1cy\x0bz", "a\rb"])
def test_what_ends_a_line_elsewhere_stays_in_its_line(answer: str) -> None:
    rule = replace(RULE, patterns=("地\u2028址",), answer=answer)
    for before in ("", OWN, "  - patterns: [x]\n    answer: b"):
        *_, added = read_book(with_rules(before, [rule], "f", "h"), "f").rules
        assert (added.patterns, added.answer) == (("地\u2028址",), answer)


def test_what_would_not_be_read_back_is_told_beforehand() -> None:
    assert is_writable([RULE])
    assert not is_writable([replace(RULE, patterns=(" ",))])
    assert not is_writable([RULE, RULE])


PRINTABLE = st.text(
    st.sampled_from("'\"#:-*&|>{}[]% \n09yes")
    | st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co"), exclude_characters="\ufeff"),
    min_size=1,
)


@given(PRINTABLE, PRINTABLE)
def test_any_text_is_read_back(name: str, answer: str) -> None:
    rule = replace(
        RULE,
        id=" ".join(name.split()) or "x",
        answer="\n".join(map(str.rstrip, answer.split("\n"))).strip() or "x",
    )
    (added,) = read_book(with_rules("", [rule], "f", "h"), "f").rules
    assert (added.id, added.answer) == (rule.id, rule.answer)


def test_the_old_file_is_kept_and_who_may_read_it_stays_so(tmp_path: Path) -> None:
    path = tmp_path / "faq.yaml"
    path.write_text(OWN, "utf-8")
    path.chmod(0o640)
    kept = append_rules(path, [RULE], "从公众号导入")
    assert kept is not None
    assert kept.read_text("utf-8") == OWN
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert len(read_book(path.read_text("utf-8"), "faq.yaml").rules) == 2
    assert {each.name for each in tmp_path.iterdir()} == {"faq.yaml", kept.name}


def test_a_refusal_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "faq.yaml"
    path.write_text("[]", "utf-8")
    with pytest.raises(ConfigurationError):
        append_rules(path, [RULE], "从公众号导入")
    assert [(each.name, each.read_text("utf-8")) for each in tmp_path.iterdir()] == [("faq.yaml", "[]")]


def test_a_first_file_has_nothing_to_keep(tmp_path: Path) -> None:
    assert append_rules(tmp_path / "faq.yaml", [RULE], "从公众号导入") is None
    assert len(read_book((tmp_path / "faq.yaml").read_text("utf-8"), "faq.yaml").rules) == 1
