"""The simulated API over HTTP: every rule by its errcode, and what the person saw of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from simulators.wechat import AccountType, ManualClock, Way, WeChatServer
from simulators.wechat.errcodes import TEXTS
from simulators.wechat.media import PICTURE
from tests.shared_files import require_shared
from tests.wechat_callbacks import Answer, answering, says_text

SECRET = "asecret"
APP_ID = "wx0123456789abcdef"
UNVERIFIED = AccountType.UNVERIFIED_SUBSCRIPTION


@dataclass(kw_only=True)
class Program:
    """A program with the account's secret."""

    wechat: WeChatServer
    clock: ManualClock
    http: httpx.AsyncClient
    token: str = ""

    async def ask(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        response = await self.http.request(method, f"/cgi-bin/{path}", **request)
        assert response.status_code == 200
        return response.json()

    async def fetch_token(self, **fields: Any) -> dict[str, Any]:
        asked = {"grant_type": "client_credential", "appid": APP_ID, "secret": SECRET, **fields}
        given = await self.ask("POST", "stable_token", json={k: v for k, v in asked.items() if v is not None})
        self.token = given.get("access_token", self.token)
        return given

    async def post(self, path: str, body: Any, **query: str) -> int:
        """The errcode. A str or bytes is sent as it is."""
        content = body if isinstance(body, str | bytes) else json.dumps(body, ensure_ascii=False).encode()
        params = {"access_token": self.token, **query}
        return (await self.ask("POST", path, params=params, content=content)).get("errcode", 0)

    async def send(self, text: str = "好", openid: str = "oA") -> int:
        message = {"touser": openid, "msgtype": "text", "text": {"content": text}}
        return await self.post("message/custom/send", message)

    async def type(self, openid: str = "oA", command: str = "Typing") -> int:
        return await self.post("message/custom/typing", {"touser": openid, "command": command})

    async def get(self, path: str, **query: str) -> dict[str, Any]:
        return await self.ask("GET", path, params={"access_token": self.token, **query})

    def texts(self, openid: str = "oA") -> list[str]:
        return [sight.text for sight in self.wechat.seen(openid)]


@asynccontextmanager
async def program(answer: Answer = Answer(), **options: Any) -> AsyncIterator[Program]:  # noqa: B008
    """With a token, and an account whose callback says `success`."""
    clock = ManualClock()
    server = WeChatServer(
        "http://bot.test/",
        "t",
        APP_ID,
        app_secret=SECRET,
        transport=httpx.ASGITransport(app=answering(answer)),
        clock=clock,
        **options,
    )
    async with server as wechat, httpx.AsyncClient(base_url=wechat.api.base_url, trust_env=False) as http:
        made = Program(wechat=wechat, clock=clock, http=http)
        if "ip_whitelist" not in options:
            await made.fetch_token()
        yield made


async def test_an_account_without_a_secret_has_no_api():
    async with WeChatServer("http://bot.test/", "t", APP_ID) as wechat:
        assert wechat.api.base_url.endswith(":0")


async def test_the_same_token_until_it_is_forced():
    async with program() as app:
        first = app.token
        assert (await app.fetch_token())["access_token"] == first
        app.clock.advance(100)
        assert await app.fetch_token() == {"access_token": first, "expires_in": 7100}
        assert (await app.fetch_token(force_refresh=True))["access_token"] != first
        forced = app.token
        assert (await app.fetch_token(force_refresh=True))["access_token"] == forced
        older = await app.get("token", grant_type="client_credential", appid=APP_ID, secret=SECRET)
        assert older["expires_in"] == 7200
        app.token = first
        assert await app.send() == 40001


@pytest.mark.parametrize(
    ("fields", "errcode"),
    [
        ({"appid": "wxother"}, 40013),
        ({"secret": "else"}, 40125),
        ({"grant_type": "password"}, 40002),
        ({"appid": None}, 41002),
        ({"secret": None}, 41004),
    ],
)
async def test_a_token_is_for_who_has_the_secret(fields: dict[str, Any], errcode: int):
    async with program() as app:
        assert (await app.fetch_token(**fields))["errcode"] == errcode
        assert all("secret" not in call.body for call in app.wechat.api.calls)


async def test_the_whitelist_of_addresses():
    async with program(ip_whitelist=("203.0.113.1",)) as app:
        refused = await app.fetch_token()
        assert refused["errcode"] == 40164
        assert "127.0.0.1" in refused["errmsg"]
    async with program(ip_whitelist=("127.0.0.1",)) as app:
        assert (await app.fetch_token())["expires_in"] == 7200


async def test_tokens_that_are_none():
    async with program() as app:
        await app.wechat.say("oA", "你好")
        assert await app.send() == 0
        good = app.token
        app.clock.advance(7200)
        assert await app.send() == 42001
        for token, errcode in (("", 41001), ("made-up", 40014)):
            app.token = token
            assert await app.send() == errcode
        await app.fetch_token()
        assert app.token != good
        app.wechat.api.tokens.supersede(app.clock.now())
        assert await app.send() == 40001


@pytest.mark.parametrize("path", ["message/custom/send", "message/custom/typing", "user/info", "media/get"])
async def test_an_unverified_account_may_only_answer(path: str):
    async with program(account_type=UNVERIFIED) as app:
        method = "GET" if path in ("user/info", "media/get") else "POST"
        answered = await app.ask(method, path, params={"access_token": app.token})
        assert answered["errcode"] == 48001
        autoreply = await app.get("get_current_autoreply_info")
        assert autoreply["is_autoreply_open"] == 0


async def test_five_messages_then_none_until_the_next():
    async with program() as app:
        await app.wechat.say("oA", "你好")
        assert [await app.send(str(number)) for number in range(6)] == [0, 0, 0, 0, 0, 45047]
        await app.wechat.say("oA", "再问")
        assert await app.send("5") == 0
        app.clock.advance(48 * 3600 + 1)
        await app.fetch_token()
        assert await app.send("6") == 45015
    assert app.texts() == ["0", "1", "2", "3", "4", "5"]
    assert {sight.way for sight in app.wechat.seen("oA")} == {Way.CUSTOMER_SERVICE}


@pytest.mark.parametrize("event", ["CLICK", "subscribe", "SCAN"])
async def test_three_in_a_minute_after_an_event(event: str):
    async with program() as app:
        match event:
            case "CLICK":
                await app.wechat.click("oA", "K")
            case "subscribe":
                await app.wechat.follow("oA")
            case _:
                await app.wechat.scan("oA", "1")
        assert [await app.send() for _ in range(4)] == [0, 0, 0, 45047]
        app.clock.advance(61)
        assert await app.send() == 45015


@pytest.mark.parametrize("event", ["VIEW", "LOCATION", "template"])
async def test_other_events_open_nothing(event: str):
    async with program() as app:
        match event:
            case "VIEW":
                await app.wechat.view("oA", "https://e.cn/")
            case "LOCATION":
                await app.wechat.report_location("oA")
            case _:
                await app.wechat.template_sent("oA")
        assert await app.send() == 45015


async def test_who_is_unknown_and_who_left():
    async with program() as app:
        assert await app.send(openid="oNobody") == 40003
        await app.wechat.say("oA", "你好")
        await app.wechat.unfollow("oA")
        assert await app.send() == 45015
        assert await app.type() == 45080
        assert await app.get("user/info", openid="oA") == {"subscribe": 0, "openid": "oA"}
        await app.wechat.follow("oA")
        assert await app.send() == 0


TEXT = {"touser": "oA", "msgtype": "text"}


@pytest.mark.parametrize(
    ("body", "errcode"),
    [
        (b"", 44002),
        (b"{", 47001),
        (b"[]", 47001),
        (b'{"a":"\xff"}', 47001),
        ('{"touser":"oA","msgtype":"text","text":{"content":"\\u4f60"}}', 40033),
        (TEXT | {"text": {"content": ""}}, 44004),
        (TEXT | {"text": {"content": 1}}, 44004),
        (TEXT | {"text": {"content": "汉" * 683}}, 45002),
        (TEXT | {"text": "好"}, 47001),
        (TEXT, 47001),
        ({"touser": "oA"}, 40008),
        ({"touser": "oA", "msgtype": "wxcard", "wxcard": {}}, 40008),
        ({"touser": "oA", "msgtype": "image", "image": {"media_id": "else"}}, 40007),
        ({"touser": "oA", "msgtype": "news", "news": {"articles": []}}, 44003),
        ({"touser": "oA", "msgtype": "news", "news": {"articles": [{"url": "u"}]}}, 44003),
        ({"touser": "oA", "msgtype": "news", "news": {"articles": [{"title": "a"}] * 2}}, 45008),
        ({"touser": "oA", "msgtype": "msgmenu", "msgmenu": {"list": []}}, 44004),
        ({"touser": "oA", "msgtype": "msgmenu", "msgmenu": {"list": [{"id": "1"}]}}, 47001),
    ],
)
async def test_a_message_that_is_refused_costs_nothing(body: Any, errcode: int):
    async with program() as app:
        await app.wechat.say("oA", "你好")
        assert await app.post("message/custom/send", body) == errcode
        assert (app.texts(), app.wechat.people["oA"].window.left(app.clock.now())) == ([], 5)


async def test_a_text_of_2048_bytes_fits():
    async with program() as app:
        await app.wechat.say("oA", "你好")
        assert await app.send("汉" * 682 + "xx") == 0


async def test_news_pictures_and_a_menu():
    async with program() as app:
        await app.wechat.say("oA", "你好")
        uploaded = await app.ask(
            "POST",
            "media/upload",
            params={"access_token": app.token, "type": "image"},
            files={"media": ("a.png", PICTURE)},
        )
        picture = {"touser": "oA", "msgtype": "image", "image": {"media_id": uploaded["media_id"]}}
        article = {"title": "标题", "description": "说明", "url": "https://e.cn/", "picurl": "p"}
        menu = {"head_content": "满意吗", "list": [{"id": "101", "content": "满意"}], "tail_content": "谢谢"}
        for message in (
            picture,
            {"touser": "oA", "msgtype": "news", "news": {"articles": [article]}},
            {"touser": "oA", "msgtype": "msgmenu", "msgmenu": menu},
        ):
            assert await app.post("message/custom/send", message) == 0
        await app.wechat.tap("oA", "满意")
    assert app.texts() == ["[图片]", "标题\n说明", "满意吗\n满意\n谢谢"]
    tapped = app.wechat.deliveries[-1].post
    assert tapped is not None
    assert dict(tapped.fields) == {"Content": "满意", "bizmsgmenuid": "101"}


async def test_typing_is_shown_for_fifteen_seconds():
    async with program() as app:
        await app.wechat.say("oA", "你好")
        assert [await app.type(), await app.type()] == [0, 45081]
        app.clock.advance(15)
        assert await app.type() == 0
        assert await app.type(command="CancelTyping") == 0
        assert await app.type() == 0
        assert await app.send() == 0
        assert await app.type() == 0
        app.clock.advance(31)
        assert await app.type() == 45080
        assert await app.type(command="Sing") == 45072
        assert await app.type("oNobody") == 40003
        start = app.wechat.deliveries[0].started_at
        assert [moment - start for moment in app.wechat.people["oA"].typings] == [0, 15, 15, 15]
        assert app.texts() == ["好"]


@pytest.mark.parametrize("is_bound", [True, False])
async def test_a_unionid_only_of_a_bound_account(is_bound: bool):
    async with program(is_bound=is_bound) as app:
        await app.wechat.follow("oA", "77")
        app.wechat.people["oA"].unionid = "uA"
        known = await app.get("user/info", openid="oA", lang="zh_CN")
        assert (known["subscribe"], known["qr_scene"], known.get("unionid")) == (
            1,
            77,
            "uA" if is_bound else None,
        )
        assert "nickname" not in known
        assert (await app.get("user/info", openid="oNobody"))["errcode"] == 40003


async def test_a_persons_picture_can_be_fetched_both_ways():
    picture = PICTURE + b"tail"
    async with program() as app:
        await app.wechat.image("oA", content=picture)
        post = app.wechat.deliveries[0].post
        assert post is not None
        fields = dict(post.fields)
        by_url = await app.http.get(str(fields["PicUrl"]))
        params = {"access_token": app.token, "media_id": str(fields["MediaId"])}
        by_id = await app.http.get("/cgi-bin/media/get", params=params)
        assert by_url.content == by_id.content == picture
        assert by_url.headers["content-type"] == by_id.headers["content-type"] == "image/png"
        assert "attachment" in by_id.headers["content-disposition"]
        assert (await app.get("media/get", media_id="else"))["errcode"] == 40007
        assert (await app.http.get("/picture/else")).status_code == 404
        await app.wechat.video("oA")
        video = app.wechat.deliveries[1].post
        assert video is not None
        given = await app.get("media/get", media_id=str(dict(video.fields)["MediaId"]))
        assert (await app.http.get(given["video_url"])).content == b"simulated"


@pytest.mark.parametrize("errcode", [-1, 45009, 45011, 48006, 43004, 43019, 61004, 89503, 40243])
async def test_any_errcode_can_be_scripted(errcode: int):
    async with program() as app:
        await app.wechat.say("oA", "你好")
        app.wechat.api.fail("message/custom/send", errcode, times=2)
        assert [await app.send(str(number)) for number in range(3)] == [errcode, errcode, 0]
        assert app.texts() == ["2"]
        assert app.wechat.api.errcodes("message/custom/send") == [errcode, errcode, 0]


async def test_a_delay_a_5xx_and_a_cut():
    async with program() as app:
        await app.wechat.say("oA", "你好")
        app.wechat.api.fail("message/custom/send", status=502)
        response = await app.http.post("/cgi-bin/message/custom/send", content=b"{}")
        assert (response.status_code, app.texts()) == (502, [])
        app.wechat.api.fail(is_cut=True)
        with pytest.raises(httpx.RemoteProtocolError):
            await app.send("到了")
        assert app.texts() == ["到了"]
        app.wechat.api.fail("message/custom/send", delay_seconds=7.0)
        sending = asyncio.create_task(app.send("晚了"))
        while not app.clock.waiting:
            await asyncio.sleep(0.001)
        assert app.texts() == ["到了"]
        app.clock.advance(7.0)
        assert await sending == 0
        statuses = [call.status for call in app.wechat.api.calls if call.path == "message/custom/send"]
        assert statuses == [502, 0, 200]


async def test_a_caller_that_gives_up_may_have_been_heard():
    async with program() as app:
        await app.wechat.say("oA", "你好")
        app.wechat.api.fail("message/custom/send", delay_seconds=7.0)
        sending = asyncio.create_task(app.send("到了"))
        while not app.clock.waiting:
            await asyncio.sleep(0.001)
        sending.cancel()
        app.clock.advance(7.0)
        await app.wechat.people.wait_until(lambda: bool(app.texts()), 1.0)
        assert app.texts() == ["到了"]


@pytest.mark.parametrize(
    ("method", "path", "errcode"),
    [("GET", "message/custom/send", 43002), ("POST", "user/info", 43001), ("GET", "nothing", 40066)],
)
async def test_the_wrong_door(method: str, path: str, errcode: int):
    async with program() as app:
        answered = await app.ask(method, path, params={"access_token": app.token})
        assert answered["errcode"] == errcode
        assert (await app.http.get("/elsewhere")).json()["errcode"] == 40066


async def test_both_ways_are_seen_in_order():
    async with program(Answer(body=says_text("oA", "被动"))) as app:
        await app.wechat.follow("oA")
        await app.send("客服一")
        app.clock.advance(1)
        await app.wechat.say("oA", "你好")
        await app.send("客服二")
        await app.wechat.raw("<xml/>", "oA")
    assert [(sight.way, sight.text) for sight in app.wechat.seen("oA")] == [
        (Way.PASSIVE, "被动"),
        (Way.CUSTOMER_SERVICE, "客服一"),
        (Way.PASSIVE, "被动"),
        (Way.CUSTOMER_SERVICE, "客服二"),
        (Way.PASSIVE, "被动"),
    ]


async def test_the_same_api_without_a_socket():
    async with program() as app:
        transport = app.wechat.api.transport()
        async with httpx.AsyncClient(transport=transport, base_url="https://api.weixin.qq.com") as inside:
            app.http = inside
            token = app.token
            assert (await app.fetch_token())["access_token"] == token
            await app.wechat.say("oA", "你好")
            assert await app.send("好") == 0
            app.wechat.api.fail(is_cut=True)
            with pytest.raises(httpx.RemoteProtocolError):
                await app.send("到了")
    assert app.texts() == ["好", "到了"]


async def test_quota_can_be_cleared_and_calls_are_kept():
    async with program() as app:
        assert await app.post("clear_quota", {"appid": APP_ID}) == 0
        call = app.wechat.api.calls[-1]
        assert (call.path, call.body, call.errcode) == ("clear_quota", {"appid": APP_ID}, 0)


def test_every_published_error_is_answered_in_its_shape():
    """Where WeChat's own examples show an errcode that we use, ours has the same shape."""
    entries = json.loads(require_shared("fixtures/wechat_api_fixtures.json").read_text("utf-8"))
    errors = [entry["expected"]["json"] for entry in entries if entry["id"].startswith("api-err-")]
    ours = [error for error in errors if error["errcode"] in TEXTS]
    assert len(ours) >= 15
    assert all(error.keys() == {"errcode", "errmsg"} for error in ours)


async def test_the_published_answers_have_our_fields():
    entries = json.loads(require_shared("fixtures/wechat_api_fixtures.json").read_text("utf-8"))
    published = {entry["id"]: entry["expected"]["json"] for entry in entries}
    async with program(is_bound=True) as app:
        token = await app.fetch_token()
        assert token.keys() == published["api-doc-stable-token"].keys()
        await app.wechat.follow("oA", "1")
        known = await app.get("user/info", openid="oA")
        assert known.keys() == published["api-user-info-2021plus"].keys()
        uploaded = await app.ask(
            "POST",
            "media/upload",
            params={"access_token": app.token, "type": "image"},
            files={"media": ("a.png", PICTURE)},
        )
        assert uploaded.keys() == published["api-wpy-media-upload"].keys()


async def test_closing_ends_calls_that_wait():
    async with program() as app:
        app.wechat.api.fail(delay_seconds=60.0)
        sending = asyncio.create_task(app.send())
        while not app.clock.waiting:
            await asyncio.sleep(0.001)
        await app.wechat.close()
        with pytest.raises(httpx.TransportError):
            await sending
