"""What the client sends, how often, and what it knows when an answer is missing."""

import asyncio
import logging

import pytest
from loguru import logger
from nonebot.drivers import Response

from bot.channels.wechat.api import (
    Ability,
    ApiAway,
    ApiClosed,
    ApiError,
    Article,
    MediaTooLarge,
    MemoryTokenStore,
    MenuItem,
    OutcomeUnknown,
    Verdict,
)
from bot.channels.wechat.api.calling import AT_ONCE, Calls
from bot.channels.wechat.api.errors import RULES
from bot.channels.wechat.api.transport import read_answer
from tests.wechat_api_fake import OPENID, SECRET, SEND, TOKEN, TYPING, USER, FakeWeChat, failing, respond

AUTOREPLY = "/cgi-bin/get_current_autoreply_info"
GET_MEDIA = "/cgi-bin/media/get"
UPLOAD = "/cgi-bin/media/upload"


class ConnectError(Exception):
    """Named as httpx names it."""


class ReadTimeout(Exception):
    pass


@pytest.fixture
def wechat() -> FakeWeChat:
    return FakeWeChat()


async def test_a_text_goes_out_as_utf8_json_with_line_feeds_and_without_escapes(wechat: FakeWeChat):
    await wechat.client().send_text(OPENID, "第一行\r\n第二行\r“引”\x0b😀\ud83d\x00")
    [request] = wechat.calls(SEND)
    assert request.method == "POST"
    assert request.url.query["access_token"] == "t0ken-1"
    assert request.headers["Content-Type"] == "application/json; charset=utf-8"
    assert isinstance(request.content, bytes)
    assert "第一行\\n第二行\\n“引”😀".encode() in request.content
    assert b"\\u" not in request.content
    assert wechat.bodies(SEND) == [
        {"touser": OPENID, "msgtype": "text", "text": {"content": "第一行\n第二行\n“引”😀"}}
    ]


async def test_the_token_is_asked_for_by_stable_token_without_force(wechat: FakeWeChat):
    client = wechat.client()
    await client.send_text(OPENID, "一")
    await client.send_text(OPENID, "二")
    assert wechat.bodies(TOKEN) == [
        {"grant_type": "client_credential", "appid": "wxFake", "secret": SECRET, "force_refresh": False}
    ]
    assert "access_token" not in wechat.calls(TOKEN)[0].url.query


async def test_the_other_messages_have_their_shapes(wechat: FakeWeChat):
    client = wechat.client()
    await client.send_image(OPENID, "m1")
    article = Article(
        title="标题", description="说明", url="https://a.test", picture_url="https://a.test/p.png"
    )
    await client.send_news(OPENID, article)
    await client.send_menu(
        OPENID, "满意吗？", [MenuItem(id="1", content="满意"), MenuItem(id="2", content="不")], "谢谢"
    )
    await client.typing(OPENID)
    await client.typing(OPENID, is_typing=False)
    card = {"title": "标题", "description": "说明", "url": "https://a.test", "picurl": "https://a.test/p.png"}
    items = [{"id": "1", "content": "满意"}, {"id": "2", "content": "不"}]
    menu = {"head_content": "满意吗？", "list": items, "tail_content": "谢谢"}
    assert wechat.bodies(SEND) == [
        {"touser": OPENID, "msgtype": "image", "image": {"media_id": "m1"}},
        {"touser": OPENID, "msgtype": "news", "news": {"articles": [card]}},
        {"touser": OPENID, "msgtype": "msgmenu", "msgmenu": menu},
    ]
    assert wechat.bodies(TYPING) == [
        {"touser": OPENID, "command": "Typing"},
        {"touser": OPENID, "command": "CancelTyping"},
    ]


@pytest.mark.parametrize("code", [40001, 40014, 42001])
async def test_a_stale_token_is_renewed_once_and_the_call_made_once_more(wechat: FakeWeChat, code: int):
    wechat.script(SEND, failing(code))
    await wechat.client().send_text(OPENID, "在吗")
    assert [request.url.query["access_token"] for request in wechat.calls(SEND)] == ["t0ken-1", "t0ken-2"]
    assert [body["force_refresh"] for body in wechat.bodies(TOKEN)] == [False, False, True]


async def test_a_token_that_stays_stale_ends_the_call(wechat: FakeWeChat):
    client = wechat.client()
    for _ in range(5):
        wechat.script(SEND, failing(40001), failing(40001))
        with pytest.raises(ApiError, match="40001"):
            await client.send_text(OPENID, "在吗")
        wechat.time += 5
    assert len(wechat.calls(SEND)) <= 10
    assert [body["force_refresh"] for body in wechat.bodies(TOKEN)].count(True) == 1
    assert client.abilities.closed(Ability.CUSTOMER_SERVICE, OPENID) is None


@pytest.mark.parametrize("code", [code for code, rule in RULES.items() if rule.verdict is not Verdict.STALE])
async def test_every_other_refusal_is_asked_once(wechat: FakeWeChat, code: int):
    wechat.script(SEND, failing(code))
    with pytest.raises(ApiError) as caught:
        await wechat.client().send_text(OPENID, "在吗")
    assert caught.value.errcode == code
    assert len(wechat.calls(SEND)) == 1


@pytest.mark.parametrize("code", [40001, 40013, 40125, 40164, 40243, 89503])
async def test_a_wrong_setting_is_not_asked_again(wechat: FakeWeChat, code: int):
    wechat.script(TOKEN, failing(code))
    client = wechat.client()
    with pytest.raises(ApiError) as caught:
        await client.send_text(OPENID, "在吗")
    assert caught.value.verdict is Verdict.MISCONFIGURED
    for call in (client.send_text(OPENID, "在吗"), client.user_info(OPENID)):
        with pytest.raises(ApiClosed):
            await call
    assert len(wechat.requests) == 1


@pytest.mark.parametrize(
    ("path", "error", "expected"),
    [
        (TOKEN, ConnectError(), ApiAway),
        (TOKEN, ReadTimeout(), ApiAway),
        (TOKEN, Response(502), ApiAway),
        (TOKEN, respond({"errcode": 0}), ApiAway),
        (TOKEN, respond({"access_token": None, "expires_in": 7200}), ApiAway),
        (TOKEN, respond({"access_token": "t", "expires_in": "soon"}), ApiAway),
        (TOKEN, failing(-1), ApiAway),
        (SEND, ConnectError(), ApiAway),
        (SEND, ConnectionRefusedError(), ApiAway),
        (SEND, Response(404), ApiAway),
        (SEND, Response(302, headers={"Location": "https://elsewhere.test"}), ApiAway),
        (SEND, ReadTimeout(), OutcomeUnknown),
        (SEND, ConnectionResetError(), OutcomeUnknown),
        (SEND, Response(502), OutcomeUnknown),
        (SEND, respond(b"<html>"), OutcomeUnknown),
    ],
)
async def test_a_missing_answer_is_unknown_only_where_the_message_was_out(wechat, path, error, expected):
    wechat.script(path, error)
    client = wechat.client()
    with pytest.raises(expected):
        await client.send_text(OPENID, "在吗")
    assert len(wechat.calls(path)) == 1
    # Nothing is promised on the strength of a line that is down, and nothing is closed.
    assert not client.abilities.is_known_good(Ability.CUSTOMER_SERVICE, OPENID)
    assert client.abilities.closed(Ability.CUSTOMER_SERVICE, OPENID) is None


async def never() -> Response:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(("path", "expected"), [(TOKEN, ApiAway), (SEND, OutcomeUnknown)])
async def test_a_deadline_cuts_a_call_that_hangs(wechat: FakeWeChat, path: str, expected: type[Exception]):
    wechat.script(path, never)
    calls = Calls(
        app_id="wx1", app_secret=SECRET, request=wechat, api_base="https://api.test",
        tokens=MemoryTokenStore(wechat.now), now=wechat.now, sleep=wechat.sleep,
    )  # fmt: skip
    with pytest.raises(expected):
        await calls.call(Ability.CUSTOMER_SERVICE, calls.post(SEND, {}), read_answer, seconds=0)


async def test_a_deadline_after_a_refused_token_knows_that_nothing_was_done(wechat: FakeWeChat):
    wechat.script(TOKEN, {"access_token": "t", "expires_in": 7200}, never)
    wechat.script(SEND, failing(42001))
    calls = Calls(
        app_id="wx1", app_secret=SECRET, request=wechat, api_base="https://api.test",
        tokens=MemoryTokenStore(wechat.now), now=wechat.now, sleep=wechat.sleep,
    )  # fmt: skip
    with pytest.raises(ApiAway):
        await calls.call(Ability.CUSTOMER_SERVICE, calls.post(SEND, {}), read_answer, seconds=0)


async def test_in_a_rush_calls_wait_for_their_turn_and_none_is_begun_too_many(wechat: FakeWeChat):
    under_way = most = 0

    async def slowly() -> Response:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(3):
            await asyncio.sleep(0)
        under_way -= 1
        return respond({"errcode": 0})

    wechat.script(SEND, *[slowly] * 200)
    client = wechat.client()
    await asyncio.gather(*(client.send_text(OPENID, str(number)) for number in range(200)))
    assert most == AT_ONCE
    assert sorted(int(body["text"]["content"]) for body in wechat.bodies(SEND)) == list(range(200))


async def test_whoever_gets_no_turn_has_sent_nothing(wechat: FakeWeChat):
    wechat.script(SEND, *[never] * AT_ONCE)
    calls = Calls(
        app_id="wx1", app_secret=SECRET, request=wechat, api_base="https://api.test",
        tokens=MemoryTokenStore(wechat.now), now=wechat.now, sleep=wechat.sleep,
    )  # fmt: skip
    post = calls.post(SEND, {})
    held_up = [
        asyncio.create_task(calls.call(Ability.CUSTOMER_SERVICE, post, read_answer)) for _ in range(AT_ONCE)
    ]
    while len(wechat.calls(SEND)) < AT_ONCE:
        await asyncio.sleep(0)
    with pytest.raises(ApiAway):
        await calls.call(Ability.CUSTOMER_SERVICE, post, read_answer, turn_seconds=0)
    for task in held_up:
        task.cancel()
    await asyncio.gather(*held_up, return_exceptions=True)
    await calls.call(Ability.CUSTOMER_SERVICE, post, read_answer)


async def test_a_quota_used_up_by_those_before_stops_those_who_wait(wechat: FakeWeChat):
    wechat.script(SEND, *[failing(45011)] * AT_ONCE)
    client = wechat.client()
    results = await asyncio.gather(
        *(client.send_text(OPENID, "在吗") for _ in range(100)), return_exceptions=True
    )
    assert len(wechat.calls(SEND)) <= AT_ONCE
    assert {type(result) for result in results} <= {ApiError, ApiClosed}


async def test_every_request_has_a_deadline_of_its_own(wechat: FakeWeChat):
    client = wechat.client()
    await client.send_text(OPENID, "在吗")
    wechat.script(GET_MEDIA, respond(b"JFIF", "image/jpeg"))
    await client.download_media("m1")
    for request in wechat.requests:
        assert 0 < request.timeout.connect <= 2  # type: ignore[union-attr]
        assert 0 < request.timeout.read <= 20  # type: ignore[union-attr]


async def test_an_account_without_permission_is_not_asked_again_for_a_day(wechat: FakeWeChat):
    client = wechat.client()
    wechat.script(USER, failing(48001))
    with pytest.raises(ApiError):
        await client.user_info(OPENID)
    with pytest.raises(ApiClosed):
        await client.user_info(OPENID)
    await client.typing(OPENID)
    wechat.time += 24 * 3600
    wechat.script(
        USER, {"subscribe": 1, "openid": OPENID, "unionid": " oUnion", "subscribe_scene": "ADD_SCENE_QR_CODE"}
    )
    info = await client.user_info(OPENID)
    assert (info.is_following, info.unionid, info.subscribe_scene) == (True, "oUnion", "ADD_SCENE_QR_CODE")
    assert len(wechat.calls(USER)) == 2


async def test_whoever_does_not_follow_has_no_unionid(wechat: FakeWeChat):
    wechat.script(USER, {"subscribe": 0, "openid": OPENID})
    info = await wechat.client().user_info(OPENID)
    assert (info.is_following, info.unionid) == (False, "")
    assert dict(wechat.calls(USER)[0].url.query) == {
        "access_token": "t0ken-1", "openid": OPENID, "lang": "zh_CN",
    }  # fmt: skip


async def test_the_automatic_replies_of_the_console_are_read(wechat: FakeWeChat):
    wechat.script(AUTOREPLY, {"is_autoreply_open": 1, "message_default_autoreply_info": {"type": "text"}})
    assert (await wechat.client().autoreply_info())["is_autoreply_open"] == 1


async def test_an_image_is_uploaded_and_one_too_large_is_not(wechat: FakeWeChat):
    wechat.script(UPLOAD, {"type": "image", "media_id": "m7", "created_at": 1})
    client = wechat.client()
    assert await client.upload_image(b"\x89PNG", "image/png") == "m7"
    [request] = wechat.calls(UPLOAD)
    assert request.url.query["type"] == "image"
    assert request.files == [("media", ("image.png", b"\x89PNG", "image/png"))]
    with pytest.raises(MediaTooLarge):
        await client.upload_image(b"\0" * (10 * 1024 * 1024 + 1), "image/png")
    assert len(wechat.calls(UPLOAD)) == 1


async def test_media_come_back_within_the_limit_alone(wechat: FakeWeChat):
    client = wechat.client()
    wechat.script(GET_MEDIA, *[respond(b"JFIF.", "image/jpeg; q=1")] * 2)
    media = await client.download_media("m1", limit_bytes=5)
    assert (media.content, media.content_type) == (b"JFIF.", "image/jpeg")
    with pytest.raises(MediaTooLarge):
        await client.download_media("m1", limit_bytes=4)
    wechat.script(GET_MEDIA, respond(failing(40007), "text/plain"), {"video_url": "https://v.test/1"})
    with pytest.raises(ApiError, match="40007"):
        await client.download_media("m1")
    with pytest.raises(ApiAway):
        await client.download_media("m1")


@pytest.mark.parametrize(
    "url", ["http://mmbiz.qpic.cn/mmbiz_jpg/a/0", "https://MMBIZ.QPIC.CN/x", "https://api.test/pictures/1"]
)
async def test_a_picture_is_taken_from_wechats_hosts_without_a_token(wechat: FakeWeChat, url: str):
    wechat.script("/mmbiz_jpg/a/0", respond(b"JFIF", "image/jpeg"))
    wechat.script("/x", respond(b"JFIF", "image/jpeg"))
    wechat.script("/pictures/1", respond(b"JFIF", "image/jpeg"))
    assert (await wechat.client().download_picture(url)).content == b"JFIF"
    assert not wechat.calls(TOKEN)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x", "http://evilqpic.cn/x", "http://qpic.cn.evil.test/x", "http://a@mmbiz.qpic.cn/x",
        "http://mmbiz.qpic.cn:6379/x", "file:///etc/passwd", "ftp://mmbiz.qpic.cn/x", "http://[::1", "",
        "https://api.test.evil.test/x", "http://mmbiz.qpic.cn:99999/x",
    ],
)  # fmt: skip
async def test_no_other_host_is_asked_for_a_picture(wechat: FakeWeChat, url: str):
    with pytest.raises(ApiAway):
        await wechat.client().download_picture(url)
    assert wechat.requests == []


async def test_what_is_no_picture_is_not_taken_for_one(wechat: FakeWeChat):
    wechat.script("/x", respond(b"<html>", "text/html"))
    with pytest.raises(ApiAway):
        await wechat.client().download_picture("https://mmbiz.qpic.cn/x")


async def test_nothing_private_is_in_a_line_or_an_error(wechat: FakeWeChat):
    lines: list[str] = []
    sink = logger.add(lambda line: lines.append(str(line)), level=0, backtrace=True, diagnose=True)
    secrets = (SECRET, "t0ken-", OPENID, "在吗")
    try:
        for index, answer in enumerate(
            (failing(48001), failing(45009), ReadTimeout(f"https://a/?t=t0ken-1 {OPENID}"), failing(40164))
        ):
            wechat.script(SEND, answer)
            client = wechat.client()
            with pytest.raises((ApiError, OutcomeUnknown)) as caught:
                await client.send_text(OPENID, f"在吗{index}")
            told = f"{caught.value} {caught.value!r} {caught.value.__dict__} {caught.value.__cause__}"
            assert not any(secret in told for secret in secrets)
    finally:
        logger.remove(sink)
    assert len(lines) == 3
    assert not any(secret in line for secret in secrets for line in lines)


def test_httpx_writes_addresses_without_their_queries(wechat: FakeWeChat, caplog: pytest.LogCaptureFixture):
    wechat.client()
    wechat.client()
    with caplog.at_level(logging.INFO, logger="httpx"):
        logging.getLogger("httpx").info(
            "HTTP Request: %s %s %d", "POST", "https://a.test/send?access_token=t0ken-1", 200
        )
    assert caplog.messages == ["HTTP Request: POST https://a.test/send 200"]
