"""Each error code leads where the platform's documents say, and no error tells anything private."""

import json
import re

import pytest

from bot.channels.wechat.api import ApiAway, ApiClosed, ApiError, MediaTooLarge, OutcomeUnknown, Verdict
from bot.channels.wechat.api.errors import RULES, TOKEN_RULES
from bot.channels.wechat.api.transport import read_answer
from tests.shared_files import require_shared
from tests.wechat_api_fake import OPENID, failing, respond

SAID = {
    "refresh once, retry once": {Verdict.STALE},
    "window closed": {Verdict.WINDOW},
    "quota": {Verdict.QUOTA},
    "no permission": {Verdict.NO_PERMISSION},
    "user gone": {Verdict.GONE},
    "configuration error": {Verdict.MISCONFIGURED},
    "too long": {Verdict.TOO_LONG},
}
"""How the table of PROTOCOLS.md words a verdict."""
CLASSES = {
    "transient": {Verdict.BUSY},
    "refresh_token_once": {Verdict.STALE},
    "window_closed": {Verdict.WINDOW},
    "quota": {Verdict.QUOTA},
    "no_permission": {Verdict.NO_PERMISSION},
    "user_gone": {Verdict.GONE},
    "config_alarm": {Verdict.MISCONFIGURED},
    "typing_ignorable": {Verdict.TYPING_IDLE},
    "payload": {Verdict.TOO_LONG, Verdict.BAD_ESCAPES, Verdict.UNKNOWN},
}


def protocol_rows() -> list[tuple[list[int], str]]:
    text = require_shared("PROTOCOLS.md").read_text("utf-8")
    table = text.partition("| errcode | do |")[2].partition("**")[0]
    rows = [row.split("|")[1:3] for row in table.splitlines() if row.startswith("| ") and "--" not in row]
    return [([int(code) for code in re.findall(r"\d{5}", codes)], do) for codes, do in rows]


def test_every_code_of_the_protocol_table_has_the_verdict_it_names():
    rows = protocol_rows()
    assert sum(len(codes) for codes, _ in rows) >= 19
    for codes, do in rows:
        expected = next(verdicts for said, verdicts in SAID.items() if said in do)
        for code in codes:
            assert RULES[code].verdict in expected, code
    # It shares its line with 45002.
    assert RULES[40033].verdict is Verdict.BAD_ESCAPES


def test_every_code_with_a_class_in_the_fixtures_has_its_verdict():
    cases = json.loads(require_shared("fixtures/wechat_error_codes.json").read_text("utf-8"))
    judged = 0
    for case in cases:
        code, named = case["input"]["errcode"], case["expected"].get("suggested_class")
        verdict = ApiError(code).verdict if code else None
        if named:
            judged += 1
            assert verdict in CLASSES[named], code
    assert judged >= 20


def test_every_answer_of_the_fixtures_is_read_as_an_answer_or_as_its_error():
    cases = json.loads(require_shared("fixtures/wechat_api_fixtures.json").read_text("utf-8"))
    kinds = set()
    for case in cases:
        body = case["expected"]["json"]
        errcode = body.get("errcode", 0)
        kinds.add(bool(errcode))
        if not errcode:
            assert read_answer(respond(body)) == body
            continue
        with pytest.raises(ApiError) as caught:
            read_answer(respond(body))
        assert caught.value.errcode == errcode
    assert kinds == {True, False}


@pytest.mark.parametrize(
    "code", [code for code, rule in RULES.items() if rule.verdict is Verdict.MISCONFIGURED]
)
def test_what_the_operator_must_mend_names_the_fix(code):
    assert re.search(r"[一-鿿]{4}", ApiError(code).fix)
    assert ApiError(code).fix in str(ApiError(code))


def test_a_refused_address_is_named_in_the_fix():
    body = failing(40164, "invalid ip 203.0.113.9 ipv6 ::ffff:203.0.113.9, not in whitelist rid: 6348bdf8")
    with pytest.raises(ApiError, match=r"公网 IP 203\.0\.113\.9"):
        read_answer(respond(body))


def test_asked_for_a_token_40001_is_about_the_secret():
    with pytest.raises(ApiError) as caught:
        read_answer(respond(failing(40001)), is_about_token=True)
    assert caught.value.verdict is Verdict.MISCONFIGURED
    assert "AppSecret" in caught.value.fix
    assert ApiError(40001).verdict is Verdict.STALE
    assert all(rule.verdict is Verdict.MISCONFIGURED for rule in TOKEN_RULES.values())


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'"ok"', b"<html>", b"\xff\xfe", b"[" * 5000, b'{"errcode": "x"}']
)
def test_what_is_no_answer_leaves_the_outcome_unknown(body):
    with pytest.raises(OutcomeUnknown):
        read_answer(respond(body))


def test_control_characters_and_codes_as_text_are_read():
    assert read_answer(respond(b'{"errcode": "0", "nickname": "a\x0bb"}'))["nickname"] == "a\x0bb"
    with pytest.raises(ApiError, match="45015"):
        read_answer(respond(b'{"errcode": "45015"}'))


def test_an_error_quotes_nothing_that_wechat_said():
    with pytest.raises(ApiError) as caught:
        read_answer(respond(failing(45015)))
    for text in (str(caught.value), repr(caught.value), repr(caught.value.__dict__)):
        assert OPENID not in text
        assert "rid" not in text


@pytest.mark.parametrize(
    "error",
    [
        ApiError(-1),
        ApiClosed(Verdict.QUOTA),
        MediaTooLarge(5),
        ApiAway("ConnectError"),
        OutcomeUnknown("超时"),
    ],
)
def test_each_error_says_in_words_what_it_is(error):
    assert re.search(r"[一-鿿]{3}", str(error))
    assert repr(error) == str(error)
