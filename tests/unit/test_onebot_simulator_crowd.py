"""The crowd of the OneBot simulator: what it says, and the account of what it got."""

from typing import Any

from simulators.onebot import SentMessage, account_of, crowd
from simulators.onebot.crowd import Said


def sent(text: str, *, at: int | None = None, reply_to: int | None = None) -> SentMessage:
    segments: list[dict[str, Any]] = [{"type": "text", "data": {"text": text}}]
    if at is not None:
        segments.insert(0, {"type": "at", "data": {"qq": str(at)}})
    if reply_to is not None:
        segments.insert(0, {"type": "reply", "data": {"id": str(reply_to)}})
    return SentMessage(message_id=1, group_id=30001, user_id=None, segments=tuple(segments))


def test_fifty_members_write_two_hundred_lines():
    lines = crowd()
    assert len(lines) == 200
    assert len({line.user_id for line in lines}) == 50
    assert len({line.marker for line in lines}) == 200
    assert all(line.marker in line.words for line in lines)
    times = [line.at_seconds for line in lines]
    assert times == sorted(times)
    assert 0 <= times[0] <= times[-1] <= 10
    assert 60 < sum(line.is_addressed for line in lines) < 140
    assert crowd() == lines
    assert crowd(seed=1) != lines
    for user in {line.user_id for line in lines}:
        numbers = [line.number for line in lines if line.user_id == user]
        assert numbers == list(range(1, len(numbers) + 1))


LINES = crowd(members=2, messages=6, addressed=1.0)
SAID = [Said(line=line, message_id=number) for number, line in enumerate(LINES, start=100)]


def test_one_answer_to_each_is_exact():
    account = account_of(SAID, [sent(f"好 {line.marker}", at=line.user_id) for line in LINES])
    assert account.is_exact
    assert account_of(SAID, [sent("好", reply_to=each.message_id) for each in SAID]).is_exact


def test_what_is_wrong_is_told():
    right = [sent(f"好 {line.marker}", at=line.user_id) for line in LINES]
    assert account_of(SAID, right[1:]).unanswered == (LINES[0].marker,)
    assert account_of(SAID, [*right, right[-1]]).repeated == (LINES[-1].marker,)
    assert account_of(SAID, [*right, sent("大家好")]).unasked == (sent("大家好"),)
    other = next(line.user_id for line in LINES if line.user_id != LINES[0].user_id)
    crossed = [sent(f"好 {LINES[0].marker}", at=other), *right[1:]]
    assert account_of(SAID, crossed).crossed == (crossed[0],)
    mixed = [sent(f"{LINES[0].marker} {LINES[1].marker}"), *right[1:]]
    assert account_of(SAID, mixed).crossed == (mixed[0],)
    assert set(account_of(SAID, right[::-1]).out_of_order) == {line.user_id for line in LINES}


def test_lines_for_nobody_want_no_answer():
    quiet = crowd(members=2, messages=4, addressed=0.0)
    said = [Said(line=line, message_id=1) for line in quiet]
    assert account_of(said, []).is_exact
    assert len(account_of(said, [sent(quiet[0].marker)]).unasked) == 1
