"""When turns are condensed, what of them a model is given, and which text is a summary."""

from datetime import timedelta

import pytest

from bot.conversation.turn import Turn
from bot.memory.summarising import LONGEST_GIVEN, LONGEST_SUMMARY, by_rules, checked, given
from bot.memory.summary import DueSummary, OpenTalk, RecentTalk, Summary, SummaryRule
from tests.memory_fakes import NOW

RULE = SummaryRule(after_turns=15, keeps=3, budget_tokens=2000)
BEFORE = Summary(text="用户在挑给妈妈的零食。", from_turn=1, to_turn=9, at=NOW)


def turn(number: int, question: str = "问", answer: str = "答", *, days: float = 0) -> Turn:
    return Turn(id=number, question=question, answer=answer, at=NOW + timedelta(days=days))


def talk(*lengths: int, previous: Summary | None = None, is_lost: bool = False) -> OpenTalk:
    turns = tuple(turn(number, "字" * length, "") for number, length in enumerate(lengths, 1))
    return OpenTalk(turns=turns, previous=previous, is_lost=is_lost)


def due_of(*questions: str, previous: Summary | None = None) -> DueSummary:
    turns = tuple(turn(number, text) for number, text in enumerate(questions, 10))
    return DueSummary(turns=turns, previous=previous)


class TestRule:
    def test_at_fifteen_turns_all_but_three_are_due(self) -> None:
        assert RULE.due(talk(*[1] * 14)) is None
        due = RULE.due(talk(*[1] * 15))
        assert due is not None and [each.id for each in due.turns] == list(range(1, 13))
        assert not due.can_wait

    def test_fewer_are_due_when_the_budget_is_spent(self) -> None:
        assert RULE.due(talk(*[500] * 4)) is None
        due = RULE.due(talk(*[501] * 4))
        assert due is not None and [each.id for each in due.turns] == [1]
        assert due.can_wait, "it is not worth a call of its own"

    def test_the_newest_are_never_condensed(self) -> None:
        assert RULE.due(talk(*[9000] * 3)) is None
        assert RULE.due(talk()) is None

    def test_one_that_was_lost_is_due_at_once(self) -> None:
        due = RULE.due(talk(*[1] * 4, is_lost=True))
        assert due is not None and len(due.turns) == 1

    def test_it_goes_on_from_the_one_before(self) -> None:
        due = RULE.due(talk(*[1] * 15, previous=BEFORE))
        assert due is not None
        made = due.made("新的")
        assert (made.previous, made.turns, made.at) == (BEFORE, tuple(range(1, 13)), NOW)


def test_what_is_fresh_no_summary_tells_of() -> None:
    turns = (turn(1), turn(2), turn(3))
    assert RecentTalk(turns=turns).fresh == turns
    assert RecentTalk(turns=turns, summaries=(BEFORE,), condensed=frozenset({1, 2})).fresh == turns[2:]


class TestGiven:
    def test_turns_with_their_days_after_the_summary_before(self) -> None:
        due = DueSummary(
            turns=(turn(1, "有花生吗", "没有"), turn(2, "那来两盒", "好的", days=1)), previous=BEFORE
        )
        assert given(due, is_group=False) == {
            "earlier_summary": BEFORE.text,
            "earlier_turns": [
                {"date": "2026-11-29", "user": "有花生吗", "bot": "没有"},
                {"date": "2026-11-30", "user": "那来两盒", "bot": "好的"},
            ],
        }

    def test_no_secret_and_no_more_than_fits(self) -> None:
        secret = "4111111111111111"
        turns = tuple(turn(number, f"{number}卡{secret}" + "字" * 900, secret) for number in range(100, 140))
        told = str(given(DueSummary(turns=turns), is_group=False))
        assert secret not in told and len(told) < LONGEST_GIVEN * 1.5
        assert "139卡" in told and "100卡" not in told, "the newest"

    def test_claims_about_others_are_left_out_in_a_group(self) -> None:
        due = due_of("张三欠我钱，我下周要去北京")
        assert "张三" in str(given(due, is_group=False))
        of_group = str(given(due, is_group=True))
        assert "张三" not in of_group and "北京" in of_group


class TestChecked:
    DUE = due_of("燕麦饼干里有花生吗", "那来两盒，单号SF1234567890123", previous=BEFORE)

    @pytest.mark.parametrize(
        "text",
        [
            "用户问过燕麦饼干有没有花生，要了两盒。",
            "用户在挑零食，2026年要了两盒饼干，单号SF1234567890123。",
            "11月29日（2026-11-29）用户要了两盒燕麦饼干。",
        ],
    )
    def test_what_was_said_holds(self, text: str) -> None:
        assert checked(text, self.DUE) == text

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "  ",
            "用户要了两盒燕麦饼干，单号SF9999999999999。",
            "抱歉，我无法帮助您。",
            "I cannot help with that.",
        ],
    )
    def test_what_was_not_is_none(self, text: str) -> None:
        assert checked(text, self.DUE) == ""

    def test_one_that_is_too_long_ends_with_a_sentence(self) -> None:
        sentence = "用户要了两盒燕麦饼干。"
        kept = checked(sentence * 100, self.DUE)
        assert len(sentence) < len(kept) <= LONGEST_SUMMARY and kept == sentence * (
            len(kept) // len(sentence)
        )
        assert checked("用户要了两盒燕麦饼干" * 100, self.DUE) == ""

    def test_it_stays_on_one_line_and_holds_no_secret(self) -> None:
        due = due_of("我的卡号4111111111111111，要两盒燕麦饼干")
        kept = checked("用户要了两盒\n\n# 燕麦饼干，卡号4111111111111111。", due)
        assert "4111111111111111" not in kept and "\n" not in kept and "燕麦饼干" in kept


class TestByRules:
    def test_the_persons_own_words_by_day(self) -> None:
        due = DueSummary(
            turns=(
                turn(1, "你好", "我是小记"),
                turn(2, "我对花生过敏，有什么推荐的？", "坚果不行"),
                turn(3, "单号SF1234567890123到哪了", days=1),
                turn(4, "我下周要去北京", days=1),
            )
        )
        assert by_rules(due, is_group=False).split("\n") == [
            "2026-11-29：我对花生过敏",
            "2026-11-30：提到单号SF1234567890123；说到物流；我下周要去北京",
        ]

    def test_it_goes_on_from_the_one_before_and_says_nothing_twice(self) -> None:
        first = by_rules(due_of("我对花生过敏"), is_group=False)
        before = Summary(text=first, from_turn=1, to_turn=2, at=NOW)
        again = by_rules(due_of("我对花生过敏", "我穿 M 码", previous=before), is_group=False)
        assert again == "2026-11-29：我对花生过敏\n2026-11-29：我穿 M 码"

    def test_where_nothing_was_stated_it_says_so(self) -> None:
        assert (
            by_rules(due_of("几点开门", "在哪里"), is_group=False)
            == "2026-11-29：聊了 2 轮，没有说到自己的事"
        )

    def test_it_stays_short_and_says_what_it_left_out(self) -> None:
        summary: Summary | None = None
        for day in range(60):
            due = DueSummary(turns=(turn(day + 1, f"我喜欢第{day}号茶馆的茶", days=day),), previous=summary)
            text = by_rules(due, is_group=False)
            assert len(text) <= LONGEST_SUMMARY
            summary = Summary(text=text, from_turn=1, to_turn=day + 1, at=NOW)
        assert summary is not None
        lines = summary.text.split("\n")
        assert lines[0] == "（更早的从略）" and "第59号" in lines[-1] and "第0号" not in summary.text

    def test_no_secret_no_order_and_in_a_group_nothing_of_others(self) -> None:
        due = due_of("我的卡是4111111111111111", "以后你必须叫我主人", "我喜欢的那个她骗了我")
        told = by_rules(due, is_group=True)
        assert "4111" not in told and "主人" not in told and "骗" not in told
