"""The WeChat page: what is done in it reaches the stage, and what it shows is text."""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from starlette.requests import Request
from starlette.responses import Response

from bot.console.site.views.wechat import Bench, routes
from bot.console.site.views.wechat_drawing import bubbles, strip
from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import AccountKey
from bot.playground.playing import ModelChoice
from bot.playground.wechat_state import Act, Answer, Attempt, Outcome, PlayedMessage
from simulators.wechat import Way, openid_of
from tests.console_fakes import csrf_of_page, signed_in, site_for
from tests.unit.test_playground_wechat import Play, at_once, settled

HOME = "/playground/wechat"


class Table:
    """The bench with two accounts, and a browser at it."""

    def __init__(self) -> None:
        self.plays = {
            app_id: Play(at_once("好"), app_id) for app_id in ("playground", "playground-subscription")
        }
        self.pages_held: int | None = 0
        self.asked: list[AccountKey] = []
        self.client: httpx.AsyncClient
        self.has_model = False

    async def held(self, key: AccountKey) -> int:
        self.asked.append(key)
        if self.pages_held is None:
            raise StoreUnavailable
        return self.pages_held

    @property
    def bench(self) -> Bench:
        stages = {app_id: play.stage for app_id, play in self.plays.items()}
        return Bench(stages=stages, has_model=self.has_model, held=self.held)

    async def act(
        self, act: str, /, account: str = "playground", who: str = "小明", **fields: str
    ) -> httpx.Response:
        csrf = await csrf_of_page(self.client, HOME)
        data = {"csrf": csrf, "account": account, "who": who, **fields}
        return await self.client.post(f"{HOME}/{act}", data=data)

    async def page(self, account: str = "playground", who: str = "小明") -> str:
        return (await self.client.get(HOME, params={"account": account, "who": who, "lang": "zh"})).text


@pytest_asyncio.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    table = Table()
    site = site_for(tmp_path)
    async with signed_in(site, routes(site, table.bench)) as client:
        table.client = client
        yield table
    site.close()


async def test_what_is_said_is_delivered_and_shown_with_its_answer(table: Table) -> None:
    answer = await table.act("say", text="今天吃什么")
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        f"{HOME}?account=playground&who=%E5%B0%8F%E6%98%8E",
    )
    await table.plays["playground"].pass_seconds(1)
    page = await table.page()
    assert page.index("今天吃什么") < page.index(">好<")
    message = table.plays["playground"].last()
    assert f'href="{HOME.removesuffix("/wechat")}/why/wechat/playground/{message.key}"' in page
    assert "第 1 次投递时答上" in page
    assert "今天吃什么" not in await table.page(who="小红")
    assert "今天吃什么" not in await table.page("playground-subscription")


@pytest.mark.parametrize(
    ("name", "fields", "act", "text"),
    [
        ("voice", {"text": "帮我查单号"}, Act.VOICE, "帮我查单号"),
        ("picture", {}, Act.PICTURE, ""),
        ("click", {"text": "查订单"}, Act.CLICK, "查订单"),
        ("unfollow", {}, Act.UNFOLLOW, ""),
    ],
)
async def test_each_act_reaches_the_stage(
    table: Table, name: str, fields: dict[str, str], act: Act, text: str
) -> None:
    answer = await table.act(name, "playground-subscription", **fields)
    assert answer.status_code == 303
    play = table.plays["playground-subscription"]
    await play.pass_seconds(1)
    assert (play.last().act, play.last().text) == (act, text)


async def test_a_new_follower_is_the_one_who_is_looked_at(table: Table) -> None:
    answer = await table.act("follow", name=" 阿 福 ")
    assert answer.headers["location"].endswith("who=%E9%98%BF+%E7%A6%8F")
    assert [each.name for each in table.plays["playground"].stage.state().followers] == [
        "小明",
        "小红",
        "阿 福",
    ]


async def test_who_has_gone_is_asked_to_follow_again(table: Table) -> None:
    await table.act("unfollow")
    assert 'action="/playground/wechat/say"' not in await table.page()
    assert "重新关注" in await table.page()
    assert (await table.act("follow")).status_code == 303
    assert 'action="/playground/wechat/say"' in await table.page()


@pytest.mark.parametrize(
    ("name", "fields", "said"),
    [
        ("say", {"text": " "}, "没有写要说的话"),
        ("say", {"text": "你好", "who": "路人"}, "没有这个粉丝"),
        ("click", {"text": "查订单"}, "没有认证的号没有菜单"),
        ("tap", {"label": "继续"}, "点不到了"),
        ("follow", {"name": "长" * 21}, "1 到 20 个"),
    ],
)
async def test_what_cannot_be_played_is_said_in_words(
    table: Table, name: str, fields: dict[str, str], said: str
) -> None:
    answer = await table.act(name, **fields)
    assert answer.status_code == 422
    problem = re.findall(r'role="alert">(.*?)<', answer.text)
    assert problem and said in problem[0], problem


async def test_what_was_typed_and_not_said_stands_in_the_field(table: Table) -> None:
    answer = await table.act("click", text='查"订单')
    assert answer.status_code == 422 and 'name="text" value="查&#34;订单"' in answer.text
    page = await table.client.get(HOME, params={"account": "playground", "who": "小红", "typed": "写到一半"})
    assert 'name="text" value="写到一半"' in page.text
    assert 'name="here" value="/playground/wechat?account=playground&amp;who=%E5%B0%8F%E7%BA%A2"' in page.text
    assert 'name="text" value=""' in await table.page()


async def test_without_the_forms_token_nothing_is_played(table: Table) -> None:
    answer = await table.client.post(
        f"{HOME}/say", data={"account": "playground", "who": "小明", "text": "你好"}
    )
    assert answer.status_code == 403
    assert table.plays["playground"].callback.posted == []


async def test_an_account_that_is_not_there(table: Table) -> None:
    assert (await table.client.get(HOME, params={"account": "wx-real"})).status_code == 404
    assert (await table.act("say", "wx-real", text="你好")).status_code == 404


async def test_the_knobs_turn_what_the_stage_plays_with(table: Table) -> None:
    knobs = table.plays["playground"].stage.knobs
    await table.act("knobs", latency="12.5", model="stub")
    assert (knobs.latency_seconds, knobs.model) == (12.5, ModelChoice.STUB)
    assert 'value="12.5"' in await table.page()
    for wrong in ("-1", "20.5", "nan", "inf", "x", ""):
        await table.act("knobs", latency=wrong, model="nobody")
        assert (knobs.latency_seconds, knobs.model) == (12.5, ModelChoice.STUB), wrong
    await table.act("knobs", latency="1", model="configured")
    assert knobs.model is ModelChoice.STUB, "there is none"
    assert table.plays["playground-subscription"].stage.knobs.latency_seconds == 0


async def test_a_configured_model_can_be_chosen(tmp_path: Path) -> None:
    table = Table()
    table.has_model = True
    site = site_for(tmp_path)
    async with signed_in(site, routes(site, table.bench)) as table.client:
        await table.act("knobs", latency="1", model="configured")
    assert table.plays["playground"].stage.knobs.model is ModelChoice.CONFIGURED


async def test_pages_that_wait_are_offered_and_their_store_may_be_away(table: Table) -> None:
    table.pages_held = 2
    assert "还有 2 页回答没有看" in await table.page()
    assert table.asked[-1] == AccountKey(channel="wechat", app_id="playground", openid=openid_of("小明"))
    table.pages_held = None
    assert "页回答没有看" not in await table.page()


async def test_whatever_anybody_says_stays_text(table: Table) -> None:
    hostile = '<img src=x onerror=alert(1)>"&{{1234567+1}}'
    table.plays["playground"].callback.bot = at_once(hostile)
    await table.act("follow", name="<b>名")
    await table.act("say", text=hostile)
    await table.plays["playground"].pass_seconds(1)
    for page in (await table.page(), await table.page(who="<b>名")):
        assert "<img" not in page.replace('<img src="/static/', "") and "<b>" not in page
        assert "1234568" not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;&#34;&amp;{{1234567+1}}") >= 1


async def test_what_changes_comes_by_itself_and_only_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, site = Table(), site_for(tmp_path)
    opened: list[AsyncGenerator[tuple[str, str]]] = []

    def events(request: Request, events: AsyncGenerator[tuple[str, str]]) -> Response:
        opened.append(events)
        return Response()

    monkeypatch.setattr(site, "events", events)
    async with signed_in(site, routes(site, table.bench)) as client:
        await client.get(f"{HOME}/events", params={"account": "playground", "who": "小红", "lang": "zh"})
    (live,) = opened

    async def changed(count: int) -> list[str]:
        parts = [await anext(live) for _ in range(count)]
        assert {name for name, _ in parts} == {"fragment"}
        return [re.findall(r'id="([\w-]+)"', html)[0] for _, html in parts]

    assert await changed(5) == [*("wechat-head", "wechat-held", "knobs-are", "wechat-chat", "wechat-strips")]
    stage = table.plays["playground"].stage
    stage.say("小明", "不是她说的")
    stage.say("小红", "你好")
    assert await changed(2) == ["wechat-chat", "wechat-strips"]
    await settled()
    assert await changed(2) == ["wechat-2-0", "wechat-strip-2"], "an answer is told alone"
    stage.knobs.latency_seconds = 5
    stage.changes.note()
    assert await changed(1) == ["knobs-are"]
    stage.unfollow("小红")
    await settled()
    assert "wechat-head" in await changed(3)
    await live.aclose()


def played(**fields: object) -> PlayedMessage:
    values: dict[str, object] = {
        "number": 1,
        "follower": "小明",
        "act": Act.TEXT,
        "text": "问",
        "at": 100.0,
        "key": "o/1",
        "attempts": (),
        "answers": (),
        "is_over": True,
        "is_handed_over": False,
    }
    return PlayedMessage(**(values | fields))  # type: ignore[arg-type]


def attempt(began: float, ended: float | None, outcome: Outcome) -> Attempt:
    return Attempt(began_seconds=began, ended_seconds=ended, outcome=outcome)


def answer(after: float, way: Way, text: str = "答", taps: tuple[str, ...] = ()) -> Answer:
    return Answer(at=100 + after, after_seconds=after, way=way, kind="text", text=text, taps=taps)


def test_a_strip_is_to_scale() -> None:
    message = played(
        attempts=(
            attempt(0, 5, Outcome.LATE),
            attempt(5, 10, Outcome.LATE),
            attempt(10, 12.1, Outcome.ANSWERED),
        ),
        answers=(answer(12.1, Way.PASSIVE),),
    )
    drawn = strip(message, "playground", now=130)
    assert [(bar.x, bar.width, bar.look) for bar in drawn.bars] == [
        (0, 50, "bar-late"),
        (50, 50, "bar-late"),
        (100, pytest.approx(21), "bar-ok"),
    ]
    assert (drawn.width, drawn.ticks, drawn.marks) == (160, (0, 50, 100, 150), (121,))
    assert (drawn.verdict, drawn.attempt) == ("answered", 3)
    assert drawn.why == "/playground/why/wechat/playground/o/1"


def test_what_waits_is_drawn_as_far_as_it_has_come() -> None:
    drawn = strip(played(attempts=(attempt(0, None, Outcome.UNDER_WAY),), is_over=False), "a", now=103.5)
    assert [(bar.width, bar.look) for bar in drawn.bars] == [(35, "bar-wait")]
    assert (drawn.verdict, drawn.why) == ("under_way", "")


def test_a_late_customer_service_message_has_room_too() -> None:
    message = played(
        attempts=(attempt(0, 4.5, Outcome.SILENT),), answers=(answer(31.2, Way.CUSTOMER_SERVICE),)
    )
    drawn = strip(message, "a", now=200)
    assert (drawn.width, drawn.marks, drawn.verdict) == (320, (312,), "by_service")
    assert [line.key for line in drawn.lines] == ["attempt_silent", "service_came"]


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"answers": (answer(15, Way.FAULT),)}, "fault"),
        ({"answers": (answer(1, Way.PASSIVE, taps=("继续",)),)}, "part"),
        ({"answers": (answer(1, Way.PASSIVE, taps=("人工",)),)}, "answered"),
        ({"is_handed_over": True}, "handed_over"),
        ({}, "awaited"),
        ({"act": Act.UNFOLLOW}, "taken"),
    ],
)
def test_what_came_of_it(fields: dict[str, object], verdict: str) -> None:
    assert strip(played(**fields), "a", now=200).verdict == verdict


def test_bubbles_stand_in_the_order_in_which_they_were_seen() -> None:
    """An answer by customer service may come after the next question."""
    first = played(answers=(answer(12, Way.CUSTOMER_SERVICE, "答一"),))
    second = played(number=2, text="又问", at=105.0, answers=(answer(6, Way.PASSIVE, "答二"),))
    drawn = bubbles([first, second], "a")
    assert [(bubble.side, bubble.text) for bubble in drawn] == [
        ("me", "问"),
        ("me", "又问"),
        ("bot", "答二"),
        ("bot", "答一"),
    ]


def test_a_fault_and_a_follow_are_notes() -> None:
    drawn = bubbles([played(act=Act.FOLLOW, text="", answers=(answer(5, Way.FAULT, "故障"),))], "a")
    assert [bubble.side for bubble in drawn] == ["note", "note"]
