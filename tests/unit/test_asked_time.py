"""Which questions ask for the memories of a time, and which only name one."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.conversation.local_time import LOCAL_TIME
from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.memory.asked_time import AskedTime, AskedTimes, asked_time, asks_same_time
from bot.memory.said import MOST_IN_ALL, MOST_SAID, choose_said, is_about_something
from bot.memory.sessions import SESSION_GAP, earlier_session, session_began
from bot.memory.time_zh import OPEN_START, Window
from tests.memory_fakes import SCOPE

DATA = Path(__file__).resolve().parents[1] / "data"
NOW = datetime(2026, 11, 30, 14, 36, tzinfo=LOCAL_TIME)
"""A Monday."""

ASKED = """
上周三说的地址 | 上周三 | 11-25 00:00 | 11-26 00:00 | 说的地址
前几天我说过什么 | 前几天 | 11-23 00:00 | 11-30 00:00 | 我说过什么
刚才说的单号是多少 | 刚才 | 11-30 14:06 | 11-30 14:36 | 说的单号是多少
国庆那几天我去哪了 | 国庆那几天 | 10-01 00:00 | 10-08 00:00 | 我去哪了
国庆的时候我买的什么 | 国庆 | 10-01 00:00 | 10-08 00:00 | 我买的什么
把上周三说的地址发我 | 上周三 | 11-25 00:00 | 11-26 00:00 | 把说的地址发我
昨天晚饭吃的啥 | 昨天 | 11-29 00:00 | 11-30 00:00 | 晚饭吃的啥
前天我数学几分 | 前天 | 11-28 00:00 | 11-29 00:00 | 我数学几分
今天我说过要买什么 | 今天 | 11-30 00:00 | 12-01 00:00 | 我说过要买什么
我上周三说的10号的票 | 上周三 | 11-25 00:00 | 11-26 00:00 | 我说的10号的票
春节我去哪玩了 | 春节 | 02-16 00:00 | 02-23 00:00 | 我去哪玩了
"""
OTHERS = """
明天几点开门 下周三送到吗 今天几点开门 我昨天买了双鞋 我上周三搬家了 刚买的鞋怎么退
国庆放假吗 你们昨天怎么没开门 这周能发货吗 每周一有课吗 说好昨天到的 最近有什么优惠
7天无理由退货怎么弄 双十二有优惠吗 上次真不好意思 上海到北京多远 今天天气怎么样
下次什么时候来 现在几点 三天能到吗 我明天去上海要带什么 你好
"""


@pytest.mark.parametrize("line", [line for line in ASKED.splitlines() if line])
def test_a_question_is_bound_to_its_time(line: str) -> None:
    text, words, start, end, rest = line.split(" | ")
    asked = asked_time(text, NOW)
    assert asked is not None and asked.window is not None
    shown = [f"{edge.astimezone(LOCAL_TIME):%m-%d %H:%M}" for edge in (asked.window.start, asked.window.end)]
    assert (asked.words, shown, asked.rest) == (words, [start, end], rest)


@pytest.mark.parametrize(
    ("text", "back"),
    [("上次买的那双", 1), ("上回你答应的补偿呢", 1), ("上次聊到哪了", 1), ("上上次说的地址", 2)],
)
def test_an_earlier_talk_is_told_by_the_turns(text: str, back: int) -> None:
    asked = asked_time(text, NOW)
    assert asked is not None
    assert (asked.sessions_back, asked.window) == (back, None)


@pytest.mark.parametrize("text", OTHERS.split())
def test_others_are_bound_to_none(text: str) -> None:
    assert asked_time(text, NOW) is None


def _listed() -> list[tuple[str, str]]:
    lines = (DATA / "asked_time_binds.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(text, window) for text, window in rows]


@pytest.mark.parametrize(("text", "window"), _listed())
def test_only_what_asks_for_a_time_is_bound_to_it(text: str, window: str) -> None:
    asked = asked_time(text, NOW)
    if asked is None:
        found = "-"
    elif asked.window is None:
        found = "earlier talk"
    else:
        last = asked.window.end - timedelta(seconds=1)
        found = " ".join(f"{day.astimezone(LOCAL_TIME):%m-%d}" for day in (asked.window.start, last))
    assert found == window


def test_that_day_is_the_one_asked_for_before() -> None:
    assert asks_same_time("那天我还说了什么")
    assert not asks_same_time("那天真热")
    assert not asks_same_time("我还说了什么")


def moment(hour: float) -> datetime:
    return datetime(2026, 11, 30, tzinfo=UTC) + timedelta(hours=hour)


def test_half_an_hour_of_silence_ends_a_talk() -> None:
    at = moment(10)
    assert session_began([at - SESSION_GAP + timedelta(seconds=1)], at) == at - SESSION_GAP + timedelta(
        seconds=1
    )
    assert session_began([at - SESSION_GAP], at) == at


def test_the_latest_earlier_talk_is_not_this_one() -> None:
    newest_first = [moment(hour) for hour in (9.9, 9.6, 8.2, 8.0, 3.0)]
    last = earlier_session(newest_first, moment(10))
    assert last == Window(start=moment(8), end=moment(8.7))
    assert earlier_session(newest_first, moment(10), back=2) == Window(start=moment(3), end=moment(3.5))


def test_without_an_earlier_talk_it_is_all_that_was_before_this_one() -> None:
    assert earlier_session([moment(9.9)], moment(10)) == Window(start=OPEN_START, end=moment(9.9))
    assert earlier_session([], moment(10)) == Window(start=OPEN_START, end=moment(10))


class Log:
    """A `TurnLog` of times alone."""

    def __init__(self, *times: datetime) -> None:
        self.newest_first = times
        self.is_asked = False

    async def times(self, scope: Scope, limit: int) -> tuple[datetime, ...]:
        self.is_asked = True
        return self.newest_first[:limit]

    async def between(self, scope: Scope, start: datetime, end: datetime, limit: int) -> tuple[Turn, ...]:
        raise AssertionError("no turn is read to know a time")


async def read(log: Log, text: str, recent: Sequence[Turn] = ()) -> AskedTime | None:
    return await AskedTimes(log).read(text, moment(10), SCOPE, recent)


async def test_last_time_is_the_latest_earlier_talk() -> None:
    asked = await read(Log(moment(9.9), moment(8)), "上次买的那双多少钱")
    assert asked is not None
    assert asked.window == Window(start=moment(8), end=moment(8.5))


async def test_no_turn_is_looked_at_where_no_talk_is_asked_for() -> None:
    log = Log(moment(8))
    assert await read(log, "上周三说的地址") is not None
    assert await read(log, "我穿什么码") is None
    assert not log.is_asked


async def test_that_day_is_taken_from_the_turns_before() -> None:
    before = turn(1, "上周三我说的地址是哪")
    asked = await read(Log(), "那天还说了什么", (before, turn(2, "谢谢")))
    known = asked_time(before.question, before.at)
    assert asked is not None and known is not None
    assert (asked.window, asked.rest) == (known.window, "那天还说了什么")
    assert await read(Log(), "那天还说了什么", (turn(2, "谢谢"),)) is None


def turn(number: int, question: str, answer: str = "好的") -> Turn:
    return Turn(id=number, question=question, answer=answer, at=moment(9))


def test_turns_that_share_words_best_first() -> None:
    turns = (turn(1, "今天真热"), turn(2, "我妈妈喜欢吃荔枝"), turn(3, "荔枝要冷藏吗"))
    assert [each.id for each in choose_said(turns, "说妈妈喜欢吃荔枝还是桃子")] == [2, 3]
    assert choose_said(turns, "说的快递单号") == ()
    same = tuple(turn(number, "荔枝") for number in range(9))
    assert len(choose_said(same, "荔枝")) == MOST_SAID


def test_who_asks_for_everything_gets_the_last_in_order() -> None:
    turns = tuple(turn(number, f"第{number}件事") for number in range(20))
    assert [each.id for each in choose_said(turns, "我说过什么")] == [*range(20 - MOST_IN_ALL, 20)]


@pytest.mark.parametrize(
    ("text", "is_about"), [("我说过什么", False), ("我都跟你聊了些啥", False), ("说的地址", True)]
)
def test_what_a_question_is_about(text: str, is_about: bool) -> None:
    assert is_about_something(text) is is_about
