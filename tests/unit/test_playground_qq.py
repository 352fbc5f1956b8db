"""The QQ stages: what is done goes out as the platform tells it, and each answer is filed with what it answers."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from bot.console.site.views.qq_drawing import bubbles
from bot.conversation.message import PLAYGROUND, AccountKey, Conversation, Kind, Role, is_playground
from bot.playground.acting import MOST, MOST_PEOPLE, CannotPlay
from bot.playground.official_stage import API_BASE, APP_ID, OfficialStage
from bot.playground.onebot_stage import GROUP, OneBotStage
from bot.playground.playing import Knobs
from bot.playground.qq_stage import QQStage
from bot.playground.qq_state import Act, Line, Place
from bot.playground.why import Why
from simulators.onebot import SentMessage, number_of
from simulators.onebot.segments import at, text
from simulators.qq import ManualClock, Signer
from tests.unit.test_playground_wechat import settled


class OneBotPlay:
    """A stage whose connection ends here."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, is_refused: bool = False) -> None:
        self.clock = ManualClock()
        self.stage = OneBotStage("ws://127.0.0.1:1/", "token", Knobs(), now=self.clock.now)
        self.frames: list[dict[str, Any]] = []
        self._numbers = iter(range(1, 10_000))

        async def connect() -> None:
            if is_refused:
                raise ConnectionRefusedError

        async def send(frame: str | bytes) -> None:
            self.frames.append(json.loads(frame))

        monkeypatch.setattr(self.stage.client, "connect", connect)
        monkeypatch.setattr(self.stage.client, "send_raw", send)

    async def say(self, who: str, words: str, *, place: Place = Place.GROUP, **how: Any) -> Line:
        self.stage.say(place, who, words, **how)
        await settled()
        return self.lines(place, who)[-1]

    def lines(self, place: Place = Place.GROUP, who: str = "小明") -> tuple[Line, ...]:
        return self.stage.state(place, who).lines

    def answer(self, who: str, words: str, *, place: Place = Place.GROUP, names: bool = True) -> None:
        number, is_group = number_of(who), place is Place.GROUP
        named = [at(number), text(" ")] if is_group and names else []
        self.stage.client.on_sent(
            SentMessage(
                message_id=next(self._numbers),
                group_id=GROUP if is_group else None,
                user_id=None if is_group else number,
                segments=(*named, text(words)),
            )
        )


def why_of(stage: QQStage, line: Line, decided_by: str, *pages: str) -> Why:
    return Why(
        key=line.key,
        sender=AccountKey(channel=stage.channel, app_id=stage.app_id, openid="x"),
        conversation=Conversation(channel=stage.channel, app_id=stage.app_id),
        kind=Kind.TEXT,
        at=None,  # pyright: ignore[reportArgumentType]
        text="",
        quoted="",
        decided_by=decided_by,
        pages=pages,
        waited_seconds=0,
    )


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> OneBotPlay:
    return OneBotPlay(monkeypatch)


class TestOneBot:
    async def test_a_member_speaks_with_card_and_role_and_is_known_by_number(self, play: OneBotPlay) -> None:
        play.stage.describe("小明", Role.ADMIN, "群里的老李")
        line = await play.say("小明", "几点开门", at_bot=True)
        (event,) = play.frames
        assert event["sender"] == {
            "user_id": number_of("小明"),
            "nickname": "小明",
            "card": "群里的老李",
            "role": "admin",
        }
        assert event["message"] == [at(9999), text(" 几点开门")]
        assert (line.shown, line.role, line.is_addressed) == ("群里的老李", Role.ADMIN, True)
        assert line.key == f"{GROUP}:{number_of('小明')}:{event['message_id']}:{event['time']}"
        assert line.ref == str(event["message_id"])

    async def test_plain_talk_names_nobody_and_private_talk_has_no_group(self, play: OneBotPlay) -> None:
        line = await play.say("小红", "晚上吃火锅")
        assert play.frames[0]["message"] == [text("晚上吃火锅")] and not line.is_addressed
        line = await play.say("小红", "你好", place=Place.PRIVATE)
        assert "group_id" not in play.frames[1] and line.is_addressed and line.key.startswith("private:")
        assert [each.text for each in play.lines(Place.PRIVATE, "小红")] == ["你好"]
        assert play.lines(Place.PRIVATE, "小明") == ()

    async def test_a_quotation_names_the_message_that_was_said_there(self, play: OneBotPlay) -> None:
        said = await play.say("小明", "周五聚餐", at_bot=True)
        play.answer("小明", "记下了")
        (answer,) = play.lines()[0].answers
        line = await play.say("小红", "在哪里", quotes=answer.ref)
        assert play.frames[-1]["message"][0] == {"type": "reply", "data": {"id": answer.ref}}
        assert (line.quoted, line.quoted_shown) == ("记下了", "")
        line = await play.say("小红", "几点", quotes=said.ref)
        assert (line.quoted, line.quoted_shown) == ("周五聚餐", "小明")
        with pytest.raises(CannotPlay, match="nothing_to_quote"):
            play.stage.say(Place.PRIVATE, "小红", "几点", quotes=said.ref)
        assert len(play.frames) == 3

    async def test_an_answer_goes_with_whose_turn_it_is(self, play: OneBotPlay) -> None:
        for who, words in (("小明", "一"), ("小红", "二"), ("小明", "三")):
            await play.say(who, words, at_bot=True)
        play.clock.advance(2)
        for who, words in (("小红", "答二"), ("小明", "答一"), ("小明", "答三")):
            play.answer(who, words)
        assert [[each.text for each in line.answers] for line in play.lines()] == [
            ["答一"],
            ["答二"],
            ["答三"],
        ]
        (answer,) = play.lines()[0].answers
        assert (answer.mentions, answer.after_seconds) == (("小明",), 2)

    async def test_what_the_bot_decided_to_leave_is_passed_over(self, play: OneBotPlay) -> None:
        left, asked = [await play.say("小明", words, at_bot=True) for words in ("嗯", "问")]
        play.stage.note(why_of(play.stage, left, "trivial"))
        play.answer("小明", "答")
        first, second = play.lines()
        assert first.answers == () and first.decided_by == "trivial" and len(second.answers) == 1
        assert asked.ref == second.ref

    async def test_the_pages_that_were_decided_are_known_again_in_any_order(self, play: OneBotPlay) -> None:
        first, second = [await play.say("小明", words, at_bot=True) for words in ("一", "二")]
        play.stage.note(why_of(play.stage, second, "model", "二的头", "二的尾"))
        play.stage.note(why_of(play.stage, first, "model", "一的头"))
        play.answer("小明", "二的头")
        play.answer("小明", "一的头")
        play.answer("小明", "二的尾", names=False)
        answers = [[each.text for each in line.answers] for line in play.lines()]
        assert answers == [["一的头"], ["二的头", "二的尾"]]

    async def test_of_another_account_it_is_told_nothing(self, play: OneBotPlay) -> None:
        line = await play.say("小明", "问", at_bot=True)
        other = OfficialStage("http://127.0.0.1:1/", "secret", Knobs())
        play.stage.note(why_of(other, line, "model"))
        assert play.lines()[0].decided_by == ""

    async def test_what_nobody_asked_for_is_shown_too(self, play: OneBotPlay) -> None:
        play.answer("小明", "早上好", place=Place.PRIVATE)
        (line,) = play.lines(Place.PRIVATE)
        assert line.act is Act.UNASKED and [each.text for each in line.answers] == ["早上好"]
        (bubble,) = bubbles((line,), "onebot", PLAYGROUND, "小明")
        assert (bubble.side, bubble.why) == ("bot", "")

    async def test_who_left_says_nothing_until_they_are_back(self, play: OneBotPlay) -> None:
        play.stage.leave("小刚")
        await settled()
        assert play.frames[-1]["notice_type"] == "group_decrease"
        with pytest.raises(CannotPlay, match="is_no_member"):
            play.stage.say(Place.GROUP, "小刚", "还在吗")
        await play.say("小刚", "私下说", place=Place.PRIVATE)
        play.stage.join("小刚", Role.MEMBER)
        await play.say("小刚", "回来了")
        with pytest.raises(CannotPlay, match="is_member_already"):
            play.stage.join("小刚", Role.MEMBER)

    async def test_ban_and_removal_last_and_are_told_once(self, play: OneBotPlay) -> None:
        for _ in range(2):
            play.stage.mute(is_muted=True)
            play.stage.bring(is_here=False)
        await settled()
        told = [(each["notice_type"], each["sub_type"]) for each in play.frames]
        assert told == [("group_ban", "ban"), ("group_decrease", "kick_me")]
        state = play.stage.state(Place.GROUP, "小明")
        assert state.is_bot_muted and not state.is_bot_here
        assert play.stage.client._platform.refusal("send_group_msg", {"group_id": GROUP}) is not None

    async def test_without_a_connection_a_message_is_lost_in_words(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        line = await OneBotPlay(monkeypatch, is_refused=True).say("小明", "你好", at_bot=True)
        assert line.is_lost
        (bubble,) = bubbles((line,), "onebot", PLAYGROUND, "小明")
        assert (bubble.meta, bubble.ref) == ("lost", "")

    async def test_everything_is_bounded(self, play: OneBotPlay) -> None:
        for number in range(MOST + 5):
            await play.say("小明", f"第{number}句", at_bot=True)
            play.answer("小明", f"答{number}")
        assert (len(play.lines()), play.lines()[-1].text) == (MOST, f"第{MOST + 4}句")
        assert [each.text for each in play.lines()[-1].answers] == [f"答{MOST + 4}"]
        assert len(play.stage.client._platform._messages) <= 2 * MOST
        for number in range(MOST_PEOPLE - 3):
            play.stage.join(f"新{number}", Role.MEMBER)
            await settled()
        with pytest.raises(CannotPlay, match="too_many_members"):
            play.stage.join("再来一个", Role.MEMBER)


@pytest.mark.parametrize("name", ["", "  ", "长" * 21, "坏\x00名", "a\u202eb"])
async def test_a_name_is_one_that_can_be_shown(play: OneBotPlay, name: str) -> None:
    with pytest.raises(CannotPlay, match="no_name"):
        play.stage.join(name, Role.MEMBER)


async def test_whoever_looks_is_told_of_each_change(play: OneBotPlay) -> None:
    counts = [play.stage.changes.count]
    await play.say("小明", "问", at_bot=True)
    counts.append(play.stage.changes.count)
    play.stage.note(why_of(play.stage, play.lines()[0], "model", "答"))
    counts.append(play.stage.changes.count)
    play.answer("小明", "答")
    counts.append(play.stage.changes.count)
    play.stage.describe("小明", Role.MEMBER, "")
    counts.append(play.stage.changes.count)
    assert sorted(set(counts)) == counts


class OfficialPlay:
    """A stage before a bot that takes everything."""

    SECRET = "a secret of tests"

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.posted: list[tuple[Mapping[str, str], bytes]] = []
        self.status = 200
        transport = httpx.MockTransport(self._take)
        self.stage = OfficialStage(
            "http://127.0.0.1:1/hook", self.SECRET, Knobs(), clock=self.clock, transport=transport
        )

    def _take(self, request: httpx.Request) -> httpx.Response:
        self.posted.append((request.headers, request.content))
        return httpx.Response(self.status)

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.posted[-1][1])

    async def say(self, who: str, words: str, place: Place = Place.GROUP, **how: Any) -> Line:
        self.stage.say(place, who, words, **how)
        async with asyncio.timeout(10):
            while not self.posted:
                await asyncio.sleep(0)
        await settled()
        return self.stage.state(place, who).lines[-1]

    async def reply(self, line: Line, words: str, seq: int = 1) -> dict[str, Any]:
        stage = self.stage
        async with httpx.AsyncClient(transport=stage.platform.api.transport(), base_url=API_BASE) as client:
            asked = {"appId": APP_ID, "clientSecret": self.SECRET}
            token = (await client.post("/app/getAppAccessToken", json=asked)).json()["access_token"]
            is_group = line.place is Place.GROUP
            where = f"groups/{stage.group}" if is_group else f"users/{stage.openid(line.place, line.who)}"
            body = {"msg_type": 0, "content": words, "msg_id": line.ref, "msg_seq": seq}
            headers = {"Authorization": f"QQBot {token}"}
            return (await client.post(f"/v2/{where}/messages", json=body, headers=headers)).json()


class TestOfficial:
    async def test_an_event_is_signed_and_names_member_and_role(self) -> None:
        play = OfficialPlay()
        line = await play.say("小明", "几点开门", at_bot=True)
        headers, body = play.posted[0]
        signed = Signer(play.SECRET).headers(headers["X-Signature-Timestamp"], body)
        assert headers["X-Signature-Ed25519"] == signed["X-Signature-Ed25519"]
        assert headers["X-Bot-Appid"] == APP_ID and is_playground(APP_ID) and APP_ID != PLAYGROUND
        author = play.event["d"]["author"]
        assert (play.event["t"], author["member_role"]) == ("GROUP_AT_MESSAGE_CREATE", "owner")
        assert line.key == f"group:{play.event['d']['id']}"

    async def test_one_person_has_another_id_in_the_group(self) -> None:
        play = OfficialPlay()
        await play.say("小明", "你好", Place.PRIVATE)
        private = play.event["d"]["author"]["user_openid"]
        await play.say("小明", "你好", at_bot=True)
        group = play.event["d"]["author"]["member_openid"]
        assert private != group
        assert all(re.fullmatch("[0-9A-F]{32}", each) for each in (private, group))

    async def test_an_answer_goes_with_its_message_and_uses_up_its_window(self) -> None:
        play = OfficialPlay()
        first = await play.say("小明", "一", at_bot=True)
        second = await play.say("小明", "二", at_bot=True)
        play.clock.advance(3)
        await play.reply(second, "答二")
        await play.reply(first, "答一")
        await play.reply(first, "答一的第二页", 2)
        lines = play.stage.state(Place.GROUP, "小明").lines
        assert [[each.text for each in line.answers] for line in lines] == [
            ["答一", "答一的第二页"],
            ["答二"],
        ]
        assert lines[1].answers[0].after_seconds == 3
        windows = [line.window for line in lines]
        assert [(each.used, each.most, each.minutes) for each in windows if each] == [(2, 5, 5), (1, 5, 5)]

    async def test_a_quotation_of_the_bot_is_told_as_one(self) -> None:
        play = OfficialPlay()
        line = await play.say("小明", "你好", Place.PRIVATE)
        await play.reply(line, "您好")
        (answer,) = play.stage.state(Place.PRIVATE, "小明").lines[0].answers
        said = await play.say("小明", "什么意思", Place.PRIVATE, quotes=answer.ref)
        assert play.event["d"]["message_type"] == 103
        assert play.event["d"]["msg_elements"][0]["content"] == "您好"
        assert (said.quoted, said.quoted_shown) == ("您好", "")

    async def test_a_message_that_the_bot_never_takes_is_lost_in_words(self) -> None:
        play = OfficialPlay()
        play.status = 500
        play.stage.say(Place.GROUP, "小明", "你好", at_bot=True)
        for _ in range(6):
            await settled()
            play.clock.advance(1)
        await settled()
        assert len(play.posted) == 3
        assert play.stage.state(Place.GROUP, "小明").lines[0].is_lost

    async def test_it_can_be_muted_and_removed(self) -> None:
        play = OfficialPlay()
        line = await play.say("小明", "你好", at_bot=True)
        play.stage.mute(is_muted=True)
        await settled()
        assert (await play.reply(line, "好"))["code"] == 40054002
        play.stage.mute(is_muted=False)
        play.stage.bring(is_here=False)
        await settled()
        assert play.event["t"] == "GROUP_DEL_ROBOT"
        assert (await play.reply(line, "好"))["code"] == 40034101
        assert play.stage.state(Place.GROUP, "小明").lines[0].answers == ()

    async def test_everything_is_bounded(self) -> None:
        play = OfficialPlay()
        for number in range(MOST + 5):
            line = await play.say("小明", f"第{number}句", at_bot=True)
            await play.reply(line, f"答{number}")
        platform = play.stage.platform
        await play.say("小明", "最后一句", at_bot=True)
        assert len(platform.deliveries) == len(platform.places.sights) == MOST
        assert len(platform.api.calls) == MOST
        assert len(platform.sending.windows._messages) <= 2 * MOST
        assert len(play.stage.state(Place.GROUP, "小明").lines) == MOST


def test_the_same_name_is_the_same_person_after_a_restart() -> None:
    first, second = [OfficialStage("http://127.0.0.1:1/", "s", Knobs()) for _ in range(2)]
    assert first.openid(Place.GROUP, "小明") == second.openid(Place.GROUP, "小明")
    assert first.group == second.group
