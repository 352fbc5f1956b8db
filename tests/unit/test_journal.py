"""One line a message, and nobody in it."""

import re
from collections.abc import Iterator

import pytest
from loguru import logger

from bot.conversation.message import Conversation
from bot.journal import Journal
from bot.metrics import Metrics, StageTimes
from tests.story_fakes import message
from tests.unit.test_metrics import samples

OPENID = "oCanary_0123456789-abcdefghij"
PEPPER = b"p" * 32


@pytest.fixture
def lines() -> Iterator[list[str]]:
    written: list[str] = []
    sink = logger.add(lambda line: written.append(line.rstrip("\n")), level="TRACE", format="{message}")
    yield written
    logger.remove(sink)


def name(sender: str = OPENID, *, pepper: bytes = PEPPER, **more: str) -> str:
    return Journal(Metrics(), pepper).name_of(message("1", by=sender, **more))


def test_the_line_says_who_decided_and_how_long_and_nothing_of_the_person(lines: list[str]):
    times = StageTimes()
    with times.stage("recall"):
        pass
    Journal(Metrics(), PEPPER).close(message("77", "我的手机是13800138000", by=OPENID), "model", times)
    (line,) = lines
    assert re.fullmatch(
        r"onebot private conversation=[0-9a-f]{10} decided_by=model ms: recall=\d+ total=\d+", line
    )


def test_a_conversation_keeps_its_name():
    assert name() == name()
    assert name() != name("oSomeoneElse")
    assert name() != name(channel="wechat")


def test_without_the_pepper_nobody_can_tell_the_name():
    assert name() != name(pepper=b"q" * 32)


def test_the_members_of_a_group_share_its_name():
    assert name("li", group="g1") == name("zhang", group="g1") != name("li", group="g2")
    assert name("li", group="g1") != name("li")


def test_ids_that_run_together_are_told_apart():
    one = Conversation(channel="onebot", app_id="1", group="23")
    other = Conversation(channel="onebot", app_id="12", group="3")
    journal = Journal(Metrics(), PEPPER)
    assert journal.name_of(message("1", conversation=one)) != journal.name_of(
        message("1", conversation=other)
    )


def test_silence_is_no_answer_that_the_faq_missed():
    metrics = Metrics()
    journal = Journal(metrics, PEPPER)
    for decided_by in ("faq", "model", "nobody", "nobody"):
        journal.close(message("1"), decided_by, StageTimes())
    assert samples(metrics)["faq_hit_ratio",] == 0.5
    assert metrics.answers_by_stage() == {"faq": 1, "model": 1, "nobody": 2}
    assert samples(metrics)["jide_answer_seconds_count",] == 4


def test_idle_is_the_time_since_the_last_close():
    now = [100.0]
    journal = Journal(Metrics(), PEPPER, monotonic=lambda: now[0])
    now[0] = 130.0
    assert journal.idle_seconds == 30.0
    journal.close(message("1"), "model", StageTimes())
    now[0] = 131.0
    assert journal.idle_seconds == 1.0
