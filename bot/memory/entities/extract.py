"""All entities of one message by exact rules, in the order they stand in.

Invariant: pure; places are those of the original text; two readings of the same digits never both count. Only
the first `LONGEST_READ` characters are read: a message that is longer is a document.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from bot.memory.entities import contacts, orders, phones, products, wording
from bot.memory.entities.amounts import find_sums
from bot.memory.entities.dates import DateFinder, no_dates, own_dates
from bot.memory.entities.entity import TAIL_MARK, Entity, EntityType
from bot.memory.entities.folding import Folded, folded

__all__ = ["extract", "may_name_order", "no_dates"]

LONGEST_READ = 4_000
"""Characters."""
DATE_CERTAINTY = 0.9
WORD_CERTAINTY = 0.9
_NAMED = 2.0
"""What is added where a form can be nothing else: an e-mail address, 尾号8832."""

_Span = tuple[int, int]
_Candidate = tuple[float, _Span, EntityType, str]
"""Weight against others on the same digits, place in the folded text, type, normalised."""


def extract(
    text: str, reference: datetime, catalogue: Sequence[str] = (), *, dates: DateFinder | None = None
) -> tuple[Entity, ...]:
    """The entities of a message.

    `reference`: when it was written, aware: what 昨天 means. `catalogue`: names of goods to be found beside
    those that name themselves. `dates`: who reads dates, the house's reader by default.
    """
    read = folded(text[:LONGEST_READ])
    without_links = contacts.without_links(read.text)
    candidates = [
        *_orders(without_links),
        *_contacts(without_links),
        *_amounts(without_links),
        *(
            (DATE_CERTAINTY, (start, end), EntityType.DATE, window)
            for start, end, window in (dates or own_dates)(without_links, reference)
        ),
    ]
    chosen = [
        *_apart(candidates),
        *_apart(_products(without_links, catalogue)),
        *_words(without_links),
    ]
    return tuple(sorted((_entity(read, each) for each in chosen), key=lambda each: (each.start, each.end)))


def may_name_order(text: str) -> bool:
    """Whether anything in it could be an order's whole number, before it is weighed against what else it could be."""
    read = contacts.without_links(folded(text[:LONGEST_READ]).text)
    return any(
        kind is EntityType.ORDER_ID and not normalised.startswith(TAIL_MARK)
        for _, _, kind, normalised in _orders(read)
    )


def _orders(text: str) -> Iterator[_Candidate]:
    for span, digits, is_phone in orders.find_tails(text):
        kind = EntityType.CONTACT_INFO if is_phone else EntityType.ORDER_ID
        yield _NAMED + 0.95, span, kind, TAIL_MARK + digits
    for span, certainty in orders.find_orders(text):
        yield certainty, span, EntityType.ORDER_ID, orders.normalised_order(text[slice(*span)])


def _contacts(text: str) -> Iterator[_Candidate]:
    for span, normalised, certainty in contacts.find_contacts(text):
        weight = _NAMED + certainty if "@" in normalised else certainty
        yield weight, span, EntityType.CONTACT_INFO, normalised
    for span, certainty in phones.find_phones(text):
        # 单号13812345678 is an order: the word beside a number outweighs its form.
        weight = min(certainty, 0.97)
        yield weight, span, EntityType.CONTACT_INFO, phones.normalised_phone(text[slice(*span)])


def _amounts(text: str) -> Iterator[_Candidate]:
    for each in find_sums(text):
        yield each.certainty, (each.start, each.end), EntityType.AMOUNT, each.normalised


def _products(text: str, catalogue: Sequence[str]) -> list[_Candidate]:
    found = products.find_products(text, catalogue)
    return [(certainty, span, EntityType.PRODUCT_NAME, name) for span, name, certainty in found]


def _words(text: str) -> list[_Candidate]:
    issues = list(wording.find_issues(text))
    found: list[_Candidate] = [
        (WORD_CERTAINTY, (start, end), EntityType.ISSUE_TYPE, name) for start, end, name in issues
    ]
    if wording.is_urgent(text) or any(name == wording.COMPLAINT for _, _, name in issues):
        found += [
            (WORD_CERTAINTY, (start, end), EntityType.EMOTION, name)
            for start, end, name in wording.find_emotions(text)
        ]
    return found


def _apart(candidates: list[_Candidate]) -> list[_Candidate]:
    """The weightiest of those that overlap, the longer of equals."""
    if len(candidates) < 2:
        return [each for each in candidates if each[1][0] < each[1][1]]
    taken = bytearray(max((each[1][1] for each in candidates), default=0))
    kept: list[_Candidate] = []
    for candidate in sorted(candidates, key=lambda each: (-each[0], each[1][0] - each[1][1], each[1])):
        start, end = candidate[1]
        if start < end and not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            kept.append(candidate)
    return kept


def _entity(read: Folded, candidate: _Candidate) -> Entity:
    weight, (start, end), kind, normalised = candidate
    first, last = read.span(start, end)
    return Entity(
        type=kind,
        value=read.original[first:last],
        normalised=normalised,
        start=first,
        end=last,
        certainty=round(weight - _NAMED, 2) if weight > 1 else weight,
    )
