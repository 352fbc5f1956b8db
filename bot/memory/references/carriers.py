"""Couriers and shops: the words for them, and the forms of their numbers.

Invariant: pure; a number's form only ever excludes a courier, or makes one likely.
"""

import re

NAMES = {
    "顺丰": r"SF[0-9]+",
    "圆通": r"YTO?[0-9]+",
    "中通": r"ZTO?[0-9]+|7[35-8][0-9]{12}",
    "申通": r"STO?[0-9]+|77[0-9]{13}",
    "韵达": r"YD[0-9]+|[34][0-9]{12,14}",
    "极兔": r"JT[0-9]+",
    "京东": r"JD[A-Z]{0,3}[0-9]+|[0-9]{10,15}",
    "德邦": r"DPK[0-9]+|DB[A-Z]?[0-9]+",
    "邮政": r"EMS[0-9]+|[A-Z]{2}[0-9]{9}[A-Z]{2}",
    "百世": r"HTKY[0-9]+|BEST[0-9]+",
    "淘宝": r"[0-9]{15,19}",
    "天猫": r"[0-9]{15,19}",
    "拼多多": r"[0-9]{21}",
    "抖音": r"[0-9]{19}",
}
_OTHER_NAMES = {"ems": "邮政", "sf": "顺丰", "pdd": "拼多多", "jd": "京东", "中国邮政": "邮政"}
_OF_ANOTHER_WORD = {
    "京东": r"(?<![北南])京东(?![路街城站直门])",
    "中通": r"(?<![集途空其之])中通(?![知过道])",
}
"""北京东路, 集中通知."""
WORDS = "|".join(
    rf"(?<![0-9A-Za-z]){name}(?![0-9A-Za-z])" if name.isascii() else _OF_ANOTHER_WORD.get(name, name)
    for name in sorted([*NAMES, *_OTHER_NAMES], key=len, reverse=True)
)
"""Whole words only: the letters that a number begins with name no courier."""


def carrier_named(word: str) -> str:
    """The name of a courier or shop, whatever it was called."""
    return _OTHER_NAMES.get(word.lower(), word)


def is_of_carrier(number: str, carrier: str) -> bool:
    """The number has a form that courier or shop gives its numbers."""
    form = NAMES.get(carrier)
    return form is not None and re.fullmatch(form, number) is not None


def has_letters_of_another(number: str, carrier: str) -> bool:
    """SF… is no number of 圆通's."""
    if not number[:2].isalpha():
        return False
    return any(
        re.fullmatch(form, number) for name, form in NAMES.items() if name != carrier
    ) and not is_of_carrier(number, carrier)
