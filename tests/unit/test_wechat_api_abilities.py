"""What one answer teaches about an account or a person, and when it is forgotten."""

from collections.abc import Iterator

import pytest
from loguru import logger

from bot.channels.wechat.api import Abilities, Ability, ApiError, Verdict
from bot.channels.wechat.api.abilities import (
    DAY_QUOTA_SECONDS,
    MINUTE_QUOTA_SECONDS,
    MISCONFIGURED_SECONDS,
    PERMISSION_SECONDS,
)

ALICE, BOB = "oAlice", "oBob"
SERVICE, INFO = Ability.CUSTOMER_SERVICE, Ability.USER_INFO
NOON_IN_BEIJING = 1_700_020_800.0


class Stage:
    def __init__(self) -> None:
        self.time = NOON_IN_BEIJING
        self.abilities = Abilities(app_id="wx1", now=lambda: self.time)

    def refuse(self, code: int, ability: Ability = SERVICE, openid: str = ALICE) -> None:
        self.abilities.note_refusal(ability, openid, ApiError(code))


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def lines() -> Iterator[list[str]]:
    written: list[str] = []
    sink = logger.add(lambda line: written.append(str(line)), level="INFO", format="{level} {message}")
    yield written
    logger.remove(sink)


def test_nothing_is_known_at_first_and_a_success_teaches(stage: Stage):
    assert stage.abilities.closed(SERVICE, ALICE) is None
    assert not stage.abilities.is_known_good(SERVICE, ALICE)
    stage.abilities.note_success(SERVICE)
    assert stage.abilities.is_known_good(SERVICE, ALICE)
    assert not stage.abilities.is_known_good(INFO)


def test_no_permission_closes_that_ability_alone_for_a_day(stage: Stage):
    stage.abilities.note_success(SERVICE)
    stage.refuse(48001)
    assert stage.abilities.closed(SERVICE, BOB) is Verdict.NO_PERMISSION
    assert stage.abilities.closed(INFO) is None
    stage.time += PERMISSION_SECONDS - 1
    assert stage.abilities.closed(SERVICE) is Verdict.NO_PERMISSION
    stage.time += 1
    assert stage.abilities.closed(SERVICE) is None
    assert not stage.abilities.is_known_good(SERVICE)
    stage.abilities.note_success(SERVICE)
    assert stage.abilities.is_known_good(SERVICE)


@pytest.mark.parametrize(
    ("code", "verdict"), [(45015, Verdict.WINDOW), (45047, Verdict.WINDOW), (43004, Verdict.GONE)]
)
def test_a_window_closes_for_one_person_until_they_write(stage: Stage, code: int, verdict: Verdict):
    stage.abilities.note_success(SERVICE)
    stage.refuse(code)
    stage.time += 10 * PERMISSION_SECONDS
    assert stage.abilities.closed(SERVICE, ALICE) is verdict
    assert not stage.abilities.is_known_good(SERVICE, ALICE)
    assert stage.abilities.is_known_good(SERVICE, BOB)
    stage.abilities.heard(BOB)
    assert stage.abilities.closed(SERVICE, ALICE) is verdict
    stage.abilities.heard(ALICE)
    assert stage.abilities.is_known_good(SERVICE, ALICE)


def test_people_are_not_remembered_without_end(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bot.channels.wechat.api.abilities._PEOPLE", 2)
    for openid in ("o1", "o2", "o1", "o3"):
        stage.refuse(45015, openid=openid)
    closed = [openid for openid in ("o1", "o2", "o3") if stage.abilities.closed(SERVICE, openid)]
    assert closed == ["o1", "o3"]


@pytest.mark.parametrize(
    ("code", "seconds"),
    [(45011, MINUTE_QUOTA_SECONDS), (45009, DAY_QUOTA_SECONDS), (48006, DAY_QUOTA_SECONDS)],
)
def test_a_quota_rests_the_whole_account_for_a_while(stage: Stage, code: int, seconds: float):
    stage.abilities.note_success(SERVICE)
    stage.refuse(code)
    assert stage.abilities.closed(INFO) is Verdict.QUOTA
    # A call that was under way says nothing about the quota.
    stage.abilities.note_success(SERVICE)
    assert not stage.abilities.is_known_good(SERVICE, BOB)
    stage.time += seconds
    assert stage.abilities.is_known_good(SERVICE, BOB)


def test_the_daily_quota_ends_at_midnight_in_beijing(stage: Stage):
    stage.time += 12 * 3600 - 60
    stage.refuse(45009)
    stage.time += 59
    assert stage.abilities.closed(SERVICE) is Verdict.QUOTA
    stage.time += 1
    assert stage.abilities.closed(SERVICE) is None


def test_a_clock_set_back_ends_a_closure(stage: Stage):
    stage.refuse(45009)
    stage.time -= 24 * 3600
    assert stage.abilities.closed(SERVICE) is None


def test_a_wrong_setting_closes_the_account_and_is_said_once(stage: Stage, lines: list[str]):
    stage.refuse(40164)
    assert stage.abilities.closed(INFO) is Verdict.MISCONFIGURED
    assert stage.abilities.trouble is not None
    assert stage.abilities.trouble.errcode == 40164
    for _ in range(3):
        stage.time += MISCONFIGURED_SECONDS
        assert stage.abilities.closed(SERVICE) is None
        stage.refuse(40164)
    [line] = lines
    assert line.startswith("ERROR")
    assert "IP白名单" in line
    assert ALICE not in line
    stage.time += MISCONFIGURED_SECONDS
    stage.abilities.note_success(SERVICE)
    assert stage.abilities.trouble is None
    stage.refuse(40164)
    assert len(lines) == 2


def test_a_success_opens_a_misconfigured_account(stage: Stage):
    stage.refuse(40164)
    stage.abilities.note_success(SERVICE)
    assert stage.abilities.is_known_good(SERVICE, ALICE)


def test_silence_takes_back_what_was_known_and_closes_nothing(stage: Stage):
    for forget in (
        lambda: stage.abilities.note_silence(SERVICE),
        lambda: stage.refuse(-1),
        lambda: stage.refuse(42001),
    ):
        stage.abilities.note_success(SERVICE)
        forget()
        assert not stage.abilities.is_known_good(SERVICE, ALICE)
        assert stage.abilities.closed(SERVICE, ALICE) is None


@pytest.mark.parametrize("code", [45002, 40033, 87014])
def test_a_refused_text_says_nothing_about_the_account(stage: Stage, code: int):
    stage.abilities.note_success(SERVICE)
    stage.refuse(code)
    assert stage.abilities.is_known_good(SERVICE, ALICE)


@pytest.mark.parametrize("code", [45080, 45081])
def test_an_idle_typing_sign_still_shows_the_permission(stage: Stage, code: int):
    stage.refuse(code)
    assert stage.abilities.is_known_good(SERVICE, ALICE)
