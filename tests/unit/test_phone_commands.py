"""/手机 and /验证: what they say, and what of a message they leave to be stored."""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.commands import CommandContext
from bot.commands.aside import put_aside
from bot.commands.parsing import UNSTORED, Call, Command, is_slash_command, parse
from bot.conversation.masking import MASK, mask_secrets
from bot.conversation.message import Conversation, Kind, Message
from identity.model import Account
from identity.phone import e164
from identity.phone_codes import Asked, Proven
from tests.command_fakes import NOW, WORDING, House

PHONE, CODE = "13800138000", "048151"


@dataclass
class Codes:
    """As `PhoneCodes` answers."""

    asked: Asked = Asked.SENT
    outcome: Proven = Proven.LINKED
    has_phone: bool = False
    heard: list[str] = field(default_factory=list)

    async def send(self, account: Account, phone: str) -> Asked:
        self.heard.append(e164(phone))
        return self.asked

    async def prove(self, account: Account, code: str) -> Proven:
        self.heard.append(code)
        return self.outcome

    async def is_proven(self, account: Account) -> bool:
        return self.has_phone


@pytest.fixture
def codes() -> Codes:
    return Codes()


@pytest.fixture
def house(codes: Codes) -> House:
    stand_in: Any = codes
    return House(phone_codes=stand_in)


async def say(house: House, text: str, **more: Any) -> str:
    """As it comes through the turnstile."""
    stored, aside = put_aside(text)
    return await house.say(house.alice, stored, aside=aside, **more) or ""


@pytest.mark.parametrize(
    ("text", "command", "argument"),
    [
        ("/手机", Command.PHONE, ""),
        (f"/手机 {PHONE}", Command.PHONE, PHONE),
        (f"／手机号　{PHONE}", Command.PHONE, PHONE),
        (f"/手机{PHONE}", Command.PHONE, PHONE),
        (f"/手机号码：{PHONE}", Command.PHONE, PHONE),
        ("/手机 +86 138 0013 8000", Command.PHONE, "+86 138 0013 8000"),
        ("/手机＋８６１３８００１３８０００", Command.PHONE, "＋８６１３８００１３８０００"),
        (f"/phone {PHONE}", Command.PHONE, PHONE),
        (f"/验证 {CODE}", Command.VERIFY, CODE),
        (f"/验证码{CODE}", Command.VERIFY, CODE),
        (f"/验证：{CODE}", Command.VERIFY, CODE),
        (f"/VERIFY {CODE}", Command.VERIFY, CODE),
        ("/验证", Command.VERIFY, ""),
    ],
)
def test_what_is_such_a_command(text: str, command: Command, argument: str) -> None:
    assert parse(text) == Call(command=command, argument=argument)
    stored, aside = put_aside(text)
    assert aside == argument
    assert parse(stored) == Call(command=command, argument=UNSTORED if argument else "")
    assert not argument or argument not in stored
    # Once more changes nothing: what was stored is read again after a restart.
    assert put_aside(stored) == (stored, "")


@pytest.mark.parametrize(
    "text",
    ["/手机壳多少钱", "手机", f"手机 {PHONE}", "/验证方式有哪些", f"验证 {CODE}", "/记住 手机没电", ""],
)
def test_what_is_none(text: str) -> None:
    assert parse(text) is None or parse(text) == Call(command=Command.REMEMBER, argument="手机没电")
    assert put_aside(text) == (text, "")


BARE = [
    *(
        "{}",
        "{} 。",
        "验证 {}",
        "验证码{}",
        "验证码是 {}",
        "/验证码是{}",
        "/verify{}",
        "//verify {}",
        "/verify-{}",
    ),
    *("Code: {}", "我的验证码是：{}！", "收到了，{}", "【{}】", "{} 是验证码", "\u200b{}\u3000"),
]


@pytest.mark.parametrize("form", BARE)
@pytest.mark.parametrize("code", ["737103", "737 103", "７３７１０３", "73-71-03"])
def test_a_bare_code_is_one_where_one_is_waited_for(form: str, code: str) -> None:
    text = form.format(code)
    stored, aside = put_aside(text, are_phones_on=True, is_private=True, is_code_open=True)
    assert "".join(filter(str.isdigit, aside)).translate(str.maketrans("７１０３", "7103")) == "737103"
    assert parse(stored) == Call(command=Command.VERIFY, argument=UNSTORED)
    assert put_aside(stored, are_phones_on=True, is_private=True, is_code_open=True) == (stored, "")


@pytest.mark.parametrize("form", [each for each in BARE if each != "//verify {}"])
@pytest.mark.parametrize(
    ("is_private", "is_code_open"), [(True, False), (False, True)], ids=["none is out", "in a group"]
)
def test_a_bare_code_is_talk_elsewhere(form: str, *, is_private: bool, is_code_open: bool) -> None:
    text = form.format("737103")
    assert put_aside(text, are_phones_on=True, is_private=is_private, is_code_open=is_code_open) == (text, "")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "73710",
            "7371035",
            "订单 737103 到哪了",
            "737103 这个货号有吗",
            "验证码",
            "收到了",
            "12 34",
            "737103元",
        ),
        *("邮编 737103", "737,103", "737103 737103", "737103" + " " * 40 + "。"),
    ],
)
def test_what_is_no_code_is_talk_also_where_one_is_waited_for(text: str) -> None:
    assert put_aside(text, are_phones_on=True, is_private=True, is_code_open=True) == (text, "")


@pytest.mark.parametrize(
    "form",
    [
        *(
            "/手机号是{}",
            "/手机-{}",
            "/手机。{}",
            "/手机={}",
            "/phone{}",
            "//手机 {}",
            "／／手机号：{}",
            "/PHONE={}",
        ),
        *("/手机号码为 {}", "/手机=（{}）", "/手机——{}"),
    ],
)
@pytest.mark.parametrize("phone", [PHONE, "138 0013 8000", "+86-138-0013-8000", "１３８００１３８０００"])
@pytest.mark.parametrize("is_private", [True, False])
def test_a_number_behind_anything_is_one_where_phones_are_set_up(
    form: str, phone: str, *, is_private: bool
) -> None:
    text = form.format(phone)
    stored, aside = put_aside(text, are_phones_on=True, is_private=is_private)
    assert e164(aside) == f"+86{PHONE}"
    assert parse(stored) == Call(command=Command.PHONE, argument=UNSTORED)
    assert put_aside(text, is_private=is_private) == (text, "")


@pytest.mark.parametrize(
    "text", [f"手机 {PHONE}", f"手机号是{PHONE}。", f"手机号码：{PHONE}", f"Phone {PHONE}"]
)
def test_a_number_alone_is_a_command_in_private(text: str) -> None:
    stored, aside = put_aside(text, are_phones_on=True, is_private=True)
    assert (stored, aside) == (f"/手机 {UNSTORED}", PHONE)
    assert put_aside(text, are_phones_on=True) == (text, "")
    assert put_aside(text, is_private=True) == (text, "")


@pytest.mark.parametrize(
    "text",
    [
        *(
            f"我手机 {PHONE} 能收货吗",
            f"手机 {PHONE} 能收货吗",
            PHONE,
            f"手机壳 {PHONE}",
            "手机 12345",
            "手机 2024 款",
        ),
        *("/手机壳多少钱", "/phone15多少钱", "/手机。", "手机", f"//手机壳 {PHONE}", ""),
    ],
)
def test_what_is_no_number_to_prove(text: str) -> None:
    assert put_aside(text, are_phones_on=True, is_private=True, is_code_open=True) == (text, "")


def test_a_mistyped_number_is_told_and_not_stored() -> None:
    assert put_aside("/手机号是1380013800", are_phones_on=True) == (f"/手机 {UNSTORED}", "1380013800")


def test_a_shop_that_sells_phones_is_not_commanded() -> None:
    assert not is_slash_command("/手机壳多少钱")


@pytest.mark.parametrize(
    "line", [f"/验证 {CODE}", f"／验证：{CODE}", f"「/验证{CODE}」", f"/verify {CODE}", f"/验证码 {CODE}"]
)
def test_no_log_line_holds_the_code(line: str) -> None:
    masked, was_hidden = mask_secrets(line)
    assert was_hidden and CODE not in masked and MASK in masked


async def test_step_by_step(house: House, codes: Codes) -> None:
    sent = await say(house, f"/手机 {PHONE}")
    assert sent == WORDING.say("phone_sent", minutes=5)
    assert await say(house, f"/验证 {CODE}") == WORDING.say("verify_done")
    assert codes.heard == [f"+86{PHONE}", CODE]
    assert PHONE not in sent and CODE not in sent


@pytest.mark.parametrize(
    ("outcome", "key"),
    [
        (Proven.NO_CODE, "verify_usage"),
        (Proven.WRONG, "verify_wrong"),
        (Proven.JOINED, "verify_joined"),
        (Proven.CONFLICT, "verify_conflict"),
    ],
)
async def test_what_a_code_leads_to(house: House, codes: Codes, outcome: Proven, key: str) -> None:
    codes.outcome = outcome
    assert await say(house, f"/验证 {CODE}") == WORDING.say(key)


async def test_too_many_and_no_number(house: House, codes: Codes) -> None:
    codes.asked = Asked.TOO_MANY
    assert await say(house, f"/手机 {PHONE}") == WORDING.say("phone_too_many")
    assert await say(house, "/手机 12345") == WORDING.say("phone_invalid")
    assert await say(house, "/手机 很好用") == WORDING.say("phone_invalid")


async def test_the_operator_hears_of_a_webhook_that_fails_until_it_works(house: House, codes: Codes) -> None:
    codes.asked = Asked.NOT_SENT
    assert await say(house, f"/手机 {PHONE}") == WORDING.say("phone_not_sent")
    (told,) = house.alerts.texts
    assert house.alerts.open and "IDENTITY__OTP_WEBHOOK" in told and PHONE not in told
    codes.asked = Asked.SENT
    await say(house, f"/手机 {PHONE}")
    assert not house.alerts.open


async def test_alone_they_say_how_things_are(house: House, codes: Codes) -> None:
    assert await say(house, "/手机") == WORDING.say("phone_usage")
    codes.has_phone = True
    assert await say(house, "/手机") == "已验证过手机号。"
    assert await say(house, "/验证") == WORDING.say("verify_usage")
    assert codes.heard == []


@pytest.mark.parametrize("command", ["手机", "验证"])
async def test_what_a_restart_lost_is_asked_for_again(house: House, codes: Codes, command: str) -> None:
    said = await house.say(house.alice, f"/{command} {UNSTORED}")
    assert (said, codes.heard) == (WORDING.say("phone_again"), [])


@pytest.mark.parametrize("text", [f"/手机 {PHONE}", f"/验证 {CODE}", "/手机"])
async def test_in_a_group_nothing_is_done_or_repeated(house: House, codes: Codes, text: str) -> None:
    assert await say(house, text, group="g") == WORDING.say("private_only")
    assert codes.heard == []


@pytest.mark.parametrize("text", [f"/手机 {PHONE}", f"/验证 {CODE}", "/手机"])
async def test_where_it_is_not_set_up_they_say_so(text: str) -> None:
    house = House()
    assert await say(house, text) == WORDING.say("phone_off")
    assert await say(house, text, group="g") == WORDING.say("private_only")


async def test_help_names_them_only_where_they_work(house: House) -> None:
    assert "/手机" in await say(house, "/帮助")
    assert "/手机" in await say(house, "/帮助", group="g")
    assert "/手机" not in await say(House(), "/帮助")


async def test_nobody_waits_for_who_waits_for_the_webhook(house: House, codes: Codes) -> None:
    steps: list[str] = []

    @asynccontextmanager
    async def away():
        steps.append("left")
        yield
        steps.append(f"back after {len(codes.heard)}")

    message = Message(
        key="1",
        kind=Kind.TEXT,
        sender=house.alice.key,
        conversation=Conversation(channel="wechat", app_id="wxshop"),
        text=f"/手机 {UNSTORED}",
        sent_at=NOW,
        aside=PHONE,
    )
    context = CommandContext(message=message, account=house.alice, scope=house.alice.scope(""), away=away)
    assert await house.commands.handle(context) is not None
    assert steps == ["left", "back after 1"]
