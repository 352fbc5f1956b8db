"""The simulated QQ platform before an application of this process, on a clock moved by hand."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from simulators.qq import ManualClock, QQPlatform, Quote, Retries, Rules, Scene
from tests.qq_callbacks import SECRET, Bot

pytest_plugins = ["simulators.qq.fixtures"]


def platform(bot: Any, **options: Any) -> QQPlatform:
    options.setdefault("clock", ManualClock())
    return QQPlatform("http://bot.test/", "1", SECRET, transport=httpx.ASGITransport(app=bot), **options)


class Client:
    """The bot's side of the API."""

    def __init__(self, qq: QQPlatform) -> None:
        self._qq = qq
        self._http = httpx.AsyncClient(transport=qq.api.transport(), base_url="https://api.bot.qq.com")

    async def log_in(self) -> None:
        answer = await self._http.post("/app/getAppAccessToken", json={"appId": "1", "clientSecret": SECRET})
        self._http.headers["Authorization"] = f"QQBot {answer.json()['access_token']}"

    async def ask(self, method: str, path: str, **body: Any) -> httpx.Response:
        return await self._http.request(method, path, json=body or None)

    async def send(self, path: str, text: str = "好", **fields: Any) -> int:
        """0, or the code."""
        answer = await self.ask("POST", path, content=text, **{"msg_type": 0} | fields)
        return answer.json().get("code", 0)

    async def close(self) -> None:
        await self._http.aclose()


@pytest.fixture
def bot() -> Bot:
    return Bot()


@pytest.fixture
async def qq(bot: Bot) -> AsyncIterator[QQPlatform]:
    qq = platform(bot)
    yield qq
    await qq.close()


@pytest.fixture
async def client(qq: QQPlatform) -> AsyncIterator[Client]:
    client = Client(qq)
    await client.log_in()
    yield client
    await client.close()


async def test_an_event_is_signed_and_acknowledged(qq: QQPlatform, bot: Bot):
    delivery = await qq.say("O1", "你好")
    assert (delivery.is_acknowledged, delivery.statuses) == (True, (200,))
    (payload,) = bot.payloads
    assert (payload["op"], payload["t"], payload["id"]) == (0, "C2C_MESSAGE_CREATE", delivery.id)
    assert payload["d"]["author"]["user_openid"] == "O1"
    assert payload["d"]["id"] == delivery.message_id
    assert bot.headers[0]["x-bot-appid"] == "1"
    assert qq.deliveries == [delivery]


async def test_what_is_not_acknowledged_comes_again_with_the_same_id():
    bot, clock = Bot(500, 404), ManualClock()
    qq = platform(bot, clock=clock)
    delivery = await clock.run(qq.say("O1", "你好"))
    assert delivery.statuses == (500, 404, 200)
    assert len({payload["id"] for payload in bot.payloads}) == 1
    assert bot.payloads[0] == bot.payloads[2]
    timestamps = [headers["x-signature-timestamp"] for headers in bot.headers]
    assert timestamps == sorted(set(timestamps))
    await qq.close()


@pytest.mark.parametrize(("body", "attempts"), [(b'{"op":12,"d":0}', 1), (b'{"op":12,"d":1}', 3), (b"ok", 1)])
async def test_an_op_12_may_say_that_it_failed(body: bytes, attempts: int):
    clock = ManualClock()
    qq = platform(Bot(body=body), clock=clock)
    delivery = await clock.run(qq.say("O1", "你好"))
    assert (len(delivery.attempts), delivery.is_acknowledged) == (attempts, attempts == 1)
    await qq.close()


async def test_what_takes_too_long_is_dropped():
    bot, clock = Bot(), ManualClock()
    bot.hang_first = 1
    qq = platform(bot, clock=clock, retries=Retries(attempts=2, deadline_seconds=3, pause_seconds=2))
    delivery = await clock.run(qq.say("O1", "你好"))
    assert delivery.statuses == (None, 200)
    assert delivery.attempts[1].started_at - delivery.attempts[0].started_at == 5
    await qq.close()


async def test_a_refused_connection_is_an_attempt():
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    clock = ManualClock()
    qq = QQPlatform("http://bot.test/", "1", SECRET, transport=httpx.MockTransport(refuse), clock=clock)
    assert (await clock.run(qq.say("O1", "你好"))).statuses == (None, None, None)
    with pytest.raises(ConnectionError):
        await qq.verify()
    await qq.close()


async def test_the_same_again(qq: QQPlatform, bot: Bot):
    first = await qq.say("O1", "你好")
    await qq.again(first)
    await qq.again(first, is_new_event=True)
    ids = [(payload["id"], payload["d"]["id"]) for payload in bot.payloads]
    assert ids[0] == ids[1]
    assert ids[2][0] != ids[0][0]
    assert ids[2][1] == ids[0][1]


@pytest.mark.parametrize("is_signed", [True, False])
async def test_saving_the_url(is_signed: bool):
    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 403, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    for app, is_verified in ((Bot(), True), (Bot(secret="another"), False), (refuse, False)):
        qq = platform(app)
        assert await qq.verify(is_signed=is_signed) is is_verified
        await qq.close()


async def test_who_attacks_is_refused_by_a_guarded_bot(qq: QQPlatform, bot: Bot):
    delivery = await qq.say("O1", "你好")
    forged = {"op": 0, "id": "x", "d": {}, "t": "C2C_MESSAGE_CREATE"}
    hostile = qq.hostile
    for split_at in (0, 4):
        forgery = await hostile.forge(forged, split_at=split_at)
        assert (forgery.validation.status, forgery.event) == (403, None)
    answers = [
        await hostile.unsigned(forged),
        await hostile.wrong_key(forged),
        await hostile.signed_with(forged, "zz" * 64),
        await hostile.signed_with(forged, "ab" * 63),
        await hostile.tampered(delivery),
    ]
    assert [answer.status for answer in answers] == [403] * 5
    assert len(bot.payloads) == 1


async def test_an_unguarded_bot_lets_events_be_forged():
    bot = Bot(is_guarded=False)
    qq = platform(bot)
    forged = {"op": 0, "id": "x", "d": {"content": "/清除记忆"}, "t": "C2C_MESSAGE_CREATE"}
    for split_at in (0, 4):
        forgery = await qq.hostile.forge(forged, split_at=split_at)
        assert forgery.event is not None
        assert forgery.event.status == 200
    assert bot.payloads == [forged, forged]
    await qq.close()


async def test_what_is_truly_signed_but_not_in_order(qq: QQPlatform, bot: Bot):
    delivery = await qq.say("O1", "你好")
    hostile = qq.hostile
    assert (await hostile.replay(delivery)).status == 200
    assert (await hostile.stale(delivery, 301)).status == 200
    for raw in (b"null", b"[]", b'"x"'):
        await hostile.body(raw)
    assert (await hostile.body(b"{")).status == 400
    await hostile.other_bot({"op": 0}, "2")
    await hostile.other_bot({"op": 0})
    assert bot.payloads[1:3] == [bot.payloads[0]] * 2
    assert bot.payloads[3:] == [None, [], "x", {"op": 0}, {"op": 0}]
    times = [int(headers["x-signature-timestamp"]) for headers in bot.headers]
    assert times[0] == times[1]
    assert times[0] - times[2] == 301
    assert [headers.get("x-bot-appid") for headers in bot.headers[-2:]] == ["2", None]


async def test_what_people_and_groups_see(qq: QQPlatform, client: Client):
    private = await qq.say("O1", "你好")
    group = await qq.say_in("G1", "M1", "你好")
    assert await client.send("/v2/users/O1/messages", "一", msg_id=private.message_id) == 0
    assert await client.send("/v2/groups/G1/messages", "二", msg_id=group.message_id, msg_seq=1) == 0
    assert await client.send("/v2/groups/G1/messages", "三", msg_id=group.message_id, msg_seq=2) == 0
    assert [(sight.text, sight.scene, sight.is_push) for sight in qq.seen("O1")] == [("一", Scene.C2C, False)]
    assert [(sight.text, sight.msg_seq) for sight in qq.seen_in("G1")] == [("二", 1), ("三", 2)]
    assert qq.seen_in("G1")[0].msg_id == group.message_id
    assert qq.seen("G1") == qq.seen_in("O1") == ()
    assert [sight.text for sight in qq.places.sights] == ["一", "二", "三"]
    assert await qq.wait_seen_in("G1", 2) == qq.seen_in("G1")


async def test_an_answer_tells_its_id_and_time(qq: QQPlatform, client: Client):
    said = await qq.say("O1", "你好")
    answer = (
        await client.ask("POST", "/v2/users/O1/messages", msg_type=0, content="好", msg_id=said.message_id)
    ).json()
    assert answer["id"] == qq.seen("O1")[0].message_id
    assert answer["timestamp"].endswith("+08:00")
    quoting = await qq.say("O1", "这句", quotes=Quote(text="好", message_id=answer["id"], is_bot=True))
    assert quoting.d["msg_elements"][0]["msg_idx"] == answer["ext_info"]["ref_idx"]


async def test_the_same_part_is_refused_the_second_time(qq: QQPlatform, client: Client):
    said = await qq.say("O1", "你好")
    codes = [
        await client.send("/v2/users/O1/messages", msg_id=said.message_id, msg_seq=seq) for seq in (1, 1, 2)
    ]
    assert codes == [0, 40054005, 0]
    assert len(qq.seen("O1")) == 2


async def test_a_refusal_costs_nothing(qq: QQPlatform, client: Client):
    said = await qq.say_in("G1", "M1", "你好")
    codes = [
        await client.send("/v2/groups/G1/messages", text, msg_id=said.message_id, msg_seq=1)
        for text in ("见 https://a.cn", "见 A 点 CN")
    ]
    assert codes == [40054010, 0]
    assert qq.sending.windows.used(said.message_id) == 1


async def test_typing_costs_one_and_is_no_message(qq: QQPlatform, client: Client):
    said = await qq.say("O1", "你好")
    answer = await client.ask("POST", "/v2/users/O1/messages", msg_type=6, msg_id=said.message_id, msg_seq=9)
    assert answer.status_code == 200
    codes = [
        await client.send("/v2/users/O1/messages", msg_id=said.message_id, msg_seq=n) for n in range(1, 5)
    ]
    assert codes == [0, 0, 0, 40034128]
    place = qq.places.find(Scene.C2C, "O1")
    assert place is not None
    assert len(place.typings) == 1
    assert len(qq.seen("O1")) == 3


async def test_the_window_ends(client: Client, qq: QQPlatform):
    assert isinstance(qq.clock, ManualClock)
    private, group = await qq.say("O1", "你好"), await qq.say_in("G1", "M1", "你好")
    qq.clock.advance(301)
    assert await client.send("/v2/users/O1/messages", msg_id=private.message_id) == 0
    assert await client.send("/v2/groups/G1/messages", msg_id=group.message_id) == 40034005


async def test_nothing_may_be_pushed(qq: QQPlatform, client: Client):
    await qq.say("O1", "你好")
    await qq.say_in("G1", "M1", "你好")
    assert await client.send("/v2/users/O1/messages") == 40034102
    assert await client.send("/v2/groups/G1/messages") == 40034105
    assert qq.places.sights == ()


async def test_where_pushes_are_allowed_people_may_refuse_them():
    qq = platform(Bot(), rules=Rules(may_push=True))
    client = Client(qq)
    await client.log_in()
    await qq.befriend("O1")
    await qq.add_to_group("G1", "M1")
    assert await client.send("/v2/users/O1/messages") == 0
    assert qq.seen("O1")[0].is_push
    await qq.refuse_pushes("O1")
    await qq.refuse_group_pushes("G1", "M1")
    assert await client.send("/v2/users/O1/messages") == 40054013
    assert await client.send("/v2/groups/G1/messages") == 40034105
    await qq.receive_pushes("O1")
    await qq.receive_group_pushes("G1", "M1")
    assert await client.send("/v2/users/O1/messages") == 0
    assert await client.send("/v2/groups/G1/messages") == 0
    await client.close()
    await qq.close()


async def test_events_that_may_be_answered(qq: QQPlatform, client: Client):
    added, joined = await qq.befriend("O1"), await qq.add_to_group("G1", "M1")
    pressed = await qq.press("O1", button_data="继续")
    assert await client.send("/v2/users/O1/messages", "欢迎", event_id=added.id) == 0
    assert await client.send("/v2/groups/G1/messages", "大家好", event_id=joined.id) == 0
    assert await client.send("/v2/users/O1/messages", "好", event_id=pressed.id) == 0
    said = await qq.say("O1", "你好")
    assert await client.send("/v2/users/O1/messages", "错", event_id=said.id) == 40034027
    assert await client.send("/v2/users/O1/messages", "错", msg_id=said.id) == 40034024
    assert [sight.event_id for sight in qq.seen("O1")] == [added.id, pressed.id]


async def test_who_left_gets_nothing(qq: QQPlatform, client: Client):
    private, group = await qq.say("O1", "你好"), await qq.say_in("G1", "M1", "你好")
    await qq.unfriend("O1")
    await qq.remove_from_group("G1", "M1")
    assert await client.send("/v2/users/O1/messages", msg_id=private.message_id) == 40054004
    assert await client.send("/v2/groups/G1/messages", msg_id=group.message_id) == 40034101
    assert await client.send("/v2/users/nobody/messages", msg_id=private.message_id) == 40054004
    await qq.befriend("O1")
    assert await client.send("/v2/users/O1/messages", msg_id=private.message_id) == 0


async def test_a_muted_bot(qq: QQPlatform, client: Client):
    said = await qq.say_in("G1", "M1", "你好")
    qq.mute("G1")
    assert await client.send("/v2/groups/G1/messages", msg_id=said.message_id) == 40054002
    qq.mute("G1", is_muted=False)
    assert await client.send("/v2/groups/G1/messages", msg_id=said.message_id) == 0


async def test_channels_and_direct_messages(qq: QQPlatform, client: Client, bot: Bot):
    channel = await qq.say_in_channel("100010", "U1", "你好")
    direct = await qq.say_directly("U1", "悄悄话")
    answer = await client.ask("POST", "/channels/100010/messages", content="好", msg_id=channel.message_id)
    assert answer.json()["channel_id"] == "100010"
    session = direct.d["guild_id"]
    assert await client.send(f"/dms/{session}/messages", "嗯", msg_id=direct.message_id) == 0
    assert [sight.text for sight in qq.seen_in("100010")] == ["好"]
    assert [(sight.text, sight.scene) for sight in qq.seen("U1")] == [("嗯", Scene.DIRECT)]
    assert [payload["t"] for payload in bot.payloads] == ["AT_MESSAGE_CREATE", "DIRECT_MESSAGE_CREATE"]
    assert bot.payloads[0]["d"]["content"] == f"<@!{qq.account.id}> 你好"
    codes = [
        await client.send("/channels/100010/messages", "推"),
        await client.send(f"/dms/{session}/messages", "推"),
        await client.send("/channels/1/messages", "推"),
        await client.send("/dms/1/messages", "推"),
    ]
    assert codes == [304046, 304049, 10003, 304032]


async def test_messages_of_a_channel_are_looked_up(qq: QQPlatform, client: Client):
    said = await qq.say_in_channel("100010", "U1", "你好")
    answer = await client.ask("POST", "/channels/100010/messages", content="好", msg_id=said.message_id)
    theirs = await client.ask("GET", f"/channels/100010/messages/{said.message_id}")
    ours = await client.ask("GET", f"/channels/100010/messages/{answer.json()['id']}")
    assert theirs.json()["message"]["author"]["id"] == "U1"
    assert ours.json()["message"]["author"]["id"] == qq.account.id
    for path in ("/channels/1/messages/", "/channels/100010/messages/x"):
        assert (await client.ask("GET", f"{path}{said.message_id}")).json()["code"] == 306002


async def test_a_session_of_direct_messages_can_be_opened(qq: QQPlatform, client: Client):
    opened = await client.ask("POST", "/users/@me/dms", recipient_id="U1", source_guild_id="1")
    direct = await qq.say_directly("U1", "在")
    assert direct.d["guild_id"] == opened.json()["guild_id"]
    assert (await client.ask("POST", "/users/@me/dms")).json()["code"] == 12002


async def test_an_audit_is_pending_and_then_over(qq: QQPlatform, client: Client, bot: Bot):
    said = await qq.say_in_channel("100010", "U1", "你好")
    qq.sending.audit_next(2)
    held = [
        await client.ask("POST", "/channels/100010/messages", content=text, msg_id=said.message_id)
        for text in "一二"
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in held] == [(202, 304024)] * 2
    first, second = (answer.json()["data"]["message_audit"]["audit_id"] for answer in held)
    assert qq.seen_in("100010") == ()
    await qq.settle_audit(first)
    await qq.settle_audit(second, is_passed=False)
    assert [sight.text for sight in qq.seen_in("100010")] == ["一"]
    assert [payload["t"] for payload in bot.payloads[1:]] == ["MESSAGE_AUDIT_PASS", "MESSAGE_AUDIT_REJECT"]
    assert bot.payloads[1]["d"]["audit_id"] == first
    with pytest.raises(KeyError):
        await qq.settle_audit(first)


async def test_errors_may_come_with_200():
    qq = platform(Bot(), rules=Rules(is_error_ok=True))
    client = Client(qq)
    await client.log_in()
    await qq.say("O1", "你好")
    answer = await client.ask("POST", "/v2/users/O1/messages", msg_type=0, content="好")
    assert (answer.status_code, answer.json()["code"], answer.json()["err_code"]) == (200, 40034102, 40034102)
    await client.close()
    await qq.close()


async def test_files(qq: QQPlatform, client: Client):
    private, group = await qq.say("O1", "图"), await qq.say_in("G1", "M1", "图")
    fields = {"file_type": 1, "url": "https://a.cn/x.png", "srv_send_msg": False}
    info = (await client.ask("POST", "/v2/users/O1/files", **fields)).json()["file_info"]
    sent = {"msg_type": 7, "media": {"file_info": info}}
    assert await client.send("/v2/groups/G1/messages", " ", msg_id=group.message_id, **sent) == 304080
    assert await client.send("/v2/users/O1/messages", " ", msg_id=private.message_id, **sent) == 0
    assert (qq.seen("O1")[0].kind, qq.seen("O1")[0].media) == ("media", "https://a.cn/x.png")
    assert (await client.ask("POST", "/v2/users/O1/files", file_type=9, url="x")).json()["code"] == 12002
    pushed = await client.ask("POST", "/v2/users/O1/files", **fields | {"srv_send_msg": True})
    assert pushed.json()["code"] == 40034102


async def test_messages_are_taken_back(qq: QQPlatform, client: Client):
    said = await qq.say("O1", "你好")
    await client.send("/v2/users/O1/messages", msg_id=said.message_id)
    (sight,) = qq.seen("O1")
    recalled = await client.ask("DELETE", f"/v2/users/O1/messages/{sight.message_id}")
    assert recalled.status_code == 204
    place = qq.places.find(Scene.C2C, "O1")
    assert place is not None
    assert place.recalled == [sight.message_id]
    assert (await client.ask("DELETE", "/v2/users/O1/messages/x")).json()["code"] == 306002


async def test_interactions_are_answered(qq: QQPlatform, client: Client):
    pressed = await qq.press("M1", group="G1", button_data="继续")
    assert (await client.ask("PUT", f"/interactions/{pressed.d['id']}", code=0)).status_code == 204
    assert qq.api.interactions == {pressed.d["id"]: 0}
    assert (await client.ask("PUT", "/interactions/x", code=0)).json()["code"] == 630001


async def test_scripted_faults(qq: QQPlatform, client: Client):
    said = await qq.say("O1", "你好")
    qq.api.fail("users/messages", 22009)
    qq.api.fail("users/messages", status=502)
    qq.api.fail("users/messages", is_cut=True)
    fields = {"msg_type": 0, "content": "好", "msg_id": said.message_id, "msg_seq": 1}
    refused = await client.ask("POST", "/v2/users/O1/messages", **fields)
    broken = await client.ask("POST", "/v2/users/O1/messages", **fields)
    assert (refused.status_code, refused.json()["code"], broken.status_code) == (429, 22009, 502)
    with pytest.raises(httpx.RemoteProtocolError):
        await client.ask("POST", "/v2/users/O1/messages", **fields)
    assert len(qq.seen("O1")) == 1
    again = await client.ask("POST", "/v2/users/O1/messages", **fields)
    assert again.json()["code"] == 40054005
    assert [call.status for call in qq.api.calls[1:]] == [429, 502, 0, 400]
    assert qq.api.codes("users/messages") == [22009, 0, 0, 40054005]


async def test_a_scripted_delay(qq: QQPlatform, client: Client):
    assert isinstance(qq.clock, ManualClock)
    before = qq.clock.now()
    qq.api.fail("me", delay_seconds=7)
    answer = await qq.clock.run(client.ask("GET", "/users/@me"))
    assert (answer.json()["bot"], qq.clock.now() - before) == (True, 7)


async def test_who_calls_without_a_token_or_astray(qq: QQPlatform, client: Client):
    qq.api.tokens.revoke()
    assert (await client.ask("GET", "/users/@me")).status_code == 401
    await client.log_in()
    assert (await client.ask("GET", "/nothing")).status_code == 404
    assert (await client.ask("POST", "/users/@me")).status_code == 405
    assert (await client.ask("GET", "/users/@me/guilds")).json() == []
    assert all(
        "clientSecret" not in call.body and "authorization" not in call.headers for call in qq.api.calls
    )


async def test_the_forms_of_2023_and_2026(qq: QQPlatform, bot: Bot):
    await qq.say_in("G1", "M1", "你好", is_old=True)
    await qq.say_in("G1", "M1", "你好", role="owner", union_openid="")
    await qq.say_in("G1", "M1", "你好", is_full=True)
    await qq.say_in("G1", "M1", "闲聊", at_bot=False)
    old, new, full, overheard = (payload["d"] for payload in bot.payloads)
    assert old["author"] == {"member_openid": "M1"}
    assert old["content"] == new["content"] == " 你好"
    assert (new["author"]["member_role"], new["author"]["union_openid"]) == ("owner", "")
    assert full["mentions"][0]["is_you"]
    assert full["content"] == f" <@{qq.account.member_openid}> 你好"
    assert (overheard["content"], overheard["mentions"]) == ("闲聊", [])
    assert [payload["t"] for payload in bot.payloads] == ["GROUP_AT_MESSAGE_CREATE"] * 2 + [
        "GROUP_MESSAGE_CREATE"
    ] * 2


async def test_the_fixtures_make_platforms(qq_platform: Any, qq_clock: ManualClock, bot: Bot):
    async with qq_platform(bot, clock=qq_clock) as qq:
        assert (await qq.say("O1", "你好")).is_acknowledged
    async with qq_platform("http://bot.test/", transport=httpx.ASGITransport(app=bot)) as qq:
        assert await qq.verify()
    async with qq_platform(None) as qq:
        assert not (await qq.say("O1", "你好")).is_acknowledged
        with pytest.raises(ValueError, match="no callback"):
            _ = qq.hostile


def test_settings_that_make_no_sense():
    with pytest.raises(ValueError, match="not empty"):
        QQPlatform(None, "1", "")
    for bad in ({"attempts": 0}, {"deadline_seconds": 0}, {"pause_seconds": -1}):
        with pytest.raises(ValueError, match="attempt"):
            Retries(**bad)
