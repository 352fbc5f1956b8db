"""Secrets: passwords, codes, keys, numbers of cards and identity cards.

Invariant: what is told of a secret without its value (「我老忘密码」) is none.
"""

import re

from bot.conversation.masking import MASK, mask_secrets
from bot.memory.normalise import normalise

_SECRET = re.compile(
    r"(?:密码|口令|验证码|校验码|动态码|安全码|取款码|pin码|解锁码|开机码|助记词|私钥|密钥|令牌|cvv2?|cvc|passwords?|passwd|pwd"
    r"|api[ _\-]?key|secret|token|private key|seed phrase)[^,.]{0,8}?(?:是|为|叫|:|=|设|用|改|就|\bis\b|[0-9a-z]{4})"
    r"|(?:身份证|护照|社保卡?|银行卡|信用卡|储蓄卡|(?<!会员)(?<!会员积分)卡)(?:号码?|后[四4六6]位|尾号)?[^0-9a-z,.]{0,6}"
    r"[0-9a-z][0-9 *x\-]{5,}"
    r"|(?:银行卡|信用卡|卡)[^,.]{0,4}有效期|(?:背面|后面)(?:的)?(?:三位|3位)"
    r"|\b(?:sk|pk|rk|ghp|akia)[_\-][a-z0-9]{4,}|-----begin"
)


def is_secret(text: str) -> bool:
    return MASK in text or mask_secrets(text)[1] or _SECRET.search(normalise(text)) is not None
