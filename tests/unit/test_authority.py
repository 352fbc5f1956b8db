"""Authority: by id alone, claimed once, never by guessing, never from the playground."""

import hashlib

import pytest

from bot.conversation.message import PLAYGROUND, AccountKey
from identity.authority import WRONG_TRIES, WRONG_TRIES_SECONDS, Authority

PLAYED = (PLAYGROUND, f"{PLAYGROUND}-service")


def key(openid: str, channel: str = "wechat", app_id: str = "wx1") -> AccountKey:
    return AccountKey(channel=channel, app_id=app_id, openid=openid)


class Claims:
    """The part of `AccountStore` that authority calls."""

    def __init__(self) -> None:
        self.code_hash: bytes | None = None
        self.was_issued = False
        self.claimed: list[tuple[str, str, str]] = []
        self.tried = 0

    async def superusers(self) -> list[tuple[str, str, str]]:
        return self.claimed

    async def issue_claim_code(self, code_hash: bytes) -> bool:
        if self.was_issued:
            return False
        self.code_hash, self.was_issued = code_hash, True
        return True

    async def claim_superuser(self, key: AccountKey, code_hash: bytes) -> bool:
        self.tried += 1
        if code_hash != self.code_hash:
            return False
        self.code_hash = None
        self.claimed.append((key.channel, key.app_id, key.openid))
        return True


class Seconds:
    """A monotonic clock that moves when told."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def claims() -> Claims:
    return Claims()


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


def authority(claims: Claims, seconds: Seconds, *configured: str) -> Authority:
    return Authority(claims, configured, seconds)  # pyright: ignore[reportArgumentType]


async def test_configured_addresses(claims: Claims, seconds: Seconds) -> None:
    asked = authority(claims, seconds, " WeChat:oA ", "onebot:10001", "", "oB", ":oC", "wechat:")
    assert await asked.is_superuser(key("oA"))
    assert await asked.is_superuser(key("10001", "onebot", "9"))
    for nobody in (key("oB"), key("oC"), key(""), key("oa"), key("10001"), key("oA", "onebot")):
        assert not await asked.is_superuser(nobody)


@pytest.mark.parametrize("app_id", PLAYED)
async def test_the_playground_never_has_authority(claims: Claims, seconds: Seconds, app_id: str) -> None:
    asked = authority(claims, seconds, "wechat:oA")
    player = key("oA", app_id=app_id)
    code = await asked.issue_claim_code()
    assert code
    claims.claimed.append(("wechat", app_id, "oA"))
    assert not await asked.is_superuser(player)
    assert not await asked.claim(player, code)
    assert claims.tried == 0


async def test_the_code_makes_its_sender_superuser_once(claims: Claims, seconds: Seconds) -> None:
    asked = authority(claims, seconds)
    code = await asked.issue_claim_code()
    assert code
    assert not await asked.is_superuser(key("oA"))
    assert await asked.claim(key("oA"), code)
    assert await asked.is_superuser(key("oA"))
    assert not await asked.claim(key("oB"), code)
    assert not await asked.is_superuser(key("oB"))
    assert not await asked.is_superuser(key("oA", app_id="wx2"))


async def test_a_code_is_issued_once(claims: Claims, seconds: Seconds) -> None:
    asked = authority(claims, seconds)
    assert await asked.issue_claim_code()
    assert await asked.issue_claim_code() is None


async def test_only_the_hash_of_a_code_is_stored(claims: Claims, seconds: Seconds) -> None:
    code = await authority(claims, seconds).issue_claim_code()
    assert code and claims.code_hash
    assert len(claims.code_hash) == hashlib.sha256().digest_size
    assert code.encode() not in claims.code_hash


async def test_codes_are_long_and_differ(seconds: Seconds) -> None:
    codes = {await authority(Claims(), seconds).issue_claim_code() for _ in range(50)}
    assert len(codes) == 50
    assert all(code and len(code.replace("-", "")) == 12 for code in codes)
    assert not set("".join(filter(None, codes))) & set("0O1IL")


@pytest.mark.parametrize("typed", ["{}", " {} ", "lower", "without dashes", "full-width"])
async def test_a_code_may_be_typed_loosely(claims: Claims, seconds: Seconds, typed: str) -> None:
    asked = authority(claims, seconds)
    code = await asked.issue_claim_code()
    assert code
    forms = {
        "lower": code.lower(),
        "without dashes": code.replace("-", ""),
        "full-width": "".join(chr(ord(character) + 0xFEE0) for character in code),
    }
    assert await asked.claim(key("oA"), forms.get(typed, typed.format(code)))


async def test_a_guesser_is_refused_even_with_the_right_code(claims: Claims, seconds: Seconds) -> None:
    asked = authority(claims, seconds)
    code = await asked.issue_claim_code()
    assert code
    for _ in range(WRONG_TRIES):
        assert not await asked.claim(key("oA"), "WRONG")
    assert not await asked.claim(key("oA"), code)
    assert claims.tried == WRONG_TRIES
    seconds.now += WRONG_TRIES_SECONDS + 1
    assert await asked.claim(key("oA"), code)


async def test_one_guesser_does_not_lock_out_others(claims: Claims, seconds: Seconds) -> None:
    asked = authority(claims, seconds)
    code = await asked.issue_claim_code()
    assert code
    for _ in range(WRONG_TRIES):
        await asked.claim(key("oA"), "WRONG")
    assert await asked.claim(key("oB"), code)


async def test_anonymous_people_cannot_claim(claims: Claims, seconds: Seconds) -> None:
    asked = authority(claims, seconds)
    code = await asked.issue_claim_code()
    assert code
    assert not await asked.claim(key(""), code)
