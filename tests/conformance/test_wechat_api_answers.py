"""Every errcode that matters, and WeChat's published answers, as our client gets them over a socket."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from nonebot.drivers.httpx import Mixin

from bot.channels.wechat.api import ApiClient, ApiClosed, ApiError, DriverHttp, Verdict
from bot.channels.wechat.service import SENT, ApiCustomerService, HeldReason, Sending
from simulators.wechat import WeChatServer, posts
from simulators.wechat.media import PICTURE
from simulators.wechat.wire import LoopbackServer, Request, Response
from tests.conformance.wechat_app import APP_ID, TOKEN
from tests.conformance.wechat_with_api import SECRET, SEND, TYPING
from tests.conformance.wechat_with_api import TOKEN as TOKEN_PATH
from tests.shared_files import require_shared

ALICE, BOB = "oAlice0000000000000000000001", "oBob000000000000000000000001"
CLASSES: dict[str, frozenset[int]] = {}
"""How wechat_error_codes.json classes the codes it gives a class."""
for _entry in json.loads(require_shared("fixtures/wechat_error_codes.json").read_text("utf-8")):
    if _class := _entry["expected"].get("suggested_class"):
        CLASSES[_class] = CLASSES.get(_class, frozenset()) | {_entry["input"]["errcode"]}
PUBLISHED: dict[str, Any] = {
    entry["id"]: entry["expected"]["json"]
    for entry in json.loads(require_shared("fixtures/wechat_api_fixtures.json").read_text("utf-8"))
}
ERRORS = {name: body["errcode"] for name, body in PUBLISHED.items() if name.startswith("api-err-")}
ROWS = [
    line.split("|")[1]
    for line in require_shared("PROTOCOLS.md")
    .read_text("utf-8")
    .partition("| errcode | do |")[2]
    .splitlines()
    if re.match(r"\| \d{5}", line)
]
OF_PROTOCOLS = {int(code) for row in ROWS for code in re.findall(r"\d{5}", row)}


def of_class(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("code", sorted(code for name in names for code in CLASSES[name]))


@pytest.fixture
async def http() -> AsyncIterator[DriverHttp]:
    opened = DriverHttp(Mixin())
    yield opened
    await opened.close()


@pytest.fixture
async def wechat() -> AsyncIterator[WeChatServer]:
    async with WeChatServer("http://127.0.0.1:1/wechat", TOKEN, APP_ID, app_secret=SECRET) as server:
        for openid in (ALICE, BOB):
            server.people.arrive(posts.text(openid, "在吗"))
        yield server


@pytest.fixture
def client(wechat: WeChatServer, http: DriverHttp) -> ApiClient:
    return ApiClient(app_id=APP_ID, app_secret=SECRET, api_base=wechat.api.base_url, request=http)


@pytest.fixture
def service(client: ApiClient) -> ApiCustomerService:
    async def at_once(_: float) -> None:
        pass

    return ApiCustomerService({APP_ID: client}, sleep=at_once)


async def refused(client: ApiClient, code: int, openid: str = ALICE) -> Verdict:
    """WeChat says `code`, and nothing else was asked."""
    with pytest.raises(ApiError) as caught:
        await client.send_text(openid, "答案")
    assert caught.value.errcode == code
    return caught.value.verdict


def test_every_code_with_a_rule_is_driven():
    driven = {
        *("refresh_token_once", "window_closed", "user_gone", "quota", "no_permission", "config_alarm"),
        *("payload", "transient", "typing_ignorable"),
    }
    assert set(CLASSES) == driven
    # The secret's own code has no class in the file; it has its test.
    assert frozenset().union(*CLASSES.values()) | {40125} >= OF_PROTOCOLS
    assert len(OF_PROTOCOLS) >= 19


@of_class("refresh_token_once")
async def test_a_refused_token_is_renewed_once(wechat: WeChatServer, client: ApiClient, code: int):
    wechat.api.fail(SEND, code)
    await client.send_text(ALICE, "答案")
    assert wechat.api.errcodes(SEND) == [code, 0]
    # By WeChat's books the token was still good: only force made another.
    forced = [call.body["force_refresh"] for call in wechat.api.calls if call.path == TOKEN_PATH]
    assert forced == [False, False, True]
    wechat.api.fail(SEND, code, times=100)
    with pytest.raises(ApiError) as caught:
        await client.send_text(ALICE, "答案")
    assert caught.value.verdict is Verdict.STALE
    assert len(wechat.api.errcodes(SEND)) <= 4, "no loop"


@of_class("window_closed", "user_gone")
async def test_one_person_is_closed_until_they_write(
    wechat: WeChatServer, client: ApiClient, service: ApiCustomerService, code: int
):
    wechat.api.fail(SEND, code)
    outcome = await service.send_text(APP_ID, ALICE, "答案")
    gone = code in CLASSES["user_gone"]
    assert outcome.reason is (HeldReason.GONE if gone else HeldReason.WINDOW)
    assert await service.send_text(APP_ID, ALICE, "答案") == outcome
    assert wechat.api.errcodes(SEND) == [code], "not asked again"
    assert await service.send_text(APP_ID, BOB, "答案") == SENT
    service.heard(APP_ID, ALICE)
    assert await service.send_text(APP_ID, ALICE, "答案") == SENT
    assert [sight.text for sight in wechat.seen(ALICE)] == ["答案"]


@of_class("quota", "no_permission", "config_alarm")
async def test_the_account_is_left_alone(wechat: WeChatServer, client: ApiClient, code: int):
    await client.typing(ALICE)
    wechat.api.fail(SEND, code)
    verdict = await refused(client, code)
    expected = {
        **dict.fromkeys(CLASSES["quota"], Verdict.QUOTA),
        **dict.fromkeys(CLASSES["no_permission"], Verdict.NO_PERMISSION),
        **dict.fromkeys(CLASSES["config_alarm"], Verdict.MISCONFIGURED),
    }
    assert verdict is expected[code]
    service = ApiCustomerService({APP_ID: client})
    assert not service.is_open(APP_ID, BOB)
    with pytest.raises(ApiClosed):
        await client.send_text(BOB, "答案")
    assert wechat.api.errcodes(SEND) == [code]
    if verdict is not Verdict.NO_PERMISSION:
        assert client.abilities.trouble is not None
        assert re.search(r"[一-鿿]{4}", client.abilities.trouble.fix)


@pytest.mark.parametrize("code", sorted({*CLASSES["config_alarm"], 40001, 40125, *CLASSES["quota"]}))
async def test_a_token_that_is_refused_is_asked_for_once(wechat: WeChatServer, client: ApiClient, code: int):
    wechat.api.fail(TOKEN_PATH, code, times=100)
    await refused(client, code)
    for openid in (ALICE, BOB):
        with pytest.raises(ApiClosed):
            await client.send_text(openid, "答案")
    assert wechat.api.errcodes() == [code]


@of_class("payload")
async def test_a_refused_text_closes_nothing(
    wechat: WeChatServer, client: ApiClient, service: ApiCustomerService, code: int
):
    await client.typing(ALICE)
    wechat.api.fail(SEND, code)
    outcome = await service.send_text(APP_ID, ALICE, "答案很长。真的很长。")
    seen = [sight.text for sight in wechat.seen(ALICE)]
    if code in (45002, 40033):
        assert outcome == SENT and "".join(seen) == "答案很长。真的很长。"
        assert len(seen) == (2 if code == 45002 else 1)
    else:
        assert (outcome.sending, outcome.reason, seen) == (Sending.HELD, HeldReason.REFUSED, [])
        assert wechat.api.errcodes(SEND) == [code]
    assert service.is_open(APP_ID, ALICE)
    assert await service.send_text(APP_ID, ALICE, "好") == SENT


@of_class("transient")
async def test_a_busy_wechat_is_asked_once_more(wechat: WeChatServer, service: ApiCustomerService, code: int):
    wechat.api.fail(SEND, code)
    assert await service.send_text(APP_ID, ALICE, "一") == SENT
    wechat.api.fail(SEND, code, times=100)
    assert (await service.send_text(APP_ID, ALICE, "二")).reason is HeldReason.AWAY
    assert wechat.api.errcodes(SEND) == [code, 0, code, code]


@of_class("typing_ignorable")
async def test_a_typing_sign_of_no_use_shows_that_it_is_allowed(
    wechat: WeChatServer, service: ApiCustomerService, code: int
):
    wechat.api.fail(TYPING, code)
    await service.typing(APP_ID, ALICE)
    assert wechat.api.errcodes(TYPING) == [code]
    assert service.is_open(APP_ID, ALICE)
    assert await service.send_text(APP_ID, ALICE, "答案") == SENT


@pytest.fixture
async def published(http: DriverHttp) -> AsyncIterator[tuple[ApiClient, dict[str, Any]]]:
    """A WeChat that answers each path, by its last word, with what is put there; and tokens as published."""
    answers: dict[str, Any] = {"stable_token": PUBLISHED["api-doc-stable-token"]}

    async def answer(request: Request) -> Response:
        if not request.path.endswith("stable_token"):
            assert request.query["access_token"] == "ACCESS_TOKEN"
        body = answers[request.path.rpartition("/")[2]]
        return Response(body=json.dumps(body, ensure_ascii=False).encode())

    server = LoopbackServer(answer)
    await server.start()
    api_base = f"http://127.0.0.1:{server.port}"
    yield ApiClient(app_id=APP_ID, app_secret=SECRET, api_base=api_base, request=http), answers
    await server.close()


@pytest.mark.parametrize("name", ERRORS)
async def test_a_published_error_is_read_as_its_code(published: tuple[ApiClient, dict[str, Any]], name: str):
    client, answers = published
    answers["send"] = PUBLISHED[name]
    verdict = await refused(client, ERRORS[name])
    assert verdict is ApiError(ERRORS[name]).verdict


@pytest.mark.parametrize("name", ["api-custom-send-text", "api-wpy-message-custom-send"])
async def test_a_published_success_is_one(published: tuple[ApiClient, dict[str, Any]], name: str):
    client, answers = published
    answers["send"] = PUBLISHED[name]
    assert await ApiCustomerService({APP_ID: client}).send_text(APP_ID, ALICE, "Hello World") == SENT


@pytest.mark.parametrize("name", ["api-user-info-2021plus", "api-wpy-user-info"])
async def test_published_people_are_read(published: tuple[ApiClient, dict[str, Any]], name: str):
    client, answers = published
    answers["info"] = PUBLISHED[name]
    person = await client.user_info("o6_bmjrPTlm6_2sgVt7hMZOPfL2M")
    assert person.is_following
    assert person.unionid == PUBLISHED[name]["unionid"].strip() != ""


async def test_published_media_and_automatic_replies_are_read(published: tuple[ApiClient, dict[str, Any]]):
    client, answers = published
    answers["upload"] = PUBLISHED["api-wpy-media-upload"]
    answers["get_current_autoreply_info"] = PUBLISHED["api-wpy-get-current-autoreply-info"]
    assert await client.upload_image(PICTURE, "image/png") == PUBLISHED["api-wpy-media-upload"]["media_id"]
    assert await client.autoreply_info() == PUBLISHED["api-wpy-get-current-autoreply-info"]
