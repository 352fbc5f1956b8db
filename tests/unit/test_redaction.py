"""What a log line cannot hold, and what it keeps."""

import io
import logging
import random
import string
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loguru import logger

from bot.conversation.masking import MASK
from bot.logs import LONGEST_ENTRY, configure_logs
from bot.redaction import redact

OPENID = "oCanary_0123456789-abcdefghij"[:28]
UNIONID = OPENID + "Z"
QQ_OPENID = "E4F4AEA33253A2797FB897C50B81D7ED"
QQ_MESSAGE = "ROBOT1.0_b6nx.CVryAO0nR58RXuU6SC.m0ZcqqB1!"
PHONE = "13812345678"
KEY = "sk-canary0123456789ABCDEF"
ID_NUMBER = "110101199003071233"


@pytest.mark.parametrize(
    "private",
    [
        PHONE,
        f"+86{PHONE}",
        f"+86 {PHONE}",
        "138-1234-5678",
        "138 1234 5678",
        "１３８１２３４５６７８",
        "+44 20 7946 0958",
        OPENID,
        UNIONID,
        QQ_OPENID,
        QQ_MESSAGE,
        "li.si+canary@mail.example.com",
        KEY,
        "sk-short1",
        ID_NUMBER,
        "11010119900307123X",
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "他说 {}，", "'{}'", '{{"a": "{}"}}', "{}@", "x={}&y", "say\n{}\n", "\\n{}"]
)
def test_it_is_hidden_wherever_it_stands(private: str, around: str):
    shown = redact(around.format(private))
    assert private not in shown
    assert MASK in shown


@pytest.mark.parametrize(
    "harmless",
    [
        "03-04 05:06:07 INFO",
        "wechat private conversation=d14476f20b decided_by=model ms: recall=11 total=1380",
        "1700000000000",
        "20261130002658",
        "trace=9f86d081884c7d659a2feaa0c55ad015 done",
        "SHA256 E4F4AEA33253A2797FB897C50B81D7EDE4F4AEA33253A2797FB897C50B81D7ED",
        "tests_of_a_very_long_snake_case_name_of_ours",
        "http://127.0.0.1:8080/wechat?lang=zh",
        "reply 1381234567 to onebot ended unknown",
        'File "bot/llm/openai_connection.py", line 91, in post',
        "task-runner-one",
        "",
    ],
)
def test_what_is_nobodys_stays(harmless: str):
    assert redact(harmless) == harmless


def test_a_query_string_keeps_its_names_and_loses_its_values():
    shown = redact("GET /wechat?signature=abc1&timestamp=17&nonce=99&openid=oX&msg_signature=d2 HTTP/1.1")
    assert shown == (
        f"GET /wechat?signature={MASK}&timestamp=17&nonce={MASK}&openid={MASK}&msg_signature={MASK} HTTP/1.1"
    )


def test_an_address_loses_its_password():
    assert "hunter2" not in redact("redis://:hunter2@127.0.0.1:6379/0")


def test_secrets_of_the_house_are_hidden_whatever_they_look_like():
    assert redact("the token is wechat-token!", ["wechat-token!"]) == f"the token is {MASK}"
    assert redact("took 1e5 ms", ["1e5"]) == "took 1e5 ms"


@given(st.text(max_size=60), st.text(max_size=60), st.integers())
def test_an_openid_never_survives(before: str, after: str, seed: int):
    """Between any words; glued to other letters and digits nothing is known to be one."""
    letters = string.ascii_letters + string.digits + "_-"
    openid = "o" + "".join(random.Random(seed).choices(letters, k=26)) + "7"
    assert openid not in redact(f"{before} {openid} {after}")


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    logger.remove()


def test_exceptions_are_redacted_with_their_causes(capsys: pytest.CaptureFixture[str]):
    """A third-party line above INFO is written whatever it quotes."""
    configure_logs("INFO", ["house-secret"])
    try:
        try:
            raise KeyError(f"no such person {OPENID}")
        except KeyError as error:
            raise ValueError(f"{PHONE} with {KEY} and house-secret") from error
    except ValueError as error:
        logger.opt(exception=error).error("a message could not be answered: {}", PHONE)
    written = capsys.readouterr().err
    assert "KeyError" in written and "ValueError" in written
    assert written.count(MASK) >= 4
    for private in (OPENID, PHONE, KEY, "house-secret"):
        assert private not in written


def test_what_libraries_log_comes_redacted_too(capsys: pytest.CaptureFixture[str]):
    configure_logs("INFO", ["house-secret"])
    library = logging.getLogger("asyncio")
    library.error("Task exception was never retrieved: %s {not a field}", PHONE)
    library.info("quoting %s", PHONE)
    written = capsys.readouterr().err
    assert "Task exception was never retrieved" in written and "{not a field}" in written
    assert "quoting" not in written
    assert PHONE not in written


def test_a_library_with_a_bridge_of_its_own_is_not_written_twice(capsys: pytest.CaptureFixture[str]):
    configure_logs("INFO", ["house-secret"])
    library = logging.getLogger("bridged.by.others")
    library.addHandler(logging.NullHandler())
    library.error("twice")
    assert "twice" not in capsys.readouterr().err


def test_an_endless_entry_is_cut(capsys: pytest.CaptureFixture[str]):
    configure_logs("INFO", ["house-secret"])
    logger.patch(lambda record: record.update(name="bot.test")).error("字" * (2 * LONGEST_ENTRY) + PHONE)
    assert len(capsys.readouterr().err) < LONGEST_ENTRY + 100


def test_a_sink_that_is_gone_does_not_make_loguru_show_the_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """Its own report of a failing sink holds the line as it was."""

    class Full(io.StringIO):
        def write(self, text: str, /) -> int:
            raise OSError("no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("sys.stderr", Full())
        configure_logs("INFO")
    logger.patch(lambda record: record.update(name="bot.test")).error(PHONE)
    assert PHONE not in capsys.readouterr().err
