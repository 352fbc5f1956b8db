"""WeChat's rules as the simulator keeps them: windows, tokens, media, scripted faults. Pure: time is given."""

import zlib

import pytest

from simulators.wechat import AccountType, ApiFault, ManualClock
from simulators.wechat.account import Account
from simulators.wechat.customer_service import refuse_escapes
from simulators.wechat.errcodes import ApiRefusal, error_json
from simulators.wechat.faults import Faults
from simulators.wechat.media import LARGEST, PICTURE, VALID_SECONDS, Media
from simulators.wechat.posts import Grant
from simulators.wechat.tokens import Tokens
from simulators.wechat.windows import Refusal, Window

HOUR, DAY = 3600.0, 86_400.0
MIDNIGHT = 1_750_003_200.0 // DAY * DAY - 8 * HOUR
"""In Beijing."""


def test_nothing_said_opens_no_window():
    assert Window().spend(0.0) is Refusal.CLOSED


def test_a_message_allows_five_in_forty_eight_hours():
    window = Window()
    window.grant(Grant.MESSAGE, 0.0)
    assert [window.spend(48 * HOUR) for _ in range(6)] == [*[None] * 5, Refusal.SPENT]
    assert window.spend(48 * HOUR + 1) is Refusal.CLOSED
    window.grant(Grant.MESSAGE, 49 * HOUR)
    assert window.spend(49 * HOUR) is None


def test_another_message_starts_anew():
    window = Window()
    window.grant(Grant.MESSAGE, 0.0)
    for _ in range(4):
        window.spend(0.0)
    window.grant(Grant.MESSAGE, 10.0)
    assert window.left(10.0) == 5


def test_an_event_allows_three_in_a_minute():
    window = Window()
    window.grant(Grant.EVENT, 0.0)
    assert [window.spend(60.0) for _ in range(4)] == [None, None, None, Refusal.SPENT]
    assert window.spend(60.1) is Refusal.CLOSED


def test_the_window_that_ends_first_is_spent_first():
    window = Window()
    window.grant(Grant.MESSAGE, 0.0)
    window.grant(Grant.EVENT, 100.0)
    assert [window.spend(110.0) for _ in range(3)] == [None] * 3
    assert window.left(161.0) == 5
    window.close()
    assert (window.left(110.0), window.spend(110.0)) == (0, Refusal.CLOSED)


def errcode_of(tokens: Tokens, token: str, now: float) -> int:
    try:
        tokens.check(token, now)
    except ApiRefusal as refusal:
        return refusal.errcode
    return 0


def test_a_stable_token_stays_until_its_last_five_minutes():
    tokens = Tokens()
    first, seconds = tokens.stable(0.0, is_forced=False)
    assert seconds == 7200
    assert tokens.stable(6899.0, is_forced=False) == (first, 301)
    second, seconds = tokens.stable(6900.0, is_forced=False)
    assert (second != first, seconds) == (True, 7200)
    assert [errcode_of(tokens, first, now) for now in (6900.0, 7199.0, 7200.0)] == [0, 0, 42001]
    assert errcode_of(tokens, second, 7200.0) == 0


def test_a_forced_refresh_ends_the_token_before_and_not_within_thirty_seconds():
    tokens = Tokens()
    first, _ = tokens.stable(0.0, is_forced=False)
    second, _ = tokens.stable(1.0, is_forced=True)
    assert [errcode_of(tokens, token, 1.0) for token in (first, second)] == [40001, 0]
    assert tokens.stable(30.9, is_forced=True)[0] == second
    third, _ = tokens.stable(31.0, is_forced=True)
    assert (third != second, errcode_of(tokens, second, 31.0)) == (True, 40001)
    assert tokens.issued == 3


def test_twenty_forced_refreshes_a_day():
    tokens = Tokens()
    for number in range(20):
        tokens.stable(MIDNIGHT + number * 30, is_forced=True)
    with pytest.raises(ApiRefusal) as raised:
        tokens.stable(MIDNIGHT + 23 * HOUR, is_forced=True)
    assert raised.value.errcode == 45009
    tokens.stable(MIDNIGHT + 23 * HOUR, is_forced=False)
    tokens.stable(MIDNIGHT + DAY, is_forced=True)


def test_the_older_token_is_isolated_and_its_last_one_stays_good_for_five_minutes():
    tokens = Tokens()
    stable, _ = tokens.stable(0.0, is_forced=False)
    first, _ = tokens.plain(0.0)
    second, seconds = tokens.plain(10.0)
    assert (first != second, seconds) == (True, 7200)
    assert [errcode_of(tokens, first, now) for now in (309.0, 310.0)] == [0, 40001]
    assert [errcode_of(tokens, token, 310.0) for token in (stable, second)] == [0, 0]


def test_two_thousand_older_tokens_a_day():
    tokens = Tokens()
    for _ in range(2000):
        tokens.plain(MIDNIGHT)
    with pytest.raises(ApiRefusal) as raised:
        tokens.plain(MIDNIGHT + HOUR)
    assert raised.value.errcode == 45009
    tokens.plain(MIDNIGHT + DAY)


def test_tokens_that_are_none():
    tokens = Tokens()
    good, _ = tokens.stable(0.0, is_forced=False)
    assert [errcode_of(tokens, token, 0.0) for token in ("", "x", good)] == [41001, 40014, 0]
    tokens.expire(1.0)
    assert errcode_of(tokens, good, 1.0) == 42001
    good, _ = tokens.stable(2.0, is_forced=False)
    tokens.supersede(3.0)
    assert errcode_of(tokens, good, 3.0) == 40001
    assert tokens.stable(4.0, is_forced=False)[0] != good


def multipart(content: bytes, name: str = "media") -> tuple[str, bytes]:
    head = f'--B\r\nContent-Disposition: form-data; name="{name}"; filename="a.png"\r\n\r\n'.encode()
    return "multipart/form-data; boundary=B", head + content + b"\r\n--B--\r\n"


def test_media_are_given_back_byte_for_byte_for_three_days():
    clock = ManualClock()
    media = Media(clock)
    content = PICTURE + b"\r\n--B\r\n"[:-2] + b"\r\r\n\x00\xff"
    medium = media.upload("image", *multipart(content.replace(b"--B", b"-B")))
    assert media.get(medium.id).content == content.replace(b"--B", b"-B")
    assert (medium.content_type, medium.file_name) == ("image/png", f"{medium.id}.png")
    clock.advance(VALID_SECONDS)
    assert media.has(medium.id)
    clock.advance(1)
    assert not media.has(medium.id)


@pytest.mark.parametrize(
    ("type_", "content_type", "body", "errcode"),
    [
        ("picture", *multipart(PICTURE), 40004),
        ("image", *multipart(PICTURE, "file"), 41005),
        ("image", "application/json", b"{}", 41005),
        ("image", *multipart(b""), 44001),
        ("thumb", *multipart(PICTURE + bytes(LARGEST["thumb"])), 40006),
        ("image", *multipart(b"plain"), 40005),
        ("voice", *multipart(PICTURE), 40005),
    ],
)
def test_media_that_are_refused(type_: str, content_type: str, body: bytes, errcode: int):
    with pytest.raises(ApiRefusal) as raised:
        Media(ManualClock()).upload(type_, content_type, body)
    assert raised.value.errcode == errcode


def test_the_picture_is_one():
    chunks, place = [], 8
    while place < len(PICTURE):
        length = int.from_bytes(PICTURE[place : place + 4], "big")
        body, check = (
            PICTURE[place + 4 : place + 8 + length],
            PICTURE[place + 8 + length : place + 12 + length],
        )
        assert zlib.crc32(body).to_bytes(4, "big") == check
        chunks.append(body[:4])
        place += 12 + length
    assert chunks == [b"IHDR", b"IDAT", b"IEND"]
    start = PICTURE.index(b"IDAT") + 4
    assert zlib.decompress(PICTURE[start:-16]) == b"\x00\xff\xff\xff"


def test_a_fault_is_spent_by_the_calls_that_it_fits():
    faults = Faults()
    faults.add(ApiFault(path="user/info", errcode=45009, times=2))
    faults.add(ApiFault(status=502))
    codes = [faults.next_for(path) for path in ("token", "user/info", "user/info", "user/info")]
    assert [fault and (fault.status or fault.errcode) for fault in codes] == [502, 45009, 45009, None]
    assert faults.left == 0


@pytest.mark.parametrize("fields", [{}, {"errcode": 1, "times": 0}, {"delay_seconds": -1.0}])
def test_a_fault_does_something(fields: dict[str, float]):
    with pytest.raises(ValueError):
        ApiFault(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "is_refused"),
    [
        (b'{"a":"\\u4f60"}', True),
        (b'{"a":"\\ud83d\\ude00"}', True),
        (b'{"a":"\\\\\\u4f60"}', True),
        (b'{"a":"\\\\u4f60"}', False),
        ('{"a":"你\\n"}'.encode(), False),
        (b'{"a":"\\u001f"}', False),
        (b'{"a":"\\u0026"}', True),
    ],
)
def test_escapes_that_would_be_shown(body: bytes, is_refused: bool):
    try:
        refuse_escapes(body)
    except ApiRefusal as refusal:
        assert (is_refused, refusal.errcode) == (True, 40033)
    else:
        assert not is_refused


@pytest.mark.parametrize(
    ("type_", "may_send", "menu", "location"),
    [
        (AccountType.UNVERIFIED_SUBSCRIPTION, False, False, False),
        (AccountType.VERIFIED_SUBSCRIPTION, True, True, False),
        (AccountType.VERIFIED_SERVICE, True, True, True),
    ],
)
def test_what_each_type_may_do(type_: AccountType, may_send: bool, menu: bool, location: bool):
    account = Account(app_id="wx1", token="t", type=type_)
    for endpoint in ("message/custom/send", "message/custom/typing", "user/info", "media/upload"):
        assert account.is_permitted(endpoint) is may_send
    assert account.is_permitted("stable_token")
    assert (account.is_sent("CLICK"), account.is_sent("LOCATION")) == (menu, location)
    assert account.is_sent("subscribe")


def test_an_error_names_itself():
    assert error_json(0) == {"errcode": 0, "errmsg": "ok"}
    assert error_json(45015)["errcode"] == 45015
    assert "rid" in error_json(99999)["errmsg"]
    assert "45009" in str(ApiRefusal(45009))
