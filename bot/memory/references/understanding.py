"""What a whole question points at: its reference by the most telling words, with what the rest of it says.

Invariant: pure; a question without a word that points is understood only where what it names stood beside an
order, and candidates that nothing tells apart are handed back.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.memory.content_words import content_terms, single_characters
from bot.memory.entities.entity import EntityType, SeenEntity
from bot.memory.entities.folding import folded
from bot.memory.references.carriers import WORDS, carrier_named
from bot.memory.references.days import days_in, without_days
from bot.memory.references.finding import find_reference
from bot.memory.references.numbers import affirmed, denied, numbers_told
from bot.memory.references.promised import points_at_promise, promised
from bot.memory.references.reading import LONGEST_ASKED, read
from bot.memory.references.reference import Ambiguous, Reference, Resolved
from bot.memory.references.resolving import best_of, distinct, of_carrier, resolve

SHORT_ASKED = 20
"""Characters: 「中通的呢」 asks for its parcel; a longer text with a courier in it may ask anything."""

_ORDER = r"(?:订单号?|单号|运单号?|快递单?号?|物流|包裹|单子|货|那[一]?单|这[一]?单|单(?![独位纯]))"
_ASKS_ORDER = re.compile(
    rf"{_ORDER}|到哪|发货|发出|发了|签收|派送|没到|到了没|到了吗|送到|什么时候到|(?:什么时候|几时|啥时候?|多久|哪天|几号)(?:才|能|会|可以){{0,2}}(?:到|送|发|寄)|寄到|揽收|在路上|退款|催|查[一下]"
)
_ABOUT_GOODS = re.compile(
    r"尺码|颜色|质量|材质|保修|型号|款式|掉色|合身|好看|价格|多少钱|有货|库存|补偿|赔|红包|电话|号码|微信"
)
_CARRIER = re.compile(WORDS, re.IGNORECASE)
_BOUGHT = re.compile(r"买|下的|拍的|订的|下单|收的|寄的")
_EARLIEST = re.compile(
    rf"(?:最[早先初]|最开[始头]|一?开[始头]|起初|头一[次回个单]|第一[次回])[^，,。？?！!]{{0,12}}?(?:{_ORDER}|[那这]?(?:一)?[个单笔件])"
)
_LATEST = re.compile(
    rf"(?:最近|最新|最后|最末|刚刚|刚才?|上一|方才)[^，,。？?！!]{{0,12}}?(?:{_ORDER}|[那这]?(?:一)?[个单笔件])"
)
_OTHER = re.compile(
    r"另外?(?:的)?(?:[那这])?(?:一)?(?:个|单|笔|件|票|张|份|条)|另外(?:的)?[那这]|别的那|其他那|剩下(?:的)?(?:那|这|一)|还有(?:那|一)(?:个|单)"
)
_EXCEPT = re.compile(r"(?:不是|不要|除了|不算|不查|非|除开|除)([^，,。；;？?！!]{1,24})")
_TAIL = re.compile(r"[0-9]{3,}")
_GENERAL = re.compile(
    rf"{_ORDER}|到哪里?儿?|发货|发出|签收|派送|什么|时候|哪里|哪儿|怎么|现在|帮我|请问|查一?下|一下|看看|之前|以前|上次|刚才|那个|这个|号码|告诉|发给|给你|物流|催[一了]?催?|(?:派?送|发|寄|退|取消|签收|收到?|查|改|换|催|付|报|念)[了过个到的]?(?!款)|怎么样|咋样?|进度|状态|动静|能不能|可以"
)


def may_point(text: str) -> bool:
    """Whether `understand` could find anything, were there enough to be seen."""
    text = read(text)
    if affirmed(text):
        return bool(denied(text)) or points_at_promise(text)
    asks = _ASKS_ORDER.search(text) or _CARRIER.search(text) or (_BOUGHT.search(text) and days_in(text))
    return bool(asks) or find_reference(text) is not None or points_at_promise(text)


def understand(
    text: str,
    entities: Sequence[SeenEntity],
    *,
    offered: Sequence[SeenEntity] = (),
    session_began: datetime | None = None,
) -> Resolved | Ambiguous | None:
    """What a question points at, by `find_reference` and `resolve`; see there. None: at nothing that was seen."""
    plain = read(text)
    told, out = affirmed(plain), {each.normalised for each in denied(plain)}
    if not offered and (of_promises := promised(plain, entities, session_began)) is not None:
        found = of_promises if not told or of_promises.reference.type is EntityType.PROMISE else None
    elif told:
        found = _said_instead(plain, entities) if out and len(told) == 1 else None
    else:
        left = [each for each in entities if each.normalised not in out]
        is_rest_meant = out and not _OTHER.search(plain)
        found = _understood(plain, left if is_rest_meant else entities, offered, session_began)
    if found is None:
        return None
    reference = found.reference
    words = folded(text[:LONGEST_ASKED]).text[reference.start : reference.end]
    return replace(found, reference=replace(reference, words=words))


def _said_instead(text: str, entities: Sequence[SeenEntity]) -> Resolved | None:
    """不是SF1…，是SF2…: the one that is not denied, known or not. Its words are all from the first to the last."""
    numbers = numbers_told(text)
    (number,) = (each for each in numbers if not each.is_denied)
    known = [each for each in entities if each.normalised == number.normalised]
    if not entities:
        return None
    entity = SeenEntity(
        type=EntityType.ORDER_ID,
        value=number.value,
        normalised=number.normalised,
        seen_at=max(each.seen_at for each in known or entities),
        context=known[-1].context if known else text,
    )
    start, end = min(each.start for each in numbers), max(each.end for each in numbers)
    reference = Reference(start=start, end=end, words=text[start:end], type=EntityType.ORDER_ID)
    return Resolved(value=entity.value, entity=entity, reference=reference)


def _understood(
    text: str,
    entities: Sequence[SeenEntity],
    offered: Sequence[SeenEntity],
    session_began: datetime | None,
) -> Resolved | Ambiguous | None:
    """Of a text that tells no number itself."""
    reference = find_reference(text)
    orders = [each for each in distinct(entities) if each.type is EntityType.ORDER_ID]
    if offered and reference is not None:
        return resolve(reference, entities, offered=offered, session_began=session_began)
    asks_order = bool(_ASKS_ORDER.search(text)) and not _ABOUT_GOODS.search(text)
    if (carrier := _CARRIER.search(text)) is not None and not _ABOUT_GOODS.search(text):
        asks_order, carried = True, of_carrier(orders, carrier_named(carrier.group()))
        if reference is None and carried and len(text) <= SHORT_ASKED:
            named = _by_name(_without(text, carrier), carried) if len(carried) > 1 else None
            return named or _chosen(_made(carrier), carried)
        if carried:
            orders, text = carried, _without(text, carrier)
            reference = reference and replace(reference, carrier=carrier_named(carrier.group()))
    if not asks_order and (days := days_in(text)):
        told_then = best_of(orders, days) if reference is not None else []
        asks_order = bool(_BOUGHT.search(text)) or bool(told_then)
    if orders and (asks_order or reference is None or reference.type in (None, EntityType.ORDER_ID)):
        found = _of_orders(text, reference, orders, session_began, asks_order=asks_order)
        if found is not None:
            return found
    return resolve(reference, entities, session_began=session_began) if reference is not None else None


def _of_orders(
    text: str,
    reference: Reference | None,
    orders: list[SeenEntity],
    session_began: datetime | None,
    *,
    asks_order: bool,
) -> Resolved | Ambiguous | None:
    """None: no order is meant, or not this way."""
    if (other := _OTHER.search(text)) is not None:
        return _the_other(text, other, orders)
    if reference is not None and reference.tail is not None:
        return _decided(resolve(reference, orders), text) if reference.type is EntityType.ORDER_ID else None
    for pattern, ordinal in ((_EARLIEST, 1), (_LATEST, -1)):
        if (named := pattern.search(text)) is not None:
            return _decided(resolve(_made(named, ordinal=ordinal), orders), text)
    if reference is None:
        return _by_name(text, orders) if asks_order else None
    if reference.carrier is None and reference.ordinal is None:
        named = _by_name(text, orders, reference)
        if named is not None:
            return named
    if reference.type is not EntityType.ORDER_ID:
        if reference.ordinal is None and not asks_order:
            return None
        reference = replace(reference, type=EntityType.ORDER_ID, attributes=())
    return _decided(resolve(reference, orders, session_began=session_began), text)


def _the_other(text: str, named: re.Match[str], orders: list[SeenEntity]) -> Resolved | Ambiguous | None:
    """Not the one that is excepted; without an exception, not the one told last."""
    excepted = _EXCEPT.search(text)
    out: list[SeenEntity] = []
    if excepted is not None:
        tails = _TAIL.findall(excepted[1])
        out = [each for each in orders if any(each.normalised.endswith(tail) for tail in tails)]
        out = out or best_of(orders, _words(excepted[1]))
    out = out or orders[-1:]
    left = [each for each in orders if each not in out]
    narrowed = best_of(left, _words(text.replace(excepted[0], "") if excepted else text)) or left
    return _chosen(_made(named), narrowed)


def _by_name(
    text: str, orders: list[SeenEntity], reference: Reference | None = None
) -> Resolved | Ambiguous | None:
    """The order beside which most of the question's words stood; None where none did."""
    words = _words(text)
    best = best_of(orders, words)
    if not best:
        # 灯 is the 小夜灯, 壳子 the 手机壳: where no word is the same, a character may be.
        best = best_of(orders, _characters(text))
        best = best if len(best) == 1 or reference is not None else []
    elif reference is None and len(best) == len(orders) > 1 and not any(len(word) > 1 for word in words):
        best = []
    if not best or len(best) == len(orders) > 2:
        return None
    at_end = Reference(start=len(text), end=len(text), words="", type=EntityType.ORDER_ID)
    return _chosen(reference or at_end, best)


def _decided(found: Resolved | Ambiguous | None, text: str) -> Resolved | Ambiguous | None:
    """Of several, those that the rest of the question fits best."""
    if not isinstance(found, Ambiguous):
        return found
    best = best_of(found.candidates, _words(text))
    return _chosen(found.reference, best) if best else found


def _words(text: str) -> tuple[str, ...]:
    """What tells one order from another: goods, people, days, couriers."""
    bare = _GENERAL.sub(" ", without_days(text))
    terms = [
        term
        for term, weight in content_terms(bare).items()
        if weight >= 0.4 and term not in _TELLS_NOTHING and not (len(term) == 1 and term.isascii())
    ]
    return tuple(dict.fromkeys((*terms, *_CARRIER.findall(text), *days_in(text))))


def _characters(text: str) -> tuple[str, ...]:
    bare = _GENERAL.sub(" ", without_days(text))
    return tuple(each for each in dict.fromkeys(single_characters(bare)) if each not in _TELLS_NOTHING)


def _without(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()]}{' ' * len(found.group())}{text[found.end() :]}"


_TELLS_NOTHING = frozenset(
    "天几要般件个单号月年日周点分元块多少久我你您他她它的了吗呢吧是有没给和跟在去来上下前后大小好到说发想能会可子送派查退报遍再东西号咋样催收买卖吃喝穿拿寄货先后才刚再又只还叫事现记得拍订一二三四五六七八九十两"
)
"""Of terms of one character (鞋, 妈), those that are parts of nearly every message."""


def _made(named: re.Match[str], *, ordinal: int | None = None) -> Reference:
    return Reference(
        start=named.start(),
        end=named.end(),
        words=named.group(),
        type=EntityType.ORDER_ID,
        ordinal=ordinal,
    )


def _chosen(reference: Reference, candidates: Sequence[SeenEntity]) -> Resolved | Ambiguous | None:
    if not candidates:
        return None
    if len(candidates) == 1:
        return Resolved(value=candidates[0].value, entity=candidates[0], reference=reference)
    return Ambiguous(candidates=tuple(candidates), reference=reference)
