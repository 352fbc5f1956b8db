"""What a message names is the person's own, whoever read it; a rule's reading stays."""

from datetime import timedelta

import pytest

from bot.conversation.turn import Turn
from bot.memory.entities import EntityType, SeenEntity
from bot.memory.judgement_format import ReadEntity
from bot.memory.naming import LONGEST_CONTEXT, MOST_NAMED, named_in, seen_lately
from tests.memory_fakes import NOW


def read(kind: EntityType, value: str) -> ReadEntity:
    return ReadEntity(type=kind, value=value)


def named(text: str, *entities: ReadEntity) -> list[tuple[str, str]]:
    return [(each.type.value, each.value) for each in named_in(text, NOW, entities)]


def test_rules_alone_serve() -> None:
    (order,) = named_in("单号SF1234567890123", NOW)
    assert order == SeenEntity(
        type=EntityType.ORDER_ID,
        value="SF1234567890123",
        normalised="SF1234567890123",
        seen_at=NOW,
        context="单号SF1234567890123",
    )


def test_what_a_model_found_is_added_where_it_stands() -> None:
    assert named("阳光牌那个壶漏水，单号SF1234567890123", read(EntityType.PRODUCT_NAME, "阳光牌那个壶"))[
        0
    ] == (
        "product_name",
        "阳光牌那个壶",
    )


@pytest.mark.parametrize(
    "entity",
    [
        read(EntityType.ORDER_ID, "SF9999999999999"),
        read(EntityType.PRODUCT_NAME, "保温杯"),
        read(EntityType.ORDER_ID, "没有数字"),
        read(EntityType.CONTACT_INFO, "SF1234567890123"),
        read(EntityType.PRODUCT_NAME, "1234567"),
        read(EntityType.EMOTION, "开心"),
    ],
)
def test_what_was_not_said_or_is_read_by_a_rule_is_left_out(entity: ReadEntity) -> None:
    text = "单号SF1234567890123，没有数字，今天很开心"
    assert named(text, entity) == named(text)


def test_a_feeling_counts_in_a_complaint_alone() -> None:
    feeling = read(EntityType.EMOTION, "心里拔凉拔凉的")
    assert ("emotion", "心里拔凉拔凉的") in named("我要投诉，心里拔凉拔凉的", feeling)
    assert ("emotion", "心里拔凉拔凉的") not in named("分手了，心里拔凉拔凉的", feeling)


def test_secrets_and_long_messages_stay_out() -> None:
    (seen, *_) = named_in("单号SF1234567890123，卡号4111111111111111" + "长" * 900, NOW)
    assert "4111" not in seen.context and len(seen.context) <= LONGEST_CONTEXT
    many = " ".join(f"单号SF12345678901{number:02}" for number in range(60))
    assert len(named_in(many, NOW)) == MOST_NAMED


@pytest.mark.parametrize("noise", ["啊", "。", "。" * 23, "啊" * 23, "？？？", "嗯嗯", "🙂", ""])
def test_noise_names_nothing(noise: str) -> None:
    assert named_in(noise, NOW) == ()


def test_what_no_worker_has_kept_yet_is_seen_all_the_same() -> None:
    (stored,) = named_in("单号SF1234567890123", NOW)
    turns = [
        Turn(id=1, question="单号SF1234567890123", answer="", at=NOW),
        Turn(id=2, question="还有SF9876543210987", answer="", at=NOW + timedelta(minutes=5)),
    ]
    assert [each.value for each in seen_lately((stored,), turns)] == ["SF1234567890123", "SF9876543210987"]
    assert [each.value for each in seen_lately((), turns[:1])] == ["SF1234567890123"]
