"""A mini-program's logins and phones, over a socket: as WeChat's simulator judges codes, and as WeChat published them."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from loguru import logger
from nonebot.drivers.httpx import Mixin

from bot.channels.wechat.api import DriverHttp, MiniProgram, Verdict
from bot.channels.wechat_mini_program import WeChatMiniProgram
from bot.conversation.errors import PlatformUnavailable
from simulators.wechat import ManualClock, WeChatServer
from simulators.wechat.api import LOGIN, PHONE
from simulators.wechat.wire import LoopbackServer, Request, Response
from tests.shared_files import require_shared

MINI_APP_ID, SECRET = "wxmini0000000001", "mini-program-5ecret"
NUMBER = "13800138000"
PUBLISHED: dict[str, Any] = {
    entry["id"]: entry["expected"]["json"]
    for entry in json.loads(require_shared("fixtures/wechat_api_fixtures.json").read_text("utf-8"))
}


@dataclass(kw_only=True)
class Stage:
    wechat: WeChatServer
    clock: ManualClock
    http: DriverHttp
    log: list[str]

    def program(self, **changed: Any) -> WeChatMiniProgram:
        given: dict[str, Any] = {
            "app_id": MINI_APP_ID,
            "app_secret": SECRET,
            "api_base": self.wechat.api.base_url,
        }
        return WeChatMiniProgram(MiniProgram(request=self.http, **(given | changed)))


@pytest.fixture
async def http() -> AsyncIterator[DriverHttp]:
    opened = DriverHttp(Mixin())
    yield opened
    await opened.close()


def server(clock: ManualClock, *, is_bound: bool = True) -> WeChatServer:
    return WeChatServer(
        "http://127.0.0.1:1/wechat",
        "token",
        "wx0123456789abcdef",
        app_secret="account-secret",
        is_bound=is_bound,
        clock=clock,
        mini_app_id=MINI_APP_ID,
        mini_app_secret=SECRET,
    )


@pytest.fixture
async def stage(http: DriverHttp) -> AsyncIterator[Stage]:
    clock = ManualClock()
    log: list[str] = []
    sink = logger.add(log.append, level="TRACE", format="{message}")
    async with server(clock) as wechat:
        yield Stage(wechat=wechat, clock=clock, http=http, log=log)
    logger.remove(sink)


async def test_a_login_is_a_unionid_and_a_button_a_phone(stage: Stage) -> None:
    program, mini = stage.program(), stage.wechat.mini_program
    assert await program.unionid_of(mini.log_in("oAlice")) == stage.wechat.people["oAlice"].unionid
    assert await program.phone_of(mini.give_phone(NUMBER)) == f"+86{NUMBER}"
    assert await program.phone_of(mini.give_phone("2025550123", country="1")) == "+12025550123"
    assert stage.wechat.api.errcodes(LOGIN) == [0] and stage.wechat.api.errcodes(PHONE) == [0, 0]
    # The mini-program has a token of its own, fetched once.
    assert stage.wechat.api.errcodes("stable_token") == [0]
    assert (mini.tokens.issued, stage.wechat.api.tokens.issued) == (1, 0)


async def test_a_code_is_good_once_and_for_five_minutes(stage: Stage) -> None:
    program, mini = stage.program(), stage.wechat.mini_program
    login, phone = mini.log_in("oAlice"), mini.give_phone(NUMBER)
    assert await program.unionid_of(login) and await program.phone_of(phone)
    assert await program.unionid_of(login) is None
    assert await program.phone_of(phone) is None
    login, phone = mini.log_in("oAlice"), mini.give_phone(NUMBER)
    stage.clock.advance(300)
    assert await program.unionid_of(login) is None
    assert await program.phone_of(phone) is None
    assert stage.wechat.api.errcodes(LOGIN) == [0, 40163, 40029]
    assert stage.wechat.api.errcodes(PHONE) == [0, 40029, 40029]


@pytest.mark.parametrize("code", ["nobody's", "x" * 512, "a&secret=b", "%00", "../../x"])
async def test_made_up_codes_are_refused(stage: Stage, code: str) -> None:
    program = stage.program()
    assert await program.unionid_of(code) is None
    assert await program.phone_of(code) is None
    assert stage.wechat.api.errcodes(LOGIN) == stage.wechat.api.errcodes(PHONE) == [40029]


@pytest.mark.parametrize("errcode", [40029, 40163, 40226, 41008])
async def test_what_wechat_says_against_a_login_code_is_a_refusal(stage: Stage, errcode: int) -> None:
    stage.wechat.api.fail(LOGIN, errcode)
    assert await stage.program().unionid_of(stage.wechat.mini_program.log_in("oAlice")) is None


async def test_a_code_of_another_mini_program_closes_nothing(stage: Stage) -> None:
    program, mini = stage.program(), stage.wechat.mini_program
    assert await program.phone_of(mini.give_phone(NUMBER, app_id="wxother")) is None
    assert stage.wechat.api.errcodes(PHONE) == [40013]
    assert await program.phone_of(mini.give_phone(NUMBER)) == f"+86{NUMBER}"


async def test_unbound_there_is_no_unionid(http: DriverHttp) -> None:
    async with server(ManualClock(), is_bound=False) as wechat:
        given: dict[str, Any] = {"app_id": MINI_APP_ID, "app_secret": SECRET, "api_base": wechat.api.base_url}
        program = WeChatMiniProgram(MiniProgram(request=http, **given))
        assert await program.unionid_of(wechat.mini_program.log_in("oAlice")) == ""


@pytest.mark.parametrize("errcode", [-1, 45011, 40013, 40125, 48001, 50002, 99999])
async def test_anything_else_is_no_answer(stage: Stage, errcode: int) -> None:
    stage.wechat.api.fail(LOGIN, errcode)
    with pytest.raises(PlatformUnavailable):
        await stage.program().unionid_of(stage.wechat.mini_program.log_in("oAlice"))


@pytest.mark.parametrize("errcode", [-1, 45011, 48001, 50002, 99999])
async def test_nor_where_a_phone_is_asked_for(stage: Stage, errcode: int) -> None:
    stage.wechat.api.fail(PHONE, errcode)
    with pytest.raises(PlatformUnavailable):
        await stage.program().phone_of(stage.wechat.mini_program.give_phone(NUMBER))


@pytest.mark.parametrize("fault", [{"status": 502}, {"status": 404}, {"is_cut": True}])
async def test_nor_where_the_line_fails(stage: Stage, fault: dict[str, Any]) -> None:
    stage.wechat.api.fail(LOGIN, **fault)
    stage.wechat.api.fail(PHONE, **fault)
    program, mini = stage.program(), stage.wechat.mini_program
    with pytest.raises(PlatformUnavailable):
        await program.unionid_of(mini.log_in("oAlice"))
    with pytest.raises(PlatformUnavailable):
        await program.phone_of(mini.give_phone(NUMBER))


async def test_a_wrong_secret_is_no_answer_and_not_written_down(stage: Stage) -> None:
    program, mini = stage.program(app_secret="wrong-5ecret"), stage.wechat.mini_program
    login, phone = mini.log_in("oAlice"), mini.give_phone(NUMBER)
    with pytest.raises(PlatformUnavailable) as caught:
        await program.unionid_of(login)
    with pytest.raises(PlatformUnavailable):
        await program.phone_of(phone)
    written = "".join(stage.log) + repr(caught.value)
    assert "40125" in written
    for secret in ("wrong-5ecret", login, phone, NUMBER, "session_key"):
        assert secret not in written


async def test_a_stale_token_is_renewed_once(stage: Stage) -> None:
    program, mini = stage.program(), stage.wechat.mini_program
    await program.phone_of(mini.give_phone(NUMBER))
    mini.tokens.supersede(stage.clock.now())
    assert await program.phone_of(mini.give_phone(NUMBER)) == f"+86{NUMBER}"
    assert stage.wechat.api.errcodes(PHONE) == [0, 40001, 0]


async def answers(http: DriverHttp, body: Any, *, app_id: str = MINI_APP_ID) -> tuple[Any, Any]:
    """What (a login, a phone) comes to where WeChat answers this to everything but the token."""

    async def say(request: Request) -> Response:
        if request.path.endswith("stable_token"):
            return Response(body=b'{"access_token": "t", "expires_in": 7200}')
        return Response(body=body if isinstance(body, bytes) else json.dumps(body).encode())

    wechat = LoopbackServer(say)
    await wechat.start()
    base = f"http://127.0.0.1:{wechat.port}"
    program = WeChatMiniProgram(MiniProgram(app_id=app_id, app_secret=SECRET, request=http, api_base=base))
    found: list[Any] = []
    for ask in (program.unionid_of, program.phone_of):
        try:
            found.append(await ask("code"))
        except PlatformUnavailable as error:
            found.append(type(error))
    await wechat.close()
    return found[0], found[1]


async def test_wechats_published_answers_are_read(http: DriverHttp) -> None:
    login = PUBLISHED["api-wpy-sns-jscode2session"]
    assert (await answers(http, login))[0] == login["unionid"]
    phone = PUBLISHED["api-wpy-wxa-business-getuserphonenumber"]
    info = phone["phone_info"]
    expected = f"+{info['countryCode']}{info['purePhoneNumber']}"
    assert (await answers(http, phone, app_id=info["watermark"]["appid"]))[1] == expected
    # Another mini-program's button proves nothing to this one.
    assert (await answers(http, phone))[1] is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"openid": None, "unionid": None, "phone_info": None},
        {"openid": [], "unionid": {}, "phone_info": []},
        {"phone_info": {"purePhoneNumber": NUMBER}},
        {"phone_info": {"purePhoneNumber": NUMBER, "countryCode": "86"}},
        {"phone_info": {"purePhoneNumber": NUMBER, "countryCode": 86, "watermark": "x"}},
        {"phone_info": {"countryCode": "86", "watermark": {"appid": MINI_APP_ID}}},
        {
            "phone_info": {
                "purePhoneNumber": NUMBER,
                "countryCode": "八六",
                "watermark": {"appid": MINI_APP_ID},
            }
        },
    ],
)
async def test_odd_answers_prove_nothing(http: DriverHttp, body: Any) -> None:
    assert await answers(http, body) == ("", None)


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"<html>", b'"x"', b"\xff", b"[" * 5_000])
async def test_what_is_no_answer_is_none(http: DriverHttp, body: bytes) -> None:
    assert await answers(http, body) == (PlatformUnavailable, PlatformUnavailable)


def test_a_used_code_is_no_trouble_of_the_accounts() -> None:
    """Nothing a stranger's phone can send may close the API for everybody."""
    from bot.channels.wechat.api.errors import RULES

    closing = {code for code, rule in RULES.items() if rule.verdict in (Verdict.MISCONFIGURED, Verdict.QUOTA)}
    assert not closing & {40029, 40163, 40226, 41008}
