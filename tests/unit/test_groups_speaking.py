"""When the bot speaks in a group: rule by rule, and which of two rules wins."""

import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from bot.commands.parsing import is_slash_command, is_switching_on
from bot.conversation.errors import StoreUnavailable
from bot.conversation.local_time import LOCAL_TIME
from bot.conversation.message import Kind, Message, Reply
from bot.groups import loops as loops_module
from bot.groups import speaking as speaking_module
from bot.groups.group_chats import GroupChats
from bot.groups.lines import GroupLines
from bot.groups.loops import AT_ONCE_SECONDS, SILENT_SECONDS, LoopGuard
from bot.groups.quiet import is_within, read_hours
from bot.groups.speaking import Hearing, Manners, WhenToSpeak
from bot.groups.switch import GroupSwitch
from tests.command_fakes import Switches
from tests.story_fakes import HandClock, account_key, message

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

    def answer(self, said: Message, *, has_waited: bool = False) -> Hearing:
        hearing = self.speaking.judge(said, has_waited=has_waited)
        if hearing is not SILENT:
            self.speaking.answered(said)
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
    assert group.answer(group.said("客服")) is ADDRESSED
    group.clock.advance(seconds=29)
    assert group.hear("客服") is SILENT
    assert group.hear("客服", calls=True) is ADDRESSED
    group.clock.advance(seconds=1)
    assert group.hear("客服") is ADDRESSED


def test_the_wait_begins_before_the_answer_is_ready_and_again_with_it() -> None:
    group = Group(Manners(keywords=("客服",), cooldown=timedelta(seconds=30)))
    first = group.said("客服")
    assert group.speaking.judge(first) is ADDRESSED
    assert {group.hear("客服", by=f"p{number}") for number in range(20)} == {SILENT}
    group.clock.advance(seconds=20)
    group.speaking.answered(first)
    group.clock.advance(seconds=29)
    assert group.hear("客服") is SILENT
    group.clock.advance(seconds=1)
    assert group.hear("客服") is ADDRESSED


@pytest.mark.parametrize("manners", [Manners(keywords=("客服",)), Manners(random_rate=1.0)])
def test_a_message_whose_answer_failed_is_judged_as_before(manners: Manners) -> None:
    group = Group(replace(manners, cooldown=timedelta(seconds=30)))
    said = group.said("客服")
    hearing = group.speaking.judge(said)
    group.dice = 1.0
    assert hearing is not SILENT
    assert group.speaking.judge(said) is hearing
    assert group.speaking.judge(replace(said, sender=account_key("wang"))) is SILENT


def test_each_group_waits_for_itself() -> None:
    group = Group(Manners(keywords=("客服",), cooldown=timedelta(seconds=30)))
    assert group.answer(group.said("客服")) is ADDRESSED
    assert group.speaking.judge(message("x", "客服", group="30002", is_addressed=False)) is ADDRESSED
    assert group.hear("客服") is SILENT


def test_of_the_groups_that_wait_the_one_that_began_first_is_let_go(monkeypatch) -> None:
    monkeypatch.setattr(speaking_module, "MOST_GROUPS", 2)
    group = Group(Manners(keywords=("客服",), cooldown=timedelta(seconds=30)))

    def heard_in(name: str) -> Hearing:
        group.count += 1
        return group.speaking.judge(message(f"{group.count}", "客服", group=name, is_addressed=False))

    assert [heard_in("a"), heard_in("b")] == [ADDRESSED] * 2
    group.clock.advance(seconds=30)
    assert [heard_in("a"), heard_in("c")] == [ADDRESSED] * 2
    assert heard_in("a") is heard_in("c") is SILENT


@pytest.mark.parametrize("calls", [True, False])
def test_an_answer_to_a_call_or_a_command_begins_no_wait(calls: bool) -> None:
    group = Group(Manners(keywords=("客服",), cooldown=timedelta(seconds=30), commands_need_call=False))
    assert group.answer(group.said("/帮助", calls=calls)) is ADDRESSED
    assert group.hear("客服") is ADDRESSED


def test_a_keyword_without_a_visible_character_is_none() -> None:
    assert Group(Manners(keywords=("\u200b", " "))).hear("今天真热") is SILENT


def test_what_has_no_words_is_not_joined() -> None:
    group = Group(Manners(random_rate=1.0))
    assert group.speaking.judge(replace(group.said("一个表情"), text="")) is SILENT
    assert group.hear("[图片]", kind=Kind.IMAGE) is SILENT


def test_a_keyword_goes_before_chance() -> None:
    assert Group(Manners(keywords=("客服",), random_rate=1.0), dice=0.0).hear("客服") is ADDRESSED


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
    group.seconds += SILENT_SECONDS - AT_ONCE_SECONDS
    assert group.hear("你好", calls=True) is SILENT
    group.seconds += AT_ONCE_SECONDS
    for _ in range(3):
        assert group.answer(group.said("你好", calls=True)) is ADDRESSED
    assert group.hear("你好", calls=True) is SILENT


def test_a_bot_that_says_two_things_to_each_answer_is_one_too() -> None:
    group = Group(longest=6)
    answered = 0
    for _ in range(20):
        said = [group.said(text, calls=True) for text in ("第一句", "第二句")]
        heard = [each for each in said if group.speaking.judge(each) is not SILENT]
        for each in heard:
            group.speaking.answered(each)
        answered += len(heard)
        group.seconds += 1
    assert answered == 2 * 6 + 1


@pytest.mark.parametrize("manners", [Manners(keywords=("客服",)), Manners(random_rate=1.0)])
def test_two_bots_that_join_in_find_an_end(manners: Manners) -> None:
    group = Group(manners, longest=6)
    answers = 0
    for _ in range(50):
        answers += group.answer(group.said("我是客服")) is not SILENT
        group.seconds += 1
    assert answers == 7


def test_calls_that_queued_behind_one_another_are_no_loop() -> None:
    group = Group(longest=2)
    assert group.answer(group.said("第一个问题", calls=True)) is ADDRESSED
    for _ in range(20):
        group.seconds += 1
        assert group.answer(group.said("还有", calls=True), has_waited=True) is ADDRESSED


def test_a_call_whose_answer_failed_counts_once() -> None:
    group = Group(longest=2)
    group.answer(group.said("你好", calls=True))
    said = group.said("你好", calls=True)
    assert {group.speaking.judge(said) for _ in range(10)} == {ADDRESSED}
    group.speaking.answered(said)
    assert group.answer(group.said("你好", calls=True)) is ADDRESSED
    assert group.hear("你好", calls=True) is SILENT


def test_after_the_silence_the_count_begins_anew_though_the_last_answer_failed() -> None:
    group = Group(longest=2)
    for _ in range(2):
        group.answer(group.said("你好", calls=True))
    assert group.hear("你好", calls=True) is ADDRESSED
    assert group.hear("你好", calls=True) is SILENT
    group.seconds += SILENT_SECONDS
    assert [group.answer(group.said("你好", calls=True)) for _ in range(4)] == [*[ADDRESSED] * 3, SILENT]


def test_a_pause_begins_the_count_anew() -> None:
    group = Group(longest=3)
    for seconds in (1, 1, AT_ONCE_SECONDS) * 10:
        assert group.answer(group.said("你好", calls=True)) is ADDRESSED
        group.seconds += seconds


def test_who_is_left_alone_in_one_group_is_answered_in_another() -> None:
    group = Group(longest=1)
    for _ in range(2):
        group.answer(group.said("你好", calls=True))
    assert group.hear("你好", calls=True) is SILENT
    assert group.speaking.judge(message("x", "你好", group="30002")) is ADDRESSED


def test_chains_are_kept_of_so_many_people(monkeypatch) -> None:
    monkeypatch.setattr(loops_module, "MOST_CHAINS", 2)
    group = Group(longest=1)
    for who in ("zhao", "qian", "sun"):
        group.answer(group.said("你好", calls=True, by=who))
    # Zhao's is gone, and so this doesn't count; it takes the place of Qian's.
    for who in ("zhao", "sun", "qian"):
        assert group.answer(group.said("你好", calls=True, by=who)) is ADDRESSED
    # Sun's was used last but one, so Zhao's went.
    assert group.hear("你好", calls=True, by="sun") is SILENT
    assert group.answer(group.said("你好", calls=True, by="zhao")) is ADDRESSED
    assert group.answer(group.said("你好", calls=True, by="zhao")) is ADDRESSED
    assert group.hear("你好", calls=True, by="zhao") is SILENT


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
        group.speaking.answered(each)
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
        (" ， ", "2026-03-04T15:00Z", False),
        ("２３：００——０７：００", "2026-03-04T15:30Z", True),
        ("23:00 到 7:00", "2026-03-04T22:59Z", True),
        ("23:00至24:00、01:00-02:00", "2026-03-04T16:00Z", False),
    ],
)
def test_hours(hours: str, at: str, is_quiet: bool) -> None:
    assert is_within(read_hours(hours), datetime.fromisoformat(at)) is is_quiet


@pytest.mark.parametrize("hours", ["23-7", "25:00-07:00", "晚上", "07:00-07:00", "23:00", "23:00-07:99"])
def test_hours_that_are_none_are_refused(hours: str) -> None:
    with pytest.raises(ValueError, match=r"23:00-07:00|开始和结束的时间一样"):
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
    assert heard.message.is_addressed and heard.is_overheard
    assert replace(heard.message, is_addressed=False).text == "今天真热"


def test_the_bots_own_words_are_lines_and_its_commands_are_not() -> None:
    group = Group()
    heard = group.chats.hear(group.said("几点开门", calls=True))
    group.chats.answered(heard, Reply(text="九点。", decided_by="model"))
    command = group.chats.hear(group.said("/记住 我叫李雷", calls=True))
    group.chats.answered(command, Reply(text="已记住。", decided_by="command"))
    said = group.chats.recent(group.said("还有呢", calls=True, kind=Kind.IMAGE))
    assert [(line.text, line.is_bot) for line in said] == [("几点开门", False), ("九点。", True)]


def test_silence_is_no_answer() -> None:
    group = Group(longest=1)
    for _ in range(5):
        heard = group.chats.hear(group.said("嗯", calls=True))
        assert heard.message.is_addressed
        group.chats.answered(heard, Reply(text="", decided_by="trivial"))


def test_a_queue_of_calls_reaches_the_guard_as_one() -> None:
    group = Group(longest=1)
    for number in range(5):
        heard = group.chats.hear(group.said("还有", calls=True), has_waited=number > 0)
        assert heard.message.is_addressed
        group.chats.answered(heard, Reply(text="好的。", decided_by="model"))


async def test_where_it_is_switched_off_nothing_that_is_said_is_kept() -> None:
    group = Group()
    await group.switch.turn(PLACE, is_on=False)
    group.chats.hear(group.said("这句不要留"))
    await group.switch.turn(PLACE, is_on=True)
    assert group.chats.recent(group.said("/帮助", calls=True, kind=Kind.IMAGE)) == ()


async def test_a_switch_that_could_not_be_stored_has_not_changed() -> None:
    class Away(Switches):
        async def switch(self, place: str, *, is_on: bool) -> None:
            raise StoreUnavailable("away")

    switch = GroupSwitch(Away())
    with pytest.raises(StoreUnavailable):
        await switch.turn(PLACE, is_on=False)
    assert switch.is_on(PLACE)


RULES = (
    ("a known bot", SILENT),
    ("switched off", SILENT),
    ("called", ADDRESSED),
    ("a command", ADDRESSED),
    ("quiet", SILENT),
    ("cooling down", SILENT),
    ("keyword", ADDRESSED),
    ("chance", OVERHEARD),
)
"""What may hold, and how a message is taken where nothing above it holds as well."""


async def heard_where(holds: dict[str, bool]) -> Hearing:
    manners = Manners(
        keywords=("客服",),
        random_rate=0.5,
        quiet=read_hours("00:30-01:00") if holds["quiet"] else (),
        cooldown=timedelta(seconds=30),
        commands_need_call=False,
    )
    bots = ("onebot:li",) if holds["a known bot"] else ()
    group = Group(manners, other_bots=bots, dice=0.0 if holds["chance"] else 0.5)
    group.clock.time = NIGHT - timedelta(seconds=29 if holds["cooling down"] else 30)
    assert group.answer(group.said("客服", by="wang")) is ADDRESSED
    group.clock.time = NIGHT
    if holds["switched off"]:
        await group.switch.turn(PLACE, is_on=False)
    words = ("/帮助 " if holds["a command"] else "") + ("有客服吗" if holds["keyword"] else "有人吗")
    return group.hear(words, calls=holds["called"])


async def test_the_first_rule_that_holds_decides() -> None:
    for chosen in product([False, True], repeat=len(RULES)):
        holds = {name: is_so for (name, _), is_so in zip(RULES, chosen, strict=True)}
        expected = next((hearing for name, hearing in RULES if holds[name]), SILENT)
        assert await heard_where(holds) is expected, holds


def test_a_day_has_quiet_minutes_exactly_in_its_ranges() -> None:
    dice = random.Random(7)
    for _ in range(20):
        start, end = dice.sample(range(24 * 60), 2)
        ranges = read_hours(f"{start // 60:02}:{start % 60:02}-{end // 60:02}:{end % 60:02}")
        expected = {(start + passed) % (24 * 60) for passed in range((end - start) % (24 * 60))}
        midnight = datetime(2026, 3, 4, tzinfo=LOCAL_TIME)
        quiet = {
            minute for minute in range(24 * 60) if is_within(ranges, midnight + timedelta(minutes=minute))
        }
        assert quiet == expected
