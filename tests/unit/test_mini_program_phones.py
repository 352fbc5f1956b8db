"""What the phone of a mini-program leads to, and the door by which it comes."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from bot.console.pages import make_app
from bot.console.phone_door import LIMIT_BYTES, LONGEST_CODE, PATH, PhoneDoor
from bot.conversation.errors import PlatformUnavailable, RejectedInput, StoreUnavailable
from identity.directory import Proof
from identity.mini_program import MiniProgramPhones, Outcome
from identity.model import Account
from tests.command_fakes import ALICE, BOB, House

TOKEN = "t0ken-令牌"
CODES = {"login_code": "login", "phone_code": "phone"}
PHONE = "+8613800138000"


@dataclass
class Platform:
    """`LoginPort` and `PhonePort`."""

    unionid: str | None = "uAlice"
    phone: str | None = PHONE
    is_away: bool = False
    asked: list[str] = field(default_factory=list)

    async def unionid_of(self, login_code: str) -> str | None:
        return self._ask(login_code, self.unionid)

    async def phone_of(self, phone_code: str) -> str | None:
        return self._ask(phone_code, self.phone)

    def _ask(self, code: str, answer: str | None) -> str | None:
        if self.is_away:
            raise PlatformUnavailable("ApiAway")
        self.asked.append(code)
        return answer


class People:
    """As a `Directory`."""

    def __init__(self) -> None:
        house = House()
        self.known = {"uAlice": house.alice}
        self.linked: Account | RejectedInput = house.alice
        self.other = house.bob
        self.proven: list[tuple[Account, str, Proof]] = []
        self.channels: list[str] = []

    async def by_unionid(self, channel: str, unionid: str) -> Account | None:
        self.channels.append(channel)
        return self.known.get(unionid)

    async def prove_phone(self, account: Account, phone: str, verified_by: Proof) -> Account:
        self.proven.append((account, phone, verified_by))
        if isinstance(self.linked, RejectedInput):
            raise self.linked
        return self.linked


@dataclass
class Scene:
    platform: Platform = field(default_factory=Platform)
    people: People = field(default_factory=People)

    @property
    def phones(self) -> MiniProgramPhones:
        people: Any = self.people
        return MiniProgramPhones(
            logins=self.platform, phones=self.platform, directory=people, channel="wechat"
        )

    async def prove(self) -> Outcome:
        return await self.phones.prove("login", "phone")


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_the_phone_goes_to_the_account_with_the_unionid(scene: Scene) -> None:
    assert await scene.prove() is Outcome.LINKED
    ((account, phone, proof),) = scene.people.proven
    assert (account.key, phone, proof) == (ALICE, PHONE, Proof.MINI_PROGRAM)
    assert scene.people.channels == ["wechat"]


async def test_it_may_join_who_has_the_phone_or_wait_for_an_admin(scene: Scene) -> None:
    scene.people.linked = scene.people.other
    assert scene.people.other.key == BOB
    assert await scene.prove() is Outcome.JOINED
    scene.people.linked = RejectedInput("…")
    assert await scene.prove() is Outcome.CONFLICT


@pytest.mark.parametrize(
    ("unionid", "outcome"),
    [
        (None, Outcome.LOGIN_REFUSED),
        ("", Outcome.NO_UNIONID),
        ("uStranger", Outcome.UNKNOWN_PERSON),
    ],
)
async def test_no_phone_code_is_spent_on_a_stranger(
    scene: Scene, unionid: str | None, outcome: Outcome
) -> None:
    # Even if the empty unionid were somebody's.
    scene.people.known[""] = scene.people.other
    scene.platform.unionid = unionid
    assert await scene.prove() is outcome
    assert (scene.platform.asked, scene.people.proven) == (["login"], [])


@pytest.mark.parametrize("phone", [None, "", "+", "+86123", "no phone"])
async def test_a_code_that_gives_no_phone_proves_none(scene: Scene, phone: str | None) -> None:
    scene.platform.phone = phone
    assert await scene.prove() is Outcome.PHONE_REFUSED
    assert scene.people.proven == []


NOWHERE: Any = None
"""A `Watch` that nobody looks at."""


@pytest.fixture
async def door(scene: Scene) -> AsyncIterator[httpx.AsyncClient]:
    app = make_app(NOWHERE, [PhoneDoor(scene.phones, TOKEN).route])
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8081") as client:
        client.headers = httpx.Headers([(b"Authorization", f"Bearer {TOKEN}".encode())])
        yield client


async def test_who_has_the_token_is_told_what_came_of_it(scene: Scene, door: httpx.AsyncClient) -> None:
    answer = await door.post(PATH, json=CODES)
    assert (answer.status_code, answer.json()) == (200, {"linked": True, "reason": "linked"})
    assert answer.headers["cache-control"] == "no-store"
    scene.platform.unionid = "uStranger"
    answer = await door.post(PATH, json=CODES)
    assert (answer.status_code, answer.json()) == (200, {"linked": False, "reason": "unknown_person"})


def test_the_words_are_these() -> None:
    assert {each.value for each in Outcome if each.is_linked} == {"linked", "joined"}
    assert {each.value for each in Outcome if not each.is_linked} == {
        "login_refused",
        "no_unionid",
        "unknown_person",
        "phone_refused",
        "conflict",
    }


@pytest.mark.parametrize(
    "authorization",
    [
        b"",
        b"Bearer",
        b"Bearer ",
        b"Bearer t0ken",
        b"Basic t0ken",
        TOKEN.encode(),
        b"Bearer " + TOKEN.encode()[:-1],
        b"Bearer " + TOKEN.encode() + b"x",
        b"Bearer \xff\xfe",
    ],
)
async def test_without_the_token_nothing_is_read_or_asked(
    scene: Scene, door: httpx.AsyncClient, authorization: bytes
) -> None:
    async def body() -> AsyncIterator[bytes]:
        raise AssertionError("it was read")
        yield b""

    answer = await door.post(PATH, content=body(), headers=[(b"Authorization", authorization)])
    assert (answer.status_code, answer.json()) == (401, {"linked": False, "reason": "unauthorized"})
    assert scene.platform.asked == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"x"',
        b"1",
        b"{",
        b"{}",
        b"\xff",
        b"[" * 2_000,
        *(
            json.dumps(CODES | changed).encode()
            for changed in (
                {"login_code": None},
                {"phone_code": 7},
                {"phone_code": ["phone"]},
                {"phone_code": {"a": "b"}},
                {"login_code": ""},
                {"login_code": True},
                {"login_code": "x" * (LONGEST_CODE + 1)},
                {"phone_code": "a b"},
                {"phone_code": "\x00"},
                {"phone_code": "码"},
                {"phone_code": "\ud800"},
            )
        ),
        json.dumps({"login_code": "login"}).encode(),
    ],
)
async def test_what_is_no_request_is_refused(scene: Scene, door: httpx.AsyncClient, body: bytes) -> None:
    answer = await door.post(PATH, content=body)
    assert (answer.status_code, answer.json()) == (400, {"linked": False, "reason": "bad_request"})
    assert scene.platform.asked == []


@pytest.mark.parametrize("is_declared", [True, False])
async def test_no_more_is_read_than_fits(scene: Scene, door: httpx.AsyncClient, is_declared: bool) -> None:
    sent = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 100 * LIMIT_BYTES:
            sent += 1_024
            yield b" " * 1_024

    headers = {"Content-Length": str(100 * LIMIT_BYTES)} if is_declared else {}
    answer = await door.post(PATH, content=pieces(), headers=headers)
    assert (answer.status_code, answer.json()["reason"]) == (413, "too_large")
    assert sent <= LIMIT_BYTES + 2_048
    assert scene.platform.asked == []


async def test_a_platform_or_a_store_that_is_away_is_no_answer(scene: Scene, door: httpx.AsyncClient) -> None:
    scene.platform.is_away = True
    answer = await door.post(PATH, json=CODES)
    assert (answer.status_code, answer.json()) == (503, {"linked": False, "reason": "unavailable"})
    scene.platform.is_away = False

    async def fail(channel: str, unionid: str) -> Account | None:
        raise StoreUnavailable("locked")

    scene.people.by_unionid = fail
    assert (await door.post(PATH, json=CODES)).status_code == 503


async def test_only_posts_and_only_from_here(door: httpx.AsyncClient) -> None:
    assert (await door.get(PATH)).status_code == 405
    assert (await door.post(PATH, json=CODES, headers={"Host": "evil.example"})).status_code == 400


async def test_without_a_token_there_is_no_such_address(scene: Scene) -> None:
    transport = httpx.ASGITransport(app=make_app(NOWHERE))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8081") as client:
        answer = await client.post(PATH, json=CODES, headers={"Authorization": "Bearer "})
    assert answer.status_code == 404
    with pytest.raises(ValueError, match="key"):
        PhoneDoor(scene.phones, "")
