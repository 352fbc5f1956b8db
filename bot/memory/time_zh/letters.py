"""The text as the grammar reads it: one width, one script, so that every rule is written once.

Invariant: as long as the text it was made from, so that an offset in one is an offset in the other.
"""

_WIDTH = {full: full - 0xFEE0 for full in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0xA0: 0x20}
_DASHES = dict.fromkeys(map(ord, "—–―－‐‑−─﹣"), ord("-")) | dict.fromkeys(map(ord, "～〜∼˜"), ord("~"))
_TRADITIONAL = str.maketrans(
    "週個後時點號禮鐘幾兩間現來內從剛節國慶誕聖親陰農曆臘閏處驚蟄穀滿種無前當這過歲內勞動婦師復際裏裡樣陽載紀長員習兒會臺飯總開還剩麼",
    "周个后时点号礼钟几两间现来内从刚节国庆诞圣亲阴农历腊闰处惊蛰谷满种无前当这过岁内劳动妇师复际里里样阳载纪长员习儿会台饭总开还剩么",
)
_NUMERALS = str.maketrans("○Ｏ壹贰叁肆伍陆柒捌玖拾貳參陸", "〇〇一二三四五六七八九十二三六")
_TABLE = _WIDTH | _DASHES | _TRADITIONAL | _NUMERALS


def fold(text: str) -> str:
    """Half width, simplified where a time word is written so, lower case; as long as `text`."""
    folded = text.translate(_TABLE)
    lowered = folded.lower()
    return lowered if len(lowered) == len(folded) else folded
