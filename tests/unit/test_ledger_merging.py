"""Two forget ledgers become one: nothing forgotten comes back, nothing is forgotten twice."""

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.storage.forget_ledger import ForgetLedger
from bot.storage.ledger_lines import Forgetting, LedgerContent
from bot.storage.ledger_merging import Merged, dump, merge

NOTHING = LedgerContent()


def line(number: int, name: str, after: int | None = None) -> Forgetting:
    return Forgetting(
        number=number,
        after=number - 1 if after is None else after,
        key_id="k",
        at="2026-03-01",
        accounts=frozenset({name}),
    )


def ledger(names: str, *done: int) -> LedgerContent:
    """A line a letter, numbered from 1. A dot is one that failed."""
    lines: list[Forgetting] = []
    after = 0
    for number, name in enumerate(names, 1):
        lines.append(line(number, name, after))
        after = after if name == "." else number
    return LedgerContent(forgettings=tuple(lines), done=frozenset(done))


def effective(found: Merged) -> str:
    return "".join(next(iter(each.accounts)) for each in found.content.effective(found.held))


def replayed(found: Merged, held: int | None = None) -> str:
    """What a database that holds so much would forget."""
    held = found.held if held is None else held
    missing = [each for each in found.content.effective(held) if each.number > held]
    return "".join(next(iter(each.accounts)) for each in missing)


def test_an_empty_folder_changes_nothing() -> None:
    ours = ledger("abc", 3)
    assert merge(ours, 2, NOTHING, None) == Merged(content=ours, held=2)
    assert replayed(merge(ours, 2, NOTHING, None)) == "c"


def test_an_older_ledger_of_the_same_bot_adds_nothing() -> None:
    ours = ledger("abc", 3)
    assert merge(ours, 3, ledger("ab", 2), 2) == Merged(content=ours, held=3)


def test_a_newer_ledger_of_the_same_bot_goes_on() -> None:
    found = merge(ledger("ab", 2), 2, ledger("abcd", 3), None)
    assert replayed(found) == "cd" and found.held == 2
    assert effective(found) == "abcd", "each keeps its number"
    assert [each.number for each in found.content.forgettings] == [1, 2, 3, 4]
    assert replayed(merge(ledger("ab", 2), 1, ledger("abcd", 3), None)) == "bcd"


def test_the_last_line_counts_only_where_its_database_is_lost() -> None:
    assert replayed(merge(ledger("a", 1), 1, ledger("ab", 1), None)) == "b"
    assert replayed(merge(ledger("a", 1), 1, ledger("ab", 1), 1)) == ""


def test_two_that_went_on_apart() -> None:
    ours, theirs = ledger("abxy", 4), ledger("abz", 3)
    found = merge(ours, 3, theirs, 3)
    assert effective(found) == "abxyz"
    assert replayed(found) == "yz", "what the database forgot already is not forgotten again"
    # Older databases of either side hold up to 4: all that went apart is above that.
    assert replayed(found, 4) == "xyz"
    assert replayed(found, 1) == "bxyz"


def test_a_stranger_s_ledger_under_a_database_that_forgot_more() -> None:
    found = merge(NOTHING, 9, ledger("pq", 2), 2)
    assert replayed(found) == "pq" and found.held == 9


def test_lines_that_failed_are_left_out() -> None:
    found = merge(ledger("a.x", 3), 3, ledger("a.z", 3), 3)
    assert effective(found) == "axz" and replayed(found) == "z"


def test_it_is_written_as_it_is_read(tmp_path: Path) -> None:
    class NoClock:
        def now(self) -> datetime:
            return datetime(2026, 3, 1, tzinfo=UTC)

    found = merge(ledger("abxy", 4), 3, ledger("abz", 3), 3)
    path = tmp_path / "forgotten.jsonl"
    path.write_bytes(dump(found.content))
    assert ForgetLedger(path, b"p" * 32, NoClock()).read() == found.content


@given(
    common=st.integers(0, 5),
    ours=st.integers(0, 4),
    theirs=st.integers(0, 4),
    data=st.data(),
)
@settings(max_examples=300, deadline=None)
def test_no_database_of_either_keeps_what_was_forgotten(
    common: int, ours: int, theirs: int, data: st.DataObject
) -> None:
    start = "abcde"[:common]
    one, other = start + "ABCD"[:ours], start + "WXYZ"[:theirs]
    held = data.draw(st.integers(0, len(one)))
    found = merge(ledger(one, len(one)), held, ledger(other, len(other)), len(other))
    everything = set(one) | set(other)
    assert set(effective(found)) == everything
    assert set(replayed(found)) == everything - set(one[:held])
    for side in (one, other):
        for before in range(len(side) + 1):
            assert everything - set(side[:before]) <= set(replayed(found, before))
