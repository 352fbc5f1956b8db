"""The long-text benchmark counts right and refuses in words; what it measures, it measures elsewhere."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from benchmarks import long_text, report
from benchmarks.long_text import (
    PARAPHRASED,
    Asked,
    Question,
    Unmeasurable,
    ranks_of,
    read_questions,
    read_text,
)


def asked(*ranks: int) -> list[Asked]:
    question = Question(text="问？", answers=("答",))
    return [Asked(question=question, rank=rank, by_words=0, by_meaning=1, seconds=0.01) for rank in ranks]


def test_a_question_counts_when_its_passage_is_among_the_first_five() -> None:
    recall, reciprocal = ranks_of(asked(1, 5, 6, 0), "问", 100, has_goal=True)
    assert (recall.value, recall.goal, recall.holds) == (0.5, "≥ 0.8", False)
    assert recall.peer == {"只用关键词": 0.0, "只用向量": 1.0}
    assert reciprocal.value == round((1 + 1 / 5 + 1 / 6) / 4, 3)
    assert ranks_of(asked(1, 2, 3, 4, 6), "问", 100, has_goal=True)[0].holds is True
    assert ranks_of(asked(0), "问", 100, has_goal=False)[0].holds is None


def test_white_space_does_not_hide_an_answer() -> None:
    question = Question(text="问？", answers=(long_text.without_space("cat - >>.ssh/authorized_keys"),))
    assert question.is_answered_by('"cat - >>\n    .ssh/authorized_keys"')
    assert not question.is_answered_by("cat")


def test_a_text_is_cut_between_characters(tmp_path: Path) -> None:
    packed = tmp_path / "手册.gz"
    packed.write_bytes(gzip.compress("汉字".encode()))
    assert read_text(packed, 100) == "汉字".encode()
    assert read_text(packed, 4) == "汉".encode()


def test_only_questions_that_the_text_answers_are_asked(capsys: pytest.CaptureFixture[str]) -> None:
    (question,) = read_questions("前文。fromdos(1),\n  todos(1), frommac(1) 后文。".encode(), PARAPHRASED)
    assert "Windows" in question.text
    assert "不是完整的" in capsys.readouterr().out
    with pytest.raises(Unmeasurable):
        read_questions("别的书。".encode(), PARAPHRASED)


def test_a_missing_text_is_said_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["long_text", "--text", str(tmp_path / "没有.gz")])
    assert long_text.main() == 2
    assert "debian-reference-zh-cn" in capsys.readouterr().err


def test_what_does_not_hold_fails_and_is_written_down(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")
    assert report.publish("x", ranks_of(asked(1), "问", 100, has_goal=True)) == 0
    assert report.publish("x", ranks_of(asked(0), "问", 100, has_goal=True)) == 1
    rows = json.loads((tmp_path / "results" / "x.json").read_text("utf-8"))
    assert set(rows[0]) == {"measure", "value", "unit", "goal", "holds", "peer", "includes"}
    assert str(tmp_path) not in json.dumps(rows)
