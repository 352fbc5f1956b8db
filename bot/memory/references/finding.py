"""Is there a reference in a text, and what does it say of what it points at?

Invariant: pure; linear time. A text that tells a whole number itself points at nothing (那个单号SF123…).
"""

import re
from dataclasses import replace
from functools import lru_cache

from bot.conversation.simplified import simplified
from bot.memory.content_words import content_terms
from bot.memory.entities.entity import EntityType
from bot.memory.entities.folding import folded
from bot.memory.entities.products import COLOURS, find_products
from bot.memory.references.carriers import WORDS, carrier_named
from bot.memory.references.nouns import MEASURE, MEASURES, NOUN, ORDER, OTHER_NOUNS, type_of
from bot.memory.references.numbers import affirmed, is_denied
from bot.memory.references.reading import LONGEST_ASKED
from bot.memory.references.reference import Reference

_LATELY = 512
"""Texts whose references are kept: a message is asked several times, the one before it again."""

_BEFORE = r"(?:上一?[次回]|之前|以前|刚才|刚刚|方才|前面|先前|前几天|昨天|早上|那天|当时|上面|最[初近开]始?)"
_SAID = (
    r"(?:[我你您]|咱们?)?(?:跟|和|给|对|向)?(?:[我你您])?"
    r"(?:说|提|讲|聊|发|报|告诉|给|问|查|承诺|答应|许诺|同意|讨论|买|下|登记|留|写|填|算)(?:到|过|了|起|的那)?(?:[你您我])?"
)
_END = r"(?![0-9A-Za-z])"

_TAIL = re.compile(
    rf"(?:尾号|尾数|[后末]四位|结尾|[后末][346]位)(?:[是为:：\s]|数字|就是){{0,3}}([0-9]{{3,6}})(?![0-9])(?:\s?的?(?:[那这]?(?:一)?{MEASURE}?(?:{NOUN})?))?"
    rf"|(?<![0-9A-Za-z])([0-9]{{3,6}})(?:结尾|尾号|收尾)?的?[那这](?:一)?{MEASURE}(?:{NOUN})?"
    rf"|(?<![0-9A-Za-z])([0-9]{{3,6}})(?:结尾|尾号|收尾)的?(?:{NOUN})?",
    re.IGNORECASE,
)
_PHONE = re.compile(r"(?:手机|电话|号码|联系方式)[^，,。0-9]{0,4}$")
_NUMERALS = {numeral: place for place, numeral in enumerate("一二三四五六七八九十", 1)}
_ORDINAL = re.compile(
    rf"(倒数)?第([一二三四五六七八九十]|[0-9]{{1,2}})\s?({MEASURE})(?:的|{_END})?({NOUN})?"
    rf"|(?:(?:最后|最近|最新|最末|末)的?[那这]?(?:一)?|最(?:早|先|开始|初)的?[那这]?(?:一)?)({MEASURE})({NOUN})?"
    rf"|(最后|最新|最近|最早|最先)的?(?:那|这)?(?:一)?({NOUN})|([前上]一)({MEASURE})({NOUN})?",
    re.IGNORECASE,
)
_CARRIER = re.compile(
    rf"({WORDS})(?:快递)?(?:的)?(?:[那这](?:一)?(?:{MEASURE})(?:{NOUN})?|(?:的)(?:{ORDER})|[那这]?(?:单号|运单号?|快递单号?|订单|包裹))",
    re.IGNORECASE,
)
_DESCRIBED = re.compile(
    rf"((?:(?![，,。！!？?；;\n]).){{1,16}}?)(?:的)(?:[那这](?:一)?({MEASURE})({NOUN})?|(订单号?|单号|包裹|快递))(?!号?(?:是|为)?[0-9A-Za-z])",
    re.IGNORECASE,
)
_MAY_DESCRIBE = re.compile("[的买]")
_OWNED = re.compile(
    r"(?:[那这](?:个|件|双|条|台|款)?)?([\u4e00-\u9fffA-Za-z0-9]{1,8})的(?:那个|这个)?(?:订单号?|单号|运单号?|快递单号|包裹|快递)(?!号?(?:是|为)?[0-9A-Za-z])"
)
_DESCRIBED_SHORT = re.compile(
    rf"(?<![\u4e00-\u9fff])(?:我)?(买[\u4e00-\u9fff]{{1,6}}?)[那这](?:一)?({MEASURE})({NOUN})?"
)
_SAID_BEFORE = re.compile(
    rf"({_BEFORE})(?:我|你|您|咱们?)?(?:{_SAID})?(?:的)?(?:[那这](?:一)?{MEASURE}?)?({NOUN})|({_BEFORE})(?:我|你|您)?(?:{_SAID})的?[那这](?:一)?({MEASURE})"
    rf"|(?:我|你|您|咱们?)(?:{_SAID})的(?:[那这](?:一)?{MEASURE}?)?({NOUN})|({_BEFORE})(?:的)?[那这](?:一)?({MEASURE})",
    re.IGNORECASE,
)
_POINTED = re.compile(rf"(?:[那这该此]|同一)(?:一)?(?:{MEASURE}|些|张|条)?(?:的)?({NOUN})", re.IGNORECASE)
_MODEL = re.compile(r"(?<![0-9A-Za-z这那])([A-Za-z][0-9]?|[甲乙丙丁])\s?款")
_MEASURED = re.compile(rf"[那这](?:一)?{MEASURE}")
_COLOURED = re.compile(
    rf"(?<![\u4e00-\u9fff])((?:{COLOURS})色?)(?:的|那[个件款双条])(?=多少|几|有|还|怎|呢|质量|好看|能|可以|要|价|什么时候|[，,。？?！!]|$)"
)
_SHORT = re.compile(rf"(?:[那这]|同)(?:一)?({'|'.join(MEASURES)})(?![事路消新信身电影鱼儿位]|了个)")
_PRONOUN = re.compile(
    r"(?:它|牠)们?(?!娘)|(?:那|这)个(?=[，,。？?！!吗呢吧\s]|$|到|发|多少|还|怎|什么时候|能|可以|有没有|现在|是不是|退|处理|查|寄|要|贵|坏|质量|尺码|颜色)"
)
_ABOUT_ORDER = re.compile(
    r"到哪|发货|发了|发出|签收|派送|物流|到货|没到|到了|寄|送到|什么时候到|查|取件|揽收|运输|快递"
)
_ABOUT_PRODUCT = re.compile(
    r"尺码|颜色|质量|坏|洗|好用|材质|保修|功能|怎么用|型号|款式|起球|掉色|合身|好看|价格|多少钱|有货|库存|便宜|贵"
)
_ABOUT_AMOUNT = re.compile(r"到账|打款|打给我|转给|什么时候给|报销")
_WHOLE_NUMBER = re.compile(r"(?:是|为|:|：|\s)?\s?[0-9A-Za-z][0-9A-Za-z\-]{4,}")


@lru_cache(_LATELY)
def find_reference(text: str) -> Reference | None:
    """The first thing a text points at by the most telling of its words; None when it points at nothing."""
    read = folded(text[:LONGEST_ASKED])
    plain = simplified(read.text)
    if affirmed(plain):
        return None
    found = next((made for make in _FINDERS if (made := _entity_meant(make(plain), plain)) is not None), None)
    if found is None or _WHOLE_NUMBER.match(plain, found.end):
        return None
    start, end = read.span(found.start, found.end)
    return replace(found, start=start, end=end, words=read.text[found.start : found.end])


def is_reference(text: str) -> bool:
    """It can't be understood without what was said before."""
    return find_reference(text) is not None


def _entity_meant(found: Reference | None, text: str) -> Reference | None:
    """None where another noun follows: 那个 of 那个地址."""
    return None if found is None or OTHER_NOUNS.match(text, found.end) else found


def _tail(text: str) -> Reference | None:
    # 「不是尾号1111的，是2222的那单」.
    found = next((each for each in _TAIL.finditer(text) if not is_denied(text, each.start())), None)
    if found is None:
        return None
    of_phone = _PHONE.search(text[max(0, found.start() - 8) : found.start()])
    kind = EntityType.CONTACT_INFO if of_phone else EntityType.ORDER_ID
    # 299的那单 may be a price as well.
    attributes = (found[2],) if found[2] else ()
    return _made(text, found.span(), kind, tail=found[1] or found[2] or found[3], attributes=attributes)


def _ordinal(text: str) -> Reference | None:
    found = _ORDINAL.search(text)
    if found is None:
        return None
    measure = next((found[group] for group in (3, 5, 10) if found[group]), None)
    noun = next((found[group] for group in (4, 6, 8, 11) if found[group]), None)
    if found[2]:
        number = _NUMERALS.get(found[2]) or int(found[2])
        ordinal = -number if found[1] else number
    elif found.group()[:2] in ("最早", "最先", "最开", "最初"):
        ordinal = 1
    else:
        ordinal = -2 if found.group()[0] in "前上" else -1
    kind = type_of(noun, measure)
    is_none = not ordinal or kind in (EntityType.DATE, EntityType.ISSUE_TYPE)
    return None if is_none else _made(text, found.span(), kind, ordinal=ordinal)


def _carrier(text: str) -> Reference | None:
    found = _CARRIER.search(text)
    if found is None:
        return None
    return _made(text, found.span(), EntityType.ORDER_ID, carrier=carrier_named(found[1]))


def _described(text: str) -> Reference | None:
    """杯子的单号, 买杯子的那单, 红色的那件."""
    if not _MAY_DESCRIBE.search(text):
        return None
    owned = _OWNED.search(text)
    words = re.sub(r"^.*的[那这]?个?", "", owned[1]) if owned else ""
    if owned and (attributes := _content(words)) and not re.search(_SAID + "$", words):
        return _made(text, owned.span(), EntityType.ORDER_ID, attributes=attributes)
    found = _DESCRIBED.search(text) or _DESCRIBED_SHORT.search(text)
    if found is None:
        return None
    measure, noun = found[2], found[3] or (found[4] if found.re is _DESCRIBED else None)
    attributes = _content(found[1])
    is_earlier = bool(re.search(r"上[一]?[次回]", found[1]))
    if not attributes or (re.search(_SAID + "$", found[1]) and not re.search(r"买|下", found[1])):
        return None
    span = (found.start(), found.end())
    return _made(text, span, type_of(noun, measure), attributes=attributes, is_earlier=is_earlier)


def _said_before(text: str) -> Reference | None:
    found = _SAID_BEFORE.search(text)
    if found is None:
        return None
    noun, measure = found[2] or found[5], found[4] or found[7]
    is_earlier = (found[1] or found[3] or found[6] or "").startswith(("上次", "上回", "上一"))
    return _made(text, found.span(), type_of(noun, measure), hints=_hints(noun), is_earlier=is_earlier)


def _pointed(text: str) -> Reference | None:
    found = _POINTED.search(text)
    if found is None:
        return None
    return _made(text, found.span(), type_of(found[1], None), hints=_hints(found[1]))


def _model(text: str) -> Reference | None:
    found = _MODEL.search(text)
    if found is None:
        return None
    return _made(
        text, found.span(), EntityType.PRODUCT_NAME, attributes=(re.sub(r"\s", "", found.group()).lower(),)
    )


def _goods(text: str) -> Reference | None:
    """那个背包, 蓝色的多少钱."""
    found = _COLOURED.search(text)
    if found is not None:
        return _made(text, found.span(), EntityType.PRODUCT_NAME, attributes=_content(found[1]))
    ends = {found.end(): found.start() for found in _MEASURED.finditer(text)}
    named = next((each for each in find_products(text) if each[0][0] in ends), None) if ends else None
    if named is None:
        return None
    return _made(
        text, (ends[named[0][0]], named[0][1]), EntityType.PRODUCT_NAME, attributes=_content(named[1])
    )


def _short(text: str) -> Reference | None:
    found = _SHORT.search(text)
    if found is None:
        return None
    return _made(text, found.span(), MEASURES[found[1]])


def _pronoun(text: str) -> Reference | None:
    found = _PRONOUN.search(text)
    if found is None:
        return None
    return _made(text, found.span(), _type_asked(text))


_FINDERS = (_tail, _ordinal, _carrier, _described, _said_before, _pointed, _model, _goods, _short, _pronoun)
"""The most telling first."""


def _made(
    text: str,
    span: tuple[int, int],
    kind: EntityType | None,
    *,
    ordinal: int | None = None,
    tail: str | None = None,
    carrier: str | None = None,
    attributes: tuple[str, ...] = (),
    hints: tuple[str, ...] = (),
    is_earlier: bool = False,
) -> Reference:
    end, goods = _with_goods(text, span) if kind is EntityType.PRODUCT_NAME else (span[1], ())
    return Reference(
        start=span[0],
        end=end,
        words=text[span[0] : end],
        type=kind or _type_asked(text),
        ordinal=ordinal,
        tail=tail,
        carrier=carrier,
        attributes=(*attributes, *goods),
        hints=hints,
        is_earlier=is_earlier,
    )


def _with_goods(text: str, span: tuple[int, int]) -> tuple[int, tuple[str, ...]]:
    """那件 with the red jersey behind it: where that ends, and its words."""
    for (start, end), name, _ in find_products(text):
        if span[0] <= start <= span[1] < end:
            return end, _content(name)
    return span[1], ()


def _type_asked(text: str) -> EntityType | None:
    """What 它 is, by what is asked of it."""
    for kind, words in (
        (EntityType.ORDER_ID, _ABOUT_ORDER),
        (EntityType.PRODUCT_NAME, _ABOUT_PRODUCT),
        (EntityType.AMOUNT, _ABOUT_AMOUNT),
    ):
        if words.search(text):
            return kind
    return None


_GENERAL = frozenset(
    ("订单", "订单号", "单号", "金额", "时间", "日期", "钱", "价", "天", "号码", "东西", "事", "商品", "产品")
)


def _hints(noun: str | None) -> tuple[str, ...]:
    """Of nouns that say more than their type."""
    return (noun,) if noun and noun not in _GENERAL else ()


def _content(words: str) -> tuple[str, ...]:
    return tuple(
        term
        for term, weight in content_terms(words.replace("买", " ").replace("下单", " ")).items()
        if weight >= 0.4
    )
