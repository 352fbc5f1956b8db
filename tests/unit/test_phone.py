"""Phone numbers: one form for all ways of writing one, and nothing but a keyed hash of it."""

import hashlib
import hmac

import pytest

from bot.conversation.errors import ConfigurationError, RejectedInput
from identity.phone import PhoneHasher, e164

PEPPER = bytes(range(32))


@pytest.mark.parametrize(
    "written",
    [
        "13800138000",
        " 138 0013 8000 ",
        "138-0013-8000",
        "+8613800138000",
        "+86 138 0013 8000",
        "8613800138000",
        "0086 13800138000",
        "（＋８６）１３８００１３８０００",
        "１３８－００１３－８０００",
        "+86\u00a013800138000",
    ],
)
def test_a_mainland_number_has_one_form(written: str) -> None:
    assert e164(written) == "+8613800138000"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("+852 9123 4567", "+85291234567"),
        ("0044 7911 123456", "+447911123456"),
        ("+44 (0)7911 123456", "+447911123456"),
        ("+1 (415) 555-2671", "+14155552671"),
    ],
)
def test_other_countries_need_their_code(written: str, expected: str) -> None:
    assert e164(written) == expected


@pytest.mark.parametrize(
    "written",
    [
        "",
        " ",
        "+",
        "00",
        "12345678901",
        "1380013800",
        "138001380000",
        "+861380013800",
        "+8612345678901",
        "+86 10 6255 1234",
        "91234567",
        "+0123456789",
        "+1234567890123456",
        "13800138000 或 13900139000",
        "我的电话13800138000",
        "١٣٨٠٠١٣٨٠٠٠",
        "1380013800\x00",
    ],
)
def test_anything_else_is_refused_without_repeating_it(written: str) -> None:
    with pytest.raises(RejectedInput) as refusal:
        e164(written)
    assert "手机号" in str(refusal.value)
    assert len(written) < 5 or written not in str(refusal.value)


def test_the_hash_is_keyed_and_labelled() -> None:
    expected = hmac.new(PEPPER, b"phone:v1:+8613800138000", hashlib.sha256).digest()
    assert PhoneHasher(PEPPER).hash("138 0013 8000") == expected


def test_another_pepper_gives_another_hash() -> None:
    assert PhoneHasher(PEPPER).hash("13800138000") != PhoneHasher(PEPPER[::-1]).hash("13800138000")


@pytest.mark.parametrize("pepper", [b"", b"x", b"x" * 31])
def test_a_short_pepper_stops_the_start(pepper: bytes) -> None:
    with pytest.raises(ConfigurationError, match="pepper"):
        PhoneHasher(pepper)


def test_nothing_printed_shows_the_pepper() -> None:
    assert PEPPER.hex() not in repr(PhoneHasher(PEPPER)).lower()
    assert repr(PEPPER) not in repr(PhoneHasher(PEPPER))
