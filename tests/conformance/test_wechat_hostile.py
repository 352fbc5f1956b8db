"""What strangers post: refused or acknowledged, never a 5xx, never a handler called, never read whole."""

import asyncio
import base64
import secrets
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import pytest

from bot.channels.wechat import Bot, Event, OfficialAccount
from bot.channels.wechat.limits import BODY_BYTES, DISCARD_BYTES, BodyLimit
from simulators.wechat import FAULT, WeChatServer, envelope
from tests.conformance.wechat_app import (
    ACCOUNT,
    AES_KEY,
    APP_ID,
    BASE,
    SAFE_ACCOUNT,
    TOKEN,
    WeChatApp,
    wechat_app,
)

HEAD = (
    "<xml><ToUserName><![CDATA[gh_1]]></ToUserName><FromUserName><![CDATA[oA]]></FromUserName>"
    "<CreateTime>1700000000</CreateTime><MsgType><![CDATA[text]]></MsgType>"
)
TAIL = "<MsgId>1</MsgId></xml>"


def text(content: str) -> str:
    return f"{HEAD}<Content><![CDATA[{content}]]></Content>{TAIL}"


UNREADABLE = {
    "empty": b"",
    "spaces": b"  \n",
    "no xml": b"hello",
    "json null": b"null",
    "json": b'{"xml": {"MsgType": "text"}}',
    "form": b"FromUserName=oA&MsgType=text&MsgId=1",
    "open tag": b"<xml>",
    "root only": b"<xml/>",
    "root with text": b"<xml>hi</xml>",
    "other root": text("x").replace("xml>", "html>").encode(),
    "two roots": (text("x") + text("y")).encode(),
    "trailing": (text("x") + "junk").encode(),
    "not utf-8": text("x").encode("utf-16"),
    "gbk": text("你好").encode("gbk"),
    "half a character": text("你好").encode()[:-40],
    "nul": b"\x00" * 100,
    "charref nul": text("").replace("<![CDATA[]]>", "&#0;").encode(),
    "charref surrogate": text("").replace("<![CDATA[]]>", "&#xD800;").encode(),
    "unknown entity": text("").replace("<![CDATA[]]>", "&x;").encode(),
    "internal entity": ('<!DOCTYPE xml [<!ENTITY x "hi">]>' + text("")).encode(),
    "external dtd": ('<!DOCTYPE xml SYSTEM "http://127.0.0.1:9/x.dtd">' + text("x")).encode(),
    "laughs": (
        "<!DOCTYPE l ["
        + '<!ENTITY a0 "ha">'
        + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
        + "]><xml><Content>&a9;</Content></xml>"
    ).encode(),
    "quadratic blowup": (
        f'<!DOCTYPE l [<!ENTITY a "{"a" * 20_000}">]><xml><Content>{"&a;" * 8000}</Content></xml>'
    ).encode(),
    "deep": (HEAD + "<a>" * 2000 + "</a>" * 2000 + TAIL).encode(),
    "wide": (HEAD + "<a/>" * 15_000 + TAIL).encode(),
    "two senders": (HEAD + "<FromUserName>oB</FromUserName>" + TAIL).encode(),
    "two times": (HEAD + "<CreateTime>1</CreateTime>" + TAIL).encode(),
    "two types": (HEAD + "<MsgType>event</MsgType>" + TAIL).encode(),
    "two ids": (HEAD + "<MsgId>2</MsgId>" + TAIL).encode(),
    "two events": (HEAD + "<Event>CLICK</Event><Event>subscribe</Event>" + TAIL).encode(),
    "two receivers": (HEAD + "<ToUserName>gh_2</ToUserName>" + TAIL).encode(),
    "sender has children": (HEAD.replace("<![CDATA[oA]]>", "<a>oA</a>") + TAIL).encode(),
    "no sender": text("x").replace("FromUserName", "From").encode(),
    "empty sender": text("x").replace("oA", "").encode(),
    "sender with slash": text("x").replace("oA", "oA/1").encode(),
    "no time": text("x").replace("CreateTime", "Time").encode(),
    "time is text": text("x").replace("1700000000", "now").encode(),
    "time is full-width": text("x").replace("1700000000", "１７０００").encode(),
    "negative time": text("x").replace("1700000000", "-1").encode(),
    "time past all dates": text("x").replace("1700000000", "9" * 20).encode(),
    "time of 50,000 digits": text("x").replace("1700000000", "9" * 50_000).encode(),
    "no type": text("x").replace("MsgType", "Type").encode(),
    "no id": (HEAD + "<Content>x</Content></xml>").encode(),
    "id is text": text("x").replace(">1<", ">abc<").encode(),
    "event without a name": HEAD.replace("text", "event").encode() + TAIL.encode(),
    "revocation without its subject": HEAD.replace("[text]", "[event]").encode()
    + b"<Event>user_authorization_revoke</Event>"
    + TAIL.encode(),
    "injected sender": text("x]]></Content><FromUserName>oB</FromUserName><Content><![CDATA[y").encode(),
    "injected unionid": text("x]]></Content><UnionId>u</UnionId><Content><![CDATA[y").encode(),
    "injected unionid, comment": text("x]]></Content><UnionId>u</UnionId><!--").encode(),
    "injected unionid, nested": text("x]]></Content><UnionId>u</UnionId><a><Content><![CDATA[y").encode(),
    "injected unionid, spaced": text("x]]></Content><UnionId>u</UnionId><Content ><![CDATA[y").encode(),
    "injected end": text("x]]></Content></xml><!--").encode(),
    "encrypted without a key": b"<xml><Encrypt><![CDATA[AAAA]]></Encrypt></xml>",
}


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE.keys())
async def test_genuine_but_unreadable_is_acknowledged(body: bytes):
    async with wechat_app() as app, app.wechat() as wechat:
        response = await app.post(wechat.signed_query(), body)
    assert (response.status_code, response.content, app.seen) == (200, b"success", [])


@pytest.mark.parametrize(
    "content",
    [
        "]]>",
        "a]]>b",
        "]]><FromUserName><![CDATA[oB]]></FromUserName><![CDATA[",
        "<FromUserName><![CDATA[oB]]></FromUserName>",
        "<![CDATA[x]]>",
        "&lt;&amp;&#65;",
        "<!DOCTYPE xml>",
        "<!-- -- >",
        "]]",
        "\\",
    ],
)
async def test_what_looks_like_markup_in_a_text_stays_text(content: str):
    async with wechat_app() as app, app.wechat() as wechat:
        seen = await wechat.say("oA", content)
    assert (seen.text, [(e.openid, e.get_plaintext()) for e in app.seen]) == ("收到", [("oA", content)])


QUERY = {"signature": "s", "timestamp": "t", "nonce": "n"}


def signed(now: float, **changed: str | None) -> list[tuple[str, str]]:
    timestamp, nonce = changed.get("timestamp", str(int(now))), changed.get("nonce", "5")
    parts = {
        "signature": envelope.signature(TOKEN, timestamp or "", nonce or ""),
        "timestamp": timestamp,
        "nonce": nonce,
        "echostr": "77",
    } | changed
    return [(name, value) for name, value in parts.items() if value is not None]


NOW = 1_750_000_000.0
FORGED = {
    "nothing": [],
    "no signature": signed(NOW, signature=None),
    "no timestamp": signed(NOW, timestamp=None),
    "no nonce": signed(NOW, nonce=None),
    "empty nonce": signed(NOW, nonce=""),
    "wrong signature": signed(NOW, signature="0" * 40),
    "upper case": [(n, v.upper() if n == "signature" else v) for n, v in signed(NOW)],
    "not ascii": signed(NOW, signature="签" * 20),
    "another nonce": [*signed(NOW)[:2], ("nonce", "6")],
    "signature twice": [*signed(NOW), ("signature", "0" * 40)],
    "signature twice, bad first": [("signature", "0" * 40), *signed(NOW)],
    "timestamp twice": [*signed(NOW), ("timestamp", "1")],
    "nonce twice": [*signed(NOW), ("nonce", "5")],
    "too old": signed(NOW, timestamp=str(int(NOW) - 601)),
    "too new": signed(NOW, timestamp=str(int(NOW) + 601)),
    "timestamp is text": signed(NOW, timestamp="now"),
    "timestamp has a fraction": signed(NOW, timestamp="1750000000.0"),
    "timestamp is signed": signed(NOW, timestamp="+1750000000"),
    "timestamp is full-width": signed(NOW, timestamp="１７５０００００００"),
    "timestamp is huge": signed(NOW, timestamp="9" * 5000),
}


@pytest.mark.parametrize("query", FORGED.values(), ids=FORGED.keys())
@pytest.mark.parametrize("account", [ACCOUNT, SAFE_ACCOUNT], ids=["plain", "aes"])
async def test_forged_is_refused(query: list[tuple[str, str]], account):
    async with wechat_app(account, now=lambda: NOW) as app:
        posted = await app.post(urlencode(query), text("x").encode())
        got = await app.client.get(f"/wechat?{urlencode([*query, ('echostr', '77')][:5])}")
    assert (posted.status_code, posted.content) == (403, b"")
    assert (got.status_code, got.content) == (403, b"")
    assert app.seen == []


async def test_the_window_is_ten_minutes_either_way():
    async with wechat_app(now=lambda: NOW) as app:
        for shift in (-600, 0, 600):
            query = urlencode(signed(NOW, timestamp=str(int(NOW) + shift)))
            response = await app.client.get(f"/wechat?{query}")
            assert (response.status_code, response.content) == (200, b"77")
    assert response.headers["content-type"].startswith("text/plain")
    assert response.headers["content-length"] == "2"


@pytest.mark.parametrize("raw", ["%FF%FE", "%ED%A0%80", "%00", "%", "%zz", "a+b", "%F0%9F%98%80"])
async def test_odd_query_bytes_are_no_5xx(raw: str):
    async with wechat_app(now=lambda: NOW) as app:
        good = dict(signed(NOW))
        for name in ("signature", "timestamp", "nonce", "echostr"):
            query = "&".join(f"{n}={raw if n == name else v}" for n, v in good.items())
            got = await app.client.get(f"/wechat?{query}")
            posted = await app.post(query, text("x").encode())
            assert got.status_code == (200 if name == "echostr" else 403)
            assert posted.status_code == (200 if name == "echostr" else 403)


@pytest.mark.parametrize("host", ["a:99999999", "a:b:c", "[", "", "\x7f", "例子"])
async def test_an_odd_host_is_no_5xx(host: str):
    async with wechat_app() as app, app.wechat() as wechat:
        query = urlencode(wechat.signed_query())
        response = await app.client.post(
            f"/wechat?{query}", content=text("x"), headers=[(b"Host", host.encode())]
        )
    assert response.status_code < 500


async def test_a_leaked_url_carries_no_second_message():
    async with wechat_app() as app, app.wechat() as wechat:
        query = wechat.signed_query()
        first = wechat.xml("oA", "text", {"Content": "你好"}, 1).encode()
        forged = wechat.xml("oVictim", "text", {"Content": "/清除记忆"}, 2).encode()
        assert (await app.post(query, first)).status_code == 200
        assert (await app.post(query, forged)).status_code == 403
        assert (await app.post(query, first)).status_code == 200
    assert [event.openid for event in app.seen] == ["oA"]


def sealed(padded: bytes) -> str:
    return envelope.encrypt_raw(padded, aes_key=AES_KEY)


def plaintext(xml: bytes, *, length: int | None = None, app_id: str = APP_ID) -> bytes:
    size = len(xml) if length is None else length
    return b"s" * 16 + size.to_bytes(4, "big") + xml + app_id.encode()


GOOD = text("x").encode()
BAD_ENVELOPES = {
    "empty": "",
    "no base64": "!!!!",
    "not ascii": "密文",
    "half base64": "AAA",
    "1 byte": base64.b64encode(b"x").decode(),
    "15 bytes": base64.b64encode(b"x" * 15).decode(),
    "one random block": base64.b64encode(b"x" * 16).decode(),
    "pad 0": sealed(plaintext(GOOD + b"=" * (-len(plaintext(GOOD)) % 32 + 31)) + b"\0"),
    "pad 33": sealed(plaintext(GOOD).ljust(320, b"!")),
    "pad disagrees": sealed(envelope.pad(plaintext(GOOD))[:-2] + b"\x07\x02"),
    "pad bytes differ": sealed(
        (pad_me := plaintext(GOOD)) + b"x" * (-len(pad_me) % 32 - 1) + bytes([-len(pad_me) % 32])
    ),
    "all pad": sealed(b"\x20" * 32),
    "only the salt": sealed(envelope.pad(b"s" * 16)),
    "cut length": sealed(envelope.pad(b"s" * 16 + b"\0\0")),
    "length beyond": sealed(envelope.pad(plaintext(GOOD, length=len(GOOD) + 1000))),
    "length short": sealed(envelope.pad(plaintext(GOOD, length=10))),
    "length 4 GB": sealed(envelope.pad(plaintext(GOOD, length=0xFFFFFFFF))),
    "other appid": sealed(envelope.pad(plaintext(GOOD, app_id="wxother"))),
    "no appid": sealed(envelope.pad(plaintext(GOOD, app_id=""))),
    "longer appid": sealed(envelope.pad(plaintext(GOOD, app_id=APP_ID + "x"))),
}


def encrypted_post(wechat: WeChatServer, encrypted: str) -> tuple[dict[str, str], bytes]:
    query = wechat.signed_query()
    query["msg_signature"] = envelope.signature(TOKEN, query["timestamp"], query["nonce"], encrypted)
    return query, f"<xml><Encrypt><![CDATA[{encrypted}]]></Encrypt></xml>".encode()


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE.keys())
async def test_unreadable_inside_the_envelope_is_acknowledged(body: bytes):
    async with wechat_app(SAFE_ACCOUNT) as app, app.wechat() as wechat:
        query, posted = encrypted_post(wechat, sealed(envelope.pad(plaintext(body))))
        response = await app.post(query, posted)
    # The envelope is a third larger than its content, and then beyond the cap.
    is_too_long = len(posted) > BODY_BYTES
    assert response.status_code == (413 if is_too_long else 200)
    assert response.content == (b"" if is_too_long else b"success")
    assert app.seen == []


@pytest.mark.parametrize("encrypted", BAD_ENVELOPES.values(), ids=BAD_ENVELOPES.keys())
async def test_bad_envelopes_are_refused_alike(encrypted: str):
    async with wechat_app(SAFE_ACCOUNT) as app, app.wechat() as wechat:
        response = await app.post(*encrypted_post(wechat, encrypted))
    assert (response.status_code, response.content, app.seen) == (403, b"", [])


async def test_the_window_holds_for_encrypted_posts():
    for shift, status in ((-601, 403), (-600, 200), (600, 200), (601, 403)):
        async with (
            wechat_app(SAFE_ACCOUNT, now=lambda: NOW) as app,
            app.wechat(now=lambda shift=shift: NOW + shift) as wechat,
        ):
            response = await app.post(*wechat.post(text("x")))
        assert (response.status_code, len(app.seen)) == (status, int(status == 200))


async def test_the_url_signature_does_not_stand_in_for_the_ciphertexts():
    async with wechat_app(SAFE_ACCOUNT) as app, app.wechat() as wechat:
        query, body = wechat.post(text("x"))
        swapped = query | {"msg_signature": query["signature"], "signature": query["msg_signature"]}
        missing = {name: value for name, value in query.items() if name != "msg_signature"}
        twice = body.replace(b"</xml>", b"<Encrypt>AAAA</Encrypt></xml>")
        assert (await app.post(swapped, body)).status_code == 403
        assert (await app.post(missing, body)).status_code == 403
        assert (await app.post(query, twice)).status_code == 403
        assert (await app.post(query, body)).status_code == 200
    assert len(app.seen) == 1


async def test_a_million_tags_are_refused_by_the_cap():
    async with wechat_app() as app, app.wechat() as wechat:
        body = (HEAD + "<a/>" * 1_000_000 + TAIL).encode()
        response = await app.post(wechat.signed_query(), body)
    assert (response.status_code, response.content, app.seen) == (413, b"", [])


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_a_stream_without_end_is_cut(method: str):
    chunks = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal chunks
        while True:
            chunks += 1
            yield b"x" * 65536

    async with wechat_app() as app, app.wechat() as wechat:
        query = urlencode(wechat.signed_query())
        response = await app.client.request(method, f"/wechat?{query}", content=endless())
    assert response.status_code == 413
    assert chunks <= DISCARD_BYTES // 65536 + 2
    assert app.seen == []


async def test_the_cap_is_exact_and_trusts_no_header():
    async with wechat_app() as app, app.wechat() as wechat:
        fits = text("").encode().ljust(BODY_BYTES)
        assert (await app.post(wechat.signed_query(), fits)).content != b""
        assert (await app.post(wechat.signed_query(), fits + b" ")).status_code == 413
        for declared in ("65537", "9" * 30, "-1", "x"):
            response = await app.client.post(
                "/wechat", content=b"<xml/>", headers={"content-length": declared}
            )
            assert response.status_code == 413
    assert len(app.seen) == 1


async def test_other_paths_are_untouched():
    async with wechat_app() as app:

        @app.driver.server_app.post("/upload")
        async def upload(request: dict[str, str]) -> int:
            return len(request["text"])

        response = await app.client.post("/upload", json={"text": "x" * 200_000})
        unknown = await app.client.post("/wechat2", content=b"x" * 200_000)
    assert (response.status_code, response.json()) == (200, 200_000)
    assert unknown.status_code == 404


async def test_a_slow_body_is_given_up():
    sent: list[dict] = []

    async def app(scope, receive, send):
        raise AssertionError("not reached")

    async def receive() -> dict[str, str]:
        await asyncio.Event().wait()
        return {}

    async def send(message):
        sent.append(message)

    limit = BodyLimit(app, paths=["/wechat"], read_seconds=0.0)
    await limit({"type": "http", "path": "/wechat", "headers": []}, receive, send)
    assert sent[0]["status"] == 408


async def test_a_caller_who_leaves_gets_nothing():
    sent: list[dict] = []

    async def app(scope, receive, send):
        raise AssertionError("not reached")

    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    limit = BodyLimit(app, paths=["/wechat"])
    await limit({"type": "http", "path": "/wechat", "headers": []}, receive, send)
    assert sent == []


async def test_random_bytes_are_never_a_5xx():
    async with wechat_app() as plain, wechat_app(SAFE_ACCOUNT) as safe:
        for app in (plain, safe):
            url = "http://bot.test/wechat"
            async with WeChatServer(url, TOKEN, APP_ID, transport=app.transport) as wechat:
                for size in range(0, 2000, 97):
                    response = await app.post(wechat.signed_query(), secrets.token_bytes(size))
                    assert response.status_code in (200, 403)
        assert plain.seen == safe.seen == []


async def test_no_traceback_reaches_the_caller(monkeypatch: pytest.MonkeyPatch):
    async with wechat_app() as app, app.wechat() as wechat:

        def fail(*_: object) -> None:
            raise RuntimeError("secret-detail")

        monkeypatch.setattr("bot.channels.wechat.intake.read_event", fail)
        response = await app.post(wechat.signed_query(), text("x").encode())
    assert response.status_code < 500
    assert b"secret-detail" not in response.content
    assert b"Traceback" not in response.content


async def test_a_foreign_method_is_no_5xx():
    async with wechat_app() as app:
        statuses = {m: (await app.client.request(m, "/wechat")).status_code for m in ("PUT", "HEAD", "PATCH")}
    assert statuses == {"PUT": 405, "HEAD": 405, "PATCH": 405}


OLD_KEY, FOREIGN_KEY = "o" * 43, "f" * 43
ROTATING = OfficialAccount(app_id=APP_ID, token=TOKEN, aes_key=AES_KEY, previous_aes_key=OLD_KEY)


def posting_with(app: WeChatApp, aes_key: str) -> WeChatServer:
    """A WeChat that uses this key; it takes no answer that came under another."""
    return WeChatServer(BASE + app.account.path, TOKEN, APP_ID, aes_key, transport=app.transport)


@pytest.mark.parametrize(
    ("key", "is_ours"), [(AES_KEY, True), (OLD_KEY, True), (FOREIGN_KEY, False), ("", False)]
)
async def test_both_keys_count_while_they_change_and_the_answer_comes_under_the_one_used(
    key: str, is_ours: bool
):
    async with wechat_app(ROTATING) as app, posting_with(app, key) as wechat:
        seen = await wechat.say("oA", "你好")
    assert set(seen.statuses) == ({200} if is_ours else {403})
    assert [event.get_plaintext() for event in app.seen] == (["你好"] if is_ours else [])
    assert seen.text == ("收到" if is_ours else FAULT)


async def test_a_retry_after_the_change_gets_the_bytes_of_the_first_delivery():
    async with (
        wechat_app(ROTATING) as app,
        posting_with(app, OLD_KEY) as old,
        posting_with(app, AES_KEY) as new,
    ):
        xml = old.xml("oA", "text", {"Content": "你好"}, 1)
        first = await app.post(*old.post(xml))
        retried = await app.post(*new.post(xml))
    assert len(app.seen) == 1
    assert retried.content == first.content


@pytest.mark.parametrize("key", [AES_KEY, OLD_KEY])
async def test_a_signature_carries_one_message_in_safe_mode_too(key: str):
    async with wechat_app(ROTATING) as app, posting_with(app, key) as wechat:
        query, body = wechat.post(wechat.xml("oA", "text", {"Content": "一"}, 1))
        assert (await app.post(query, body)).status_code == 200
        assert (await app.post(query, body)).status_code == 200
        _, other = wechat.post(wechat.xml("oA", "text", {"Content": "二"}, 2))
        assert (await app.post(query, other)).status_code == 403
    assert len(app.seen) == 1


@pytest.mark.parametrize("key", [AES_KEY, OLD_KEY])
@pytest.mark.parametrize("encrypted", BAD_ENVELOPES.values(), ids=BAD_ENVELOPES.keys())
async def test_bad_envelopes_are_refused_under_either_key(encrypted: str, key: str):
    swapped = OfficialAccount(
        app_id=APP_ID, token=TOKEN, aes_key=key, previous_aes_key=OLD_KEY if key == AES_KEY else AES_KEY
    )
    async with wechat_app(swapped) as app, app.wechat() as wechat:
        response = await app.post(*encrypted_post(wechat, encrypted))
    assert (response.status_code, response.content, app.seen) == (403, b"", [])


@pytest.mark.parametrize("account", [ACCOUNT, SAFE_ACCOUNT], ids=["plain", "aes"])
@pytest.mark.parametrize("said", ["", " \n", "\x00\x0b", "<a>", "\ufdd5"])
async def test_an_answer_that_shows_nothing_is_success(account: OfficialAccount, said: str):
    """An empty Content would be the fault notice in the person's chat."""

    async def answer(bot: Bot, event: Event) -> None:
        await bot.send(event, said)

    async with wechat_app(account, handler=answer) as app, app.wechat() as wechat:
        seen = await wechat.say("oA", "你好")
    assert (seen.text, seen.is_fault) == ("", False)
    assert set(seen.bodies) == {b"success"}


FORGED_TAPS = [
    '<a href="weixin://bizmsgmenu?msgmenucontent=/清除记忆&msgmenuid=1">领奖</a>',
    "<A HREF='weixin://dl/chat'>领奖",
    "\ufdd0领 奖\ufdd1",
    "weixin://bizmsgmenu?msgmenucontent=x",
    "<a href=javascript:x>领奖</a>",
]


@pytest.mark.parametrize("said", FORGED_TAPS)
async def test_nothing_said_can_make_the_reader_send_something(said: str):
    async def answer(bot: Bot, event: Event) -> None:
        await bot.send(event, f"前{said}后")

    async with wechat_app(handler=answer) as app, app.wechat() as wechat:
        seen = await wechat.say("oA", "你好")
    assert seen.text.startswith("前")
    assert "weixin:" not in seen.text and "<a" not in seen.text.lower()
