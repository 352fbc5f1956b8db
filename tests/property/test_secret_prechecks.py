"""A cheap look ahead of a full reading hides no secret from it."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot import redaction
from bot.conversation import masking
from bot.conversation.masking import mask_secrets
from bot.redaction import redact

ROOT = Path(__file__).resolve().parents[2]
ALWAYS = re.compile("")
WIDE = str.maketrans({code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000})
SAID = [
    *(
        "身份证号",
        "id card number",
        "卡号",
        "银行卡",
        "验证码",
        "校验码",
        "动态码",
        "动态口令",
        "Verification code",
    ),
    *(
        "otp",
        "OTP",
        "/验证",
        "/verify",
        "/VERify",
        "api key",
        "App_Secret",
        "access-key",
        "toKen",
        "bearer",
        "密钥",
    ),
    *(
        "sk-",
        "pk-",
        "AKIA",
        "ASIA",
        "LTAI",
        "AKID",
        "ghp_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "AIza",
        "hf_",
        "eyJ",
    ),
    *(
        "-----BEGIN ",
        "RSA ",
        "PRIVATE KEY-----",
        "-----END ",
        "o",
        "ROBOT1.0_",
        "://",
        "@",
        "?openid=",
        "+86",
    ),
    *(
        "\u017f",
        "\u212a",
        "是",
        "为",
        "：",
        ":",
        "=",
        " ",
        "-",
        ".",
        "_",
        "/",
        "（",
        "您的",
        "，",
        "\n",
        "订单",
    ),
    *("1", "12", "384920", "4111111111111111", "11010519491231002X", "110105491231002", "13812345678"),
    *("a", "Zz", "abcdEFGH", "A1B2C3D4E5F6", "aBc0123456789-_xyz.QRST", "E4F4AEA33253A2797FB897C50B81D7ED"),
]
PIECES = st.sampled_from([*SAID, *(piece.translate(WIDE) for piece in SAID)])
TEXTS = st.lists(PIECES, max_size=9).map("".join) | st.text(st.sampled_from("".join(SAID)), max_size=40)


def fully_masked(text: str) -> tuple[str, bool]:
    with pytest.MonkeyPatch.context() as without:
        without.setattr(masking, "_HAS_LONG_PIECE", ALWAYS)
        return mask_secrets(text)


def fully_redacted(text: str) -> str:
    with pytest.MonkeyPatch.context() as without:
        without.setattr(redaction, "_MAY_BE_PRIVATE", ALWAYS)
        without.setattr(masking, "_HAS_LONG_PIECE", ALWAYS)
        return redact(text)


@settings(deadline=None, max_examples=400)
@given(TEXTS)
def test_no_secret_of_any_text_is_passed_over(text: str) -> None:
    assert mask_secrets(text) == fully_masked(text)
    assert redact(text) == fully_redacted(text)


def test_no_secret_of_the_lists_is_passed_over() -> None:
    files = [*(ROOT / "benchmarks/lists").rglob("*.*"), *(ROOT / "tests/data").iterdir()]
    tests = [ROOT / "tests/unit/test_masking.py", ROOT / "tests/unit/test_redaction.py"]
    texts = {
        piece
        for file in (*files, *tests)
        if file.suffix in (".tsv", ".jsonl", ".txt", ".py")
        for piece in re.split(r'["\t\n]', file.read_text("utf-8"))
        if piece
    }
    hidden = 0
    for text in sorted(texts):
        masked = mask_secrets(text)
        hidden += masked[1]
        assert masked == fully_masked(text)
        assert redact(text) == fully_redacted(text)
    assert hidden
