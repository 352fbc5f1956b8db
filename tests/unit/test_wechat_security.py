"""What remembers signatures and sealed bytes stays small and true."""

from bot.channels.wechat import MemoryReplyStore
from bot.channels.wechat.security import Envelope, SeenSignatures
from simulators.wechat import envelope

KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"


def test_a_signature_carries_one_message_however_often():
    seen = SeenSignatures()
    assert [seen.is_reused("s", key) for key in ("a", "a", "b", "a", "c")] == [
        False,
        False,
        True,
        False,
        True,
    ]
    assert not seen.is_reused("t", "b")


def test_the_oldest_signature_is_forgotten_when_full():
    seen = SeenSignatures(limit=2)
    for signature in ("s", "t", "u"):
        assert not seen.is_reused(signature, "a")
    assert seen.is_reused("u", "b")
    assert not seen.is_reused("s", "b")


async def test_the_first_sealed_bytes_count():
    store = MemoryReplyStore()
    assert await store.sealed("wx", "k") is None
    assert await store.seal("wx", "k", b"waiting", carries_answer=False) == b"waiting"
    assert await store.seal("wx", "k", b"answer", carries_answer=True) == b"waiting"
    assert await store.sealed("wx", "k") == b"waiting"
    assert await store.sealed("wy", "k") is None
    assert store.answered == set()


async def test_the_oldest_sealed_bytes_are_forgotten_when_full():
    store = MemoryReplyStore(limit=1)
    await store.seal("wx", "k", b"1", carries_answer=True)
    await store.seal("wx", "l", b"2", carries_answer=True)
    assert await store.sealed("wx", "k") is None
    assert store.answered == {("wx", "l")}


def test_both_sides_of_the_envelope_agree_at_every_length():
    ours = Envelope(token="t", aes_key=KEY, app_id="wx1")
    for length in range(70):
        text = "汉" * (length // 3) + "a" * (length % 3)
        assert envelope.decrypt(ours.encrypt(text), aes_key=KEY, app_id="wx1") == text
        assert ours.open(envelope.encrypt(text, aes_key=KEY, app_id="wx1")) == text.encode()


def test_the_salt_is_never_the_same():
    ours = Envelope(token="t", aes_key=KEY, app_id="wx1")
    assert len({ours.encrypt("x") for _ in range(20)}) == 20
