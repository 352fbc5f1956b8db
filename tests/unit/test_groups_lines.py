"""The lines of a group: whose, how many, how long, and how they are dropped."""

from datetime import timedelta

from bot.conversation.message import Kind
from bot.groups import lines as module
from bot.groups.lines import KEPT, LONGEST_LINE, GroupLines
from tests.story_fakes import HandClock, account_key, message

ONE, OTHER = "30001", "30002"
PLACE, OTHER_PLACE = f"onebot:app:{ONE}", f"onebot:app:{OTHER}"


def texts(lines: GroupLines, place: str = PLACE) -> list[str]:
    return [line.text for line in lines.recent(place)]


def test_the_last_ones_are_kept_oldest_first() -> None:
    lines = GroupLines(3, HandClock())
    for number in range(5):
        lines.note(message(f"{number}", f"第{number}句", group=ONE))
    assert texts(lines) == ["第2句", "第3句", "第4句"]


def test_what_is_answered_is_not_its_own_context() -> None:
    lines = GroupLines(3, HandClock())
    said = [message(f"{number}", f"第{number}句", group=ONE) for number in range(5)]
    for each in said[:4]:
        lines.note(each)
    assert [line.text for line in lines.recent(PLACE, before=said[3])] == ["第0句", "第1句", "第2句"]
    lines.note(said[4])  # somebody was quicker than the answer
    assert [line.text for line in lines.recent(PLACE, before=said[3])] == ["第0句", "第1句", "第2句"]


def test_what_came_after_a_message_is_never_its_context() -> None:
    lines = GroupLines(3, HandClock())
    said = [message(f"{number}", f"第{number}句", group=ONE) for number in range(30)]
    lines.note(said[0])
    for number, later in enumerate(said[1:], start=1):
        lines.note(later)
        assert lines.recent(PLACE, before=said[0]) == ()
        expected = [f"第{n}句" for n in range(max(0, number - 4), number - 1)]
        assert [line.text for line in lines.recent(PLACE, before=said[number - 1])] == expected


def test_what_leaves_no_line_has_all_of_them_for_context() -> None:
    lines = GroupLines(3, HandClock())
    lines.note(message("1", "你好", group=ONE))
    for asked in (message("2", "匿名的话", by="", group=ONE), message("3", "图", kind=Kind.IMAGE, group=ONE)):
        assert [line.text for line in lines.recent(PLACE, before=asked)] == ["你好"]


def test_a_line_says_who_spoke_when_and_whether_it_was_the_bot() -> None:
    clock = HandClock()
    lines = GroupLines(3, clock)
    lines.note(message("1", "你好", group=ONE, shown_name="小记"))
    first = clock.now()
    clock.advance(seconds=5)
    lines.note_own(PLACE, "您好")
    lines.note_own(PLACE, "")
    said = [(line.name, line.text, line.at, line.is_bot) for line in lines.recent(PLACE)]
    assert said == [("小记", "你好", first, False), ("", "您好", clock.now(), True)]


def test_words_of_a_voice_message_are_a_line_and_a_tap_is_none() -> None:
    lines = GroupLines(3, HandClock())
    lines.note(message("1", "说的话", kind=Kind.VOICE, group=ONE))
    lines.note(message("2", "按钮", kind=Kind.CLICK, group=ONE))
    assert texts(lines) == ["说的话"]


def test_groups_are_kept_apart() -> None:
    lines = GroupLines(3, HandClock())
    lines.note(message("1", "一群", group=ONE))
    lines.note(message("2", "二群", group=OTHER))
    assert texts(lines) == ["一群"] and texts(lines, OTHER_PLACE) == ["二群"]


def test_the_same_message_is_one_line() -> None:
    lines = GroupLines(3, HandClock())
    for _ in range(3):
        lines.note(message("1", "你好", group=ONE))
    lines.note(message("1", "我也好", by="wang", group=ONE))
    assert texts(lines) == ["你好", "我也好"]


def test_of_anonymous_people_and_pictures_nothing_is_kept() -> None:
    lines = GroupLines(3, HandClock())
    lines.note(message("1", "匿名的话", by="", group=ONE))
    lines.note(message("2", "图", kind=Kind.IMAGE, group=ONE))
    assert texts(lines) == []


def test_a_talk_that_paused_is_over() -> None:
    clock = HandClock()
    lines = GroupLines(3, clock)
    lines.note(message("1", "早", group=ONE))
    clock.advance(seconds=KEPT.total_seconds() - 1)
    assert texts(lines) == ["早"]
    clock.advance(seconds=1)
    assert texts(lines) == []
    assert timedelta(minutes=30) == KEPT


def test_none_are_kept_where_none_are_wanted() -> None:
    lines = GroupLines(0, HandClock())
    lines.note(message("1", "你好", group=ONE))
    lines.note_own(PLACE, "您好")
    assert texts(lines) == []


def test_a_long_line_is_cut() -> None:
    lines = GroupLines(3, HandClock())
    lines.note(message("1", "长" * 1000, group=ONE))
    assert len(texts(lines)[0]) == LONGEST_LINE == 200


def test_who_is_forgotten_leaves_no_line_nor_the_answers_that_may_repeat_it() -> None:
    lines = GroupLines(9, HandClock())
    lines.note(message("1", "我住杭州", group=ONE))
    lines.note_own(PLACE, "好的，您住杭州。")
    lines.note(message("2", "我住苏州", by="wang", group=ONE))
    lines.note(message("3", "我姓王", by="wang", group=OTHER))
    lines.note_own(OTHER_PLACE, "王先生好。")
    lines.drop_account(account_key("li"))
    assert texts(lines) == ["我住苏州"]
    assert texts(lines, OTHER_PLACE) == ["我姓王", "王先生好。"]
    lines.note(message("4", "还在", group=ONE))
    assert texts(lines) == ["我住苏州", "还在"]


def test_a_cleared_group_has_no_lines() -> None:
    lines = GroupLines(9, HandClock())
    lines.note(message("1", "你好", group=ONE))
    lines.drop_place(PLACE)
    lines.drop_place("onebot:app:nowhere")
    assert texts(lines) == []


def test_a_command_is_taken_out_again() -> None:
    lines = GroupLines(9, HandClock())
    said = message("1", "/帮助", group=ONE)
    lines.note(said)
    lines.note(message("1", "同一个号", by="wang", group=ONE))
    lines.drop_message(said)
    lines.drop_message(said)
    assert texts(lines) == ["同一个号"]


def test_the_group_that_was_silent_longest_makes_room(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_GROUPS", 2)
    lines = GroupLines(3, HandClock())
    for group in ("a", "b", "a", "c"):
        lines.note(message(group, group=group))
    assert texts(lines, "onebot:app:b") == []
    assert texts(lines, "onebot:app:a") and texts(lines, "onebot:app:c")
