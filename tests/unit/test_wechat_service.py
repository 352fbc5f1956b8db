"""What becomes of a customer-service message: sent, held with its reason, or unknown; never twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nonebot.drivers import Response

from bot.channels.wechat.graphemes import is_boundary
from bot.channels.wechat.service import (
    SENT,
    UNKNOWN,
    ApiCustomerService,
    CustomerService,
    HeldReason,
    MemoryCustomerService,
    PassiveOnly,
    Sending,
    ServiceOutcome,
    halves,
)
from tests.wechat_api_fake import APP_ID, OPENID, SEND, TOKEN, TYPING, FakeWeChat, failing

BOB = "oBob"
HELD = {
    45015: HeldReason.WINDOW, 45047: HeldReason.WINDOW,
    45009: HeldReason.QUOTA, 45011: HeldReason.QUOTA, 48006: HeldReason.QUOTA,
    48001: HeldReason.PERMISSION,
    40003: HeldReason.GONE, 43004: HeldReason.GONE, 43019: HeldReason.GONE,
    40013: HeldReason.MISCONFIGURED, 40125: HeldReason.MISCONFIGURED, 40164: HeldReason.MISCONFIGURED,
    61004: HeldReason.MISCONFIGURED, 89503: HeldReason.MISCONFIGURED, 40243: HeldReason.MISCONFIGURED,
    87014: HeldReason.REFUSED,
}  # fmt: skip


class ConnectError(Exception):
    pass


@pytest.fixture
def wechat() -> FakeWeChat:
    return FakeWeChat()


def serve(wechat: FakeWeChat) -> ApiCustomerService:
    return ApiCustomerService({APP_ID: wechat.client()}, sleep=wechat.sleep)


def held(reason: HeldReason) -> ServiceOutcome:
    return ServiceOutcome(sending=Sending.HELD, reason=reason)


def texts(wechat: FakeWeChat) -> list[str]:
    return [body["text"]["content"] for body in wechat.bodies(SEND)]


async def test_it_is_open_once_the_typing_sign_was_taken(wechat: FakeWeChat):
    service = serve(wechat)
    assert not service.is_open(APP_ID, OPENID)
    await service.typing(APP_ID, OPENID)
    assert service.is_open(APP_ID, OPENID)
    assert not service.is_open("another", OPENID)
    assert await service.send_text(APP_ID, OPENID, "好") == SENT


@pytest.mark.parametrize(
    "answer", [failing(48001), failing(45009), failing(40164), failing(-1), Response(502), ConnectError()]
)
async def test_it_stays_closed_where_the_typing_sign_was_not_taken(wechat: FakeWeChat, answer):
    service = serve(wechat)
    wechat.script(TYPING, answer)
    await service.typing(APP_ID, OPENID)
    assert not service.is_open(APP_ID, OPENID)


async def test_a_line_that_fails_later_closes_it_until_the_next_sign(wechat: FakeWeChat):
    service = serve(wechat)
    await service.typing(APP_ID, OPENID)
    wechat.script(TYPING, ConnectError())
    await service.typing(APP_ID, BOB)
    assert not service.is_open(APP_ID, OPENID)
    await service.typing(APP_ID, BOB)
    assert service.is_open(APP_ID, OPENID)


@pytest.mark.parametrize(("code", "reason"), HELD.items())
async def test_a_refusal_is_held_with_its_reason_and_asked_once(
    wechat: FakeWeChat, code: int, reason: HeldReason
):
    service = serve(wechat)
    wechat.script(SEND, failing(code))
    assert await service.send_text(APP_ID, OPENID, "答案") == held(reason)
    assert len(wechat.calls(SEND)) == 1


@pytest.mark.parametrize("code", [45015, 45047, 43004])
async def test_a_closed_window_opens_with_that_persons_next_message(wechat: FakeWeChat, code: int):
    service = serve(wechat)
    await service.typing(APP_ID, OPENID)
    wechat.script(SEND, failing(code))
    first = await service.send_text(APP_ID, OPENID, "答案")
    assert await service.send_text(APP_ID, OPENID, "答案") == first
    assert len(wechat.calls(SEND)) == 1
    assert not service.is_open(APP_ID, OPENID)
    assert service.is_open(APP_ID, BOB)
    service.heard(APP_ID, OPENID)
    assert service.is_open(APP_ID, OPENID)
    assert await service.send_text(APP_ID, OPENID, "答案") == SENT


async def test_a_busy_wechat_is_asked_once_more(wechat: FakeWeChat):
    service = serve(wechat)
    wechat.script(SEND, failing(-1))
    assert await service.send_text(APP_ID, OPENID, "答案") == SENT
    assert wechat.slept == [1.0]
    wechat.script(SEND, failing(-1), failing(-1))
    assert await service.send_text(APP_ID, OPENID, "答案") == held(HeldReason.AWAY)
    assert len(wechat.calls(SEND)) == 4


async def test_what_may_have_arrived_is_unknown_and_not_sent_again(wechat: FakeWeChat):
    wechat.script(SEND, TimeoutError())
    assert await serve(wechat).send_text(APP_ID, OPENID, "答案") == UNKNOWN
    assert len(wechat.calls(SEND)) == 1


@pytest.mark.parametrize(
    ("path", "error"), [(SEND, ConnectError()), (TOKEN, TimeoutError()), (TOKEN, Response(503))]
)
async def test_what_surely_did_not_leave_is_held(wechat: FakeWeChat, path: str, error):
    wechat.script(path, error)
    assert await serve(wechat).send_text(APP_ID, OPENID, "答案") == held(HeldReason.AWAY)


async def test_a_token_that_stays_stale_holds_the_text(wechat: FakeWeChat):
    wechat.script(SEND, failing(40001), failing(42001))
    assert await serve(wechat).send_text(APP_ID, OPENID, "答案") == held(HeldReason.AWAY)
    assert len(wechat.calls(SEND)) == 2


async def test_a_text_too_long_is_split_once_and_sent_on(wechat: FakeWeChat):
    wechat.script(SEND, failing(45002))
    text = "前一句话。" * 10 + "后一句话。" * 10
    assert await serve(wechat).send_text(APP_ID, OPENID, text) == SENT
    assert texts(wechat) == [text, "前一句话。" * 10, "后一句话。" * 10]


async def test_halves_that_are_too_long_are_held_where_nothing_was_sent(wechat: FakeWeChat):
    wechat.script(SEND, failing(45002), failing(45002))
    assert await serve(wechat).send_text(APP_ID, OPENID, "前。后。") == held(HeldReason.REFUSED)
    assert len(wechat.calls(SEND)) == 2


@pytest.mark.parametrize("second", [failing(45047), ConnectError(), TimeoutError()])
async def test_half_a_text_that_arrived_is_not_sent_again(wechat: FakeWeChat, second):
    wechat.script(SEND, failing(45002), failing(0), second)
    assert await serve(wechat).send_text(APP_ID, OPENID, "前。后。") == UNKNOWN


async def test_an_escape_that_a_person_wrote_is_written_otherwise(wechat: FakeWeChat):
    wechat.script(SEND, failing(40033))
    assert await serve(wechat).send_text(APP_ID, OPENID, r"写成 \u4f60，不是 \n") == SENT
    assert texts(wechat) == [r"写成 \u4f60，不是 \n", r"写成 ＼u4f60，不是 \n"]
    wechat.script(SEND, failing(40033), failing(40033))
    assert await serve(wechat).send_text(APP_ID, OPENID, r"\u4f60") == held(HeldReason.REFUSED)


async def test_an_account_without_a_secret_answers_passively(wechat: FakeWeChat):
    services: list[CustomerService] = [PassiveOnly(), serve(wechat)]
    for service in services:
        service.heard("wxOther", OPENID)
        await service.typing("wxOther", OPENID)
        assert not service.is_open("wxOther", OPENID)
        assert await service.send_text("wxOther", OPENID, "答案") == held(HeldReason.PERMISSION)
    assert wechat.requests == []


async def test_the_one_for_tests_behaves_as_the_real_one():
    service: CustomerService = MemoryCustomerService(outcomes=(held(HeldReason.WINDOW), UNKNOWN))
    assert not service.is_open(APP_ID, OPENID)
    await service.typing(APP_ID, OPENID)
    assert service.is_open(APP_ID, OPENID)
    assert await service.send_text(APP_ID, OPENID, "一") == held(HeldReason.WINDOW)
    assert not service.is_open(APP_ID, OPENID)
    assert await service.send_text(APP_ID, OPENID, "二") == held(HeldReason.WINDOW)
    service.heard(APP_ID, OPENID)
    assert [await service.send_text(APP_ID, OPENID, one) for one in ("三", "四")] == [UNKNOWN, SENT]
    assert isinstance(service, MemoryCustomerService)
    assert [text for _, _, text in service.sent] == ["三", "四"]
    passive = MemoryCustomerService(is_permitted=False)
    await passive.typing(APP_ID, OPENID)
    assert not passive.is_open(APP_ID, OPENID)


@given(st.text(alphabet="ab你。\n👨‍👩‍👧🇨🇳é\u0301", min_size=1, max_size=60))
def test_halves_join_to_the_text_and_cut_no_character(text: str):
    first, second = halves(text)
    assert first + second == text
    assert is_boundary(text, len(first))
    assert second or not any(is_boundary(text, at) for at in range(1, len(text)))


def test_halves_keep_a_link_whole():
    link = '<a href="https://example.test/一。二。三。四。五。六。">看这里。这里。</a>'
    first, second = halves("前文。" + link + "后文。")
    assert link in (first, second) or link in first or link in second
    assert halves(link) == (link, "")
