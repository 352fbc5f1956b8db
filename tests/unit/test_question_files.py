"""The questions that retrieval is judged by point at what is there, and do not give it away."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
HANDBOOK = ROOT / "tests/data/handbook.md"
QUESTIONS = ROOT / "benchmarks/questions"
FILES = (ROOT / "tests/data/handbook_questions.yaml", QUESTIONS / "debian_reference.yaml")
PLAIN = (QUESTIONS / "debian_reference_plain.yaml", QUESTIONS / "manpages_zh.yaml")
"""Written in the usual names of things, which their answers use too."""


@pytest.mark.parametrize("path", (*FILES, *PLAIN), ids=lambda path: path.stem)
def test_there_are_ten_questions_each_with_its_answer(path):
    questions = yaml.safe_load(path.read_text("utf-8"))["questions"]
    assert len({each["question"] for each in questions}) == len(questions) >= 10
    for each in questions:
        assert each["answer_contains"] and all(len(text) >= 3 for text in each["answer_contains"])


def test_an_answer_stands_in_one_place_of_the_handbook():
    text = HANDBOOK.read_text("utf-8")
    for each in yaml.safe_load(FILES[0].read_text("utf-8"))["questions"]:
        assert [text.count(answer) for answer in each["answer_contains"]] == [1], each["question"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_question_quotes_its_answer(path):
    for each in yaml.safe_load(path.read_text("utf-8"))["questions"]:
        question = each["question"]
        words = re.findall("(?=([一-鿿]{4}))", question)
        assert not any(word in answer for word in words for answer in each["answer_contains"]), question
