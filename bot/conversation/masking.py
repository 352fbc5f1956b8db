"""Hide secrets in a person's text: bank cards, identity numbers, one-time codes, API keys.

Invariant: everything outside a secret stays byte for byte. Order ids and phones are not secrets, so a
number counts only with its check digit right, or with a word before it that says what it is.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date

import re2

MASK = "[已隐藏]"

_HALF_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
"""One character for one, so that places in the folded text are places in the original."""

_DIGIT_GROUPS = re2.compile(r"[0-9]+(?:[ \-][0-9]+)*")
_ID_NUMBER = re2.compile(r"[0-9]{17}[0-9Xx]")
_NAMED_ID = re2.compile(
    r"(?i)(?:身份证|id card)(?:号码?|number)?[^0-9,，。；;\n]{0,6}([0-9]{17}[0-9X]|[0-9]{15})"
)
_NAMED_CARD = re2.compile(
    r"(?:银行卡|信用卡|储蓄卡|借记卡|卡号)[^0-9,，。；;\n]{0,8}([0-9](?:[ \-]?[0-9]){12,18})"
)
_CODE_AFTER = re2.compile(
    r"(?i)(?:验证码|校验码|动态码|动态口令|verification code|otp|/验证|/verify)"
    r"[^0-9a-z,，。；;\n]{0,8}([0-9a-z]{0,3}[0-9][0-9a-z]{3,7})"
)
_CODE_BEFORE = re2.compile(
    r"([0-9]{4,8})[ (（【]{0,2}(?:是|为)?(?:您|你|我)?的?[^0-9,，。；;\n]{0,8}(?:验证码|校验码|动态码)"
)
_API_KEY = re2.compile(
    r"((?:sk|pk|rk)-[A-Za-z0-9_\-]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}|LTAI[0-9A-Za-z]{12,30}"
    r"|AKID[0-9A-Za-z]{13,40}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"
    r"|glpat-[A-Za-z0-9_\-]{20,}|xox[abprs]-[A-Za-z0-9\-]{10,}|AIza[0-9A-Za-z_\-]{35}|hf_[A-Za-z0-9]{20,}"
    r"|eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*)"
)
_NAMED_KEY = re2.compile(
    r"(?i)(?:api[ _\-]?key|app[ _\-]?secret|access[ _\-]?key|secret[ _\-]?key|token|bearer|密钥|令牌)"
    r"[\"' ]{0,2}(?:是|为|[:：=]|is|[ ])[\"' ]{0,3}([A-Za-z0-9_\-./+=]{12,})"
)
_PRIVATE_KEY = re2.compile(
    r"(?s)(-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$))"
)
_MADE_OF = (
    r"0-9A-Za-z_\-./+= \u3000\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff3f\uff0d\uff0e\uff0f\uff0b\uff1d"
)
"""What a secret may be made of, in either width."""
_HAS_LATIN_PIECE = re.compile(rf"[{_MADE_OF}]{{4}}")
"""Hardly any Chinese sentence has four in a row, and Python's own engine says so within a microsecond."""
_HAS_LONG_PIECE = re.compile(
    # Where case is ignored, `ſ` and the Kelvin sign are an S and a K.
    rf"[{_MADE_OF}\u017f\u212a]{{12}}|[码令证]"
    r"|[oO\uff4f\uff2f][tT\uff54\uff34][pP\uff50\uff30]|[vV\uff56\uff36][eE\uff45\uff25][rR\uff52\uff32]"
)
"""Twelve in a row, or a word for a code, which may be shorter: whatever is hidden has that. A house's number or
a year has not, and what RE2 needs (folding, UTF-8, letting go of the GIL) costs ten times as much as this look."""
_LONG_NUMBER = re2.compile(r"[0-9](?:[ \-]?[0-9]){12}")
"""As many digits as the shortest card has, with or without separators."""
_NAMED = (_NAMED_ID, _NAMED_CARD, _CODE_AFTER, _CODE_BEFORE, _API_KEY, _NAMED_KEY, _PRIVATE_KEY)
MAY_HOLD_SECRETS = "|".join(f"(?:{each.pattern})" for each in (_LONG_NUMBER, *_NAMED))
"""For RE2, of a folded text: whatever is hidden has such a piece, and hardly anything people write has one. One look
instead of nine."""
_MAY_HOLD_SECRETS = re2.compile(MAY_HOLD_SECRETS)
_ORDER_WORD = re2.compile(r"(?i)(?:订单|单号|运单|快递|物流|流水|编号|order|no\.?)[^0-9]{0,6}$")

_CARD = re2.compile(
    r"^(?:(?:(?:62|60|81)[0-9]{14,17}|9558[0-9]{12,15})|(?:4[0-9]|5[1-5]|65|35)[0-9]{14}|3[47][0-9]{13})$"
)
"""Issuer prefixes (ISO/IEC 7812) seen on cards in China with their lengths: UnionPay to 19 digits, Visa,
Mastercard, Discover and JCB 16, American Express 15. Order ids start with a year or a 1, or are longer."""
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
"""GB 11643: weights of the 17 digits; the remainder by 11 picks the check character."""
_ID_CHECKS = "10X98765432"

_Span = tuple[int, int]

SHORTEST_CARD, LONGEST_CARD = 13, 19
"""Digits of a card number (ISO/IEC 7812-1)."""


def half_width(text: str) -> str:
    """Full-width letters, digits and signs as their ASCII twins."""
    return text if text.isascii() else text.translate(_HALF_WIDTH)


def mask_secrets(text: str) -> tuple[str, bool]:
    """The text with each secret replaced by `MASK`, and whether there was one. Linear in its length."""
    if not _HAS_LATIN_PIECE.search(text) or not _HAS_LONG_PIECE.search(text):
        return text, False
    folded = half_width(text)
    if not _MAY_HOLD_SECRETS.search(folded):
        return text, False
    spans = sorted(span for find in _FINDERS for span in find(folded))
    if not spans:
        return text, False
    kept: list[str] = []
    end = 0
    for start, stop in spans:
        if start >= end:
            kept += (text[end:start], MASK)
        end = max(end, stop)
    return "".join((*kept, text[end:])), True


def _named_secrets(text: str) -> Iterator[_Span]:
    for pattern in _NAMED:
        for match in pattern.finditer(text):
            yield match.start(1), match.end(1)


def _id_numbers(text: str) -> Iterator[_Span]:
    for match in _ID_NUMBER.finditer(text):
        start, end = match.start(), match.end()
        if _stands_alone(text, start, end) and _is_id_number(text[start:end]):
            yield start, end


def _cards(text: str) -> Iterator[_Span]:
    for match in _DIGIT_GROUPS.finditer(text):
        start, end = match.start(), match.end()
        if end - start < SHORTEST_CARD:
            continue
        if _stands_alone(text, start, end) and not _ORDER_WORD.search(text[max(0, start - 12) : start]):
            yield from _cards_among(text, start, end)


def _cards_among(text: str, start: int, end: int) -> Iterator[_Span]:
    """Cards within groups of digits: a phone beside a card must not hide it."""
    groups: list[_Span] = []
    place = start
    for group in text[start:end].replace("-", " ").split(" "):
        groups.append((place, place + len(group)))
        place += len(group) + 1
    first = 0
    while first < len(groups):
        last = next((last for last in _card_ends(text, groups, first)), None)
        if last is None:
            first += 1
        else:
            yield groups[first][0], groups[last][1]
            first = last + 1


def _card_ends(text: str, groups: list[_Span], first: int) -> Iterator[int]:
    # A card is written in five groups at most (4-4-4-4-3).
    length = 0
    for last in range(first, min(first + 5, len(groups))):
        length += groups[last][1] - groups[last][0]
        if length > LONGEST_CARD:
            return
        if length < SHORTEST_CARD:
            continue
        digits = "".join(text[a:b] for a, b in groups[first : last + 1])
        if _CARD.search(digits) and _passes_luhn(digits):
            yield last


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Letters or digits joined to it make it part of something longer: an order id, a URL."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not _joins(before) and not _joins(after)


def _joins(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def _passes_luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _is_id_number(number: str) -> bool:
    try:
        date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], _ID_WEIGHTS, strict=True))
    return _ID_CHECKS[total % 11] == number[17].upper()


_FINDERS: tuple[Callable[[str], Iterator[_Span]], ...] = (_named_secrets, _id_numbers, _cards)
