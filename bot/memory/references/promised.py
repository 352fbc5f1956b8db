"""What the bot has promised, pointed at: 「上次说的补偿」「你答应我的」「那个补偿单号」.

Invariant: pure; linear time. Only promises that the bot itself made are meant; of several that fit, all are handed
back, since each binds.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from bot.memory.entities import EntityType, SeenEntity, extract
from bot.memory.promises import is_compensation
from bot.memory.references.reading import read
from bot.memory.references.reference import Ambiguous, Reference, Resolved
from bot.memory.references.resolving import best_of, distinct

MOST_OFFERED = 5
"""The latest: nobody chooses from more."""

_YOU = "(?:[你您]们?|客服|店家|商家|你家|机器人|小助手)"
_BEFORE = "(?:上一?[次回]|之前|以前|刚才|刚刚|当时|前面|先前|前几天|昨天|那天|那次)"
_GIVEN = "补偿|赔偿|赔付|补贴|赔款|补给"
_GIFTS = "优惠券|代金券|红包|差价|延保|赠品|积分|试用装|[那这]张券|免单"
_CLAUSE = "[^，,。！!？?；;]"
_CALLS = "回个?电话?|打个?电话|致电|通电话"
_BOUND = re.compile(
    rf"(?:{_YOU}|{_BEFORE}|^){_CLAUSE}{{0,6}}?(?<![我他她俺])(?:答应|承诺|许诺|许|保证|应承)(?:过|了|下)?(?:要|会)?(?:给)?(?:我们?)?(?:的|过|什么|啥|了|要|会|给)"
    rf"(?:[那这]个|[那这]件)?(?:事情?|东西)?"
    rf"|{_YOU}{_CLAUSE}{{0,4}}?(?:说|讲)(?:过|好|了|是)?(?:的)?(?:要|会|给|帮)?{_CLAUSE}{{0,10}}?(?:补|赔|退|送|免|回复|答复|联系|通知|提醒)(?:偿|付|给|还|发|款)?(?:我|给我)?{_CLAUSE}{{0,4}}?(?:的(?:[那这]个)?|呢|没|吗|了)"
    rf"|{_YOU}{_CLAUSE}{{0,4}}?(?:说|讲)(?:过|好|了|是)?(?:的)?(?:要|会|给|帮|再){_CLAUSE}{{0,10}}?(?:{_CALLS})"
    rf"|说好的?(?:了)?(?:要|会)?(?:给)?(?:我)?(?:的)?(?:{_GIVEN}|{_GIFTS}|{_CALLS}|补|赔|退|回复|答复|联系)"
)
_NAMED = re.compile(
    rf"(?:{_BEFORE}|{_YOU}(?:们)?|[那这](?:个|笔|张|份|次)?|答应|承诺){_CLAUSE}{{0,6}}?(?:{_GIVEN}|{_GIFTS})"
    rf"|(?:{_GIVEN})(?:款|金)?(?:的事|呢|什么时候|啥时候|几时|到底|还|怎么|到账|给不给|没|在哪|多少|有|办|下来|发)"
)
_THEIR_OWN = re.compile(
    rf"我(?:{_BEFORE})?(?:说|提|要求|申请|想要|要)(?:过|了|的)?{_CLAUSE}{{0,4}}?(?:{_GIVEN}|{_GIFTS})"
)
_NUMBER = re.compile(
    rf"(?:{_GIVEN}|{_GIFTS}|券|工单|售后|投诉|退款|补发|理赔)(?:的|那个|这个){{0,2}}(?:单号|编号|号码|券号|券码|兑换码|流水号|凭证号?|单子?号)"
)
_CODES = re.compile(
    r"(?:单号|编号|券码|券号|兑换码|流水号|凭证号?|号码)(?:是|为|[:：\s]){0,3}([0-9A-Za-z][0-9A-Za-z\-]{3,30})"
)
_ASKS_GIVEN = re.compile(rf"{_GIVEN}|补|赔|到账|打款")
_WORDS = re.compile(
    r"优惠券|代金券|券|红包|退款|差价|运费|延保|赠品|积分|试用装|补发|回复|答复|电话|联系|通知|提醒|打折|[一二三四五六七八九]折|免单|现金|加急|发票|上门|维修|[0-9]+"
)
_ANSWERS = re.compile("回复|答复|回电|电话|致电|联系|通知|回访|结果|说法|交代")
_LATEST = re.compile("刚才|刚刚|刚说|最近|最后")
_EARLIER = re.compile("上一?[次回]")
_MAY = re.compile("答应|承诺|许|保证|应承|补|赔|退|送|说好|[说讲]|券|红包|差价|延保|赠品|积分|免单")


def points_at_promise(text: str) -> bool:
    """Whether `promised` could find anything, had the bot promised enough."""
    return _found(read(text)) is not None


def promised(
    text: str, entities: Sequence[SeenEntity], session_began: datetime | None = None
) -> Resolved | Ambiguous | None:
    """What the text points at of the bot's promises; None: at none, or there are none."""
    promises = [each for each in entities if each.type is EntityType.PROMISE]
    text = read(text)
    found = _found(text) if promises else None
    if found is None:
        return None
    candidates = distinct(promises)
    is_number = found.re is _NUMBER
    kind = EntityType.ORDER_ID if is_number else EntityType.PROMISE
    reference = Reference(start=found.start(), end=found.end(), words=found.group(), type=kind)
    if _EARLIER.search(text) and session_began is not None:
        candidates = [each for each in candidates if each.seen_at < session_began] or candidates
    if is_number or _ASKS_GIVEN.search(found.group()):
        candidates = [each for each in candidates if is_compensation(each.value)] or candidates
    if _ANSWERS.search(text):
        candidates = [each for each in candidates if _ANSWERS.search(each.value)] or candidates
    candidates = best_of(candidates, _WORDS.findall(text)) or candidates
    if is_number:
        candidates = [number for each in candidates for number in _numbers(each)]
    if _LATEST.search(text):
        candidates = candidates[-1:]
    candidates = candidates[-MOST_OFFERED:]
    if len(candidates) == 1:
        return Resolved(value=candidates[0].value, entity=candidates[0], reference=reference)
    return Ambiguous(candidates=tuple(candidates), reference=reference) if candidates else None


def _found(text: str) -> re.Match[str] | None:
    if not _MAY.search(text):
        return None
    if (number := _NUMBER.search(text)) is not None:
        return number
    return _BOUND.search(text) or (None if _THEIR_OWN.search(text) else _NAMED.search(text))


def _numbers(promise: SeenEntity) -> list[SeenEntity]:
    """The numbers a promise names, as said by the bot: they stand among its words."""
    said = promise.value
    codes = [each.value for each in extract(said, promise.seen_at) if each.type is EntityType.ORDER_ID]
    codes += [code for code in _CODES.findall(said) if code not in codes]
    return [
        SeenEntity(
            type=EntityType.ORDER_ID,
            value=code,
            normalised=code.replace("-", "").upper(),
            seen_at=promise.seen_at,
            context=said,
        )
        for code in codes
    ]
