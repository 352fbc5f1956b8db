"""Facts by rules: the statements a person makes about themselves, in their own words.

Invariant: pure; a fact's text is a piece of what the person wrote, with secrets masked.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.conversation.masking import mask_secrets
from bot.memory.claims import OTHERS, SELF, form, is_of_next, is_told_beside, read_claims, tells_change
from bot.memory.clauses import Clause, is_first_person, is_request, without_lead
from bot.memory.fact import FactKind, NewFact
from bot.memory.never import own_clauses
from bot.memory.normalise import normalise
from bot.memory.sorting import sort_of
from bot.memory.third_parties import is_about_others
from bot.memory.unfinished import is_unfinished

LIFETIMES = {
    FactKind.TRANSACTION: timedelta(days=180),
    FactKind.EVENT: timedelta(days=365),
    FactKind.PROMISE: timedelta(days=180),
}
"""How long a kind is kept. Identity and preference never expire."""

MOST_FACTS = 20
"""From one message: more than anyone says in one breath."""
LONGEST_FACT = 300
"""Characters. Longer ones are cut at a clause, else here: an embedder sees 500 at most."""
EXPLICIT_IMPORTANCE = 0.9
"""The person asked for it."""

_STANDS_ALONE = re.compile(
    r"^对.{1,12}过敏|^住在|^(?:平时|一般)?穿.{1,8}码|^生日是|^(?:订单|快递)?单号|^(?:以后)?叫我"
)
"""Statements people make without saying 我."""


_TELLS_CHANGE = re.compile(
    r"^(?:我的?)?(?:现在|以后|最近|已经|早就|今年|新的?|刚)?(?:的)?(?:(?:收货|收件|公司|家里?|家庭|单位"
    r"|学校)?(?:的)?(?:地址|住址)|手机号?码?|电话号?码?|号码|联系方式|邮箱|微信号?"
    r"|鞋码|鞋号|尺码|码数|身高|体重|腰围|生日|名字|昵称|职业|公司|专业|血型|预算|车牌号?|口味|会员号"
    r"|改|换|搬|跳槽|转行|入职|辞|离职|退休|不|没|戒|取消|卖|退|学会|开始|怀孕|结婚|离婚|分手|生了"
    r"|[\u4e00-\u9fff]{1,6}(?:改|换|推迟|提前|延|不|戒|卖|取消|送人|没))"
)
"""What a statement of the person's begins with that leaves 我 out."""


_CHANGED = re.compile(r"改|换|搬|不再|戒|取消|推迟|提前|以后|现在|最近|已经|了$")
_LASTS = re.compile(r"以后|现在|改|换|不再|平时|一般|每|习惯|都|从来|常|只[吃喝用]|喜欢|不")
_TO_ME = re.compile(r"[说让给叫派]我")
"""「我老板说我下周要出差」 is of the person."""
_HABIT = re.compile(r"每[天周月年晚早]|经常|常常|平时|习惯|一般都?|总是|天天|从来")


def tells_change_of_own(text: str) -> bool:
    """Without 我, what is otherwise now: a claim, an end, a change that is named; of nobody who is called by a name."""
    normal = normalise(text)
    if not (_TELLS_CHANGE.search(normal) and _CHANGED.search(normal)) or is_request(text):
        return False
    reading = read_claims(text)
    if any(clause.owner.startswith(OTHERS) for clause in reading.clauses):
        return False
    if any(not claim.slot.startswith(_OF_ORDERS) for claim in reading.claims):
        return True
    is_ended = any(not each.holds for clause in reading.clauses for each in clause.stances)
    return (is_ended and bool(_ENDED.search(normal))) or any(
        tells_change(each.text) for each in reading.clauses
    )


_ENDED = re.compile(r"了$|再也|戒|不再")
_DOES = ("eat", "do", "allergic", "fear")


def sort_of_claims(text: str) -> tuple[FactKind, float] | None:
    """By what it claims, where its words alone don't say. None: it claims nothing."""
    reading = read_claims(text)
    claims = reading.claims
    if any(claim.slot.startswith("date:") for claim in claims):
        return FactKind.EVENT, 0.5
    if any(claim.slot.startswith(_TASTES) for claim in claims):
        return FactKind.PREFERENCE, 0.6
    if any(not claim.slot.startswith(_OF_ORDERS) for claim in claims):
        return FactKind.IDENTITY, 0.6
    normal = normalise(text)
    stances = [each for clause in reading.clauses for each in clause.stances]
    if any(not each.holds or each.verb in _DOES for each in stances) or (claims and _LASTS.search(normal)):
        return FactKind.PREFERENCE, 0.6
    if _HABIT.search(normal):
        return FactKind.PREFERENCE, 0.5
    return (FactKind.EVENT, 0.5) if any(tells_change(clause.text) for clause in reading.clauses) else None


_TASTES = ("size:", "favourite:", "thing:")
_OF_ORDERS = tuple(
    f"state:{group}"
    for group in (
        *("sugar", "ice", "spice", "cup", "seat", "bed", "payment", "coffee", "tea"),
        *("beverage", "breakfast", "shop", "exercise", "commute"),
    )
)
"""Wanted this once, for all the words tell."""


def expires_at(kind: FactKind, said_at: datetime) -> datetime | None:
    """When a fact of this kind leaves memory. None: never."""
    lifetime = LIFETIMES.get(kind)
    return said_at + lifetime if lifetime else None


def new_fact(text: str, said_at: datetime, kind: FactKind, importance: float) -> NewFact:
    """A fact with its lifetime, masked and cut to `LONGEST_FACT`."""
    masked, _ = mask_secrets(text)
    return NewFact(
        kind=kind,
        text=masked[:LONGEST_FACT].strip(),
        importance=min(max(importance, 0.0), 1.0),
        said_at=said_at,
        expires_at=expires_at(kind, said_at),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a person says of how things are, and what rules make of it."""

    text: str
    sort: tuple[FactKind, float] | None
    """Kind and importance, where rules keep it."""


def statements_of(text: str, *, is_group: bool) -> tuple[Statement, ...]:
    """All that a person states in a message; in a group only what they say of themselves."""
    found: list[Statement] = []
    for each in _grouped(own_clauses(text)):
        if is_unfinished(each.text) or (is_group and not _is_of_oneself(each)):
            continue
        sort = (sort_of(each.text) or sort_of_claims(each.text)) if each.is_own else None
        found.append(Statement(text=each.text, sort=sort))
    return tuple(found)


def stated_facts(text: str, said_at: datetime, *, is_group: bool) -> tuple[NewFact, ...]:
    """What a person says of themselves in a message, without being asked to have it remembered."""
    return distinct(
        new_fact(each.text, said_at, *each.sort)
        for each in statements_of(text, is_group=is_group)
        if each.sort is not None
    )


def asked_facts(text: str, said_at: datetime, *, is_group: bool) -> tuple[NewFact, ...]:
    """What a person asked to have remembered: all of it, but orders, questions and, in a group,
    claims about others."""
    facts: list[NewFact] = []
    for passage in _passages(own_clauses(text, is_asked=True)):
        if is_group and is_about_others(passage):
            continue
        kind, _ = sort_of(passage) or (FactKind.EVENT, 0.0)
        facts.append(new_fact(passage, said_at, kind, EXPLICIT_IMPORTANCE))
    return distinct(facts)


def distinct(facts: Iterable[NewFact]) -> tuple[NewFact, ...]:
    """Without empty and repeated texts, at most `MOST_FACTS`."""
    by_text = {fact.text: fact for fact in reversed(list(facts)) if fact.text}
    return tuple(reversed(by_text.values()))[:MOST_FACTS]


@dataclass(slots=True, kw_only=True)
class _Group:
    text: str
    is_own: bool
    """It begins with the person as its subject."""


def _is_of_oneself(group: _Group) -> bool:
    """For all to hear: of the person, and of nobody of theirs alone."""
    owners = {clause.owner for clause in read_claims(group.text).clauses}
    is_self = SELF in owners or _TO_ME.search(group.text) is not None
    return group.is_own and is_self and is_first_person(group.text) and not is_about_others(group.text)


def _grouped(clauses: tuple[Clause, ...]) -> list[_Group]:
    """Statements, each with the clauses that lean on it."""
    groups: list[_Group] = []
    is_open = False
    for clause in without_goods_of_others(clauses):
        text = without_lead(clause.text)
        if not groups and _ANSWERS.fullmatch(text.strip()):
            continue
        is_own = is_first_person(text) or _stands_alone(text)
        if is_request(text) and not is_own:
            is_open = False
        elif not is_open or clause.begins_sentence or (is_own and not _is_led_up_to(groups[-1].text, text)):
            groups.append(_Group(text=text, is_own=is_own))
            is_open = True
        elif groups[-1].is_own and _is_apart(groups[-1].text, text):
            groups.append(_Group(text=text, is_own=True))
        else:
            groups[-1].text = f"{groups[-1].text}，{text}"
    return groups


_ANSWERS = re.compile(
    r"(?:不是|不对|不|错了?|对不[起住]|抱歉|不好意思|对|是|没错|嗯+|没有|才怪)(?:的|了|啊|哦|呀|呢|哈)*"
)
"""What a reply begins with: it answers a question, and states nothing."""


def without_goods_of_others(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """Without 「L码大了」 where 「给我妈换M」 follows in its sentence."""
    nexts = (*clauses, None)[1:]
    return tuple(
        clause
        for clause, following in zip(clauses, nexts, strict=True)
        if following is None
        or following.begins_sentence
        or not is_of_next(form(without_lead(clause.text)), form(without_lead(following.text)))
    )


_ANNOUNCES = re.compile(
    r"(?:我们?|我们?家|最近|刚|刚刚|已经|又|都|上个?月|上周|昨天|今天|前几天)*(?:搬(?:新)?家|换(?:了)?(?:个|新|一个)*(?:手机号?码?|电话号?码?|号码?|微信号?|邮箱"
    r"|工作|公司|单位|地址|房子|住处|车|名字?)|改(?:了)?名字?)(?:了|啦)+"
)
"""「我搬家了」: what it is now comes next."""


def _is_led_up_to(before: str, text: str) -> bool:
    """One statement: one more of a thing and what it is, or that something changed and what it is now."""
    if is_told_beside(form(before)):
        return True
    claims = read_claims(text).claims
    is_new_value = not text.startswith(("我", "俺", "咱")) and any(
        not claim.slot.startswith("state:") for claim in claims
    )
    return is_new_value and _ANNOUNCES.fullmatch(form(before)) is not None


def _is_apart(before: str, text: str) -> bool:
    """It claims something of the person's own: what contradicts the one is not to close the other."""
    if _is_led_up_to(before, text) or any(clause.owner != SELF for clause in read_claims(before).clauses):
        return False
    reading = read_claims(text)
    is_claim = any(not claim.slot.startswith(_OF_ORDERS) for claim in reading.claims)
    return is_claim or any(not each.holds for clause in reading.clauses for each in clause.stances)


def _stands_alone(text: str) -> bool:
    """Says of the person without 我: 「住在…」, 「地址改成…」, 「不喝咖啡了」."""
    normal = normalise(text)
    if _STANDS_ALONE.search(normal) or tells_change_of_own(text):
        return True
    numbers = (claim for claim in read_claims(text).claims if claim.slot.startswith(_NUMBERS))
    return _REACH_ME.search(normal) is not None and any(numbers)


_REACH_ME = re.compile(r"(?:打|加|联系|发|找)我")
"""「有事打我手机138…」 asks for nothing now."""
_NUMBERS = ("phone", "email", "wechat", "qq")


def _passages(clauses: tuple[Clause, ...]) -> list[str]:
    """Whole sentences, cut where the person begins to speak of themselves anew."""
    passages: list[str] = []
    for clause in clauses:
        text = without_lead(clause.text)
        is_new = not passages or clause.begins_sentence or is_first_person(text)
        if is_new or len(passages[-1]) + len(text) >= LONGEST_FACT:
            passages.append(text)
        else:
            passages[-1] = f"{passages[-1]}，{text}"
    return [piece for passage in passages for piece in _cut(passage)]


def _cut(text: str) -> list[str]:
    return [text[start : start + LONGEST_FACT] for start in range(0, len(text), LONGEST_FACT)]
