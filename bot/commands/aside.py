"""What of a message is put aside before it is stored: a phone that is to be proven, and its code.

Invariant: pure; the text that stays is one of our commands with a mark in the place of what was taken out, so that
a number or a code that was not typed exactly as a command is carried out and never stored all the same.
"""

import re
import unicodedata

from bot.commands.parsing import BETWEEN, UNSTORED, Command, parse
from bot.conversation.errors import RejectedInput
from bot.conversation.text import after_slash, clean
from identity.phone import e164

LONGEST_CODE = 32
"""Characters. What is longer is no message that only brings a code."""
LONGEST_PHONE = 64

_SECRET = frozenset({Command.PHONE, Command.VERIFY})
_MARKS = r"[\s:：=,，、。.!！~～;；\-—–_*#\"'“”‘’「」【】\[\]()<>]"
_CODE = re.compile(
    rf"(?:/|{_MARKS}|我|的|收到|了|这|个|就|短信|手机|码|验证|校验|动态|是|为|verify|verification|code|otp|is)*"
    r"([0-9](?:[\s\-]*[0-9]){5})"
    rf"(?:{_MARKS}|是|我|的|短信|手机|验证码?|校验码|动态码|谢谢|code)*"
)
"""A code, and around it nothing but words that say so."""
_PHONE = re.compile(
    rf"(?P<slashes>/*)\s*(?:手机(?:号码?)?|phone)(?:{_MARKS}|是|为)*?"
    r"(?P<number>[+(]*[0-9](?:[\s\-().]*[0-9]){6,}.*)"
)
"""A command whose number follows by way of something else than a space."""


def put_aside(
    text: str, *, are_phones_on: bool = False, is_private: bool = False, is_code_open: bool = False
) -> tuple[str, str]:
    """The text as it may be stored, and what was taken out of it: the phone or the code of a command. ("…", "")
    where there is none.

    `are_phones_on`: a number behind 「/手机号是」 and the like is one too, and 「手机 138…」 alone in private.
    `is_code_open`: this account waits for a code, so that in private a bare one is meant as one.
    """
    rest = after_slash(text)
    call = parse(text) if rest is not None else None
    if rest is not None and call is not None and call.command in _SECRET:
        if call.argument in ("", UNSTORED):
            return text, ""
        return f"/{rest.removesuffix(call.argument).rstrip(BETWEEN)} {UNSTORED}", call.argument
    if call is None and is_private and is_code_open and (code := _bare_code(text)):
        return f"/验证 {UNSTORED}", code
    if call is None and are_phones_on and (phone := _loose_phone(text, is_private=is_private)):
        return f"/手机 {UNSTORED}", phone
    return text, ""


def _bare_code(text: str) -> str:
    found = _CODE.fullmatch(_folded(text)) if len(text) <= LONGEST_CODE else None
    return "" if found is None else found[1]


def _loose_phone(text: str, *, is_private: bool) -> str:
    found = _PHONE.fullmatch(_folded(text)) if len(text) <= LONGEST_PHONE else None
    if found is None:
        return ""
    number = found["number"].rstrip("。.!~ ")
    return number if found["slashes"] or (is_private and _is_phone(number)) else ""


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", clean(text)).lower()


def _is_phone(number: str) -> bool:
    try:
        e164(number)
    except RejectedInput:
        return False
    return True
