"""The forget ledger: what was committed is told from what was not, and no line says who or what."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.conversation.errors import ConfigurationError, StoreUnavailable
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.ledger_lines import Act, ActKind, read_entry, write_entry

PEPPER = b"p" * 32


class Clock:
    def now(self) -> datetime:
        return datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def ledger(tmp_path: Path) -> ForgetLedger:
    return ForgetLedger(tmp_path / "forgotten.jsonl", PEPPER, Clock())


def numbers(ledger: ForgetLedger, *known: int) -> list[int]:
    return [each.number for each in ledger.read().effective(*known)]


def test_a_forgetting_counts_once_it_is_done_or_a_database_holds_it(ledger: ForgetLedger) -> None:
    assert ledger.read().last == 0 and numbers(ledger, 0) == []
    assert ledger.begin(0, accounts=["a"]) == 1
    assert numbers(ledger) == [] and numbers(ledger, 1) == [1]
    ledger.confirm(1)
    assert numbers(ledger) == [1]
    assert ledger.path.stat().st_mode & 0o077 == 0


def test_one_that_failed_is_in_nobodys_chain(ledger: ForgetLedger) -> None:
    ledger.confirm(ledger.begin(0, accounts=["a"]))
    ledger.begin(1, accounts=["failed"])
    third = ledger.begin(1, accounts=["c"])  # the database still held number 1
    assert third == 3
    assert numbers(ledger, third) == [1, 3]
    ledger.confirm(third)
    assert numbers(ledger) == [1, 3]


def test_two_in_one_commit_are_both_done_when_the_later_is(ledger: ForgetLedger) -> None:
    ledger.begin(ledger.begin(0, accounts=["a"]), accounts=["b"])
    ledger.confirm(2)
    assert numbers(ledger) == [1, 2]


def test_a_ledger_that_was_lost_goes_on_above_the_database(ledger: ForgetLedger) -> None:
    assert ledger.begin(10, accounts=["a"]) == 11
    assert numbers(ledger, 11) == [11]


def test_confirming_twice_or_nothing_writes_nothing(ledger: ForgetLedger) -> None:
    ledger.confirm(0)
    ledger.confirm(7)
    assert not ledger.path.exists()
    number = ledger.begin(0, accounts=["a"])
    ledger.confirm(number)
    before = ledger.path.read_bytes()
    ledger.confirm(number)
    assert ledger.path.read_bytes() == before


def test_names_depend_on_every_part_and_on_the_pepper(ledger: ForgetLedger) -> None:
    names = {
        ledger.account("wechat", "wx1", "oA"),
        ledger.account("wechat", "wx", "1oA"),
        ledger.account("wechat", "wx1", "oB"),
        ledger.message("wechat", "wx1", "oA"),
        ledger.place("wechat:wx1:oA"),
        ledger.place("wechat:wx1:oB"),
        ledger.fact(("wechat", "wx1", "oA"), "", "茶"),
        ledger.fact(("wechat", "wx1", "oA"), "g", "茶"),
        ledger.fact(("wechat", "wx1", "o"), "A", "茶"),
        ForgetLedger(ledger.path, b"q" * 32, Clock()).account("wechat", "wx1", "oA"),
    }
    assert len(names) == 10
    ledger.begin(
        0, accounts=[ledger.account("wechat", "wx1", "oA")], facts=[ledger.fact(("w", "x", "oA"), "", "茶")]
    )
    text = ledger.path.read_text()
    assert "oA" not in text and "茶" not in text and "\\u8336" not in text


def test_a_torn_last_line_was_never_committed_and_is_cut_off(ledger: ForgetLedger) -> None:
    ledger.begin(0, accounts=["a"])
    with ledger.path.open("ab") as file:
        file.write(b'{"n":2,"after":1,"at"')
    assert ledger.read().last == 1
    assert ledger.begin(1, accounts=["b"]) == 2
    assert numbers(ledger, 2) == [1, 2]
    assert all(json.loads(line) for line in ledger.path.read_text().splitlines())


def test_a_line_longer_than_a_look_from_the_end_is_found(ledger: ForgetLedger) -> None:
    ledger.begin(0, messages=[f"{number:032x}" for number in range(40_000)])
    with ledger.path.open("ab") as file:
        file.write(b"x" * 10_000)
    assert ledger.begin(0, accounts=["b"]) == 2
    ledger.confirm(2)
    assert numbers(ledger) == [2]


def test_a_damaged_line_is_told_and_nothing_is_forgotten_on_it(ledger: ForgetLedger) -> None:
    ledger.path.write_text('{"n":1}\n')
    with pytest.raises(ConfigurationError, match="第 1 行"):
        ledger.read()
    with pytest.raises(StoreUnavailable):
        ledger.begin(0, accounts=["a"])


def test_no_room_for_the_ledger_means_no_forgetting(tmp_path: Path) -> None:
    ledger = ForgetLedger(tmp_path / "missing" / "forgotten.jsonl", PEPPER, Clock())
    with pytest.raises(StoreUnavailable):
        ledger.begin(0, accounts=["a"])


def test_a_place_is_noted_by_its_name_alone(ledger: ForgetLedger) -> None:
    name = ledger.place("onebot:10001:777000777")
    ledger.confirm(ledger.begin(0, places=[name]))
    (noted,) = ledger.read().effective()
    assert (noted.places, noted.accounts) == ({name}, frozenset())
    assert "777000777" not in ledger.path.read_text()


@pytest.mark.parametrize("kind", ActKind)
def test_an_act_is_read_as_it_was_written(ledger: ForgetLedger, kind: ActKind) -> None:
    act = Act(kind=kind, who=frozenset({"a", "b"}), others=frozenset({"c"}), at=1_767_322_800_000)
    ledger.begin(0, accounts=["a"], act=act)
    ledger.begin(1, act=Act(kind=kind, who=frozenset({"a"})))
    both, alone = ledger.read().forgettings
    assert (both.act, both.accounts, both.deletes, both.version) == (act, {"a"}, True, 2)
    assert alone.act == Act(kind=kind, who=frozenset({"a"})) and not alone.deletes
    lines = [json.loads(line) for line in ledger.path.read_text().splitlines()]
    assert [write_entry(read_entry(line)) for line in lines] == lines


def test_a_line_from_before_there_were_acts_is_read_and_written_as_it_is() -> None:
    line = {"n": 1, "after": 0, "at": "2026-03-01", "key": "k", "facts": ["f"], "messages": ["m"]}
    assert read_entry(line).version == 1 and read_entry(line).act is None
    assert write_entry(read_entry(line)) == line


def test_a_newer_line_is_refused_with_the_fix_and_nothing_is_forgotten_on_it(ledger: ForgetLedger) -> None:
    ledger.begin(0, accounts=["a"])
    with ledger.path.open("a") as file:
        file.write('{"v":3,"n":2,"after":1,"at":"","key":"k","act":"left"}\n')
    with pytest.raises(ConfigurationError, match="第 2 行是更新的程序写的") as raised:
        ledger.read()
    assert "升级" in raised.value.fix
    with pytest.raises(StoreUnavailable):
        ledger.begin(2, accounts=["b"])


def test_an_act_that_nobody_knows_is_damage(ledger: ForgetLedger) -> None:
    ledger.path.write_text('{"v":2,"n":1,"after":0,"at":"","key":"k","act":"sold","who":["a"]}\n')
    with pytest.raises(ConfigurationError, match="第 1 行看不懂"):
        ledger.read()
