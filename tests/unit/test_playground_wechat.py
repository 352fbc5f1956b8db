"""The WeChat stage: acts go on by themselves, and what came of each is told attempt by attempt."""

import asyncio
import re
from collections.abc import Awaitable, Callable

import httpx
import pytest

from bot.playground.acting import MOST, MOST_PEOPLE, MOST_UNDER_WAY, CannotPlay
from bot.playground.playing import Knobs
from bot.playground.wechat_accounts import played_accounts
from bot.playground.wechat_stage import WeChatStage
from bot.playground.wechat_state import Act, Outcome, PlayedMessage
from simulators.wechat import FAULT, ManualClock, Way, openid_of
from simulators.wechat import envelope as wechat_envelope

ACCOUNTS = {each.app_id: each for each in played_accounts("token", "key", tryout_path="")}
UNVERIFIED, SAFE, SERVICE = "playground", "playground-aes", "playground-service"
Bot = Callable[[str, int], Awaitable[tuple[int, str | None]]]
"""What was posted and which attempt of all it is → status and the words of the reply; None: `success`."""


class Callback(httpx.AsyncBaseTransport):
    """The bot's side, in plain mode."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.posted: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = (await request.aread()).decode()
        self.posted.append(body)
        status, words = await self.bot(body, len(self.posted))
        openid = re.search(r"<FromUserName><!\[CDATA\[(.*?)]]", body)
        assert openid
        content = b"success" if words is None else reply(openid[1], words)
        return httpx.Response(status, content=content)


def reply(openid: str, words: str) -> bytes:
    return (
        f"<xml><ToUserName><![CDATA[{openid}]]></ToUserName>"
        "<FromUserName><![CDATA[gh_simulated]]></FromUserName><CreateTime>1</CreateTime>"
        f"<MsgType><![CDATA[text]]></MsgType><Content><![CDATA[{words}]]></Content></xml>"
    ).encode()


class Play:
    """A stage whose time moves only when it is told to."""

    def __init__(self, bot: Bot, app_id: str = UNVERIFIED) -> None:
        self.clock = ManualClock()
        self.callback = Callback(bot)
        self.stage = WeChatStage(
            ACCOUNTS[app_id], "http://127.0.0.1:8081", Knobs(), clock=self.clock, transport=self.callback
        )

    async def pass_seconds(self, seconds: float) -> None:
        """In steps short enough for whoever waits to be woken in order."""
        for _ in range(round(seconds * 2)):
            await settled()
            self.clock.advance(0.5)
        await settled()

    def last(self, name: str = "小明") -> PlayedMessage:
        return self.stage.messages(name)[-1]


async def settled() -> None:
    for _ in range(60):
        await asyncio.sleep(0)


def at_once(words: str | None = "好") -> Bot:
    async def bot(body: str, number: int) -> tuple[int, str | None]:
        return 200, words

    return bot


def slow(play: list[Play], seconds: float) -> Bot:
    """One run behind all attempts, as the bot's: whoever waits when it is done gets the answer."""
    done: list[float] = []

    async def bot(body: str, number: int) -> tuple[int, str | None]:
        clock = play[0].clock
        if not done:
            done.append(clock.now() + seconds)
        await clock.sleep(done[0] - clock.now())
        return 200, "想好了"

    return bot


async def test_a_model_of_twelve_seconds_is_answered_at_the_third_attempt() -> None:
    plays: list[Play] = []
    plays.append(play := Play(slow(plays, 12)))
    play.stage.say("小明", "今天吃什么")
    assert not play.last().is_over, "an act returns at once"
    await play.pass_seconds(7)
    assert [each.outcome for each in play.last().attempts] == [Outcome.LATE, Outcome.UNDER_WAY]
    assert play.last().attempts[1].ended_seconds is None
    await play.pass_seconds(8)
    message = play.last()
    assert [(each.began_seconds, each.ended_seconds, each.outcome) for each in message.attempts] == [
        (0, 5, Outcome.LATE),
        (5, 10, Outcome.LATE),
        (10, 12, Outcome.ANSWERED),
    ]
    (answer,) = message.answers
    assert (answer.after_seconds, answer.way, answer.text) == (12, Way.PASSIVE, "想好了")
    assert message.is_over and not message.is_awaited
    assert message.key == f"{openid_of('小明')}/{re.findall('<MsgId>(.*?)<', play.callback.posted[0])[0]}"


async def test_an_answer_that_never_comes_is_the_fault_that_people_see() -> None:
    plays: list[Play] = []
    plays.append(play := Play(slow(plays, 60)))
    play.stage.say("小明", "你好")
    await play.pass_seconds(16)
    assert [each.outcome for each in play.last().attempts] == [Outcome.LATE] * 3
    (answer,) = play.last().answers
    assert (answer.way, answer.text, answer.after_seconds) == (Way.FAULT, FAULT, 15)


async def test_refused_attempts_are_told_from_late_ones() -> None:
    async def bot(body: str, number: int) -> tuple[int, str | None]:
        if number == 1:
            raise httpx.ConnectError("refused")
        return (500, None) if number == 2 else (200, "好")

    play = Play(bot)
    play.stage.say("小明", "你好")
    await play.pass_seconds(6)
    outcomes = [each.outcome for each in play.last().attempts]
    assert outcomes == [Outcome.BROKEN, Outcome.BROKEN, Outcome.ANSWERED]


async def service_message(stage: WeChatStage, openid: str, words: str) -> int:
    account = stage.account
    async with httpx.AsyncClient(transport=stage.server.api.transport(), base_url="http://api") as client:
        asked = {
            "grant_type": "client_credential",
            "appid": account.app_id,
            "secret": account.app_secret,
        }
        token = (await client.post("/cgi-bin/stable_token", json=asked)).json()["access_token"]
        message = {"touser": openid, "msgtype": "text", "text": {"content": words}}
        answer = await client.post(f"/cgi-bin/message/custom/send?access_token={token}", json=message)
        return answer.json()["errcode"]


async def test_a_promised_answer_is_shown_with_the_message_that_waits_for_it() -> None:
    play = Play(at_once(None), "playground-subscription")
    stage, openid = play.stage, openid_of("小明")
    stage.say("小明", "第一问")
    await play.pass_seconds(2)
    stage.say("小明", "第二问")
    await play.pass_seconds(2)
    first, second = stage.messages("小明")
    assert [each.outcome for each in first.attempts] == [Outcome.SILENT]
    assert first.is_awaited and second.is_awaited
    assert stage.state().followers[0].service_left == 5
    for words in ("答一", "答二", "答二的下一页"):
        assert await service_message(stage, openid, words) == 0
    first, second = stage.messages("小明")
    assert [each.text for each in first.answers] == ["答一"]
    assert [each.text for each in second.answers] == ["答二", "答二的下一页"]
    assert {each.way for each in (*first.answers, *second.answers)} == {Way.CUSTOMER_SERVICE}
    assert not first.is_awaited
    assert stage.state().followers[0].service_left == 2
    assert stage.messages("小红") == ()


async def test_in_safe_mode_what_is_posted_is_sealed_and_so_is_the_answer() -> None:
    play = Play(at_once("x"), SAFE)
    account = play.stage.account

    async def bot(request: httpx.Request) -> httpx.Response:
        body = (await request.aread()).decode()
        assert "你好" not in body and "<Encrypt>" in body
        xml = reply(openid_of("小明"), "密文里的话").decode()
        sealed = wechat_envelope.encrypt(xml, aes_key=account.aes_key, app_id=account.app_id)
        signed = wechat_envelope.signature(account.token, "1", "n", sealed)
        return httpx.Response(
            200,
            text=f"<xml><Encrypt><![CDATA[{sealed}]]></Encrypt><MsgSignature><![CDATA[{signed}]]></MsgSignature>"
            "<TimeStamp>1</TimeStamp><Nonce><![CDATA[n]]></Nonce></xml>",
        )

    play.callback.handle_async_request = bot
    play.stage.say("小明", "你好")
    await play.pass_seconds(1)
    assert [each.text for each in play.last().answers] == ["密文里的话"]
    assert play.stage.state().is_safe


async def test_words_in_an_answer_can_be_tapped() -> None:
    link = '<a href="weixin://bizmsgmenu?msgmenucontent=继续&msgmenuid=1">继续</a>'
    play = Play(at_once(f"（1/2）{link}"))
    play.stage.say("小明", "长问题")
    await play.pass_seconds(1)
    (answer,) = play.last().answers
    assert (answer.text, answer.taps) == ("（1/2）继续", ("继续",))
    play.stage.tap("小明", "继续")
    await play.pass_seconds(1)
    assert (play.last().act, play.last().text) == (Act.TAP, "继续")
    assert "<bizmsgmenuid>" in play.callback.posted[-1]
    with pytest.raises(CannotPlay, match="nothing_to_tap"):
        play.stage.tap("小红", "继续")


async def test_voice_picture_and_menu() -> None:
    play = Play(at_once(), SERVICE)
    play.callback = Callback(at_once(None))
    plain = Play(at_once())
    plain.stage.voice("小明", "帮我查单号")
    plain.stage.picture("小明", b"\x89PNG\r\n\x1a\n")
    await plain.pass_seconds(1)
    assert "<Recognition><![CDATA[帮我查单号]]>" in plain.callback.posted[0]
    address = re.search(r"<PicUrl><!\[CDATA\[(.*?)]]", plain.callback.posted[1])
    assert address and address[1].startswith("https://mmbiz.qpic.cn/picture/")
    async with httpx.AsyncClient(transport=plain.stage.server.api.transport()) as client:
        assert (await client.get(address[1])).content == b"\x89PNG\r\n\x1a\n"
    with pytest.raises(CannotPlay, match="no_picture"):
        plain.stage.picture("小明", b"<svg onload=alert(1)>")
    with pytest.raises(CannotPlay, match="no_menu"):
        plain.stage.click("小明", "查订单")
    able = Play(at_once(), "playground-subscription")
    able.stage.click("小明", "查订单")
    await able.pass_seconds(1)
    created = re.findall("<CreateTime>(.*?)<", able.callback.posted[0])[0]
    assert able.last().key == f"{openid_of('小明')}/{created}/CLICK/查订单"


async def test_who_unfollowed_says_nothing_until_they_are_back() -> None:
    play = Play(at_once())
    play.stage.unfollow("小明")
    await play.pass_seconds(1)
    assert play.last().answers == (), "nobody has the conversation open"
    assert [each.is_following for each in play.stage.state().followers] == [False, True]
    with pytest.raises(CannotPlay, match="not_following"):
        play.stage.say("小明", "你好")
    play.stage.follow("小明")
    await play.pass_seconds(1)
    assert [each.text for each in play.last().answers] == ["好"]
    play.stage.say("小明", "你好")
    with pytest.raises(CannotPlay, match="follows_already"):
        play.stage.follow("小明")


@pytest.mark.parametrize("name", ["👨\u200d👩\u200d👧\u200d👦", "❤\ufe0f\u200d🔥", "小明🏃🏽\u200d♀\ufe0f"])
async def test_a_name_may_have_an_emoji_that_is_joined_of_others(name: str) -> None:
    play = Play(at_once())
    assert play.stage.follow(name) == name
    await play.stage.close()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "长" * 21,
        "坏\x00名",
        "a\u202eb",
        "小\u200d明",
        "👨\u200d",
        "\u200d👨",
        "👨\u200d\u200d👩",
        "👨\u200d明",
    ],
)
async def test_a_name_is_one_that_can_be_shown(name: str) -> None:
    with pytest.raises(CannotPlay, match="no_name"):
        Play(at_once()).stage.follow(name)


@pytest.mark.parametrize(("text", "reason"), [(" \n", "no_words"), ("长" * 683, "too_long")])
async def test_what_no_phone_sends_is_not_sent(text: str, reason: str) -> None:
    play = Play(at_once())
    with pytest.raises(CannotPlay, match=reason):
        play.stage.say("小明", text)
    with pytest.raises(CannotPlay, match="unknown_follower"):
        play.stage.say("路人", "你好")
    assert play.callback.posted == []


async def test_everything_is_bounded() -> None:
    play = Play(at_once())
    for number in range(MOST + 20):
        play.stage.say("小明", f"第{number}句")
        await settled()
    messages = play.stage.messages("小明")
    assert (len(messages), messages[-1].text, messages[-1].number) == (MOST, f"第{MOST + 19}句", MOST + 20)
    assert len(play.stage.server.deliveries) == MOST
    assert len(play.stage.server.seen(openid_of("小明"))) == MOST
    for number in range(MOST_PEOPLE - 2):
        play.stage.follow(f"新{number}")
        await settled()
    with pytest.raises(CannotPlay, match="too_many_followers"):
        play.stage.follow("再来一个")


async def test_only_so_many_are_under_way_at_once_and_closing_gives_them_up() -> None:
    plays: list[Play] = []
    plays.append(play := Play(slow(plays, 12)))
    for number in range(MOST_UNDER_WAY):
        play.stage.say("小明", f"第{number}句")
    with pytest.raises(CannotPlay, match="too_many_under_way"):
        play.stage.say("小红", "你好")
    await settled()
    await play.stage.close()
    assert all(each.is_over for each in play.stage.messages("小明"))


async def test_whoever_looks_is_told_of_each_change_and_misses_none() -> None:
    plays: list[Play] = []
    plays.append(play := Play(slow(plays, 6)))
    changes = play.stage.changes
    seen = play.stage.state().changes
    waiting = asyncio.ensure_future(changes.after(seen))
    await settled()
    assert not waiting.done()
    play.stage.say("小明", "你好")
    assert await waiting > seen
    counts = [changes.count]
    for _ in range(7):
        await play.pass_seconds(1)
        counts.append(changes.count)
    assert len(set(counts)) == 3, "told of, five seconds are over, answered"
    assert await changes.after(seen) == changes.count


def test_the_same_name_is_the_same_follower_after_a_restart_and_on_the_command_line() -> None:
    first, second = Play(at_once()).stage, Play(at_once()).stage
    assert first.openid("小明") == second.openid("小明") == openid_of("小明")


def test_the_accounts_differ_in_all_their_secrets_and_keep_them() -> None:
    accounts = played_accounts("token", "key", tryout_path="/wechat")
    assert [each.app_id for each in accounts] == [
        *("playground", "playground-aes", "playground-subscription", "playground-service")
    ]
    assert (accounts[0].token, accounts[0].path) == ("token", "/wechat")
    assert all(each.path == each.door for each in accounts[1:])
    assert played_accounts("token", "", tryout_path="")[0].path == "/platforms/wechat/playground"
    secrets = [s for a in accounts for s in (a.token, a.aes_key, a.app_secret) if s]
    assert len(set(secrets)) == len(secrets) == 8
    assert played_accounts("token", "key", tryout_path="/wechat") == accounts
    others = played_accounts("token", "another", tryout_path="/wechat")
    assert not {each.token for each in others[1:]} & set(secrets)
    assert not any(secret in repr(accounts) for secret in secrets if secret != "token")
    for number in range(50):
        aes = played_accounts("t", f"key {number}", tryout_path="")[1].aes_key
        assert re.fullmatch("[A-Za-z0-9]{43}", aes)
