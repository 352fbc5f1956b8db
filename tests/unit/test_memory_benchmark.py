"""The benchmark of memory counts as it says: exact fives, strangers, ranks, and a page that is made of its figures."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from benchmarks.memory import isolation, pages, questions
from benchmarks.memory.isolation import SETUPS, Crowd, Model, Setup, count, make_crowd, zipf_sizes
from benchmarks.memory.load_town import Words
from benchmarks.memory.pages import LABELS, PLOTS, page, panels_of, write_report
from benchmarks.memory.peers import MAKERS
from benchmarks.memory.questions import reciprocal_ranks
from benchmarks.memory.recall_lists import SETS, read_set
from benchmarks.report import Figure

LISTS = Path(__file__).resolve().parents[2] / "benchmarks" / "lists"


def unit(*rows: list[float]) -> np.ndarray:
    matrix = np.array(rows, np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def models() -> list[Model]:
    random = np.random.default_rng(1)
    return [
        Model(
            texts=[f"{name}{number}" for number in range(9)],
            vectors=unit(*random.standard_normal((9, 16)).tolist()),
            questions={f"{name}?": unit(random.standard_normal(16).tolist())[0]},
        )
        for name in "ab"
    ]


def crowd(sizes: tuple[int, ...] = (8, 12, 8, 12)) -> Crowd:
    return make_crowd(Setup(name="", label="", sizes=sizes), models())


def test_a_crowd_is_the_same_each_time_and_nobody_shares_a_text() -> None:
    one, other = crowd(), crowd()
    assert np.array_equal(one.bank.vectors, other.bank.vectors) and one.asked == other.asked
    assert len(set(one.bank.texts)) == len(one.bank.texts) == 40
    assert np.allclose(np.linalg.norm(one.bank.vectors, axis=1), 1)
    assert [one.rows(1).start, one.rows(1).stop] == [8, 20]


def test_who_asks_is_like_the_person_whose_question_it_is() -> None:
    made = crowd()
    assert len(made.asked) == 2
    for person, question in made.asked:
        assert all(text[0] == question[0] for text in made.bank.texts[made.rows(person)])


def test_the_exact_five_are_one_and_each_that_is_lacking_counts() -> None:
    made = crowd()
    person, question = made.asked[0]
    own = made.rows(person)
    scores = made.bank.vectors[own] @ made.bank.questions[question]
    nearest = (np.argsort(-scores)[:5] + own.start).tolist()
    tally = isolation.Tally()
    count(tally, made, person, question, nearest)
    count(tally, made, person, question, nearest[1:])
    count(tally, made, person, question, [])
    assert tally.shares == [1.0, 0.8, 0.0] and tally.strangers == 0


def test_what_is_somebody_elses_is_a_stranger_and_no_hit() -> None:
    made = crowd()
    person, question = made.asked[0]
    tally = isolation.Tally()
    count(tally, made, person, question, [made.rows(person + 1).start])
    assert (tally.shares, tally.strangers) == ([0.0], 1)


def test_zipf_sizes_add_up_and_fall() -> None:
    sizes = zipf_sizes(1_000, 100_000)
    assert sum(sizes) == 100_000 and len(sizes) == 1_000 and list(sizes) == sorted(sizes, reverse=True)
    assert sizes[0] / sizes[9] == pytest.approx(10, rel=0.05) and sizes[-1] >= isolation.NEAREST


def test_a_ranking_is_counted_by_share_and_by_the_first() -> None:
    tally = questions.Tally()
    tally.count(frozenset("xy"), ["a", "x", "b", "y"])
    tally.count(frozenset("x"), ["a", "b"])
    assert tally.figures == pytest.approx({"recall@1": 0, "recall@3": 0.25, "recall@5": 0.5, "MRR@10": 0.25})


def test_reciprocal_ranks_join_two_rankings() -> None:
    assert reciprocal_ranks([1, 2, 3], [3]) == [3, 1, 2]
    assert reciprocal_ranks([1, 2], []) == [1, 2]


@pytest.mark.parametrize("name", SETS)
def test_the_lists_are_whole(name: str) -> None:
    asked = read_set(LISTS, name)
    assert len(asked.questions) >= 100
    for each in asked.questions:
        assert each.relevant and each.relevant <= {told.id for told in asked.memories[each.person]}


def test_only_what_is_too_slow_is_left_out_at_size() -> None:
    assert [set(MAKERS) - set(setup.peers) for setup in SETUPS] == [
        *(set() for _ in SETUPS[:-1]),
        set(isolation.TOO_SLOW_AT_SIZE),
    ]


def figure(measure: str, **more: object) -> dict[str, object]:
    return asdict(Figure(measure=measure, value=0.5, unit="", **more))  # type: ignore[arg-type]


def test_the_page_tells_the_figures_and_what_is_not_held() -> None:
    told = page(
        [
            figure("甲", goal="≥ 0.6", holds=False, peer={"别人": 0.75}, includes="百问"),
            figure("乙", goal="0", holds=True),
        ]
    )
    assert "| 甲 | 0.5 | ≥ 0.6 | **no** | 别人 0.75 | 百问 |" in told
    assert "aren't held: 甲." in told and "| 乙 | 0.5 | 0 | yes |  |  |" in told
    assert "png" not in told, "no plot of what wasn't measured"


def test_names_in_plots_need_no_chinese_font() -> None:
    ways = (questions.OURS, questions.DENSE, questions.LEXICAL, questions.BM25, questions.RRF)
    names = (*ways, questions.LITERAL, questions.UNBOUND, *MAKERS)
    titles = [title for plot in PLOTS for title in (plot.title, *(panel for panel, _ in plot.panels))]
    assert all(LABELS.get(name, name).isascii() for name in names) and all(map(str.isascii, titles))


def test_a_panel_holds_ours_first_and_every_peer() -> None:
    plot = PLOTS[0]
    title, measure = plot.panels[0]
    panels = panels_of(plot, {measure: figure(measure, peer={"只用向量": 0.25})})
    assert panels == {title: {"ours": 0.5, "dense alone": 0.25}}


def test_without_plots_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    (tmp_path / "memory.json").write_text(json.dumps([figure("甲")]), "utf-8")
    write_report(tmp_path / "docs")
    assert "| 甲 | 0.5 |" in (tmp_path / "docs" / "memory.md").read_text("utf-8")


def test_everybody_under_load_tells_something_else() -> None:
    words = Words(told=tuple(f"第{number}件" for number in range(60)), asked=())
    assert len({words.memory(number) for number in range(3_600)}) == 3_600
