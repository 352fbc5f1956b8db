"""Find phone numbers: Chinese mobiles (also masked), landlines, 400 and 95 numbers, numbers of other countries.

Invariant: pure. A number no word names counts only in a form that nothing else has; behind 电话 or 号码是 any
6 to 16 digits do. Every pattern takes linear time: separators and groups are bounded.
"""

import re
from collections.abc import Iterator

Span = tuple[int, int]

FEWEST_DIGITS, MOST_DIGITS = 6, 16
"""Of a number that a word names: a short Italian one, a Chinese one with country code and extension."""

_APART = r"(?<![0-9A-Za-z_*#%=$¥€£])(?<![0-9][.\-])"
_END = r"(?![0-9A-Za-z_*%])(?!\s?(?:元|块|美元|件|个月))"
_EXTENSION = r"(?:\s?(?:x|ext\.?|转|分机)\s?[0-9]{1,6}(?![0-9]))?"
_MOBILE = re.compile(
    r"(?<![0-9A-Za-z_.*#])(?:\(?(?:\+|00)?86\)?[\s\-]{0,2})?"
    r"1[3-9](?:[0-9]{9}|[0-9][\s\-][0-9]{4}[\s\-][0-9]{4}|[0-9]{2}[\s\-][0-9]{3}[\s\-][0-9]{4}|[0-9]{5}[\s\-][0-9]{4}"
    r"|[0-9]{1,2}[*xX·•]{3,6}[0-9]{2,4}|[0-9][\s\-][*xX·•]{4}[\s\-][0-9]{4})(?![0-9A-Za-z_*]|\.[0-9])"
)
_LANDLINE = re.compile(
    rf"(?<![0-9A-Za-z_\-/.])(?:(?:\+|00)?86[\s\-]{{0,2}})?"
    rf"(?:\(0[0-9]{{2,3}}\)\s?-?|0[0-9]{{2,3}}(?:-|\s)?)[2-9][0-9]{{2,3}}[\s\-]?[0-9]{{4}}(?:-[0-9]{{1,6}})?{_EXTENSION}(?![0-9A-Za-z_\-])"
)
_SERVICE = re.compile(
    r"(?<![0-9A-Za-z_\-/.])[48]00(?:[\s\-]?[0-9]{3}[\s\-]?[0-9]{4}|[\s\-]?[0-9]{4}[\s\-]?[0-9]{3})(?![0-9A-Za-z_\-])"
)
_ABROAD = re.compile(
    rf"{_APART}(?:\(\+[0-9]{{1,3}}\)|\+[0-9]{{1,3}}|00[1-9][0-9]{{0,2}}|\(?011\)?[\s\-][0-9]{{1,3}})"
    rf"(?:[\s\-]{{0,2}}\(?[0-9]{{1,11}}\)?){{1,6}}{_EXTENSION}{_END}"
)
_AMERICAN = re.compile(
    r"(?<![0-9A-Za-z_/.+*])(?:1[\s\-])?"
    r"(?:\(?[0-9]{3}\)[\s\-.]{0,2}[0-9]{3}[\s\-.][0-9]{4}"
    r"|[2-9][0-9]{2}([\s\-.])[0-9]{3}\1[0-9]{4}|[0-9]{3}([ .])[0-9]{3}\2[0-9]{4})"
    rf"{_EXTENSION}(?![0-9A-Za-z_.]*[0-9A-Za-z])"
)
_CUE = re.compile(
    r"(?i)(?:电话|手机号|手机|座机|固话|热线|传真|号码|联系方式|联系我|打给|拨打|致电|tel(?:ephone)?\.?|phone|mobile|whatsapp|fax|拨)"
    r"(?:[号码是为叫:\s,，.您你我的有一下都在\"'】\]]|改[成为]|换成|给[你您我]|更新为|请?输入|现在|新|联系|如下|打这个|#[^#\s]{1,12}#){0,8}"
    r"(?=[+(0-9])"
)
_DENIED = re.compile(r"(?:不是|不像|没有|并非|不算)[^，,。]{0,4}$")
_SEPARATORS = r"(?:[\s\-./]|\)\s?[\-.]?\s?|\s?\(|-\s|/\s)"
_NAMED = re.compile(
    rf"(?:\(?\+?|\+)\(?[0-9]{{1,14}}(?:{_SEPARATORS}{{1,2}}[0-9]{{1,12}}){{0,6}}{_EXTENSION}", re.IGNORECASE
)
_FURTHER = re.compile(r"\s?(?:[,，、/;；]|或者?|和|跟|还有)\s?(?=[+(]?[0-9])")
_HOTLINE = re.compile(
    r"(?<![0-9A-Za-z\-.])(?:95[0-9]{3}|9[56][0-9]{4}|10[01]86|10010|10000)(?![0-9A-Za-z\-.])"
)
_CALLED = re.compile(r"(?:打|拨|电话|热线|致电|客服|联系|官方|来电|接到|号码)[^，,。0-9]{0,6}$")
_CALLING = re.compile(r"[^，,。0-9]{0,4}(?:来电|打来|打给|的?(?:电话|热线|客服)|打过来)")
_COUNTED = re.compile(r"\s?(?:元|块|件|个|人|次|万|年|月|日|号楼|斤|美元)")
_HAS_DIGITS = re.compile(r"[0-9][0-9\s\-./()*xX+]{3}")
_DIGIT = re.compile(r"[0-9]")
_FEWEST_SHOWN = 5
_JOINED = re.compile(r"[0-9A-Za-z_*]")
_DATE = re.compile(
    r"(?:19|20)[0-9]{2}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?![0-9])|[0-9]{1,2}[-/.][0-9]{1,2}[-/.](?:19|20)[0-9]{2}(?![0-9])"
)


def may_hold_phone(text: str) -> bool:
    """Whether it has as many digits as the shortest number, a masked mobile's or a hotline's, and some of them together."""
    return _HAS_DIGITS.search(text) is not None and len(_DIGIT.findall(text)) >= _FEWEST_SHOWN


def find_phones(text: str) -> Iterator[tuple[Span, float]]:
    """(place, certainty) of each phone number in a folded text; one place may come twice."""
    if not may_hold_phone(text):
        return
    for found in _MOBILE.finditer(text):
        yield found.span(), 1.0
    yield from _named(text)
    for pattern, certainty in ((_SERVICE, 0.95), (_LANDLINE, 0.95), (_ABROAD, 0.9), (_AMERICAN, 0.85)):
        for found in pattern.finditer(text):
            if pattern is not _ABROAD or 8 <= _digits(found.group()) <= MOST_DIGITS:
                yield found.span(), certainty
    for found in _HOTLINE.finditer(text):
        before = text[max(0, found.start() - 12) : found.start()]
        is_called = _CALLED.search(before) or _CALLING.match(text, found.end())
        if is_called and not _COUNTED.match(text, found.end()):
            yield found.span(), 0.8


def normalised_phone(number: str) -> str:
    """Digits (and `*` where masked) without the country code of China; another's keeps its `+`."""
    bare = re.sub(r"[^0-9*+xX·•转]", "", number)
    main, mark, extension = re.sub("[xX·•]{3,}", lambda found: "*" * len(found.group()), bare).partition("转")
    main, _, more = main.partition("x") if "x" in main else main.partition("X")
    extension = extension or more
    main = re.sub(r"^(?:\+|00)?86(?=1[3-9]|0[0-9]{2}|400)", "", main)
    main = re.sub(r"^(?:\+|00)86", "0", main)
    main = re.sub(r"^00(?=[1-9])", "+", main)
    return f"{main}x{extension}" if mark or extension else main


def _named(text: str) -> Iterator[tuple[Span, float]]:
    """Numbers behind a word for one, and those listed behind the first."""
    for cue in _CUE.finditer(text):
        if _DENIED.search(text[max(0, cue.start() - 8) : cue.start()]):
            continue
        place = cue.end()
        for _ in range(8):
            found = _NAMED.match(text, place)
            if found is None or not _is_number(text, found):
                break
            yield found.span(), 0.95
            further = _FURTHER.match(text, found.end())
            if further is None:
                break
            place = further.end()


def _is_number(text: str, found: re.Match[str]) -> bool:
    if not FEWEST_DIGITS <= _digits(found.group()) <= MOST_DIGITS + 6 or _DATE.match(found.group()):
        return False
    return not _JOINED.match(text, found.end()) and not _COUNTED.match(text, found.end())


def _digits(number: str) -> int:
    return sum(character.isdigit() for character in number)
