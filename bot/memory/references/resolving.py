"""Which of the entities seen so far a reference means, and the question with it put in.

Invariant: pure; the latest that fits wins, and where nothing tells two apart that were told together, both are
handed back: a bot that guesses an order is wrong half of the time.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from bot.conversation.simplified import simplified
from bot.memory.content_words import indexed_terms
from bot.memory.entities.entity import TAIL_MARK, EntityType, SeenEntity
from bot.memory.entities.folding import folded
from bot.memory.entities.recent import with_ends_known
from bot.memory.normalise import normalise
from bot.memory.references.carriers import has_letters_of_another, is_of_carrier
from bot.memory.references.days import days_in, without_days
from bot.memory.references.finding import find_reference
from bot.memory.references.own_words import own_words
from bot.memory.references.reference import Ambiguous, Reference, Resolved

LATELY = timedelta(days=7)
"""How long a parcel is on its way."""
_POINTED_AT = (EntityType.ORDER_ID, EntityType.PRODUCT_NAME, EntityType.AMOUNT, EntityType.CONTACT_INFO)
"""What 它 may be: nobody calls a feeling or a day so."""


def resolve(
    reference: Reference,
    entities: Sequence[SeenEntity],
    *,
    offered: Sequence[SeenEntity] = (),
    session_began: datetime | None = None,
) -> Resolved | Ambiguous | None:
    """What a reference means; None when nothing that was seen fits.

    `entities`: of one conversation, in any order; those of one message in the order they stood in. `offered`:
    what the person was asked to choose from, in the order shown: 第一个 is the first of these.
    `session_began`: 上次 means something seen before it, where there is any.
    """
    if reference.ordinal is not None:
        return _by_ordinal(reference, entities, offered)
    candidates = list(offered) if offered and _fits_any(reference, offered) else distinct(entities)
    candidates = [each for each in candidates if _has_type(each, reference)]
    candidates = [each for each in candidates if _is_of_sort(each, reference)]
    if reference.tail is not None:
        ending = [each for each in candidates if each.normalised.endswith(reference.tail)]
        if ending or not reference.attributes:
            return _chosen(reference, _whole(ending), latest_wins=False)
        best = best_of(candidates, reference.attributes)
        return _chosen(reference, best, latest_wins=False)
    if reference.carrier is not None:
        candidates = of_carrier(candidates, reference.carrier)
        candidates = _lately(candidates)
    if reference.is_earlier and session_began is not None:
        candidates = [each for each in candidates if each.seen_at < session_began] or candidates
    if reference.attributes:
        return _by_attributes(reference, candidates)
    if reference.hints:
        candidates = best_of(candidates, reference.hints) or candidates
    latest_wins = reference.carrier is None
    return _chosen(reference, _of_one_type(candidates, reference), latest_wins=latest_wins)


def _lately(candidates: list[SeenEntity]) -> list[SeenEntity]:
    """Of parcels of one courier those told about at one time: nobody means last month's."""
    return [each for each in candidates if candidates[-1].seen_at - each.seen_at <= LATELY]


def rewrite(text: str, resolved: Resolved) -> str:
    """The question with the value in the place of the words that pointed at it: what is embedded and searched."""
    text = folded(text).text
    reference = resolved.reference
    value = resolved.value
    noun = reference.words if reference.hints else _NOUNS.get(resolved.entity.type, "")
    piece = f"{noun} {value}" if noun and noun not in value else value
    if text[reference.start : reference.end] != reference.words:
        found = find_reference(text)
        if found is None:
            return f"{text} {piece}"
        reference = found
    before, after = text[: reference.start], text[reference.end :]
    joint_before = " " if before and not before[-1].isspace() else ""
    joint_after = " " if after and not after[0].isspace() else ""
    return f"{before}{joint_before}{piece}{joint_after}{after}"


_NOUNS = {EntityType.ORDER_ID: "订单", EntityType.CONTACT_INFO: "联系方式"}


def _has_type(entity: SeenEntity, reference: Reference) -> bool:
    return entity.type is reference.type if reference.type else entity.type in _POINTED_AT


_SORTS = (
    (re.compile("微信"), re.compile("wx:")),
    (re.compile("qq", re.IGNORECASE), re.compile("qq:")),
    (re.compile("邮箱"), re.compile(".*@")),
    (re.compile("电话|手机"), re.compile(r"[0-9+*][0-9*\-#]*$")),
)
"""Of ways to reach somebody: the words for one, and what stands in its normal form."""


def _is_of_sort(entity: SeenEntity, reference: Reference) -> bool:
    """那个邮箱 is no phone."""
    if entity.type is not EntityType.CONTACT_INFO:
        return True
    words = simplified(reference.words)
    form = next((form for named, form in _SORTS if named.search(words)), None)
    return form is None or form.match(entity.normalised) is not None


def _fits_any(reference: Reference, offered: Sequence[SeenEntity]) -> bool:
    return any(_has_type(each, reference) for each in offered)


def distinct(entities: Iterable[SeenEntity]) -> list[SeenEntity]:
    """Each once, at its latest time, oldest first; with all that ever stood beside it."""
    latest: dict[tuple[EntityType, str], SeenEntity] = {}
    for entity in with_ends_known(sorted(entities, key=lambda each: each.seen_at)):
        key = (entity.type, entity.normalised)
        before = latest.pop(key, None)
        context = (
            f"{before.context}\n{entity.context}"
            if before and before.context != entity.context
            else entity.context
        )
        latest[key] = SeenEntity(
            type=entity.type,
            value=entity.value,
            normalised=entity.normalised,
            seen_at=entity.seen_at,
            context=context,
        )
    return list(latest.values())


def _whole(candidates: list[SeenEntity]) -> list[SeenEntity]:
    """Without bare ends (尾号8832) where the whole number is known."""
    whole = [each for each in candidates if not each.normalised.startswith(TAIL_MARK)]
    return whole or candidates


def of_carrier(candidates: list[SeenEntity], carrier: str) -> list[SeenEntity]:
    """By the word beside the number, or by the letters its number begins with; never another courier's. Where
    neither tells, by the form of the digits."""
    told = [each for each in candidates if carrier in each.context]
    sure = [each for each in told if is_of_carrier(each.normalised, carrier)]
    told = sure or [each for each in told if not has_letters_of_another(each.normalised, carrier)]
    formed = [each for each in candidates if is_of_carrier(each.normalised, carrier)]
    lettered = [each for each in formed if each.normalised[:2].isalpha()]
    either = [each for each in candidates if each in told or each in lettered]
    return either or formed


def _by_attributes(reference: Reference, candidates: list[SeenEntity]) -> Resolved | Ambiguous | None:
    best = best_of(candidates, reference.attributes)
    if best:
        return _chosen(reference, best, latest_wins=False)
    if reference.type is EntityType.PRODUCT_NAME:
        return None  # The words name it better than any other thing's name would.
    return _chosen(reference, candidates, latest_wins=False)


def best_of(candidates: Sequence[SeenEntity], words: Sequence[str]) -> list[SeenEntity]:
    """Those beside which most of the words stood; none where not one did. Of what was told together, that
    in whose own words they stood."""
    asked = [(word, days_in(word) == (word,)) for word in words]
    best = _most([(each, _score(f"{each.context} {each.value} {_name(each)}", asked)) for each in candidates])
    if len(best) > 1:
        best = _most([(each, _score(own_words(each, best), asked)) for each in best]) or best
    if len(best) > 1:
        best = _most([(each, _score(_name(each), asked)) for each in best]) or best
    return best


def _name(entity: SeenEntity) -> str:
    """Of goods, which are told by it: A 款 as A款."""
    return entity.normalised if entity.type is EntityType.PRODUCT_NAME else ""


def _most(scored: Sequence[tuple[SeenEntity, int]]) -> list[SeenEntity]:
    most = max((score for _, score in scored), default=0)
    return [each for each, score in scored if score == most > 0]


def _score(beside: str, asked: Sequence[tuple[str, bool]]) -> int:
    """`asked`: words, and whether each is a day."""
    beside = normalise(simplified(beside))
    days = days_in(beside)
    terms: Collection[str] | None = None
    score = 0
    for word, is_day in asked:
        if is_day:
            score += (word in days) * len(word)
        elif word in beside:
            score += len(word)
        else:
            terms = indexed_terms(without_days(beside)) if terms is None else terms
            score += (word in terms) * len(word)
    return score


def _of_one_type(candidates: list[SeenEntity], reference: Reference) -> list[SeenEntity]:
    """它: of the type that was spoken of last."""
    if reference.type is not None or not candidates:
        return candidates
    newest = candidates[-1].seen_at
    types = [each.type for each in candidates if each.seen_at == newest]
    first = next(kind for kind in _POINTED_AT if kind in types)
    return [each for each in candidates if each.type is first]


def _chosen(
    reference: Reference, candidates: list[SeenEntity], *, latest_wins: bool
) -> Resolved | Ambiguous | None:
    if not candidates:
        return None
    if latest_wins:
        candidates = [each for each in candidates if each.seen_at == candidates[-1].seen_at]
        candidates = _whole(candidates)
    if len(candidates) == 1:
        return Resolved(value=candidates[0].value, entity=candidates[0], reference=reference)
    return Ambiguous(candidates=tuple(candidates), reference=reference)


def _by_ordinal(
    reference: Reference, entities: Sequence[SeenEntity], offered: Sequence[SeenEntity]
) -> Resolved | None:
    """Of what was offered; else of what one message listed last; else of all, by when they were first said."""
    listed = list(offered) or _of_one_type(
        [each for each in _in_order_said(entities) if _has_type(each, reference)], reference
    )
    if not offered and listed:
        together = [each for each in listed if each.seen_at == listed[-1].seen_at]
        listed = together if len(together) > 1 else listed
    assert reference.ordinal is not None
    place = reference.ordinal - 1 if reference.ordinal > 0 else len(listed) + reference.ordinal
    if not 0 <= place < len(listed):
        return None
    return Resolved(value=listed[place].value, entity=listed[place], reference=reference)


def _in_order_said(entities: Iterable[SeenEntity]) -> list[SeenEntity]:
    """Each once, where it was first said."""
    first: dict[tuple[EntityType, str], SeenEntity] = {}
    for entity in with_ends_known(sorted(entities, key=lambda each: each.seen_at)):
        first.setdefault((entity.type, entity.normalised), entity)
    return list(first.values())
