"""The QQ page: what is done in it reaches the stage, and what it shows is text."""

import asyncio
import html
import re
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response

from bot.console.site.views.qq import Bench, routes
from bot.conversation.message import Role
from bot.playground.official_stage import OfficialStage
from bot.playground.playing import Knobs, ModelChoice
from bot.playground.qq_state import Place
from tests.console_fakes import csrf_of_page, signed_in, site_for
from tests.unit.test_playground_qq import OneBotPlay, why_of
from tests.unit.test_playground_wechat import settled

HOME = "/playground/qq"
EVIL = '<img src=x onerror="alert(1)">'


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> OneBotPlay:
    return OneBotPlay(monkeypatch)


@pytest.fixture
def bench(play: OneBotPlay) -> Bench:
    return Bench(onebot=play.stage, official=None, has_model=False)


@pytest.fixture
async def client(tmp_path: Path, bench: Bench) -> AsyncIterator[httpx.AsyncClient]:
    site = site_for(tmp_path)
    async with signed_in(site, routes(site, bench)) as client:
        yield client
    site.close()


async def act(client: httpx.AsyncClient, what: str, **fields: str) -> httpx.Response:
    form = {"csrf": await csrf_of_page(client, HOME), "room": "group", "who": "小明", **fields}
    return await client.post(f"{HOME}/{what}", data=form)


async def test_the_first_look_is_the_group_of_a_qq_client(client: httpx.AsyncClient) -> None:
    page = (await client.get(HOME)).text
    assert page.count('aria-current="page"') == 3, "the page, the room, the member"
    assert "试用群（4）" in page and "群主" in page and "还没有聊过" in page


async def test_what_is_said_sets_out_and_its_answer_stands_below_it(
    client: httpx.AsyncClient, play: OneBotPlay
) -> None:
    answer = await act(client, "say", text="几点开门", at_bot="yes")
    assert answer.status_code == 303
    assert parse_qs(urlsplit(answer.headers["location"]).query) == {"room": ["group"], "who": ["小明"]}
    await settled()
    (line,) = play.lines()
    assert (line.text, line.is_addressed) == ("几点开门", True) and len(play.frames) == 1
    assert "等回答…" in (await client.get(HOME)).text
    play.stage.note(why_of(play.stage, line, "faq", "九点"))
    play.answer("小明", "九点")
    page = (await client.get(HOME)).text
    assert page.index("几点开门") < page.index("九点") and "@小明" in page
    why = re.findall(r'href="(/playground/why/[^"]+)" data-why', page)
    assert len(why) == 1 and why[0].startswith("/playground/why/onebot/playground/100%3A")


async def test_talk_that_is_not_for_the_bot_says_so_and_why(
    client: httpx.AsyncClient, play: OneBotPlay
) -> None:
    await act(client, "say", text="晚上吃什么", at_bot="")
    await settled()
    (line,) = play.lines()
    assert "/playground/why/" not in (await client.get(HOME)).text
    play.stage.note(why_of(play.stage, line, "nobody"))
    page = (await client.get(HOME)).text
    assert "没有叫机器人，它没有理会" in page and "/playground/why/onebot/" in page


async def test_something_said_is_quoted_by_a_link_and_once(
    client: httpx.AsyncClient, play: OneBotPlay
) -> None:
    line = await play.say("小明", "周五聚餐", at_bot=True)
    page = (await client.get(HOME, params={"room": "group", "who": "小红"})).text
    (address,) = re.findall(r'href="([^"]+quotes=\d+)"', page)
    quoting = (await client.get(html.unescape(address))).text
    assert f'name="quotes" value="{line.ref}"' in quoting and "不引用了" in quoting
    answer = await act(client, "say", who="小红", text="在哪里", quotes=line.ref)
    assert "quotes" not in answer.headers["location"]
    page = (await client.get(answer.headers["location"])).text
    assert "小明：周五聚餐" in page


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"text": " "}, "没有写要说的话"),
        ({"text": "你好", "who": "路人"}, "没有这个人"),
        ({"text": "你好", "quotes": "7"}, "要引用的话已经找不到了"),
        ({"text": "长" * 1501}, "太长了"),
    ],
)
async def test_what_cannot_be_played_is_said_in_words(
    client: httpx.AsyncClient, play: OneBotPlay, fields: dict[str, str], words: str
) -> None:
    answer = await act(client, "say", **fields)
    assert answer.status_code == 422 and words in answer.text
    await settled()
    assert play.frames == []


async def test_what_was_typed_and_not_said_stands_in_the_field(
    client: httpx.AsyncClient, play: OneBotPlay
) -> None:
    line = await play.say("小明", "周五聚餐")
    answer = await act(client, "say", text="长" * 1501, quotes=line.ref)
    assert f'value="{"长" * 1501}"' in answer.text and f'name="quotes" value="{line.ref}"' in answer.text
    page = (await client.get(HOME, params={"room": "group", "who": "小红", "typed": "写到一半"})).text
    assert 'name="text" value="写到一半"' in page


async def test_members_are_changed_and_added_by_the_form(client: httpx.AsyncClient, play: OneBotPlay) -> None:
    await act(client, "describe", who="小刚", role="admin", card="管家")
    answer = await act(client, "join", who="", name=" 小华 ", role="owner")
    assert parse_qs(urlsplit(answer.headers["location"]).query)["who"] == ["小华"]
    members = {each.name: (each.role, each.card) for each in play.stage.state(Place.GROUP, "").members}
    assert (members["小刚"], members["小华"]) == ((Role.ADMIN, "管家"), (Role.OWNER, ""))
    await act(client, "leave", who="小华")
    page = (await client.get(HOME, params={"room": "group", "who": "小华"})).text
    assert "小华已经退出，进群才能说话。" in page and f"{HOME}/say" not in page
    private = (await client.get(HOME, params={"room": "private", "who": "小华"})).text
    assert f"{HOME}/say" in private
    await act(client, "mute", is_muted="yes")
    await act(client, "bring", is_here="")
    page = (await client.get(HOME)).text
    assert "机器人不在群里" in page and "解除禁言" in page and "把机器人拉进群" in page


async def test_nothing_that_people_write_becomes_markup(client: httpx.AsyncClient, play: OneBotPlay) -> None:
    play.stage.describe("小明", Role.MEMBER, '"><b>x')
    line = await play.say("小明", EVIL, at_bot=True)
    play.answer("小明", EVIL)
    await play.say("小明", EVIL, quotes=line.ref)
    await act(client, "join", name="<i>名", role="member")
    for params in ({}, {"who": "<i>名"}, {"quotes": line.ref}):
        page = (await client.get(HOME, params={"room": "group", **params})).text
        assert "<img" not in page.split("<main", 1)[1] and page.count("&lt;img") >= 3
        assert "<i>" not in page and "<b>" not in page


@pytest.mark.parametrize("room", ["elsewhere", "official-group", "official-private"])
async def test_a_room_that_is_not_there_is_not_acted_in(client: httpx.AsyncClient, room: str) -> None:
    assert (await act(client, "say", room=room, text="你好")).status_code == 404
    assert (await client.get(f"{HOME}/events", params={"room": room})).status_code == 404
    page = await client.get(HOME, params={"room": room})
    if room == "elsewhere":
        assert page.status_code == 404
    else:
        assert "已经接入了真的 QQ 官方机器人" in page.text and "<form" not in page.text.split("<main", 1)[1]


async def test_the_official_rooms_are_there_where_it_is_played(tmp_path: Path, play: OneBotPlay) -> None:
    official = OfficialStage("http://127.0.0.1:1/", "secret", Knobs())
    site = site_for(tmp_path)
    async with signed_in(
        site, routes(site, Bench(onebot=play.stage, official=official, has_model=False))
    ) as client:
        page = (await client.get(HOME, params={"room": "official-private"})).text
        assert "小明的 QQ" in page and f"{HOME}/befriend" in page
    await official.close()


async def test_the_knobs_turn_and_what_cannot_be_is_left(client: httpx.AsyncClient, bench: Bench) -> None:
    knobs = bench.onebot.knobs
    await act(client, "knobs", latency="12", model="stub")
    assert (knobs.latency_seconds, knobs.model) == (12, ModelChoice.STUB)
    for latency in ("21", "-1", "nan", "x"):
        await act(client, "knobs", latency=latency, model="configured")
        assert (knobs.latency_seconds, knobs.model) == (12, ModelChoice.STUB), latency


async def test_what_changes_comes_by_itself_and_only_then(
    tmp_path: Path, play: OneBotPlay, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, opened = site_for(tmp_path), list[AsyncGenerator[tuple[str, str]]]()

    def events(request: Request, events: AsyncGenerator[tuple[str, str]]) -> Response:
        opened.append(events)
        return Response()

    monkeypatch.setattr(site, "events", events)
    async with signed_in(site, routes(site, bench)) as client:
        await client.get(f"{HOME}/events", params={"room": "group", "who": "小红"})
        (stream,) = opened
        first = [await anext(stream) for _ in range(3)]
        assert [re.findall('id="([a-z-]+)"', each)[0] for _, each in first] == [
            *("qq-head", "knobs-are", "qq-chat")
        ]
        waiting = asyncio.ensure_future(anext(stream))
        await settled()
        assert not waiting.done()
        await play.say("小明", "大家好")
        name, text = await waiting
        assert name == "fragment" and "大家好" in text and "bubble-other" in text
        assert text.startswith('<div class="chat"'), "the first words take the place of the hint"
        waiting = asyncio.ensure_future(anext(stream))
        await play.say("小明", "再说一句")
        _, text = await waiting
        assert text.startswith("<li") and "大家好" not in text and 'data-into="qq-bubbles"' in text
        waiting = asyncio.ensure_future(anext(stream))
        await play.say("小明", "私下说的", place=Place.PRIVATE)
        await settled()
        assert not waiting.done(), "nothing of it belongs here"
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
