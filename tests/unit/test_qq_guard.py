"""What the guards decide, without a server: the door, the judgement of a webhook post, and what was here before."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from loguru import logger
from starlette.types import Message, Scope

from bot.channels import door
from bot.channels.door import Refusal, Refusals, leads_to, read_body, read_object
from bot.channels.qq_guard import (
    FRESH_SECONDS,
    Admissions,
    Entry,
    Genuine,
    Posted,
    Seen,
    Validation,
    WebhookKey,
    judge,
    seed_of,
)
from bot.channels.qq_guard_asgi import QqGuard
from bot.conversation.errors import ConfigurationError
from tests.shared_files import require_shared

SECRET = "a-secret-of-the-bot"
APP_ID = "102000001"
KEYS = {APP_ID: WebhookKey(SECRET)}
NOW = 1_790_000_000
ORDER = 2**252 + 27742317777372353535851937790883648493
"""Of the curve's group (RFC 8032, 5.1)."""


def platform_sign(secret: str, text: bytes) -> bytes:
    """As the platform's documents do it: the seed is doubled until it is long enough."""
    seed = secret
    while len(seed) < 32:
        seed += seed
    return Ed25519PrivateKey.from_private_bytes(seed[:32].encode()).sign(text)


def posted(body: bytes, stamp: str = str(NOW), **headers: Any) -> Posted:
    signature = platform_sign(SECRET, stamp.encode() + body).hex().encode()
    given = {"app_ids": (APP_ID.encode(),), "signatures": (signature,), "timestamps": (stamp.encode(),)}
    return Posted(body=body, **(given | headers))


def verdict_on(post: Posted, *, now: float = NOW, is_open: bool = False) -> Refusal | Validation | Genuine:
    return judge(post, KEYS, now, lambda: is_open)


def status_of(post: Posted, *, now: float = NOW, is_open: bool = False) -> int:
    verdict = verdict_on(post, now=now, is_open=is_open)
    return verdict.status if isinstance(verdict, Refusal) else 200


def event_of(kind: str, content: Any, delivery: str = "delivery-1") -> bytes:
    return json.dumps({"op": 0, "id": delivery, "t": kind, "d": content}).encode()


def validation_of(token: Any, stamp: Any = str(NOW)) -> bytes:
    return json.dumps({"op": 13, "d": {"plain_token": token, "event_ts": stamp}}).encode()


def test_the_key_is_derived_as_the_platform_documents_it() -> None:
    entries = json.loads(require_shared("fixtures/qq_official_payloads.json").read_text("utf-8"))
    entry = next(each for each in entries if each["kind"] == "qq_ed25519_key")
    secret, expected = entry["input"]["secret"], entry["expected"]
    assert seed_of(secret) == expected["seed"].encode()
    private = Ed25519PrivateKey.from_private_bytes(seed_of(secret))
    assert private.public_key().public_bytes_raw().hex() == expected["public_key_hex"]


@pytest.mark.parametrize("length", [1, 15, 16, 31, 32, 33, 64])
def test_a_secret_of_any_length_makes_the_platforms_key(length: int) -> None:
    secret = ("0123456789abcdef" * 4)[:length]
    assert WebhookKey(secret).has_signed(platform_sign(secret, b"text"), b"text")


def test_an_empty_secret_stops_the_start() -> None:
    async def app(*_: Any) -> None: ...

    with pytest.raises(ConfigurationError):
        WebhookKey("")
    with pytest.raises(ConfigurationError):
        QqGuard(app, secrets={APP_ID: ""}, is_setup_open=lambda: False)


def test_a_signature_has_one_form_only() -> None:
    key, signature = KEYS[APP_ID], platform_sign(SECRET, b"text")
    assert key.has_signed(signature, b"text")
    other_form = signature[:32] + (int.from_bytes(signature[32:], "little") + ORDER).to_bytes(32, "little")
    assert not other_form[63] & 0xE0
    assert not key.has_signed(other_form, b"text")
    assert not key.has_signed(signature[:63] + bytes([signature[63] | 0x80]), b"text")
    assert not key.has_signed(signature[:63], b"text")
    assert not key.has_signed(signature + b"\0", b"text")


@pytest.mark.parametrize(
    "body", [b"null", b"[]", b'"x"', b"5", b"", b"not json", b"\xff", b'{"a":NaN}', b"[" * 9999]
)
@pytest.mark.parametrize("headers", [{}, {"signatures": ()}, {"app_ids": ()}])
def test_what_is_no_object_is_400_signed_or_not(body: bytes, headers: dict[str, Any]) -> None:
    assert status_of(posted(body, **headers)) == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"app_ids": ()},
        {"app_ids": (b"102000002",)},
        {"app_ids": (b"\xff",)},
        {"app_ids": (APP_ID.encode(), APP_ID.encode())},
        {"signatures": ()},
        {"signatures": (b"",)},
        {"signatures": (b"zz" * 64,)},
        {"signatures": (b"ab" * 63,)},
        {"signatures": (b"ab" * 65,)},
        {"signatures": (b"ab" * 64,)},
        {"signatures": (b" ".join([b"ab"] * 64),)},
        {"signatures": ("１".encode() * 43,)},
        {"timestamps": ()},
        {"timestamps": (b"",)},
        {"timestamps": (str(NOW + 1).encode(),)},
    ],
)
def test_whoever_is_not_provably_the_platform_is_refused(headers: dict[str, Any]) -> None:
    body = event_of("FRIEND_ADD", {})
    assert status_of(posted(body)) == 200
    assert status_of(posted(body, **headers)) == 403


def test_a_doubled_header_is_refused_even_where_both_are_right() -> None:
    body = event_of("FRIEND_ADD", {})
    good = posted(body)
    assert status_of(posted(body, signatures=good.signatures * 2)) == 403
    assert status_of(posted(body, timestamps=good.timestamps * 2)) == 403


@pytest.mark.parametrize("stamp", ["+1790000000", " 1790000000", "01790000000", "1_790_000_000", "1790000000.0", "-1",
                                   "١٧٩٠٠٠٠٠٠٠", "9" * 13, "9" * 5000, "1e9"])  # fmt: skip
def test_a_timestamp_is_digits_and_nothing_else(stamp: str) -> None:
    """Each is signed: only its form is wrong."""
    raw = stamp.encode()
    body = event_of("FRIEND_ADD", {})
    signature = platform_sign(SECRET, raw + body).hex().encode()
    assert status_of(posted(body, timestamps=(raw,), signatures=(signature,))) == 403
    assert status_of(posted(validation_of("abc", stamp)), is_open=True) == 403


@pytest.mark.parametrize(
    ("late", "status"), [(0, 200), (300, 200), (-300, 200), (301, 403), (-301, 403), (2 * 365 * 86400, 403)]
)
def test_a_signature_is_good_for_five_minutes_either_way(late: int, status: int) -> None:
    assert status_of(posted(event_of("FRIEND_ADD", {})), now=NOW + late) == status
    assert status_of(posted(validation_of("abc")), now=NOW + late, is_open=True) == status


def test_a_validation_is_answered_only_while_the_window_is_open() -> None:
    post = posted(validation_of("Arq0D5A61EgUu4OxUvOp"), signatures=(), timestamps=())
    assert status_of(post, is_open=False) == 403
    answer = verdict_on(post, is_open=True)
    assert isinstance(answer, Validation)
    assert answer.plain_token == "Arq0D5A61EgUu4OxUvOp"
    assert answer.signature == platform_sign(SECRET, f"{NOW}Arq0D5A61EgUu4OxUvOp".encode()).hex()


def test_nobody_asks_for_the_window_where_no_validation_is() -> None:
    def fail() -> bool:
        raise AssertionError

    assert isinstance(judge(posted(event_of("FRIEND_ADD", {})), KEYS, NOW, fail), Genuine)


@pytest.mark.parametrize(
    "token", ["", "a" * 65, "a b", "a\n", '{"op":0}', "哦", "a-b", "１", None, 5, ["a"], {}]
)
def test_nothing_but_letters_and_digits_is_signed(token: Any) -> None:
    assert status_of(posted(validation_of(token)), is_open=True) == 403


@pytest.mark.parametrize("stamp", ["", NOW, float(NOW), None, [str(NOW)], f"{NOW}\n"])
def test_nothing_but_a_time_in_digits_is_signed(stamp: Any) -> None:
    assert status_of(posted(validation_of("abc", stamp)), is_open=True) == 403


@pytest.mark.parametrize("content", [None, [], "x", 5, {}])
def test_a_validation_without_its_fields_is_refused(content: Any) -> None:
    assert status_of(posted(json.dumps({"op": 13, "d": content}).encode()), is_open=True) == 403
    assert status_of(posted(b'{"op":13}'), is_open=True) == 403


@given(token=st.text(), stamp=st.text() | st.integers(NOW - 400, NOW + 400).map(str))
def test_no_answer_to_a_stranger_signs_an_event(token: str, stamp: str) -> None:
    """An event's signed text is digits and an object; what is signed here never has the object."""
    verdict = verdict_on(posted(validation_of(token, stamp), signatures=()), is_open=True)
    if isinstance(verdict, Validation):
        signed = f"{stamp}{token}"
        assert signed.isalnum() and signed.isascii()
        assert read_object(signed.lstrip("0123456789").encode()) is None


@given(st.binary() | st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["op", "d", "t", "id", "plain_token", "event_ts"]) | st.text(), inner)).map(
    lambda value: json.dumps(value).encode()), st.booleans())  # fmt: skip
def test_no_body_makes_it_fail(body: bytes, is_open: bool) -> None:
    verdict = verdict_on(posted(body), is_open=is_open)
    assert (read_object(body) is None) is (isinstance(verdict, Refusal) and verdict.status == 400)


def names_of(body: bytes) -> tuple[tuple[str, ...], ...]:
    verdict = verdict_on(posted(body))
    assert isinstance(verdict, Genuine)
    return verdict.names


def test_what_identifies_an_event() -> None:
    message = event_of("GROUP_AT_MESSAGE_CREATE", {"id": "m1"})
    assert names_of(message) == ((APP_ID, "delivery-1"), (APP_ID, "GROUP_AT_MESSAGE_CREATE", "m1"))
    assert names_of(event_of("GUILD_UPDATE", {"id": "guild"})) == ((APP_ID, "delivery-1"),)
    assert names_of(event_of("C2C_MESSAGE_CREATE", "")) == ((APP_ID, "delivery-1"),)
    for body in (
        b"{}",
        b'{"op":0,"id":5,"t":["C2C_MESSAGE_CREATE"],"d":{"id":{}}}',
        event_of("FRIEND_ADD", {}, ""),
    ):
        assert names_of(body) == ()


def genuine(signature: bytes, *names: str) -> Genuine:
    return Genuine(signature=signature, names=tuple((name,) for name in names))


def test_an_event_is_new_once() -> None:
    admissions = Admissions()
    first = genuine(b"1", "delivery", "message")
    assert admissions.enter(first, NOW) is Entry.NEW
    assert admissions.enter(first, NOW) is Entry.REPLAYED
    assert admissions.enter(genuine(b"2", "message"), NOW) is Entry.RUNNING
    admissions.leave(first, NOW, is_taken=True)
    assert admissions.enter(first, NOW) is Entry.REPLAYED
    assert admissions.enter(genuine(b"2", "message"), NOW) is Entry.TAKEN
    assert admissions.enter(genuine(b"3", "delivery"), NOW) is Entry.TAKEN
    assert admissions.enter(genuine(b"3", "another"), NOW) is Entry.REPLAYED
    assert admissions.enter(genuine(b"4", "another"), NOW) is Entry.NEW


def test_what_failed_may_come_again_in_either_way() -> None:
    admissions = Admissions()
    first = genuine(b"1", "message")
    for _ in range(2):
        assert admissions.enter(first, NOW) is Entry.NEW
        admissions.leave(first, NOW, is_taken=False)
    assert admissions.enter(genuine(b"2", "message"), NOW) is Entry.NEW


def test_a_signature_is_remembered_while_it_could_be_fresh() -> None:
    admissions = Admissions()
    ahead = genuine(b"ahead")
    assert admissions.enter(ahead, NOW) is Entry.NEW
    admissions.leave(ahead, NOW, is_taken=True)
    assert admissions.enter(genuine(b"other"), NOW + 2 * FRESH_SECONDS) is Entry.NEW
    assert admissions.enter(ahead, NOW + 2 * FRESH_SECONDS) is Entry.REPLAYED


def test_what_was_seen_is_bounded_in_number_and_time() -> None:
    seen = Seen(seconds=10, limit=3)
    for number in range(5):
        seen.add(number, now=0)
    assert [number in seen for number in range(5)] == [False, False, True, True, True]
    seen.add(2, now=5)
    seen.add(9, now=11)
    assert len(seen) == 2 and 2 in seen and 9 in seen


# The door.


def scope_of(path: str, root: str = "", **headers: str) -> Scope:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "path": path, "root_path": root, "headers": raw}


@pytest.mark.parametrize(
    ("path", "root", "is_ours"),
    [
        ("/qq/webhook", "", True),
        ("/qq/webhook\n", "", True),
        ("/app/qq/webhook", "/app", True),
        ("/qq/webhook", "/app", True),
        ("/qq/webhook/x", "", False),
        ("/QQ/webhook", "", False),
        ("/application/qq/webhook", "/app", False),
    ],
)
def test_an_address_is_read_as_the_router_reads_it(path: str, root: str, is_ours: bool) -> None:
    assert leads_to(scope_of(path, root), {"/qq/webhook"}) is is_ours


class Body:
    """A `receive` that gives chunks, and counts how many were asked for."""

    def __init__(self, chunks: Iterable[bytes], *, is_complete: bool = True) -> None:
        self._messages: list[Message] = [
            {"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks
        ]
        if is_complete and self._messages:
            self._messages[-1]["more_body"] = False
        self.asked = 0

    async def __call__(self) -> Message:
        self.asked += 1
        return self._messages.pop(0) if self._messages else {"type": "http.disconnect"}


async def test_a_body_within_the_limit_is_read_whole() -> None:
    assert await read_body(scope_of("/"), Body([b"ab", b"cd"]), limit_bytes=4) == b"abcd"
    assert await read_body(scope_of("/", content_length="4"), Body([b"abcd"]), limit_bytes=4) == b"abcd"


@pytest.mark.parametrize("length", ["5", "-1", "4x", "", "9" * 5000])
async def test_a_length_beyond_the_limit_is_refused_whatever_comes(length: str) -> None:
    assert (
        await read_body(scope_of("/", content_length=length), Body([b"ab"]), limit_bytes=4) == door.TOO_LONG
    )


async def test_a_body_beyond_the_limit_is_not_held_and_not_read_for_ever() -> None:
    assert await read_body(scope_of("/"), Body([b"abc", b"de"]), limit_bytes=4) == door.TOO_LONG
    endless = Body([b"x" * 2**20] * 100)
    assert await read_body(scope_of("/"), endless, limit_bytes=4) == door.TOO_LONG
    assert endless.asked <= door.DISCARD_BYTES // 2**20 + 1


async def test_who_leaves_or_lingers_is_not_waited_for() -> None:
    async def never() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    assert await read_body(scope_of("/"), Body([b"a"], is_complete=False), limit_bytes=4) == door.GONE
    assert await read_body(scope_of("/"), never, limit_bytes=4, read_seconds=0.001) == door.TOO_SLOW


def test_every_refusal_is_counted_and_one_a_minute_is_said() -> None:
    class Count:
        refusals = 0

        def refused(self) -> None:
            self.refusals += 1

    lines: list[str] = []
    sink = logger.add(lambda line: lines.append(str(line)), level="TRACE")
    watch, times = Count(), iter([0.0, 1.0, 59.0, 60.0, 60.0])
    refusals = Refusals("QQ", watch, lambda: next(times))
    try:
        for _ in range(4):
            refusals.note(door.TOO_LONG)
        refusals.note(door.TOO_SLOW)
    finally:
        logger.remove(sink)
    assert watch.refusals == 5
    assert [door.TOO_LONG.reason in line for line in lines] == [True, True, False]
