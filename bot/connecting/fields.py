"""What may be typed into the fields of the connecting pages.

Invariant: pure; what the platform or a header could not carry is no value, and nothing is cut or mended in silence.
"""

import re

LONGEST_FIELD = 500
"""Characters. What platforms issue is far shorter."""

_WECHAT_TOKEN = re.compile(r"[A-Za-z0-9]{3,32}")
"""Source: 微信官方文档 · 公众号 · 接入指南: Token 必须为英文或数字，长度为 3-32 字符."""
_WECHAT_AES_KEY = re.compile(r"[A-Za-z0-9]{43}")
_QQ_APP_ID = re.compile(r"[0-9]{5,20}")


def is_wechat_token(text: str) -> bool:
    return _WECHAT_TOKEN.fullmatch(text) is not None


def is_wechat_aes_key(text: str) -> bool:
    return _WECHAT_AES_KEY.fullmatch(text) is not None


def is_qq_app_id(text: str) -> bool:
    return _QQ_APP_ID.fullmatch(text) is not None


def is_secret(text: str) -> bool:
    """What the header of a request carries as it is: visible ASCII, no space."""
    return 0 < len(text) <= LONGEST_FIELD and all("!" <= each <= "~" for each in text)
