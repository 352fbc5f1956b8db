"""Every edge case reported for official accounts: tested here, or named with the test that has it."""

import ast
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from bot.channels.wechat import AccountError, Bot, Event, OfficialAccount
from bot.channels.wechat_mapping import pages_of
from tests.conformance.wechat_app import ACCOUNT, APP_ID, SAFE_ACCOUNT, TOKEN, wechat_app
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
HERE = {"E05", "E10", "E11", "E12", "E13", "E19", "E20"}
OF_THE_API_CLIENT = {"E18", "E23", "E24"}
"""Escapes in JSON, endless refreshing, 45015: what is called, rather than what is posted."""
OF_THE_PROMISE = {"E27"}
"""Holding deliveries open is `promise.py`'s, and has the tests of that."""
BOTH = pytest.mark.parametrize("account", [ACCOUNT, SAFE_ACCOUNT], ids=["plain", "aes"])


def test_every_case_has_its_place():
    assert set(CASES) == {*ELSEWHERE, *HERE, *OF_THE_API_CLIENT, *OF_THE_PROMISE}


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
