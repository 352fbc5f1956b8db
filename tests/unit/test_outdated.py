"""What a summary says that was contradicted later leaves the prompt; the rest stays as it was."""

from datetime import UTC, datetime

import pytest

from bot.memory.outdated import without_outdated
from bot.memory.summary import RecentTalk, Summary

AT = datetime(2026, 3, 1, tzinfo=UTC)


def left(text: str, *closed: str) -> str:
    """The summaries of a talk whose one summary is `text`."""
    talk = RecentTalk(summaries=(Summary(text=text, from_turn=1, to_turn=9, at=AT),))
    return "|".join(each.text for each in without_outdated(talk, closed).summaries)


@pytest.mark.parametrize(
    ("text", "closed", "kept"),
    [
        ("2026-03-01：我穿42码的鞋；我家在福州", "我穿42码的鞋", "2026-03-01：我家在福州"),
        ("2026-03-01：我家在福州；我穿42码的鞋", "我穿42码的鞋", "2026-03-01：我家在福州"),
        ("2026-03-01：我穿42码的鞋", "我穿42码的鞋", ""),
        (
            "2026-03-01：我穿42码的鞋\n2026-03-02：提到单号SF123456",
            "我穿42码的鞋",
            "2026-03-02：提到单号SF123456",
        ),
        ("用户穿42码的鞋，家在福州。喜欢爬山。", "我的鞋码是42", "家在福州。喜欢爬山。"),
        ("用户喜欢爬山，鞋码是42。", "我穿42码的鞋", "用户喜欢爬山。"),
        ("用户住在福州。问过退货。", "我住在福州", "问过退货。"),
        ("用户养了两只猫，住在福州。", "我喝咖啡", "用户养了两只猫，住在福州。"),
        ("用户的妈妈住在福州。", "我住在福州", "用户的妈妈住在福州。"),
        ("用户穿43码的鞋。", "我穿42码的鞋", "用户穿43码的鞋。"),
        ("好。", "我最近都好", "好。"),
    ],
)
def test_what_is_over_is_left_out(text: str, closed: str, kept: str) -> None:
    assert left(text, closed) == kept


def test_nothing_closed_changes_nothing() -> None:
    text = "2026-03-01：我穿42码的鞋；  我家在福州，\n（更早的从略）"
    assert left(text) == text
