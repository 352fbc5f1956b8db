"""`PhoneCodeStore` over SQL, and the limits of `PhoneCodes` over it."""

import hmac
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from bot.conversation.errors import RejectedInput
from bot.conversation.message import PLAYGROUND, AccountKey
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql.departing import SqlDeparting
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.phones import SqlPhones
from identity.directory import Directory, Proof
from identity.model import Account, Sending
from identity.phone import PhoneHasher
from identity.phone_codes import DAY, WRONG_TRIES, Asked, PhoneCodes, Proven
from tests.integration.database_fixture import Stores, a_key, open_stores

PHONE, OTHER = "+8613800138000", "+8613900139000"
PEPPER, NEXT_PEPPER = b"p" * 32, b"q" * 32
LINKS = "SELECT person_id, account_id, verified_by FROM phone_link"


@dataclass
class Sender:
    """A `CodeSender` whose texts are read here."""

    answer: Sending = Sending.SENT
    sent: list[tuple[str, str, int]] = field(default_factory=list)

    async def send(self, phone: str, code: str, minutes: int) -> Sending:
        self.sent.append((phone, code, minutes))
        return self.answer


class Keys:
    """`PhoneKeys` that change."""

    def __init__(self) -> None:
        self.hasher = PhoneHasher(PEPPER)

    def current(self) -> PhoneHasher:
        return self.hasher

    def rotate(self) -> None:
        self.hasher = PhoneHasher(NEXT_PEPPER, 2, older=[(1, PEPPER)])


@dataclass
class Scene:
    stores: Stores
    codes: PhoneCodes
    new_codes: Callable[[], PhoneCodes]
    """As another process makes them."""
    sender: Sender
    keys: Keys
    directory: Directory
    li: Account
    qq: Account
    """On another channel."""

    async def code(self, account: Account | None = None, phone: str = PHONE) -> str:
        assert await self.codes.send(account or self.li, phone) is Asked.SENT
        return self.sender.sent[-1][1]

    async def person(self, account: Account) -> int:
        found = await self.stores.accounts.find_account(account.key)
        assert found is not None
        return found.person

    async def count(self, table: str) -> int:
        return (await self.stores.rows(f"SELECT count(*) FROM {table}"))[0][0]


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_stores(tmp_path) as stores:
        keys, sender = Keys(), Sender()
        directory = Directory(stores.accounts, keys, SqlPhones(stores.database, stores.clock))

        def new_codes() -> PhoneCodes:
            return PhoneCodes(
                store=stores.phone_codes,
                sender=sender,
                accounts=stores.accounts,
                directory=directory,
                keys=keys,
                keyed_hash=partial(hmac.digest, PEPPER, digest="sha256"),
                clock=stores.clock,
            )

        yield Scene(
            stores=stores,
            codes=new_codes(),
            new_codes=new_codes,
            sender=sender,
            keys=keys,
            directory=directory,
            li=await stores.account("o-li"),
            qq=await stores.accounts.create_account(a_key("20001", channel="onebot", app_id="10001"), ""),
        )


def wrong(code: str) -> str:
    return str((int(code) + 1) % 10**6).zfill(6)


async def test_a_code_that_comes_back_links_the_phone_once(scene: Scene) -> None:
    code = await scene.code(phone="138 0013－8000")
    assert scene.sender.sent == [(PHONE, code, 5)]
    assert re.fullmatch("[0-9]{6}", code)
    assert not await scene.codes.is_proven(scene.li)
    assert await scene.codes.prove(scene.li, f" {code[:3]} {code[3:]} ") is Proven.LINKED
    assert await scene.stores.rows(LINKS) == [(scene.li.person, scene.li.id, Proof.CODE.value)]
    assert await scene.codes.is_proven(scene.li)
    assert ("wechat:wx1:o-li", "link-phone", "code") in await scene.stores.rows(
        "SELECT actor, action, reason FROM audit"
    )
    assert await scene.codes.prove(scene.li, code) is Proven.WRONG
    assert await scene.count("phone_code") == 0


async def test_who_proves_a_phone_that_somebody_has_joins_them(scene: Scene) -> None:
    await scene.directory.prove_phone(scene.li, PHONE, Proof.IMPORT)
    assert await scene.codes.prove(scene.qq, await scene.code(scene.qq)) is Proven.JOINED
    assert await scene.person(scene.qq) == scene.li.person
    (merge,) = await scene.stores.accounts.merges(scene.li.person)
    assert (merge.account, merge.reason) == (scene.qq.id, "phone:code")


async def test_two_persons_with_phones_of_their_own_wait_for_an_admin(scene: Scene) -> None:
    await scene.directory.prove_phone(scene.li, PHONE, Proof.IMPORT)
    await scene.directory.prove_phone(scene.qq, OTHER, Proof.IMPORT)
    assert await scene.codes.prove(scene.qq, await scene.code(scene.qq)) is Proven.CONFLICT
    assert await scene.person(scene.qq) != scene.li.person
    (conflict,) = await scene.stores.accounts.conflicts()
    assert (conflict.account, conflict.detail) == (scene.qq.id, "phone:code")


async def test_neither_number_nor_code_is_in_the_file(scene: Scene) -> None:
    code = await scene.code()
    (row,) = await scene.stores.rows("SELECT phone_hash, code_hash FROM phone_code")
    assert [len(each) for each in row] == [32, 32]
    written = b"".join(path.read_bytes() for path in scene.stores.database.path.parent.iterdir())
    for secret in (code, PHONE, PHONE.removeprefix("+86")):
        assert secret.encode() not in written
    # And who asked is not tied to whose phone it was about.
    assert await scene.stores.rows(
        "SELECT count(*) FROM phone_ask WHERE account_id NOT NULL AND phone_hash NOT NULL"
    ) == [(0,)]


async def test_a_code_lasts_five_minutes(scene: Scene) -> None:
    code = await scene.code()
    scene.stores.clock.step(minutes=4, seconds=59)
    assert await scene.codes.prove(scene.li, wrong(code)) is Proven.WRONG
    scene.stores.clock.step(seconds=1)
    assert await scene.codes.prove(scene.li, code) is Proven.WRONG
    assert await scene.codes.prove(scene.li, await scene.code()) is Proven.LINKED


async def test_a_code_is_good_for_the_account_that_asked(scene: Scene) -> None:
    code = await scene.code()
    assert await scene.codes.prove(scene.qq, code) is Proven.WRONG
    await scene.code(scene.qq, OTHER)
    assert await scene.codes.prove(scene.qq, code) is Proven.WRONG
    assert await scene.codes.prove(scene.li, code) is Proven.LINKED


async def test_five_wrong_codes_lock(scene: Scene) -> None:
    code = await scene.code()
    for _ in range(WRONG_TRIES - 1):
        assert await scene.codes.prove(scene.li, wrong(code)) is Proven.WRONG
    assert ("phone-code-locked",) not in await scene.stores.rows("SELECT action FROM audit")
    assert await scene.codes.prove(scene.li, wrong(code)) is Proven.WRONG
    assert await scene.codes.prove(scene.li, code) is Proven.WRONG
    assert ("phone-code-locked",) in await scene.stores.rows("SELECT action FROM audit")
    assert await scene.codes.prove(scene.li, await scene.code()) is Proven.LINKED


async def test_four_wrong_codes_do_not(scene: Scene) -> None:
    code = await scene.code()
    for _ in range(WRONG_TRIES - 1):
        await scene.codes.prove(scene.li, wrong(code))
    assert await scene.codes.prove(scene.li, code) is Proven.LINKED


async def test_a_new_code_takes_the_place_of_the_old(scene: Scene) -> None:
    old = await scene.code()
    new = await scene.code(phone=OTHER)
    if old != new:
        assert await scene.codes.prove(scene.li, old) is Proven.WRONG
    assert await scene.codes.prove(scene.li, new) is Proven.LINKED
    assert await scene.stores.rows("SELECT phone_hash FROM phone_link") == [
        (scene.keys.current().hash(OTHER),)
    ]


async def test_an_account_gets_three_codes_an_hour(scene: Scene) -> None:
    for number in range(3):
        await scene.code(phone=f"1380013800{number}")
        scene.stores.clock.step(minutes=15)
    assert await scene.codes.send(scene.li, OTHER) is Asked.TOO_MANY
    assert len(scene.sender.sent) == 3
    assert await scene.codes.send(scene.qq, OTHER) is Asked.SENT
    scene.stores.clock.step(minutes=15)
    assert await scene.codes.send(scene.li, OTHER) is Asked.SENT


async def test_a_phone_gets_three_codes_an_hour_and_five_a_day_whoever_asks(scene: Scene) -> None:
    async def another(number: int) -> Asked:
        return await scene.codes.send(await scene.stores.account(f"o-{number}"), PHONE)

    assert [await another(number) for number in range(4)] == [*[Asked.SENT] * 3, Asked.TOO_MANY]
    # A refused wish takes no place and breaks no code that waits.
    assert await scene.count("phone_ask") == 6
    scene.stores.clock.step(hours=1)
    assert [await another(number) for number in range(4, 7)] == [*[Asked.SENT] * 2, Asked.TOO_MANY]
    scene.stores.clock.step(hours=22)
    assert await another(7) is Asked.TOO_MANY
    assert await scene.codes.send(await scene.stores.account("o-8"), OTHER) is Asked.SENT
    scene.stores.clock.step(hours=1)
    assert await another(9) is Asked.SENT


async def test_a_new_pepper_does_not_make_the_phone_another(scene: Scene) -> None:
    for number in range(3):
        assert await scene.codes.send(await scene.stores.account(f"o-{number}"), PHONE) is Asked.SENT
    scene.keys.rotate()
    assert await scene.codes.send(scene.li, PHONE) is Asked.TOO_MANY


async def test_a_code_of_the_pepper_before_is_asked_for_again(scene: Scene) -> None:
    await scene.directory.prove_phone(scene.qq, PHONE, Proof.IMPORT)
    code = await scene.code()
    scene.keys.rotate()
    assert await scene.codes.prove(scene.li, code) is Proven.WRONG
    # The number was seen: its link went over, and the next code finds it.
    assert await scene.codes.prove(scene.li, await scene.code()) is Proven.JOINED
    assert await scene.stores.rows("SELECT key_version FROM phone_link") == [(2,)]


async def test_what_was_not_sent_is_not_counted(scene: Scene) -> None:
    scene.sender.answer = Sending.REFUSED
    for _ in range(4):
        assert await scene.codes.send(scene.li, PHONE) is Asked.NOT_SENT
    assert (await scene.count("phone_code"), await scene.count("phone_ask")) == (0, 0)
    code = scene.sender.sent[-1][1]
    assert await scene.codes.prove(scene.li, code) is Proven.WRONG
    scene.sender.answer = Sending.SENT
    assert await scene.codes.prove(scene.li, await scene.code()) is Proven.LINKED


async def test_what_may_have_been_sent_counts_for_the_phone_alone(scene: Scene) -> None:
    scene.sender.answer = Sending.UNKNOWN
    for _ in range(3):
        assert await scene.codes.send(scene.li, PHONE) is Asked.NOT_SENT
    assert await scene.codes.prove(scene.li, scene.sender.sent[-1][1]) is Proven.WRONG
    scene.sender.answer = Sending.SENT
    assert await scene.codes.send(scene.li, PHONE) is Asked.TOO_MANY
    assert await scene.codes.send(scene.li, OTHER) is Asked.SENT


@pytest.mark.parametrize("phone", ["", "12345", "abc", "9" * 40, "13800138000 谢谢"])
async def test_what_is_no_number_costs_nothing(scene: Scene, phone: str) -> None:
    with pytest.raises(RejectedInput):
        await scene.codes.send(scene.li, phone)
    assert scene.sender.sent == [] and await scene.count("phone_ask") == 0


@pytest.mark.parametrize(
    "typed", ["", "abc", "１２", "9" * 500, "\ud800", "微信是什么意思", "1234567", "字" * 100_000]
)
async def test_what_cannot_be_a_code_is_no_try(scene: Scene, typed: str) -> None:
    code = await scene.code()
    for _ in range(WRONG_TRIES):
        assert await scene.codes.prove(scene.li, typed) is Proven.NO_CODE
    assert await scene.codes.prove(scene.li, code) is Proven.LINKED


async def test_who_waits_for_a_code_is_known_until_it_is_spent_or_over(scene: Scene) -> None:
    assert not scene.codes.is_open(scene.li.key)
    code = await scene.code()
    assert scene.codes.is_open(scene.li.key) and not scene.codes.is_open(scene.qq.key)
    await scene.codes.prove(scene.li, wrong(code))
    assert scene.codes.is_open(scene.li.key)
    await scene.codes.prove(scene.li, code)
    assert not scene.codes.is_open(scene.li.key)
    await scene.code(scene.qq, OTHER)
    scene.stores.clock.step(minutes=4, seconds=59)
    assert scene.codes.is_open(scene.qq.key)
    scene.stores.clock.step(seconds=1)
    assert not scene.codes.is_open(scene.qq.key)


async def test_a_code_that_may_have_arrived_is_still_put_aside(scene: Scene) -> None:
    scene.sender.answer = Sending.REFUSED
    await scene.codes.send(scene.li, PHONE)
    assert not scene.codes.is_open(scene.li.key)
    scene.sender.answer = Sending.UNKNOWN
    await scene.codes.send(scene.li, PHONE)
    assert scene.codes.is_open(scene.li.key)


async def test_who_waits_for_a_code_is_known_after_a_restart(scene: Scene) -> None:
    await scene.code(scene.qq, OTHER)
    scene.stores.clock.step(minutes=3)
    code = await scene.code()
    scene.stores.clock.step(minutes=2)
    restarted = scene.new_codes()
    assert not restarted.is_open(scene.li.key)
    await restarted.load()
    assert restarted.is_open(scene.li.key) and not restarted.is_open(scene.qq.key)
    assert await restarted.prove(scene.li, code) is Proven.LINKED
    assert not restarted.is_open(scene.li.key)


async def test_full_width_digits_are_digits(scene: Scene) -> None:
    code = await scene.code()
    wide = "".join(chr(ord(digit) + 0xFEE0) for digit in code)
    assert await scene.codes.prove(scene.li, wide) is Proven.LINKED


async def test_accounts_that_are_tried_out_never_meet_real_ones(scene: Scene) -> None:
    playing = [
        await scene.stores.accounts.create_account(
            AccountKey(channel=channel, app_id=app_id, openid="o-1"), ""
        )
        for channel, app_id in (("wechat", f"{PLAYGROUND}-service"), ("onebot", PLAYGROUND))
    ]
    assert await scene.codes.prove(scene.li, await scene.code()) is Proven.LINKED
    assert await scene.codes.prove(playing[0], await scene.code(playing[0])) is Proven.LINKED
    assert await scene.codes.prove(playing[1], await scene.code(playing[1])) is Proven.JOINED
    assert await scene.person(playing[1]) == playing[0].person
    assert await scene.person(scene.li) == scene.li.person


async def test_clearing_and_leaving_take_the_code_along(scene: Scene, tmp_path: Path) -> None:
    ledger = ForgetLedger(tmp_path / "forgotten.jsonl", PEPPER, scene.stores.clock)
    facts = SqlFacts(scene.stores.database, scene.stores.clock, ledger)
    code = await scene.code()
    kept = await scene.code(scene.qq, OTHER)
    await facts.clear_person(scene.li.person)
    assert await scene.codes.prove(scene.li, code) is Proven.WRONG
    assert await scene.stores.rows("SELECT account_id FROM phone_code") == [(scene.qq.id,)]
    await SqlDeparting(scene.stores.database, scene.stores.clock, ledger).depart(scene.qq.person)
    assert await scene.codes.prove(scene.qq, kept) is Proven.WRONG
    assert await scene.count("phone_code") == 0
    # The limits stand: /注销 is no way around them.
    assert await scene.count("phone_ask") == 4


async def test_what_is_over_does_not_stay(scene: Scene) -> None:
    await scene.code()
    scene.stores.clock.step(minutes=5)
    now = scene.stores.clock.now()
    await scene.stores.phone_codes.forget_overdue(now, now - DAY)
    assert (await scene.count("phone_code"), await scene.count("phone_ask")) == (0, 2)
    scene.stores.clock.step(days=1)
    await scene.stores.phone_codes.forget_overdue(scene.stores.clock.now(), now)
    assert await scene.count("phone_ask") == 0
