"""Every edge case reported for official accounts: tested here, or named with the test that has it."""

import ast
import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from bot.channels.wechat import AccountError, Bot, Deadlines, Event, OfficialAccount
from bot.channels.wechat.adapter import WAITING_LINE
from bot.channels.wechat.service import SENT, HeldReason, Sending, ServiceOutcome
from bot.channels.wechat_mapping import pages_of
from simulators.wechat import AccountType, Way
from simulators.wechat.deliveries import Ending
from tests.conformance.wechat_app import ACCOUNT, APP_ID, SAFE_ACCOUNT, TOKEN, wechat_app
from tests.conformance.wechat_with_api import SEND, TYPING, on_stage
from tests.conformance.wechat_with_api import TOKEN as TOKEN_PATH
from tests.shared_files import require_shared

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in json.loads(require_shared("fixtures/edge_cases.json").read_text("utf-8"))
    if case["platform"] == "wechat_oa"
}
SEQUENCES = "test_wechat_sequences.py::test_sequence"
ELSEWHERE = {
    "E03": ("test_wechat_inbound.py::test_inbound", "test_wechat_hostile.py::UNREADABLE"),
    "E06": (SEQUENCES,),
    "E07": (SEQUENCES,),
    "E08": (SEQUENCES,),
    "E09": (SEQUENCES,),
    "E14": (
        "test_wechat_inbound.py::test_a_plaintext_beside_a_ciphertext_without_a_key_is_used_and_warned_of",
    ),
    "E15": ("test_wechat_vectors.py::test_decryption",),
    "E21": ("test_wechat_replies.py::test_a_reply_is_rendered_to_the_byte",),
    "E28": (SEQUENCES,),
    "E29": (SEQUENCES,),
    "E30": (
        "test_wechat_vectors.py::test_decryption",
        "test_wechat_hostile.py::test_the_url_signature_does_not_stand_in_for_the_ciphertexts",
    ),
}
HERE = {"E05", "E10", "E11", "E12", "E13", "E18", "E19", "E20", "E23", "E24", "E27"}
QUESTION, ANSWER = "退货的运费谁出", "运费由卖家出。"
AT_ONCE = Deadlines(typing_seconds=0.0, ready_seconds=0.0, hold_seconds=0.0)
"""No delivery waits, each answers what there is; and a promise is made at once where it can be."""
QUICK = Deadlines(
    typing_seconds=0.1, ready_seconds=0.9, answer_seconds=0.95, hold_seconds=1.2, retry_seconds=2.0
)
"""Five times as fast, for a WeChat that drops after a second."""
BOTH = pytest.mark.parametrize("account", [ACCOUNT, SAFE_ACCOUNT], ids=["plain", "aes"])


def test_every_case_has_its_place():
    assert set(CASES) == {*ELSEWHERE, *HERE}
    said_here = {
        call.args[0].value
        for call in ast.walk(ast.parse(Path(__file__).read_text("utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "said"
        if isinstance(call.args[0], ast.Constant)
    }
    assert said_here == HERE


@pytest.mark.parametrize("named", sorted({name for names in ELSEWHERE.values() for name in names}))
def test_the_named_tests_exist(named: str):
    module, _, name = named.partition("::")
    tree = ast.parse((Path(__file__).parent / module).read_text("utf-8"))
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert name in names


def said(case: str) -> dict[str, Any]:
    """The case, so that a test that names one that is gone fails."""
    return CASES[case]


@BOTH
async def test_whatever_comes_of_it_the_status_is_200(account: OfficialAccount):
    assert said("E05")["expected"]["behaviour"] == "always HTTP 200"

    async def answer(bot: Bot, event: Event) -> None:
        if event.get_plaintext() == "坏":
            raise RuntimeError("boom")
        if event.get_plaintext() == "好":
            await bot.send(event, "好的")

    async with wechat_app(account, handler=answer) as app, app.wechat() as wechat:
        for text in ("好", "坏", "静"):
            assert (await wechat.say("oA", text)).statuses == (200,)
        assert (await wechat.unfollow("oA")).statuses == (200,)
        assert (await wechat.raw("<xml>")).statuses == (200,)


@BOTH
async def test_an_echostr_comes_back_word_for_word_with_its_length(account: OfficialAccount):
    assert said("E10") and said("E11")
    async with wechat_app(account) as app, app.wechat() as wechat:
        for echostr in ("5577006791947779410", "a b+c%", "中文", '"quoted"', "0"):
            query = urlencode({**wechat.signed_query(), "echostr": echostr})
            response = await app.client.get(
                f"{account.path}?{query}", headers={"Accept-Encoding": "gzip, deflate, br"}
            )
            assert response.content == echostr.encode()
            assert response.headers["content-type"].startswith("text/plain")
            assert response.headers["content-length"] == str(len(echostr.encode()))
            assert not {"transfer-encoding", "content-encoding"} & set(response.headers)


@BOTH
async def test_the_very_path_answers_without_a_redirect(account: OfficialAccount):
    assert said("E12")
    async with wechat_app(account) as app, app.wechat() as wechat:
        posted = await app.post(*wechat.post(wechat.xml("oA", "text", {"Content": "你好"}, 1)))
        query = urlencode({**wechat.signed_query(), "echostr": "1"})
        got = await app.client.get(f"{account.path}?{query}")
    assert (posted.status_code, posted.history, got.status_code, got.history) == (200, [], 200, [])


def test_a_key_is_asked_for_in_safe_mode_alone_and_its_shape_is_checked():
    assert set(said("E13")["input"]["fixtures"]) == {"aeskey-shape-1", "aeskey-shape-2", "aeskey-shape-5"}
    assert OfficialAccount(app_id=APP_ID, token=TOKEN).aes_keys == ()
    assert OfficialAccount(app_id=APP_ID, token=TOKEN, aes_key="A" * 43).aes_keys == ("A" * 43,)
    for wrong in ("A" * 42, "A" * 43 + "="):
        with pytest.raises(AccountError) as raised:
            OfficialAccount(app_id=APP_ID, token=TOKEN, aes_key=wrong)
        assert raised.value.key == "aes_key"


@BOTH
async def test_a_line_end_is_a_line_end(account: OfficialAccount):
    assert said("E19")

    async def answer(bot: Bot, event: Event) -> None:
        for page in pages_of("第一行\n第二行\r\n第三行，路径 C:\\new"):
            await bot.send(event, page)

    async with wechat_app(account, handler=answer) as app, app.wechat() as wechat:
        seen = await wechat.say("oA", "你好")
    assert seen.text == "第一行\n第二行\n第三行，路径 C:\\new"


@BOTH
async def test_only_links_to_pages_are_kept_of_markup(account: OfficialAccount):
    assert said("E20")
    asked = (
        '**粗**<br>[页](https://e.cn/a?b=1&c=2) <a href="https://e.cn">买</a> <a href="javascript:x">不</a> '
        "1 < 2 <script>x</script>"
    )

    async def answer(bot: Bot, event: Event) -> None:
        for page in pages_of(asked):
            await bot.send(event, page)

    async with wechat_app(account, handler=answer) as app, app.wechat() as wechat:
        seen = await wechat.say("oA", "你好")
    assert seen.text == (
        '粗\n<a href="https://e.cn/a?b=1&c=2">页</a> <a href="https://e.cn">买</a> 不 '
        "1 < 2 <script>x</script>"
    )


@BOTH
async def test_a_customer_service_text_arrives_as_it_was_written(account: OfficialAccount):
    assert said("E18")["expected"]["behaviour"].startswith("json.dumps(ensure_ascii=False)")
    answer = '你好，<a href="https://e.cn/?a=1&b=2">店</a>\n“引号” "q" C:\\new \\u4f60 \\n 😀\u2028é\x07。'
    async with on_stage(account, answers={QUESTION: answer}, deadlines=AT_ONCE) as stage:
        await stage.known_open("oA")
        assert await stage.deliver("oA", QUESTION, 1, times=1) == [""], "promised"
        await stage.answered()
        assert stage.house.outcomes == [SENT]
        (sight,) = stage.wechat.seen("oA")
        assert sight.way is Way.CUSTOMER_SERVICE
        assert sight.text == answer.replace("\x07", "")
        # WeChat refuses an escape of ours, and here none of it came.
        assert stage.wechat.api.errcodes(SEND) == [0]


async def test_a_text_that_wechat_takes_for_an_escape_is_sent_in_other_letters():
    assert said("E18")["input"]["fixtures"] == ["api-err-40033"]
    async with on_stage(answers={QUESTION: "写成 \\u4f60 就是“你”"}, deadlines=AT_ONCE) as stage:
        await stage.known_open("oA")
        stage.wechat.api.fail(SEND, 40033)
        await stage.deliver("oA", QUESTION, 1, times=1)
        await stage.answered()
        assert [sight.text for sight in stage.wechat.seen("oA")] == ["写成 ＼u4f60 就是“你”"]
        assert stage.wechat.api.errcodes(SEND) == [40033, 0]


@pytest.mark.parametrize(
    ("errcode", "fix", "options"),
    [
        (40164, "127.0.0.1", {"ip_whitelist": ("203.0.113.1",)}),
        (40125, "AppSecret", {"app_secret": "another"}),
        (40013, "AppID", {}),
    ],
)
async def test_a_wrong_setting_is_asked_with_once_and_people_are_answered(
    errcode: int, fix: str, options: dict[str, Any]
):
    assert "no retry" in said("E23")["expected"]["behaviour"]
    async with on_stage(answers={QUESTION: ANSWER}, deadlines=AT_ONCE, **options) as stage:
        if not options:
            stage.wechat.api.fail(TOKEN_PATH, errcode, times=100)
        for number, openid in enumerate(("oA", "oB", "oC"), start=1):
            assert await stage.deliver(openid, QUESTION, number) == ["", "", WAITING_LINE]
        # The typing sign of the first question asked for a token; nobody did so again.
        assert stage.wechat.api.errcodes() == [errcode]
        assert stage.client.abilities.trouble is not None
        assert fix in stage.client.abilities.trouble.fix
        await stage.answered()
        assert (await stage.wechat.say("oA", "继续")).text == ANSWER
        assert stage.wechat.api.errcodes() == [errcode]


@BOTH
async def test_a_window_that_is_closed_after_all_holds_the_answer_for_the_next_message(
    account: OfficialAccount,
):
    assert "do not loop" in said("E24")["expected"]["behaviour"]
    async with on_stage(account, answers={QUESTION: ANSWER}, deadlines=AT_ONCE) as stage:
        await stage.known_open("oA")
        await stage.known_open("oB")
        stage.wechat.api.fail(SEND, 45015, times=100)
        assert await stage.deliver("oA", QUESTION, 1, times=1) == [""], "promised, seconds after they wrote"
        await stage.answered()
        closed = ServiceOutcome(sending=Sending.HELD, reason=HeldReason.WINDOW)
        assert stage.house.outcomes == [closed]
        assert await stage.service.send_text(APP_ID, "oA", ANSWER) == closed
        assert stage.wechat.api.errcodes(SEND) == [45015], "asked once"
        assert not stage.service.is_open(APP_ID, "oA") and stage.service.is_open(APP_ID, "oB")
        assert (await stage.wechat.say("oA", "在吗")).text == ANSWER
        assert stage.service.is_open(APP_ID, "oA"), "they wrote"


async def test_an_unverified_account_answers_on_the_last_delivery():
    """Only silence brings the next delivery, so those before it stay open until WeChat hangs up."""
    assert said("E27")["input"]["fixtures"] == ["wx-seq-retry-3x"]
    kind = AccountType.UNVERIFIED_SUBSCRIPTION
    async with on_stage(
        answers={QUESTION: ANSWER}, deadlines=QUICK, account_type=kind, timeout_seconds=1.0
    ) as stage:
        asking = asyncio.create_task(stage.wechat.say("oA", QUESTION))
        runs = stage.app.adapter._runs._in_flight
        await stage.until(lambda: sum(run.state.attempts for run in runs.values()) == 3)
        stage.house.may_answer.set()
        seen = await asking
        (delivery,) = stage.wechat.deliveries
    assert (seen.text, stage.house.runs) == (ANSWER, 1)
    assert [each.ending for each in delivery.attempts] == [Ending.DROPPED, Ending.DROPPED, Ending.ANSWERED]
    # No permission: found out by one sign, and nothing was tried by a way that is not there.
    assert (stage.wechat.api.errcodes(TYPING), stage.wechat.api.errcodes(SEND)) == ([48001], [])


@BOTH
async def test_an_unverified_account_keeps_a_late_answer_until_the_person_sends_anything(
    account: OfficialAccount,
):
    assert "each held connection < 4.5 s" in said("E27")["expected"]["behaviour"]
    assert Deadlines().ready_seconds <= 4.5, "what is said on a delivery is said by then"
    kind = AccountType.UNVERIFIED_SUBSCRIPTION
    async with on_stage(account, answers={QUESTION: ANSWER}, deadlines=AT_ONCE, account_type=kind) as stage:
        for number, openid in enumerate(("oA", "oB"), start=1):
            assert await stage.deliver(openid, QUESTION, number) == ["", "", WAITING_LINE]
        await stage.answered()
        assert stage.house.outcomes == []
        for openid in ("oA", "oB"):
            assert (await stage.wechat.say(openid, "在吗")).text == ANSWER
        assert (stage.wechat.api.errcodes(TYPING), stage.wechat.api.errcodes(SEND)) == ([48001], [])
        assert stage.house.runs == 4
