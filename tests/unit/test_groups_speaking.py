"""When the bot speaks in a group: rule by rule, and which of two rules wins."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.commands.parsing import is_slash_command, is_switching_on
from bot.conversation.message import Kind, Message
from bot.groups.group_chats import GroupChats
from bot.groups.lines import GroupLines
from bot.groups.loops import AT_ONCE_SECONDS, SILENT_SECONDS, LoopGuard
from bot.groups.quiet import is_within, read_hours
from bot.groups.speaking import Hearing, Manners, WhenToSpeak
from bot.groups.switch import GroupSwitch
from tests.command_fakes import Switches
from tests.story_fakes import HandClock, message

GROUP = "30001"
PLACE = f"onebot:app:{GROUP}"
ADDRESSED, OVERHEARD, SILENT = Hearing.ADDRESSED, Hearing.OVERHEARD, Hearing.SILENT
NIGHT = datetime(2026, 3, 4, 16, 30, tzinfo=UTC)
"""Half past midnight in Beijing."""


@dataclass
class Group:
    """A group and a bot with manners in it."""

    manners: Manners = field(default_factory=Manners)
    longest: int = 2
    other_bots: tuple[str, ...] = ()
    dice: float = 0.5
    clock: HandClock = field(default_factory=HandClock)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.switches = Switches()
        self.switch = GroupSwitch(self.switches)
        self.speaking = WhenToSpeak(
            switch=self.switch,
            loops=LoopGuard(longest=self.longest, other_bots=self.other_bots, monotonic=lambda: self.seconds),
            manners=self.manners,
            is_switching_on=is_switching_on,
            is_command=is_slash_command,
            clock=self.clock,
            random=lambda: self.dice,
        )
        self.chats = GroupChats(lines=GroupLines(3, self.clock), speaking=self.speaking)
        self.count = 0

    def said(self, text: str, *, calls: bool = False, by: str = "li", kind: Kind = Kind.TEXT) -> Message:
        self.count += 1
        return message(
            f"m{self.count}", text, by=by, group=GROUP, is_addressed=calls, kind=kind, shown_name=f"名{by}"
        )

    def hear(self, text: str, **more: object) -> Hearing:
        return self.speaking.judge(self.said(text, **more))  # type: ignore[arg-type]

    def answer(self, said: Message, *, was_called: bool = True) -> Hearing:
        hearing = self.speaking.judge(said)
        if hearing is not SILENT:
            self.speaking.answered(said, hearing, was_called=was_called)
        return hearing


def test_as_it_comes_only_who_calls_is_answered() -> None:
    group = Group()
    assert group.hear("几点开门", calls=True) is ADDRESSED
    assert group.hear("几点开门") is SILENT
    assert group.hear("/帮助") is SILENT
    assert group.hear("/帮助", calls=True) is ADDRESSED


def test_a_keyword_calls_whatever_its_width_and_case() -> None:
    group = Group(Manners(keywords=("客服", "VIP")))
    assert group.hear("有没有客服在") is ADDRESSED
    assert group.hear("ｖｉｐ怎么办") is ADDRESSED
    assert group.hear("客人服务") is SILENT
    assert group.hear("客服", kind=Kind.VOICE) is SILENT


def test_commands_may_do_without_a_call() -> None:
    group = Group(Manners(commands_need_call=False))
    assert group.hear("/帮助") is ADDRESSED
    assert group.hear("／我的记忆") is ADDRESSED
    assert group.hear("/shrug") is SILENT
    assert group.hear("帮助") is SILENT


@pytest.mark.parametrize(
    ("dice", "hearing"), [(0.0, OVERHEARD), (0.19, OVERHEARD), (0.2, SILENT), (0.9, SILENT)]
)
def test_it_joins_in_at_the_rate_it_may(dice: float, hearing: Hearing) -> None:
    assert Group(Manners(random_rate=0.2), dice=dice).hear("今天真热") is hearing


def test_at_rate_zero_it_never_joins_in() -> None:
    assert Group(Manners(keywords=("x",)), dice=0.0).hear("今天真热") is SILENT


def test_in_quiet_hours_only_who_calls_is_answered() -> None:
    group = Group(
        Manners(
            keywords=("客服",), random_rate=1.0, commands_need_call=False, quiet=read_hours("23:00-07:00")
        )
    )
    group.clock.time = NIGHT
    assert group.hear("客服在吗") is SILENT
    assert group.hear("今天真热") is SILENT
    assert group.hear("客服在吗", calls=True) is ADDRESSED
    assert group.hear("/帮助") is ADDRESSED
    group.clock.time = NIGHT + timedelta(hours=6, minutes=30)
    assert group.hear("客服在吗") is ADDRESSED


def test_between_two_unasked_answers_it_waits() -> None:
    group = Group(Manners(keywords=("客服",), cooldown=timedelta(seconds=30)))
    assert group.answer(group.said("客服"), was_called=False) is ADDRESSED
    group.clock.advance(seconds=29)
    assert group.hear("客服") is SILENT
    assert group.hear("客服", calls=True) is ADDRESSED
    group.clock.advance(seconds=1)
    assert group.hear("客服") is ADDRESSED


def test_an_answer_to_a_call_begins_no_wait() -> None:
    group = Group(Manners(keywords=("客服",), cooldown=timedelta(seconds=30)))
    group.answer(group.said("几点开门", calls=True))
    assert group.hear("客服") is ADDRESSED


async def test_switched_off_it_hears_nothing_but_its_being_switched_on() -> None:
    group = Group(Manners(keywords=("客服",), random_rate=1.0))
    await group.switch.turn(PLACE, is_on=False)
    assert group.switches.off == {PLACE}
    assert group.hear("客服") is SILENT
    assert group.hear("几点开门", calls=True) is SILENT
    assert group.hear("/关闭", calls=True) is SILENT
    assert group.hear("/开启") is SILENT
    assert group.hear("/开启", calls=True) is ADDRESSED
    await group.switch.turn(PLACE, is_on=True)
    assert group.hear("几点开门", calls=True) is ADDRESSED


async def test_what_was_switched_off_stays_so_after_a_restart() -> None:
    group = Group()
    group.switches.off.add(PLACE)
    assert group.hear("几点开门", calls=True) is ADDRESSED
    await group.switch.load()
    assert group.hear("几点开门", calls=True) is SILENT


def test_a_known_bot_is_never_answered() -> None:
    group = Group(other_bots=("onebot:robot",))
    assert group.hear("你好", calls=True, by="robot") is SILENT
    assert group.hear("你好", calls=True) is ADDRESSED


def test_who_calls_at_once_after_each_answer_is_left_alone_for_a_while() -> None:
    group = Group(longest=2)
    for _ in range(3):
        assert group.answer(group.said("你好", calls=True)) is ADDRESSED
        group.seconds += AT_ONCE_SECONDS - 0.1
    assert group.hear("你好", calls=True) is SILENT
    assert group.hear("你好", calls=True, by="wang") is ADDRESSED
    group.seconds += SILENT_SECONDS
    assert group.hear("你好", calls=True) is ADDRESSED


def test_who_takes_the_time_to_read_is_no_bot() -> None:
    group = Group(longest=2)
    for _ in range(20):
        assert group.answer(group.said("接龙", calls=True)) is ADDRESSED
        group.seconds += AT_ONCE_SECONDS


def test_many_calls_before_the_first_answer_are_no_loop() -> None:
    group = Group(longest=2)
    first = [group.said("你好", calls=True) for _ in range(10)]
    assert {group.speaking.judge(each) for each in first} == {ADDRESSED}
    for each in first:
        group.speaking.answered(each, ADDRESSED, was_called=True)
    assert group.hear("你好", calls=True) is ADDRESSED


def test_the_guard_can_be_off() -> None:
    group = Group(longest=0)
    assert {group.answer(group.said("你好", calls=True)) for _ in range(50)} == {ADDRESSED}


@pytest.mark.parametrize(
    ("hours", "at", "is_quiet"),
    [
        ("23:00-07:00", "2026-03-04T15:00Z", True),
        ("23:00-07:00", "2026-03-04T14:59Z", False),
        ("23:00-07:00", "2026-03-04T23:00Z", False),
        ("12:30-13:30", "2026-03-04T04:30Z", True),
        ("12:30-13:30", "2026-03-04T05:30Z", False),
        ("01:00-02:00，23:00－24:00", "2026-03-04T15:30Z", True),
        ("01：00～02：00", "2026-03-04T17:30Z", True),
        ("", "2026-03-04T15:00Z", False),
    ],
)
def test_hours(hours: str, at: str, is_quiet: bool) -> None:
    assert is_within(read_hours(hours), datetime.fromisoformat(at)) is is_quiet


@pytest.mark.parametrize("hours", ["23-7", "25:00-07:00", "晚上", "07:00-07:00", "23:00", "23:00-07:99"])
def test_hours_that_are_none_are_refused(hours: str) -> None:
    with pytest.raises(ValueError, match=r"[一-鿿]"):
        read_hours(hours)


def test_a_private_message_passes_unchanged() -> None:
    said = message("p", "你好")
    heard = Group().chats.hear(said)
    assert heard.message is said and not heard.is_overheard


def test_a_line_nobody_answers_is_context_for_the_next_answer() -> None:
    group = Group()
    assert not group.chats.hear(group.said("周五晚上开团", by="wang")).message.is_addressed
    asked = group.said("几点来着", calls=True)
    heard = group.chats.hear(asked)
    assert heard.message.is_addressed
    assert [(line.name, line.text) for line in group.chats.recent(asked)] == [("名wang", "周五晚上开团")]


def test_who_is_overheard_is_answered_and_marked() -> None:
    group = Group(Manners(random_rate=1.0))
    heard = group.chats.hear(group.said("今天真热"))
    assert heard.message.is_addressed and heard.is_overheard and not heard.was_called
    assert replace(heard.message, is_addressed=False).text == "今天真热"
