"""Find order and waybill numbers, and the last digits people give for them.

Invariant: pure. A number counts by its form (顺丰 SF…, 拼多多 230512-…), by a word beside it (单号, 尾号), or,
15 to 19 digits long, alone: shops number their orders so, and nothing else people write is that long.
"""

import re
from collections.abc import Iterator

from bot.conversation.masking import mask_secrets

Span = tuple[int, int]

_ALONE = r"(?<![0-9A-Za-z_./=])(?<![0-9A-Za-z]-)"
"""A dash after a word (杯子——SF123…) only leads to the number."""
_END = r"(?![0-9A-Za-z_]|[\-.][0-9A-Za-z])"
_FORMS = re.compile(
    rf"(?i){_ALONE}(?:SF[0-9]{{12,15}}|YTO?[0-9]{{10,18}}|ZTO?[0-9]{{10,15}}|STO?[0-9]{{10,15}}|YD[0-9]{{10,15}}|EMS[0-9]{{8,13}}"
    r"|JT[0-9]{10,15}|JD[A-Z]{0,3}[0-9]{9,15}(?:-[0-9]{1,3}-[0-9]{1,3}-?)?|DB[KL]?[0-9]{8,15}|DPK[0-9]{9,15}|HTKY[0-9]{8,15}|BEST[0-9]{8,15}"
    r"|UC[0-9]{8,15}|LP[0-9]{12,18}|CAINIAO[0-9]{8,15}|KY[0-9]{10,15}|FW[0-9]{8,15}|[A-Z]{2}[0-9]{9}[A-Z]{2}|1Z[0-9A-Z]{16}"
    rf"|[0-9]{{6}}-[0-9]{{15}}){_END}"
)
"""Couriers in the order 顺丰, 圆通, 中通, 申通, 韵达, EMS, 极兔, 京东, 德邦, 百世, 优速, 菜鸟, 跨越, 丰网, the postal
union's form (S10), UPS; last the orders of 拼多多."""
_LETTERED = re.compile(
    rf"{_ALONE}(?!(?i:qq|wx|vx|tel|phone|id|http|v|ip|sn|imei)[0-9])[A-Za-z]{{1,6}}-?[0-9]{{8,20}}{_END}"
)
_LONG = re.compile(rf"{_ALONE}[0-9]{{15,19}}{_END}")
_MIDDLE = re.compile(rf"{_ALONE}[0-9]{{12,14}}{_END}")
_SAYS_SOMETHING = re.compile(r"[\u4e00-\u9fff]{2}")
_TRADE = re.compile(
    r"订单|单号|快递|物流|运单|京东|淘宝|天猫|拼多多|抖音|发货|退款|退货|换货|包裹|签收|派送|顺丰|[圆中申]通|韵达|极兔|邮政|德邦|查[一下件单询]|到哪|下单|这单|那单|[买拍订寄]的?|没到|收到|包邮|返现"
)

_CUE = re.compile(
    r"(?i)(订单编?号码?|(?:运|快递|物流|退货|面|工|交易|售后|退款)单号?码?|快递号|物流号|单号|单子|交易号|流水号|编号|订单|包裹号?"
    r"|order\s?(?:id|no\.?|number)?|tracking\s?(?:id|no\.?|number)?)"
    r"(?:[\s是为:#,，→\-\"“”'(\[【]|号码?|叫|如下|发你|给[你您]|尾号不是|=|就是|应该|好像|查一下|[你您]好|NO\.?){0,6}"
    r"(?=[0-9A-Za-z])"
)
_ID = re.compile(r"[0-9A-Za-z](?:[0-9A-Za-z]|[-_](?=[0-9A-Za-z])){4,39}")
_GROUPED = re.compile(r"(?:[A-Za-z]{2,4}\s?)?[0-9]{3,6}(?:[ \-][0-9]{1,6}){2,6}(?![0-9A-Za-z])")
_FURTHER = re.compile(r"\s?(?:[,，、/;；\s]|和|跟|与|以及|还有|或者?){1,3}\s?(?=[0-9A-Za-z])")
_NAMED_BEHIND = re.compile(
    rf"{_ALONE}([0-9A-Za-z](?:[0-9A-Za-z]|-(?=[0-9])){{4,31}}){_END}\s?(?:(?:这|那|此)(?:个|一)?|的|是|是我的?|,|，)?\s?(?:订单|单号|运单|单子|快递|包裹|单(?![元个价身车人]))"
)
_COUNTED = re.compile(r"\s?(?:元|块|个|件|人|次|岁|斤|号[楼店线]|万|年|月|多?[单份])")
_DATE = re.compile(
    r"(?:19|20)[0-9]{2}[-/.](?:0?[1-9]|1[0-2])(?:[-/.][0-9]{1,2})?|(?:20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
)
_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}")

_TAIL = re.compile(
    r"(?:尾号|尾数|[后末]四位(?:数字?|号码)?|[后末][346]位(?:数字?)?|末尾|结尾)(?:[是为:：\s\"“]|就是|数字|号码){0,4}([0-9]{3,6})(?![0-9A-Za-z]|\s?[块元])"
)
_TAIL_BEHIND = re.compile(r"(?<![0-9A-Za-z.\-])([0-9]{3,6})\s?(?:结尾|收尾|尾号|为?尾[的那])")
_SHORT_BEHIND = re.compile(
    r"(?<![0-9A-Za-z.\-])([0-9]{4})(?:的?(?:那|这)(?:个|一)?(?:单|订单|快递|包裹))(?![价元])"
)
_NO_ORDER = re.compile(
    r"(?:卡号?|身份证号?|序列号|机身号|IMEI|验证码|校验码|税号|账号|账户|时间戳?|条码|会员号)[^，,。0-9]{0,5}$",
    re.IGNORECASE,
)
_NO_ORDER_TAIL = re.compile(r"(?:卡|银行|信用|储蓄|身份证|车牌)[^，,。0-9]{0,6}$")
_PHONE_TAIL = re.compile(r"(?:手机|电话|号码|联系方式)[^，,。0-9]{0,4}$")
_HAS_DIGITS = re.compile(r"[0-9]{3}")


def find_orders(text: str) -> Iterator[tuple[Span, float]]:
    """(place, certainty) of each id in a folded text; one place may come twice."""
    if not _HAS_DIGITS.search(text):
        return
    yield from _named(text)
    for found in _FORMS.finditer(text):
        yield found.span(), 1.0
    for found in _NAMED_BEHIND.finditer(text):
        if sum(map(str.isdigit, found[1])) >= 5 and not _DATE.fullmatch(found[1]):
            yield found.span(1), 0.95
    yield from _unnamed(text)


def _unnamed(text: str) -> Iterator[tuple[Span, float]]:
    """Ids by their length alone, but where a word makes them something else."""
    is_bare = not _SAYS_SOMETHING.search(text)
    has_trade = bool(_TRADE.search(text) or _MIDDLE.fullmatch(text.strip()))
    for pattern, certainty in ((_LETTERED, 0.7), (_LONG, 0.85), (_MIDDLE, 0.7)):
        for found in pattern.finditer(text):
            if pattern is _MIDDLE and not has_trade and (is_bare or _DATE.match(found.group())):
                continue
            is_other = _NO_ORDER.search(text[max(0, found.start() - 12) : found.start()])
            if not is_other and not mask_secrets(found.group())[1]:
                yield found.span(), certainty


def find_tails(text: str) -> Iterator[tuple[Span, str, bool]]:
    """(place, digits, whether of a phone) of the ends of numbers people give: 尾号8832, 8832结尾, 8832那单.

    The place is that of the digits. The end of a bank card is no one's business.
    """
    if not _HAS_DIGITS.search(text):
        return
    for pattern in (_TAIL, _TAIL_BEHIND, _SHORT_BEHIND):
        for found in pattern.finditer(text):
            before = text[max(0, found.start() - 10) : found.start()]
            if not _NO_ORDER_TAIL.search(before):
                yield found.span(1), found[1], bool(_PHONE_TAIL.search(before))


def normalised_order(number: str) -> str:
    """Upper case, without the spaces and dashes people put between groups."""
    return re.sub(r"[\s\-_]", "", number).upper()


def _named(text: str) -> Iterator[tuple[Span, float]]:
    """Ids behind a word for one, and those listed behind the first."""
    for cue in _CUE.finditer(text):
        is_plain_word = cue[1] in ("订单", "单子", "包裹") or cue[1].lower().strip() in ("order", "tracking")
        place, first = cue.end(), ""
        for _ in range(8):
            found = _id_at(text, place, is_plain_word=is_plain_word)
            if found is None or (first and not _is_alike(first, text[slice(*found)])):
                break
            yield found, 1.0
            first = first or text[slice(*found)]
            further = _FURTHER.match(text, found[1])
            if further is None:
                break
            place = further.end()


def _id_at(text: str, place: int, *, is_plain_word: bool) -> Span | None:
    found = _GROUPED.match(text, place)
    if found and not _DATE.match(found.group()) and not _CLOCK.match(text, found.end() - 2):
        digits = sum(map(str.isdigit, found.group()))
        if digits >= 10:
            return found.span()
    found = _ID.match(text, place)
    if found is None or _COUNTED.match(text, found.end()):
        return None
    value = found.group()
    if not any(map(str.isdigit, value)) or (
        _DATE.fullmatch(value) and (is_plain_word or not value.isdigit())
    ):
        return None
    if text[found.end() : found.end() + 1] in ("@", "."):
        behind = text[found.end() + 1 : found.end() + 2]
        if behind.isascii() and behind.isalnum():
            return None
    if is_plain_word and sum(map(str.isdigit, value)) < 4:
        return None
    return found.span()


def _is_alike(first: str, other: str) -> bool:
    """A list names ids of one sort; what only stands behind one may be anything."""
    return abs(len(first) - len(other)) <= 2 and first[:1].isdigit() == other[:1].isdigit()
