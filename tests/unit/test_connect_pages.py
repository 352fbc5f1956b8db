"""The connecting pages: each step, each fault in words, and no secret twice."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from bot.connecting.arrivals import Arrivals
from bot.connecting.keyword_replies import AccountReplies, Proposal, Standing
from bot.connecting.steps import Kept, Made, ModelSet, OneBotSet, QqSet, WeChatSet
from bot.connecting.trials import ApiTrial, ModelFault, ModelTrial
from bot.console.site.site import Site
from bot.console.site.views.connect import Connections, routes
from bot.console.site.views.connect_ports import UNCOPIED_SECONDS
from bot.conversation.errors import ConfigurationError, RejectedInput
from bot.rules.faq import FaqRule, Match
from tests.console_fakes import AuditInMemory, Hands, csrf_of_page, signed_in, site_for

PAGES = (
    "/connect",
    "/connect/wechat",
    "/connect/wechat/replies",
    "/connect/onebot",
    "/connect/qq",
    "/connect/model",
)
SECRET = "0123456789abcdef0123456789abcdef"
TEXT = '<img src=x onerror="alert(1)">'


class FakeReplies:
    def __init__(self) -> None:
        self.trial = ApiTrial()
        self.found: AccountReplies | None = None
        self.kept: list[Collection[int]] = []
        self.left_out: tuple[str, ...] = ()
        self.problem: Exception | None = None
        self.backup = "faq.yaml.1"

    async def fetch(self, *, app_id: str, app_secret: str) -> ApiTrial:
        return self.trial

    async def proposed(self) -> AccountReplies | None:
        return self.found

    async def keep(self, numbers: Collection[int], mark: str) -> Kept:
        if self.problem:
            raise self.problem
        if self.found is None or mark != self.found.mark:
            return Kept(count=0, is_outdated=True)
        self.kept.append(numbers)
        return Kept(count=len(numbers), backup=self.backup, left_out=self.left_out)


class FakeHouse:
    """Nothing is set; every saving is done, and noted."""

    def __init__(self) -> None:
        self.replies = FakeReplies()
        self.set_wechat, self.set_onebot = (
            WeChatSet(listens_on="127.0.0.1:8080"),
            OneBotSet(address="ws://127.0.0.1:8080/onebot/v11/ws"),
        )
        self.set_qq, self.set_model = QqSet(listens_on="127.0.0.1:8080"), ModelSet()
        self.saved: list[dict[str, object]] = []
        self.made = Made()
        self.problem: Exception | None = None
        self.api_trial, self.model_trial = ApiTrial(), ModelTrial(seconds=0.8)
        self.tried: list[dict[str, str]] = []

    async def wechat(self) -> WeChatSet:
        return self.set_wechat

    async def onebot(self) -> OneBotSet:
        return self.set_onebot

    async def qq(self) -> QqSet:
        return self.set_qq

    async def model(self) -> ModelSet:
        return self.set_model

    async def save_wechat(
        self, *, app_id: str, app_secret: str, token: str, aes_key: str, renews: bool
    ) -> Made:
        return self._save(app_id=app_id, app_secret=app_secret, token=token, aes_key=aes_key, renews=renews)

    async def save_onebot(self, *, token: str) -> Made:
        return self._save(token=token)

    async def save_qq(self, *, app_id: str, secret: str, is_websocket: bool) -> Made:
        return self._save(app_id=app_id, secret=secret, is_websocket=is_websocket)

    async def save_model(self, *, base_url: str, model: str, key: str) -> Made:
        return self._save(base_url=base_url, model=model, key=key)

    async def try_wechat(self, *, app_id: str, app_secret: str) -> ApiTrial:
        self.tried.append({"app_id": app_id, "app_secret": app_secret})
        return self.api_trial

    async def try_model(self, *, base_url: str, model: str, key: str) -> ModelTrial:
        self.tried.append({"base_url": base_url, "model": model, "key": key})
        return self.model_trial

    def _save(self, **what: object) -> Made:
        if self.problem:
            raise self.problem
        self.saved.append(what)
        return self.made


class Bench:
    """The pages over a house that does as it is told."""

    def __init__(self, folder: Path) -> None:
        self.house, self.hands, self.audit = FakeHouse(), Hands(), AuditInMemory()
        self.arrivals = Arrivals(self.hands)
        self.site: Site = site_for(folder, audit=self.audit)
        self.views = routes(
            self.site,
            Connections(house=self.house, arrivals=self.arrivals),
            lull_seconds=0.0,
            monotonic=self.hands.monotonic,
        )

    @asynccontextmanager
    async def browser(self, language: str = "zh") -> AsyncIterator[httpx.AsyncClient]:
        async with signed_in(self.site, self.views) as client:
            client.headers["Accept-Language"] = language
            yield client


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def send(client: httpx.AsyncClient, page: str, path: str = "", **fields: object) -> str:
    """Post a form of `page`; the page that comes of it."""
    token = await csrf_of_page(client, page)
    answer = await client.post(path or page, data={"csrf": token, **fields})
    if answer.status_code == 422:
        return answer.text
    assert answer.status_code == 303, answer.text
    return (await client.get(answer.headers["location"])).text


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("path", PAGES)
async def test_every_page_is_there_in_both_languages(bench: Bench, path: str, language: str) -> None:
    async with bench.browser(language) as client:
        answer = await client.get(path)
    assert answer.status_code == 200
    assert f'<html lang="{"zh-CN" if language == "zh" else "en"}">' in answer.text


async def test_what_saving_made_is_shown_to_be_copied(bench: Bench) -> None:
    bench.house.made = Made(token="made-token", aes_key="made-key", overruled=("WECHAT__TOKEN",))
    async with bench.browser() as client:
        text = await send(client, "/connect/wechat", app_id="wx1", app_secret=SECRET)
        assert 'value="made-token" readonly' in text
        assert 'value="made-key" readonly' in text
        assert 'data-copies="made-token"' in text
        assert "WECHAT__TOKEN 也写在进程环境变量里" in text
        assert "已保存" in text
        assert SECRET not in text
        text = (await client.get("/connect/wechat")).text
        assert "made-token" in text
        assert "也写在进程环境变量里" not in text
    assert bench.house.saved == [
        {"app_id": "wx1", "app_secret": SECRET, "token": "", "aes_key": "", "renews": False}
    ]
    assert bench.audit.lines == [("connect.save", None, "wechat")]


async def test_what_was_made_stays_through_the_steps_until_it_is_copied(bench: Bench) -> None:
    bench.house.made = Made(token="made-token", aes_key="made-key")
    page, address = "/connect/wechat", "bot.example.com"
    async with bench.browser() as client:

        async def is_shown() -> tuple[bool, bool]:
            text = (await client.get(page, params={"address": address})).text
            assert f"https://{address}/wechat" in text
            return 'value="made-token"' in text, 'value="made-key"' in text

        await send(client, page, app_id="wx1")
        bench.house.made = Made()
        assert await is_shown() == (True, True)
        assert "made-token" in await send(client, page, f"{page}/test", app_id="wx1", app_secret=SECRET)
        assert "made-token" in (await client.get(page, params={"language": "en"})).text
        await client.get(f"{page}/replies")
        await send(client, page, app_id="wx1", app_secret=SECRET)
        assert await is_shown() == (True, True), "a second saving made nothing new"
        await send(client, page, app_id="wx1", token="typed0token")
        assert await is_shown() == (False, True), "the one that was made is no longer so"

        csrf = await csrf_of_page(client, page)
        done = await client.post(f"{page}/copied", data={"csrf": csrf, "address": address})
        assert done.headers["location"] == f"{page}?address={address}"
        assert await is_shown() == (False, False)


@pytest.mark.parametrize("way", ["another", "overview", "later", "session"])
async def test_what_was_made_is_not_shown_again(bench: Bench, way: str) -> None:
    bench.house.made = Made(token="made-token")
    async with bench.browser() as client:
        assert "made-token" in await send(client, "/connect/onebot")
        match way:
            case "another":
                assert "made-token" not in (await client.get("/connect/qq")).text
            case "overview":
                await client.get("/connect")
            case "later":
                bench.hands.seconds = UNCOPIED_SECONDS
            case _:
                async with bench.browser() as other:
                    assert "made-token" not in (await other.get("/connect/onebot")).text
                assert "made-token" in (await client.get("/connect/onebot")).text
                return
        assert "made-token" not in (await client.get("/connect/onebot")).text


async def test_no_other_channel_has_anything_to_copy(bench: Bench) -> None:
    async with bench.browser() as client:
        csrf = await csrf_of_page(client, "/connect/wechat")
        assert (await client.post("/connect/x/copied", data={"csrf": csrf})).status_code == 404


WRONG = (
    ("wechat", {"app_id": "wx1", "token": "ab"}, "Token 要是"),
    ("wechat", {"app_id": "wx1", "token": "a b!"}, "Token 要是"),
    ("wechat", {"app_id": "wx1", "token": "令牌令牌"}, "Token 要是"),
    ("wechat", {"app_id": "wx1", "token": "a" * 33}, "Token 要是"),
    ("wechat", {"app_id": "wx1", "aes_key": "a" * 42}, "EncodingAESKey 要是"),
    ("wechat", {"app_id": "wx1", "aes_key": "a" * 42 + "="}, "EncodingAESKey 要是"),
    ("wechat", {"app_id": "wx1", "app_secret": "a\nb"}, "看得见的"),
    ("onebot", {"token": "tok\nSUPERUSERS=x"}, "看得见的"),
    ("onebot", {"token": "令牌汉字"}, "看得见的"),
    ("onebot", {"token": "a b"}, "看得见的"),
    ("onebot", {"token": "a" * 501}, "看得见的"),
    ("qq", {}, "AppID 要是"),
    ("qq", {"app_id": "abcdef", "secret": "s"}, "AppID 要是"),
    ("qq", {"app_id": "102000001"}, "还没有填这个 AppID"),
    ("qq", {"app_id": "102000001", "secret": "a\nb"}, "看得见的"),
    ("model", {"model": "m"}, "都要填"),
    ("model", {"base_url": "http://x/v1"}, "都要填"),
    ("model", {"base_url": "http://x/v1", "model": "m", "key": "钥匙"}, "看得见的"),
)


@pytest.mark.parametrize(("channel", "fields", "said"), WRONG)
async def test_what_no_platform_would_take_is_refused_in_words(
    bench: Bench, channel: str, fields: dict[str, str], said: str
) -> None:
    async with bench.browser() as client:
        assert said in await send(client, f"/connect/{channel}", **fields)
    async with bench.browser("en") as client:
        text = await send(client, f"/connect/{channel}", **fields)
    assert said not in text
    assert 'role="alert" id="problem"' in text
    assert not bench.house.saved


@pytest.mark.parametrize(
    ("channel", "fields"),
    [
        ("wechat", {"app_id": "wx1", "token": "a1B"}),
        ("wechat", {"app_id": "wx1", "token": "a" * 32, "aes_key": "a" * 43}),
        ("onebot", {"token": "\\'\"$`~!"}),
        ("onebot", {"token": "a" * 500}),
    ],
)
async def test_what_a_platform_takes_is_saved(bench: Bench, channel: str, fields: dict[str, str]) -> None:
    async with bench.browser() as client:
        assert "已保存" in await send(client, f"/connect/{channel}", **fields)
    assert [{**each, **fields} for each in bench.house.saved] == bench.house.saved


async def test_what_is_refused_is_said_and_the_secret_is_not_repeated(bench: Bench) -> None:
    bench.house.problem = ConfigurationError("WECHAT__APP_ID", "含有空白字符", "重新复制")
    async with bench.browser() as client:
        text = await send(client, "/connect/wechat", app_id=TEXT, app_secret=SECRET)
    assert "含有空白字符" in text
    assert "&lt;img src=x" in text
    assert TEXT not in text
    assert SECRET not in text
    assert bench.audit.lines == []


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        (ApiTrial(), "微信给了令牌"),
        (ApiTrial(is_away=True), "连不上微信的接口"),
        (ApiTrial(errcode=-1), "微信系统忙"),
        (ApiTrial(errcode=40164, address="203.0.113.7"), "加入 203.0.113.7"),
        (ApiTrial(errcode=61004), "没有写明是哪个"),
        (ApiTrial(errcode=40125), "AppSecret 不对（40125）"),
        (ApiTrial(errcode=40001), "AppSecret 不对（40001）"),
        (ApiTrial(errcode=40013), "AppID 不对"),
        (ApiTrial(errcode=41004), "没有填 AppSecret"),
        (ApiTrial(errcode=40243), "冻结"),
        (ApiTrial(errcode=61024), "第三方平台"),
        (ApiTrial(errcode=89503), "管理员"),
        (ApiTrial(errcode=12345), "微信返回 12345"),
    ],
)
async def test_the_trial_of_the_api_is_said_with_its_fix(bench: Bench, trial: ApiTrial, said: str) -> None:
    bench.house.api_trial = trial
    async with bench.browser() as client:
        text = await send(client, "/connect/wechat", "/connect/wechat/test", app_id="wx9", app_secret=SECRET)
        assert said in text
        assert 'value="wx9"' in text
        assert SECRET not in text
        assert ('id="ip" value="203.0.113.7"' in text) is bool(trial.address)
        assert said not in (await client.get("/connect/wechat")).text
    assert bench.house.tried == [{"app_id": "wx9", "app_secret": SECRET}]


async def test_an_address_is_joined_without_a_script(bench: Bench) -> None:
    async with bench.browser() as client:
        good = await client.get("/connect/wechat", params={"address": "bot.example.com"})
        bad = await client.get("/connect/wechat", params={"address": TEXT})
        near = await client.get("/connect/qq", params={"address": "127.0.0.1"})
    assert 'value="https://bot.example.com/wechat" readonly' in good.text
    assert "这不像网址" in bad.text
    assert TEXT not in bad.text
    assert "本机或内网" in near.text


async def test_lights_follow_what_arrives(bench: Bench) -> None:
    house, arrivals = bench.house, bench.arrivals
    async with bench.browser() as client:

        async def light(channel: str) -> str:
            page = (await client.get(f"/connect/{channel}")).text
            return page.partition(f'id="light-{channel}"')[2].partition("</p>")[0]

        assert "还没有填 AppID" in await light("wechat")
        house.set_wechat = WeChatSet(app_id="wx1", has_token=True, needs_restart=True)
        assert "等您重启" in await light("wechat")
        house.set_wechat = replace(house.set_wechat, needs_restart=False)
        assert "还没有收到微信的请求" in await light("wechat")
        arrivals.note_proof("wechat", "playground")
        assert "还没有收到微信的请求" in await light("wechat")
        arrivals.note_refusal("wechat", "wx1")
        assert "light-unready" in await light("wechat")
        arrivals.note_proof("wechat", "wx1")
        assert "light-ok" in await light("wechat")

        house.set_onebot = replace(house.set_onebot, has_token=True)
        assert "还没有 QQ 客户端" in await light("onebot")
        arrivals.note_refusal("onebot")
        assert "令牌不对" in await light("onebot")
        arrivals.note_connection("onebot", "10086")
        assert "已连上：10086" in await light("onebot")
        arrivals.note_end("onebot", "10086")
        assert "light-ok" not in await light("onebot")

        house.set_qq = replace(house.set_qq, app_id="102", has_secret=True)
        arrivals.note_refusal("qq")
        assert "没有开放验证" in await light("qq")
        arrivals.note_proof("qq", "102")
        assert "light-ok" in await light("qq")

        house.set_model = ModelSet(base_url="http://x/v1", model="qwen3")
        assert "正在用 qwen3" in await light("model")


async def test_events_tell_a_light_that_changed_and_nothing_else(bench: Bench) -> None:
    house, arrivals = bench.house, bench.arrivals
    house.set_wechat = WeChatSet(app_id="wx1", has_token=True)
    events: list[str] = []
    async with bench.browser() as client:
        asked = asyncio.create_task(client.get("/connect/events"))
        await a_while()
        arrivals.note_refusal("onebot")  # no token there: its light stays
        await a_while()
        arrivals.note_proof("wechat", "wx1")
        await a_while()
        bench.site.close()
        events = (await asked).text.split("\n\n")
    told = [each for each in events if each.startswith("event: fragment")]
    assert len(told) == 2
    assert [told[0].count(f'id="light-{name}"') for name in ("wechat", "onebot", "qq", "model")] == [
        1,
        1,
        1,
        1,
    ]
    assert told[1].count("id=") == 1
    assert "light-ok" in told[1]


async def a_while() -> None:
    """Turns of the loop, more than the stream needs to fall asleep again."""
    for _ in range(200):
        await asyncio.sleep(0)


async def test_no_other_channel_has_events(bench: Bench) -> None:
    async with bench.browser() as client:
        assert (await client.get("/connect/events/telegram")).status_code == 404


RULES = tuple(
    FaqRule(id=f"公众号-{number}", match=Match.EXACT, patterns=(word,), answer=TEXT)
    for number, word in enumerate(("几点", "地址"))
)
REPLIES = AccountReplies(
    is_on=False,
    proposals=(
        Proposal(name=TEXT, standing=Standing.NEW, rules=RULES[:1], is_random=True),
        Proposal(name="图", standing=Standing.NO_TEXT, left_out=("news",)),
        Proposal(name="址", standing=Standing.PARTLY, rules=RULES[1:], left_out=("img",)),
    ),
    on_follow="欢迎关注",
    default="您好",
    account="wx0123456789abcdef",
    mark="m1",
)


async def test_replies_are_previewed_chosen_and_kept(bench: Bench) -> None:
    bench.house.replies.found = REPLIES
    page = "/connect/wechat/replies"
    async with bench.browser() as client:
        text = await send(client, page, app_id="wx1", app_secret=SECRET)
        assert text.count('type="checkbox" name="reply"') == 2
        assert TEXT not in text
        assert 'name="mark" value="m1"' in text
        for said in (
            "wx0123456789abcdef",
            "几点",
            "不导入的部分：news",
            "只导入文字",
            "欢迎关注",
            "您好",
            "随机回一条",
            "是关着的",
        ):
            assert said in text
        text = await send(client, page, f"{page}/keep", mark="m1", reply=["0", "2", "x", "99999"])
        assert "导入了 2 条" in text
        assert "faq.yaml.1" in text
        assert bench.house.replies.kept == [{0, 2}]
        assert bench.audit.lines == [("connect.import", None, "replies=2")]
        assert "没有选中" in await send(client, page, f"{page}/keep", mark="m1")
        bench.house.replies.problem = RejectedInput("写不了 faq.yaml")
        assert "写不了 faq.yaml" in await send(client, page, f"{page}/keep", reply="0")


async def test_replies_of_another_page_are_not_kept(bench: Bench) -> None:
    bench.house.replies.found = replace(REPLIES, mark="m2")
    page = "/connect/wechat/replies"
    async with bench.browser() as client:
        for mark in ({"mark": "m1"}, {}):
            text = await send(client, page, f"{page}/keep", reply="0", **mark)
            assert "又取来了别的自动回复" in text
            assert 'name="mark" value="m2"' in text
    assert not bench.house.replies.kept
    assert bench.audit.lines == []


async def test_a_reply_that_no_file_can_hold_is_named(bench: Bench) -> None:
    bench.house.replies.found, bench.house.replies.left_out = REPLIES, ("怪字", TEXT)
    page = "/connect/wechat/replies"
    async with bench.browser() as client:
        text = await send(client, page, f"{page}/keep", mark="m1", reply="0")
    assert "导入了 1 条" in text
    assert "没有导入：怪字、&lt;img" in text


async def test_no_reply_is_an_empty_state(bench: Bench) -> None:
    bench.house.replies.found = replace(REPLIES, proposals=())
    async with bench.browser() as client:
        assert "没有关键词回复" in (await client.get("/connect/wechat/replies")).text


@pytest.mark.parametrize("fault", [each for each in ModelFault if each is not ModelFault.NONE])
async def test_each_fault_of_a_model_has_words(bench: Bench, fault: ModelFault) -> None:
    bench.house.model_trial = ModelTrial(fault=fault, status=404)
    async with bench.browser() as client:
        text = await send(
            client,
            "/connect/model",
            "/connect/model/test",
            base_url="https://api.deepseek.com",
            model="no-such",
            key=SECRET,
        )
    assert 'class="notice notice-bad" role="alert" id="trial"' in text
    assert 'value="no-such"' in text
    assert SECRET not in text


async def test_a_model_is_chosen_tried_and_saved(bench: Bench) -> None:
    async with bench.browser() as client:
        text = (await client.get("/connect/model?preset=zhipu")).text
        assert 'value="https://open.bigmodel.cn/api/paas/v4"' in text
        assert 'aria-current="page">智谱' in text
        fields = {"base_url": "https://api.deepseek.com", "model": "deepseek-v4-flash", "key": SECRET}
        assert "用 0.8 秒回答" in await send(client, "/connect/model", "/connect/model/test", **fields)
        assert "已保存" in await send(client, "/connect/model", **fields)
    assert bench.house.tried == bench.house.saved == [fields]


async def test_onebot_and_qq_are_saved_and_validation_is_opened(bench: Bench) -> None:
    bench.house.made = Made(token="made-token")
    async with bench.browser() as client:
        assert 'value="made-token"' in await send(client, "/connect/onebot", token="")
        bench.house.made = Made()
        await send(client, "/connect/qq", app_id="102000001", secret=SECRET, way="websocket")
        bench.house.set_qq = QqSet(app_id="102000001", has_secret=True)
        await send(client, "/connect/qq", app_id="102000001", secret="", way="webhook")
        assert "正在回答验证" in await send(client, "/connect/qq", "/connect/qq/setup", open="yes")
        assert bench.arrivals.setup_until is not None
        await send(client, "/connect/qq", "/connect/qq/setup", open="no")
        assert bench.arrivals.setup_until is None
    assert bench.house.saved == [
        {"token": ""},
        {"app_id": "102000001", "secret": SECRET, "is_websocket": True},
        {"app_id": "102000001", "secret": "", "is_websocket": False},
    ]


@pytest.mark.parametrize(
    "path",
    [
        *PAGES[1:],
        "/connect/wechat/test",
        "/connect/wechat/copied",
        "/connect/wechat/replies/keep",
        "/connect/qq/setup",
        "/connect/model/test",
    ],
)
async def test_nothing_is_done_without_the_token_of_a_form(bench: Bench, path: str) -> None:
    async with bench.browser() as client:
        assert (await client.post(path, data={"app_id": "wx1", "open": "yes"})).status_code == 403
    assert not bench.house.saved
    assert not bench.house.tried
    assert bench.arrivals.setup_until is None
