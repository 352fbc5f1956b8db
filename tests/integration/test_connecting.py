"""From an empty data folder to a green light: the connecting pages against simulated platforms, over real HTTP."""

import json
import logging
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from loguru import logger
from nonebot.drivers.httpx import Mixin

from bot.channels.wechat import OfficialAccount
from bot.channels.wechat.api import DriverHttp
from bot.connecting.arrivals import Arrivals
from bot.connecting.door_watch import NotedDoor
from bot.connecting.trials import ModelFault
from bot.console.site.views.connect import Connections, routes
from bot.container import keyword_import
from bot.container.channels import SystemClock
from bot.container.connecting import Connecting
from bot.conversation.errors import ConfigurationError
from bot.metrics import Metrics
from bot.rules.faq_file import FaqFile
from bot.settings import Settings
from bot.settings_source import read_settings
from simulators.openai import Answer, OpenAiServer
from simulators.wechat import WeChatServer
from tests.conformance.wechat_app import wechat_app
from tests.console_fakes import csrf_of_page, signed_in, site_for

APP_ID, SECRET = "wx0123456789abcdef", "5ecret-of-the-account-0123456789"
REPLIES = {
    "is_autoreply_open": 1,
    "is_add_friend_reply_open": 1,
    "add_friend_autoreply_info": {"type": "text", "content": "欢迎关注"},
    "keyword_autoreply_info": {
        "list": [
            {
                "rule_name": "时间",
                "reply_mode": "reply_all",
                "keyword_list_info": [{"type": "text", "match_mode": "contain", "content": "营业时间"}],
                "reply_list_info": [{"type": "text", "content": "九点\n到六点"}],
            },
            {
                "rule_name": "图",
                "reply_mode": "reply_all",
                "keyword_list_info": [{"type": "text", "match_mode": "equal", "content": "海报"}],
                "reply_list_info": [{"type": "img", "content": "media-1"}],
            },
        ]
    },
}
OWN = "- id: 退款\n  patterns: [退款]\n  answer: 可以退\n"


class Operator:
    """Before a new data folder, whose settings are read as the bot reads them."""

    def __init__(self, project: Path, http: DriverHttp, **written: str) -> None:
        self.project, self.data = project, project / "data"
        self.data.mkdir()
        lines = "".join(f"{key}={value}\n" for key, value in written.items())
        (self.data / "jide.env").write_text(f"# 我写的\n{lines}", "utf-8")
        self._http = http
        self.connecting = self.restarted()

    def saved(self) -> Settings:
        return read_settings(self.project, {})

    def restarted(self) -> Connecting:
        self.connecting = Connecting(self.saved(), self._http, self.saved)
        return self.connecting


@pytest.fixture
async def http() -> AsyncIterator[DriverHttp]:
    opened = DriverHttp(Mixin())
    yield opened
    await opened.close()


@pytest.fixture
async def wechat() -> AsyncIterator[WeChatServer]:
    async with WeChatServer("http://127.0.0.1:1/wechat", "t", APP_ID, app_secret=SECRET) as server:
        yield server


@pytest.fixture
def operator(tmp_path: Path, http: DriverHttp, wechat: WeChatServer) -> Operator:
    return Operator(tmp_path, http, WECHAT__API_BASE=wechat.api.base_url)


async def test_the_light_turns_green_when_wechat_verifies(operator: Operator, tmp_path: Path) -> None:
    connecting, arrivals = operator.connecting, Arrivals(SystemClock())
    views = routes(site := site_for(tmp_path), Connections(house=connecting, arrivals=arrivals))

    async def light(client: httpx.AsyncClient) -> str:
        page = (await client.get("/connect/wechat")).text
        return page.partition('<span class="light light-')[2].partition('"')[0]

    async with signed_in(site, views) as client:
        assert await light(client) == "off"
        token = await csrf_of_page(client, "/connect/wechat")
        await client.post("/connect/wechat", data={"csrf": token, "app_id": APP_ID, "app_secret": SECRET})
        assert await light(client) == "degraded"
    saved = operator.saved().wechat
    assert (saved.app_id, saved.app_secret, len(saved.token), len(saved.aes_key)) == (APP_ID, SECRET, 32, 43)
    assert (operator.data / "jide.env").read_text("utf-8").startswith("# 我写的\nWECHAT__API_BASE=http")
    assert stat.S_IMODE((operator.data / "jide.env").stat().st_mode) == 0o600

    # The bot is started again, and the operator submits in WeChat's console.
    views = routes(site, Connections(house=operator.restarted(), arrivals=arrivals))
    account = OfficialAccount(app_id=saved.app_id, token=saved.token, aes_key=saved.aes_key)
    door = NotedDoor(Metrics(), "wechat", arrivals)
    async with signed_in(site, views) as client, wechat_app(account, observer=door) as app:
        assert await light(client) == "degraded"
        await app.client.get(f"{account.path}?echostr=1&signature=forged&timestamp=1&nonce=2")
        assert await light(client) == "unready"
        assert await app.wechat().verify()
        assert await light(client) == "ok"


async def test_the_address_to_allow_is_named_and_nothing_is_logged(
    tmp_path: Path, http: DriverHttp, caplog: pytest.LogCaptureFixture
) -> None:
    lines: list[str] = []
    sink = logger.add(lambda line: lines.append(str(line)), level="TRACE")
    caplog.set_level(logging.DEBUG)
    async with WeChatServer(
        "http://127.0.0.1:1/wechat", "t", APP_ID, app_secret=SECRET, ip_whitelist=("198.51.100.1",)
    ) as server:
        operator = Operator(tmp_path, http, WECHAT__API_BASE=server.api.base_url)
        trial = await operator.connecting.try_wechat(app_id=APP_ID, app_secret=SECRET)
        assert (trial.errcode, trial.address) == (40164, "127.0.0.1")
        trial = await operator.connecting.replies.fetch(app_id=APP_ID, app_secret=SECRET)
        assert (trial.errcode, trial.address) == (40164, "127.0.0.1")
        assert await operator.connecting.replies.proposed() is None
    logger.remove(sink)
    assert SECRET not in "".join(lines) + caplog.text


@pytest.mark.parametrize(
    ("typed", "errcode"),
    [
        ((APP_ID, SECRET), 0),
        ((APP_ID, "another"), 40125),
        (("wxffffffffffffffff", SECRET), 40013),
        ((APP_ID, ""), 41004),
        (("", ""), 41002),
    ],
)
async def test_what_was_typed_is_what_is_tried(
    operator: Operator, typed: tuple[str, str], errcode: int
) -> None:
    trial = await operator.connecting.try_wechat(app_id=typed[0], app_secret=typed[1])
    assert (trial.errcode, trial.is_away) == (errcode, False)


@pytest.mark.parametrize("errcode", [-1, 61024, 89503, 40243, 45009])
async def test_wechat_s_own_number_is_told(operator: Operator, wechat: WeChatServer, errcode: int) -> None:
    wechat.api.fail("stable_token", errcode)
    trial = await operator.connecting.try_wechat(app_id=APP_ID, app_secret=SECRET)
    assert trial.errcode == errcode


async def test_nobody_at_the_other_end_is_told(tmp_path: Path, http: DriverHttp) -> None:
    operator = Operator(tmp_path, http, WECHAT__API_BASE="http://127.0.0.1:9")
    assert (await operator.connecting.try_wechat(app_id=APP_ID, app_secret=SECRET)).is_away
    assert (await operator.connecting.replies.fetch(app_id=APP_ID, app_secret=SECRET)).is_away


async def test_a_secret_that_was_tried_is_saved_without_being_typed_again(operator: Operator) -> None:
    connecting = operator.connecting
    await connecting.try_wechat(app_id=APP_ID, app_secret=SECRET)
    first = await connecting.save_wechat(app_id=APP_ID, app_secret="", token="", aes_key="", renews=False)
    assert operator.saved().wechat.app_secret == SECRET
    again = await connecting.save_wechat(app_id=APP_ID, app_secret="", token="", aes_key="", renews=False)
    assert (again.token, again.aes_key) == ("", ""), "nothing is made that is there"
    assert operator.saved().wechat.app_secret == SECRET
    renewed = await connecting.save_wechat(app_id=APP_ID, app_secret="", token="", aes_key="", renews=True)
    saved = operator.saved().wechat
    assert (saved.token, saved.aes_key) == (renewed.token, renewed.aes_key)
    assert saved.previous_aes_key == first.aes_key, "messages under way are encrypted with it"
    await connecting.save_wechat(
        app_id="wxffffffffffffffff", app_secret="", token="", aes_key="", renews=False
    )
    assert operator.saved().wechat.app_secret == "", "a secret is its account's"


async def test_a_wrong_setting_changes_nothing(operator: Operator) -> None:
    before = (operator.data / "jide.env").read_bytes()
    with pytest.raises(ConfigurationError):
        await operator.connecting.save_wechat(
            app_id=APP_ID, app_secret="", token="", aes_key="short", renews=False
        )
    with pytest.raises(ConfigurationError):
        await operator.connecting.save_qq(app_id="abc", secret="s", is_websocket=False)
    with pytest.raises(ConfigurationError):
        await operator.connecting.save_model(base_url="api.deepseek.com", model="m", key="k")
    assert (operator.data / "jide.env").read_bytes() == before


async def test_keyword_replies_become_rules_behind_the_operator_s_own(
    operator: Operator, wechat: WeChatServer
) -> None:
    wechat.api.autoreply = REPLIES
    faq = operator.data / "faq.yaml"
    faq.write_text(OWN, "utf-8")
    replies = operator.connecting.replies
    assert (await replies.fetch(app_id=APP_ID, app_secret=SECRET)).is_fine
    found = await replies.proposed()
    assert found is not None
    assert found.on_follow == "欢迎关注"
    assert [each.is_possible for each in found.proposals] == [True, False]
    kept = await replies.keep({0, 1, 7}, found.mark)
    assert (kept.count, (operator.data / kept.backup).read_text("utf-8")) == (1, OWN)
    assert faq.read_text("utf-8").startswith(OWN)
    hit = await FaqFile(faq).match("营业时间", "wechat")
    assert hit is not None
    assert (hit.answer, hit.verbatim) == ("九点\n到六点", True)
    again = await replies.keep({0}, found.mark)
    assert (again.count, again.is_outdated) == (0, False), "a second time it is there"


async def test_only_what_was_shown_is_imported(operator: Operator, wechat: WeChatServer) -> None:
    wechat.api.autoreply = REPLIES
    faq = operator.data / "faq.yaml"
    replies = operator.connecting.replies
    assert (await replies.keep({0}, "")).is_outdated, "nothing was fetched"
    await replies.fetch(app_id=APP_ID, app_secret=SECRET)
    shown = await replies.proposed()
    assert shown is not None
    assert shown.account == APP_ID
    wechat.api.autoreply = json.loads(json.dumps(REPLIES).replace("\\u4e5d\\u70b9", "\\u5341\\u70b9"))
    await replies.fetch(app_id=APP_ID, app_secret=SECRET)
    kept = await replies.keep({0}, shown.mark)
    assert (kept.count, kept.is_outdated) == (0, True)
    assert not faq.exists()
    wechat.api.autoreply = REPLIES
    await replies.fetch(app_id=APP_ID, app_secret=SECRET)
    assert (await replies.keep({0}, shown.mark)).count == 1, "the same again is what was shown"


async def test_the_same_replies_of_another_account_are_others(operator: Operator, http: DriverHttp) -> None:
    async with WeChatServer(
        "http://127.0.0.1:1/wechat", "t", "wxffffffffffffffff", app_secret=SECRET
    ) as other:
        marks: list[str] = []
        for app_id, server in ((APP_ID, None), ("wxffffffffffffffff", other)):
            if server is not None:
                env = f"WECHAT__API_BASE={server.api.base_url}\n"
                (operator.data / "jide.env").write_text(env, "utf-8")
            await operator.connecting.replies.fetch(app_id=app_id, app_secret=SECRET)
            found = await operator.connecting.replies.proposed()
            assert found is not None
            marks.append(found.mark)
    assert marks[0] != marks[1]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
async def test_a_pasted_line_separator_blocks_nothing(
    operator: Operator, wechat: WeChatServer, separator: str
) -> None:
    first, _ = REPLIES["keyword_autoreply_info"]["list"]
    pasted = {
        **first,
        "rule_name": "粘贴",
        "reply_list_info": [{"type": "text", "content": f"甲{separator}乙"}],
    }
    pasted["keyword_list_info"] = [{"type": "text", "match_mode": "equal", "content": "地址"}]
    wechat.api.autoreply = {**REPLIES, "keyword_autoreply_info": {"list": [first, pasted]}}
    replies = operator.connecting.replies
    await replies.fetch(app_id=APP_ID, app_secret=SECRET)
    found = await replies.proposed()
    assert found is not None
    kept = await replies.keep({0, 1}, found.mark)
    assert (kept.count, kept.left_out) == (2, ())
    hit = await FaqFile(operator.data / "faq.yaml").match("地址", "wechat")
    assert hit is not None
    assert hit.answer == found.proposals[1].rules[0].answer


async def test_what_no_file_can_hold_is_named_and_the_rest_goes_in(
    operator: Operator, wechat: WeChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = REPLIES["keyword_autoreply_info"]["list"]
    odd = {**second, "rule_name": "怪字", "reply_list_info": [{"type": "text", "content": "\ufdd0"}]}
    wechat.api.autoreply = {**REPLIES, "keyword_autoreply_info": {"list": [odd, first]}}
    monkeypatch.setattr(keyword_import, "is_writable", lambda rules: rules[0].answer != "\ufdd0")
    replies = operator.connecting.replies
    await replies.fetch(app_id=APP_ID, app_secret=SECRET)
    found = await replies.proposed()
    assert found is not None
    kept = await replies.keep({0, 1}, found.mark)
    assert (kept.count, kept.left_out) == (1, ("怪字",))
    assert await FaqFile(operator.data / "faq.yaml").match("营业时间", "wechat") is not None
    assert (await replies.keep({0}, found.mark)).left_out == ("怪字",)


async def test_a_faq_that_is_wrong_is_not_made_worse(operator: Operator, wechat: WeChatServer) -> None:
    wechat.api.autoreply = REPLIES
    faq = operator.data / "faq.yaml"
    faq.write_text("- patterns: [x]\n", "utf-8")
    await operator.connecting.replies.fetch(app_id=APP_ID, app_secret=SECRET)
    with pytest.raises(ConfigurationError, match="第 1 行"):
        await operator.connecting.replies.keep({0}, "")
    assert [each.name for each in operator.data.iterdir() if "faq" in each.name] == ["faq.yaml"]


async def test_a_model_is_tried_with_the_key_that_was_typed(operator: Operator) -> None:
    async with OpenAiServer() as model, OpenAiServer() as other:
        connecting, name = operator.connecting, "a-model"
        model.script("好", Answer(status=401, message="Authentication Fails"))
        trial = await connecting.try_model(base_url=model.base_url, model=name, key="sk-typed")
        assert (trial.fault, trial.is_fine) == (ModelFault.NONE, True)
        assert model.requests[-1].authorization == "Bearer sk-typed"
        trial = await connecting.try_model(base_url=model.base_url, model=name, key="sk-typed")
        assert (trial.fault, trial.status) == (ModelFault.KEY, 401)
        await connecting.save_model(base_url=model.base_url, model=name, key="")
        assert operator.saved().llm.api_key == "sk-typed"
        await connecting.try_model(base_url=other.base_url, model=name, key="")
        assert other.requests
        assert not [each for each in other.requests if "sk-typed" in each.authorization]
        await connecting.save_model(base_url=other.base_url, model=name, key="")
        assert operator.saved().llm.api_key == "", "a key is only for the address it was given for"


async def test_a_platform_s_settings_are_saved_for_the_next_start(operator: Operator) -> None:
    connecting = operator.connecting
    made = await connecting.save_onebot(token="")
    await connecting.save_qq(app_id="102000001", secret="q-secret", is_websocket=True)
    assert len(made.token) >= 32
    assert (await connecting.onebot()).needs_restart
    assert (await connecting.qq()).needs_restart
    saved = operator.saved()
    assert (await connecting.save_onebot(token=made.token)).token == "", "what is typed is not shown again"
    assert (saved.onebot.access_token, saved.qq.secret, saved.qq.websocket) == (made.token, "q-secret", True)
    await connecting.save_qq(app_id="102000001", secret="", is_websocket=False)
    assert operator.saved().qq.secret == "q-secret"
    assert not (await operator.restarted().qq()).needs_restart


@pytest.mark.parametrize("typed", ["不是AppID", "gh_0123456789ab", "wx0123", "wx0123456789ABCDEF0"])
async def test_what_is_no_app_id_is_not_saved(operator: Operator, typed: str) -> None:
    with pytest.raises(ConfigurationError, match="WECHAT__APP_ID"):
        await operator.connecting.save_wechat(app_id=typed, app_secret="", token="", aes_key="", renews=False)
