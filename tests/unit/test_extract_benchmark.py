"""The extraction benchmark counts right: what is right is right, what is wrong is a miss, a half memory is one."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.extract import __main__ as bench
from benchmarks.extract import garbled_answers, orders, own_lists, promises


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["# 注释", *lines]), "utf-8")
    return path


def test_a_window_within_its_tolerance_is_right(tmp_path: Path) -> None:
    day = "2026-03-03T00:00:00+08:00\t2026-03-04T00:00:00+08:00\t"
    late = "2026-03-03T00:10:00+08:00\t2026-03-04T00:00:00+08:00\t"
    path = written(
        tmp_path / "t.tsv",
        f"昨天\t2026-03-04T12:00:00+08:00\t{day}",
        f"昨天\t2026-03-04T12:00:00+08:00\t{late}\t10m",
        f"昨天\t2026-03-04T12:00:00+08:00\t{late}\t9m",
        f"昨天\t2026-03-04T12:00:00+08:00\t{late}",
    )
    misses: list[str] = []
    figure = own_lists.times(path, misses)
    assert (figure.value, figure.holds, len(misses)) == (0.5, False, 2)


def test_spans_and_entities_count_what_is_missed_and_what_is_too_much(tmp_path: Path) -> None:
    spans = own_lists.spans(written(tmp_path / "s.tsv", "昨天和前天都行\t昨天|前天", "今天去\t"), [])
    assert spans.value == 0.8, "2 right of 2 listed and 3 found"
    whole, *by_type = own_lists.entities(
        written(tmp_path / "e.tsv", "一共三百块\tamount=三百块→300", "单号SF1234567890123\torder_id=SF9"), []
    )
    assert whole.value == 0.5 and [each.value for each in by_type] == [1.0, 0.0]


def test_noise_that_says_something_is_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "n.tsv", "。。。", "我对花生过敏", '"\\u554a"')
    assert [each.value for each in own_lists.noise(path, [])] == [1, 1, 1]


def row(output: str, *, must: list[str], may: list[str], keep: bool | None = True) -> str:
    expected: dict[str, Any] = {"must_facts": must, "may_texts": may, "keep": keep, "summary": ""}
    return json.dumps(
        {"output": output, "salvageable": bool(must), "mutation": ["x"], "expected": expected},
        ensure_ascii=False,
    )


def test_a_half_memory_is_counted_and_so_is_what_was_not_saved(tmp_path: Path) -> None:
    whole = '{"keep": true, "facts": [{"text": "我对花生过敏"}]}'
    path = tmp_path / "g.jsonl"
    path.write_text(
        "\n".join(
            [
                row(whole, must=["我对 花生过敏"], may=["我对花生过敏"]),
                row(whole, must=["我对花生过敏，也对虾过敏"], may=["我对花生过敏，也对虾过敏"]),
                row("对不起", must=[], may=[], keep=None),
            ]
        ),
        "utf-8",
    )
    halves, raised, saved = garbled_answers.figures(path, [])
    assert (halves.value, halves.holds, raised.value, saved.value) == (1, False, 0, 0.5)


async def test_an_order_is_found_again_or_asked_about(tmp_path: Path) -> None:
    told = {
        "kind": "tail",
        "turns": [{"n": 1, "text": "单号SF1234567890123"}, {"n": 2, "text": "单号SF9876543210987"}],
        "question": {"n": 3, "text": "尾号0123那单到哪了"},
        "answer": "SF1234567890123",
    }
    wrong = told | {"answer": "SF9876543210987"}
    doubtful = told | {
        "turns": [{"n": 1, "text": "单号SF1234567890123和SF9876540000123"}],
        "answer": None,
        "candidates": ["SF1234567890123", "SF9876540000123"],
    }
    path = tmp_path / "orders.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in (told, wrong, doubtful)), "utf-8")
    top_1, _, asked = await orders.figures(path, None, [], lambda done, total: None)
    assert (top_1.value, top_1.holds, asked.value) == (0.5, False, 1.0)


async def test_what_the_bot_promised_is_found_again(tmp_path: Path) -> None:
    told = {
        "kind": "promise",
        "turns": [{"n": 1, "text": "杯子碎了", "bot": "好的，给您补发一个，明天寄出"}],
        "question": {"n": 2, "text": "你答应我的呢"},
        "answer": "给您补发一个",
    }
    path = tmp_path / "orders.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in (told, told | {"answer": "退您20元"})), "utf-8")
    assert (await orders.figures(path, None, [], lambda done, total: None))[0].value == 0.5


def test_promises_are_counted_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    rows = [
        {"answer": "好的，明天我给您打电话。", "promises": ["明天我给您打电话"]},
        {"answer": "我给您退20元。", "promises": []},
        {"answer": "那件事我记着。", "promises": ["那件事我记着"]},
    ]
    path.write_text("\n".join(json.dumps(each) for each in rows), "utf-8")
    misses: list[str] = []
    assert [each.value for each in promises.figures(path, misses)] == [0.5, 0.5, 1]
    assert len(misses) == 2


def test_a_missing_list_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures, missing = bench.measures(tmp_path, tmp_path, [], has_vectors=False)
    assert figures == []
    assert {path.name for path in missing} >= {"time_zh.tsv", "orders.jsonl", "garbled.jsonl", "noise.tsv"}
