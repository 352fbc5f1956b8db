"""The client against WeChat's API as the simulator serves it, over NoneBot's HTTP and a real socket."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from nonebot.drivers import Request
from nonebot.drivers.httpx import Mixin

from bot.channels.wechat.api import (
    Ability,
    ApiAway,
    ApiClient,
    ApiError,
    Article,
    DriverHttp,
    MediaTooLarge,
    MenuItem,
)
from bot.channels.wechat.service import (
    SENT,
    UNKNOWN,
    ApiCustomerService,
    HeldReason,
    Sending,
    ServiceOutcome,
)
from simulators.wechat import WeChatServer, posts
from simulators.wechat.account import AccountType
from simulators.wechat.media import PICTURE
from simulators.wechat.wire import LoopbackServer, Response
from simulators.wechat.wire import Request as Received

APP_ID, SECRET = "wxSimulated", "a-secret-of-the-account"
ALICE, BOB = "oAlice0000000000000000000001", "oBob000000000000000000000001"
SEND, TYPING, TOKEN = "message/custom/send", "message/custom/typing", "stable_token"


def make_server(**changed) -> WeChatServer:
    """Its callback is never used here."""
    return WeChatServer("http://127.0.0.1:1/wechat", "t0ken", APP_ID, app_secret=SECRET, **changed)


@pytest.fixture
async def wechat() -> AsyncIterator[WeChatServer]:
    async with make_server() as server:
        for openid in (ALICE, BOB):
            server.people.arrive(posts.text(openid, "在吗"))
        yield server


@pytest.fixture
async def http() -> AsyncIterator[DriverHttp]:
    opened = DriverHttp(Mixin())
    yield opened
    await opened.close()


def make_client(wechat: WeChatServer, http: DriverHttp, **changed) -> ApiClient:
    settings = {"app_id": APP_ID, "app_secret": SECRET, "api_base": wechat.api.base_url, "request": http}
    return ApiClient(**(settings | changed))


@pytest.fixture
def client(wechat: WeChatServer, http: DriverHttp) -> ApiClient:
    return make_client(wechat, http)


@pytest.fixture
def service(client: ApiClient) -> ApiCustomerService:
    return ApiCustomerService({APP_ID: client})


def held(reason: HeldReason) -> ServiceOutcome:
    return ServiceOutcome(sending=Sending.HELD, reason=reason)


def read_by(wechat: WeChatServer, openid: str) -> list[str]:
    return [sight.text for sight in wechat.seen(openid)]


async def test_many_at_once_share_one_token_and_each_person_reads_their_own(wechat, service):
    sent = await asyncio.gather(
        *(
            service.send_text(APP_ID, openid, f"{openid}{number}")
            for openid in (ALICE, BOB)
            for number in range(5)
        )
    )
    assert sent == [SENT] * 10
    assert sorted(read_by(wechat, ALICE)) == [f"{ALICE}{number}" for number in range(5)]
    assert wechat.api.errcodes(TOKEN) == [0]


async def test_what_a_person_reads_is_what_was_written(wechat, client):
    text = '第一行\n“引” <a href="https://example.test/?a=1&b=2">链接</a> \\u4f60 \\n 😀'
    await client.send_text(ALICE, text)
    await client.send_menu(ALICE, "满意吗？", [MenuItem(id="1", content="满意")], "谢谢")
    await client.send_news(
        ALICE, Article(title="标题", description="", url="https://example.test", picture_url="")
    )
    seen = wechat.seen(ALICE)
    assert seen[0].text == text
    assert [tap.content for tap in seen[1].menu] == ["满意"]
    assert seen[2].articles[0].title == "标题"


async def test_the_typing_sign_shows_and_teaches(wechat, service):
    assert not service.is_open(APP_ID, ALICE)
    await service.typing(APP_ID, ALICE)
    assert service.is_open(APP_ID, ALICE)
    assert len(wechat.people[ALICE].typings) == 1
    await service.typing(APP_ID, ALICE)
    assert wechat.api.errcodes(TYPING) == [0, 45081]
    assert service.is_open(APP_ID, ALICE)


async def test_an_unverified_account_is_found_out_once_and_stays_passive(http):
    async with make_server(account_type=AccountType.UNVERIFIED_SUBSCRIPTION) as wechat:
        wechat.people.arrive(posts.text(ALICE, "在吗"))
        service = ApiCustomerService({APP_ID: make_client(wechat, http)})
        for _ in range(3):
            await service.typing(APP_ID, ALICE)
            assert not service.is_open(APP_ID, ALICE)
            assert await service.send_text(APP_ID, ALICE, "答案") == held(HeldReason.PERMISSION)
        assert wechat.api.errcodes() == [0, 48001]
        assert wechat.seen(ALICE) == ()


@pytest.mark.parametrize(("end", "code"), [("expire", 42001), ("supersede", 40001)])
async def test_a_token_that_ended_early_costs_one_more_call(wechat, service, end: str, code: int):
    assert await service.send_text(APP_ID, ALICE, "一") == SENT
    getattr(wechat.api.tokens, end)(wechat.clock.now())
    assert await service.send_text(APP_ID, ALICE, "二") == SENT
    assert wechat.api.errcodes(SEND) == [0, code, 0]
    assert read_by(wechat, ALICE) == ["一", "二"]


async def test_a_token_refused_for_ever_is_no_loop(wechat, service):
    wechat.api.fail(SEND, 40001, times=100)
    assert await service.send_text(APP_ID, ALICE, "答案") == held(HeldReason.AWAY)
    assert await service.send_text(APP_ID, ALICE, "答案") == held(HeldReason.AWAY)
    assert len(wechat.api.calls) <= 8


async def test_a_line_cut_after_the_message_was_out_sends_it_once(wechat, service):
    wechat.api.fail(SEND, is_cut=True)
    assert await service.send_text(APP_ID, ALICE, "答案") == UNKNOWN
    assert read_by(wechat, ALICE) == ["答案"]
    assert len(wechat.api.errcodes(SEND)) == 1


async def test_a_gateway_that_gives_up_leaves_the_outcome_unknown(wechat, service):
    wechat.api.fail(SEND, status=502)
    assert await service.send_text(APP_ID, ALICE, "答案") == UNKNOWN


async def test_a_token_endpoint_that_is_cut_holds_the_message(wechat, service):
    wechat.api.fail(TOKEN, is_cut=True)
    assert await service.send_text(APP_ID, ALICE, "答案") == held(HeldReason.AWAY)
    assert wechat.api.errcodes(SEND) == []


async def test_nobody_listening_is_certain_not_to_have_sent(wechat, http):
    client = make_client(wechat, http, api_base="http://127.0.0.1:1")
    service = ApiCustomerService({APP_ID: client})
    assert await service.send_text(APP_ID, ALICE, "答案") == held(HeldReason.AWAY)


async def test_a_host_that_vanishes_between_token_and_message_holds_it(wechat, service):
    assert await service.send_text(APP_ID, ALICE, "一") == SENT
    await wechat.api.close()
    assert await service.send_text(APP_ID, ALICE, "二") == held(HeldReason.AWAY)


async def test_the_sixth_message_waits_for_the_persons_next(wechat, service):
    outcomes = [await service.send_text(APP_ID, ALICE, str(number)) for number in range(7)]
    assert outcomes == [SENT] * 5 + [held(HeldReason.WINDOW)] * 2
    assert wechat.api.errcodes(SEND) == [0] * 5 + [45047]
    wechat.people.arrive(posts.text(ALICE, "继续"))
    service.heard(APP_ID, ALICE)
    assert await service.send_text(APP_ID, ALICE, "5") == SENT
    assert read_by(wechat, ALICE) == ["0", "1", "2", "3", "4", "5"]


async def test_a_text_too_long_arrives_in_two(wechat, service):
    text = "".join(f"第{number}句话，说得很长很长。" for number in range(80))
    assert 2048 < len(text.encode()) < 4096
    assert await service.send_text(APP_ID, ALICE, text) == SENT
    first, second = read_by(wechat, ALICE)
    assert first + second == text
    assert first.endswith("。")


async def test_a_server_not_on_the_ip_list_is_told_which_address_to_add(http):
    async with make_server(ip_whitelist=("203.0.113.1",)) as wechat:
        client = make_client(wechat, http)
        service = ApiCustomerService({APP_ID: client})
        assert await service.send_text(APP_ID, ALICE, "答案") == held(HeldReason.MISCONFIGURED)
        assert await service.send_text(APP_ID, ALICE, "答案") == held(HeldReason.MISCONFIGURED)
        assert wechat.api.errcodes() == [40164]
        assert client.abilities.trouble is not None
        assert "127.0.0.1" in client.abilities.trouble.fix


async def test_a_wrong_secret_is_asked_with_once(wechat, http):
    client = make_client(wechat, http, app_secret="another")
    with pytest.raises(ApiError, match="AppSecret"):
        await client.send_text(ALICE, "答案")
    assert client.abilities.closed(Ability.MEDIA) is not None
    assert wechat.api.errcodes() == [40125]


async def test_the_unionid_of_a_bound_account_is_told(http):
    async with make_server(is_bound=True) as wechat:
        person = wechat.people[ALICE]
        client = make_client(wechat, http)
        assert (await client.user_info(ALICE)).unionid == person.unionid
        person.is_following = False
        assert not (await client.user_info(ALICE)).is_following
        with pytest.raises(ApiError, match="40003"):
            await client.user_info("oNobody")


async def test_pictures_go_up_and_come_down(wechat, client):
    media_id = await client.upload_image(PICTURE, "image/png")
    await client.send_image(ALICE, media_id)
    assert wechat.seen(ALICE)[0].media_id == media_id
    for media in (
        await client.download_media(media_id),
        await client.download_picture(wechat.picture_url(media_id)),
    ):
        assert (media.content, media.content_type) == (PICTURE, "image/png")
    with pytest.raises(MediaTooLarge):
        await client.download_media(media_id, limit_bytes=len(PICTURE) - 1)
    with pytest.raises(ApiError, match="40007"):
        await client.download_media("gone")
    with pytest.raises(ApiAway):
        await client.download_picture(wechat.picture_url("gone"))


async def test_the_consoles_automatic_replies_are_read(client):
    assert (await client.autoreply_info())["is_autoreply_open"] == 0


async def test_the_proxies_of_the_environment_are_not_used(wechat, http, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    await make_client(wechat, http).send_text(ALICE, "答案")
    assert read_by(wechat, ALICE) == ["答案"]


async def test_a_redirect_hands_the_secret_to_nobody(wechat, http):
    received: list[Received] = []

    async def redirect(request: Received) -> Response:
        received.append(request)
        return Response(status=307, headers=(("location", f"{wechat.api.base_url}{request.path}"),))

    elsewhere = LoopbackServer(redirect)
    await elsewhere.start()
    try:
        client = make_client(wechat, http, api_base=f"http://127.0.0.1:{elsewhere.port}")
        with pytest.raises(ApiAway, match="307"):
            await client.send_text(ALICE, "答案")
    finally:
        await elsewhere.close()
    assert len(received) == 1
    assert wechat.api.calls == []


@pytest.mark.filterwarnings("ignore:Setting per-request cookies:DeprecationWarning")  # NoneBot's own way
async def test_an_adapters_own_request_serves_as_well(wechat):
    async def request(asked: Request):
        return await Mixin().request(asked)

    client = ApiClient(app_id=APP_ID, app_secret=SECRET, api_base=wechat.api.base_url, request=request)
    await client.send_text(ALICE, "答案")
    assert read_by(wechat, ALICE) == ["答案"]


async def test_no_line_of_any_library_holds_a_token_or_an_openid(wechat, client, caplog):
    with caplog.at_level(logging.DEBUG):
        await client.send_text(ALICE, "答案")
        await client.user_info(ALICE)
    [token] = wechat.api.tokens._tokens
    assert any("message/custom/send" in message for message in caplog.messages)
    for private in (token, ALICE, SECRET):
        assert not any(private in message for message in caplog.messages)
