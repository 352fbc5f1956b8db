"""The bundle's framing: whatever is done to a file, it opens whole or it is refused."""

import io
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation.errors import RejectedInput
from bot.moving import chunks, header
from bot.moving.chunks import CHUNK_BYTES, END, TAG_BYTES, SealingStream, UnsealingStream, read_header
from bot.moving.header import HEADER_BYTES, Seal, check_passphrase, new_seal, open_seal, parse_header
from bot.moving.refusal import BundleRefusal, Fault

WORDS = "三个不相干的词加一只金丝雀"
SEALED = CHUNK_BYTES + TAG_BYTES
SMALL = 64


@cache
def seal() -> Seal:
    return new_seal(WORDS, log2_n=14)


def sealed(text: bytes, by: Seal | None = None) -> bytes:
    file = io.BytesIO()
    stream = SealingStream(file, by or seal())
    view = memoryview(text)
    for start in range(0, len(view), 300_001):
        stream.write(view[start : start + 300_001])
    stream.finish()
    return file.getvalue()


def opened(raw: bytes, words: str = WORDS) -> bytes:
    file = io.BytesIO(raw)
    found = read_header(file)
    by = seal() if found == seal().header and words == WORDS else open_seal(found, words)
    return io.BufferedReader(UnsealingStream(file, by)).read()


def fault(raw: bytes, words: str = WORDS) -> Fault:
    with pytest.raises(BundleRefusal) as refusal:
        opened(raw, words)
    assert refusal.value.problem and refusal.value.fix
    return refusal.value.fault


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "CHUNK_BYTES", SMALL)
    monkeypatch.setattr(chunks, "_SEALED_BYTES", SMALL + TAG_BYTES)


@pytest.mark.parametrize(
    "size",
    [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES - 8, 2 * CHUNK_BYTES, 2_500_000],
)
def test_it_opens_as_it_was(size: int) -> None:
    text = bytes(range(256)) * (size // 256 + 1)
    raw = sealed(text[:size])
    assert opened(raw) == text[:size]
    assert len(raw) == HEADER_BYTES + size + TAG_BYTES * max(1, -(-size // CHUNK_BYTES)) + len(END)
    assert size < 16 or text[:16] not in raw


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_no_changed_byte_is_taken(data: st.DataObject) -> None:
    text = b"what is inside " * 9
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chunks, "CHUNK_BYTES", SMALL)
        patched.setattr(chunks, "_SEALED_BYTES", SMALL + TAG_BYTES)
        raw = bytearray(sealed(text))
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place] ^= data.draw(st.integers(1, 255))
        found = fault(bytes(raw))
    match place:
        case _ if place < len(header.MAGIC):
            assert found is Fault.NOT_A_BUNDLE
        case _ if place == len(header.MAGIC):
            assert found in (Fault.NEWER_FORMAT, Fault.DAMAGED)
        case _ if place >= len(raw) - len(END):
            assert found is Fault.TRUNCATED
        case _:
            assert found is Fault.DAMAGED


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_no_cut_or_lengthened_file_is_taken(data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chunks, "CHUNK_BYTES", SMALL)
        patched.setattr(chunks, "_SEALED_BYTES", SMALL + TAG_BYTES)
        raw = sealed(b"what is inside " * 9)
        length = data.draw(st.integers(0, len(raw) - 1))
        expected = Fault.TRUNCATED if length >= len(header.MAGIC) else Fault.NOT_A_BUNDLE
        assert fault(raw[:length]) is expected
        assert fault(raw + data.draw(st.binary(min_size=1, max_size=200))) in (Fault.TRUNCATED, Fault.DAMAGED)


def pieces(raw: bytes) -> list[bytes]:
    body = raw[HEADER_BYTES : -len(END)]
    step = SMALL + TAG_BYTES
    return [body[start : start + step] for start in range(0, len(body), step)]


@pytest.mark.usefixtures("small_chunks")
def test_chunks_stay_in_their_places() -> None:
    raw = sealed(bytes(4 * SMALL))
    one, two, three, last = pieces(raw)
    head = raw[:HEADER_BYTES]
    assert opened(head + one + two + three + last + END) == bytes(4 * SMALL)
    for order in (
        (two, one, three, last),
        (one, one, two, three, last),
        (one, three, last),
        (one, two, last, three),
        (one, two, three),
        (one, two, three, last, last),
        (last,),
        (),
    ):
        assert fault(head + b"".join(order) + END) is Fault.DAMAGED
    other = sealed(bytes(4 * SMALL), new_seal(WORDS, log2_n=14))
    assert fault(head + pieces(other)[0] + two + three + last + END) is Fault.DAMAGED


@pytest.mark.usefixtures("small_chunks")
def test_nothing_of_a_changed_chunk_is_given_out() -> None:
    raw = bytearray(sealed(b"a" * SMALL + b"b" * SMALL + b"c" * SMALL))
    raw[HEADER_BYTES + SMALL + TAG_BYTES + 5] ^= 1
    file = io.BytesIO(raw)
    read_header(file)
    stream = UnsealingStream(file, seal())
    buffer = bytearray(1000)
    assert stream.readinto(buffer) == SMALL and bytes(buffer[:SMALL]) == b"a" * SMALL
    with pytest.raises(BundleRefusal):
        stream.readinto(buffer)
    assert b"b" not in buffer


def test_every_chunk_belongs_to_its_header() -> None:
    """Also where the one who changes the header makes its checksum anew."""
    raw = sealed(b"text")
    salted = bytearray(raw[: HEADER_BYTES - header.CHECKSUM_BYTES])
    salted[len(header.MAGIC) + 4] ^= 1
    forged = parse_header(bytes(salted) + header._checksum(bytes(salted)))  # type: ignore[reportPrivateUsage]
    stream = UnsealingStream(io.BytesIO(raw[HEADER_BYTES:]), Seal(header=forged, key=seal().key))
    with pytest.raises(BundleRefusal):
        stream.readinto(bytearray(10))


def test_an_unfinished_file_is_not_taken() -> None:
    file = io.BytesIO()
    SealingStream(file, seal()).write(bytes(3 * CHUNK_BYTES))
    assert fault(file.getvalue()) is Fault.TRUNCATED


def test_memory_does_not_grow_with_the_file() -> None:
    class Counting(io.BytesIO):
        largest = 0

        def write(self, data):  # type: ignore[no-untyped-def]
            Counting.largest = max(Counting.largest, len(data))
            return len(data)

    stream = SealingStream(Counting(), seal())
    for _ in range(40):
        stream.write(bytes(300_000))
        assert len(stream._waiting) <= CHUNK_BYTES  # type: ignore[reportPrivateUsage]
    assert Counting.largest == SEALED


def test_a_wrong_passphrase_is_told_from_damage() -> None:
    raw = sealed(b"text")
    assert fault(raw, WORDS + "。") is Fault.WRONG_PASSPHRASE
    assert fault(raw[:-1], WORDS + "。") is Fault.WRONG_PASSPHRASE


def test_the_same_letters_typed_elsewhere_open_it() -> None:
    made = new_seal("caf\N{LATIN SMALL LETTER E WITH ACUTE} au lait 42", log2_n=14)
    assert opened(sealed(b"text", made), "cafe\N{COMBINING ACUTE ACCENT} au lait 42") == b"text"


def test_every_bundle_has_a_key_of_its_own() -> None:
    one, two = (new_seal(WORDS, log2_n=14) for _ in range(2))
    assert one.key != two.key and one.header != two.header
    assert one.key not in one.header.raw and one.key.hex() not in repr(one)


@pytest.mark.parametrize("words", ["", "short", "十一个字的口令不够长呢"])
def test_a_short_passphrase_is_refused(words: str) -> None:
    with pytest.raises(RejectedInput, match="至少要 12 个字"):
        check_passphrase(words)
    with pytest.raises(RejectedInput):
        new_seal(words, log2_n=14)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((2, 17, 8, 1), Fault.NEWER_FORMAT),
        ((0, 17, 8, 1), Fault.DAMAGED),
        ((1, 13, 8, 1), Fault.DAMAGED),
        ((1, 31, 8, 1), Fault.DAMAGED),
        ((1, 17, 255, 1), Fault.DAMAGED),
        ((1, 17, 8, 200), Fault.DAMAGED),
        ((1, 17, 0, 1), Fault.DAMAGED),
    ],
)
def test_a_header_cannot_ask_for_much(numbers: tuple[int, ...], expected: Fault) -> None:
    start = len(header.MAGIC)
    begun = header.MAGIC + bytes(numbers) + seal().header.raw[start + 4 : -header.CHECKSUM_BYTES]
    with pytest.raises(BundleRefusal) as refusal:
        parse_header(begun + header._checksum(begun))  # type: ignore[reportPrivateUsage]
    assert refusal.value.fault is expected


@pytest.mark.parametrize("raw", [b"", b"\x1f\x8b\x08 a backup", b"SQLite format 3\x00" * 20])
def test_other_files_are_no_bundles(raw: bytes) -> None:
    assert fault(raw) is Fault.NOT_A_BUNDLE
