"""Secrets are hidden; order ids, phones and everything else stay as they are."""

import pytest

from bot.conversation import masking
from bot.conversation.masking import MASK, mask_secrets


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("卡 4111111111111111 打给我", f"卡 {MASK} 打给我"),
        ("4111-1111-1111-1111", MASK),
        ("４１１１　１１１１　１１１１　１１１１", MASK),
        ("378282246310005", MASK),
        ("我的卡号是 6222 0202 0011 2233 445", f"我的卡号是 {MASK}"),
        ("13800138000 4111111111111111", f"13800138000 {MASK}"),
        ("11010519491231002X 是我的", f"{MASK} 是我的"),
        ("身份证号：110105194912310021", f"身份证号：{MASK}"),
        ("验证码是 384920，别告诉别人", f"验证码是 {MASK}，别告诉别人"),
        ("384920是您的验证码", f"{MASK}是您的验证码"),
        ("sk-abcdefghijklmnop1234567890", MASK),
        ("api key: abcd1234efgh5678", f"api key: {MASK}"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----。", f"{MASK}。"),
        ("4111111111111111和4111111111111111", f"{MASK}和{MASK}"),
    ],
)
def test_secrets_are_hidden(text: str, masked: str) -> None:
    assert mask_secrets(text) == (masked, True)


@pytest.mark.parametrize(
    "text",
    [
        "我的订单号是 SF123456789",
        "订单 4111111111111111 到哪了",
        "订单 2026112912345678 到哪了",
        "快递单号 773012345678901",
        "电话 13800138000",
        "4111111111111112",
        "110105194912310021",
        "11010519991345002X",
        "SF4111111111111111",
        "验证码收不到",
        "密钥是什么",
        "token 的用量",
        "",
        "我对花生过敏 {0} $x",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask_secrets(text) == (text, False)


def test_masking_twice_changes_nothing() -> None:
    once, _ = mask_secrets("验证码是 384920，卡 4111111111111111")
    assert mask_secrets(once) == (once, False)


@pytest.mark.parametrize(
    "text", ["卡4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "４-１-１-１-１-１-１-１-１-１-１-１-１-１-１-１"]
)
def test_digits_that_stand_apart_are_looked_at_too(text: str) -> None:
    """Neither is a card (cards are written in five groups at most), but both reach the finders."""
    assert masking._HAS_LATIN_PIECE.search(text)
    assert masking._MAY_HOLD_SECRETS.search(text.translate(masking._HALF_WIDTH))
    assert mask_secrets(text) == (text, False)
