"""Lost, double, fault: what a run of messages came to, from what people saw.

Invariant: counts what was seen, never what was sent.

A *marker* tells one message's answer from all others, and then the count is exact: never seen is lost,
seen twice is double. Without one:

- a passive reply belongs to the message it answers;
- a customer-service message belongs to that person's oldest message that still has nothing, or else
  (a further page) to the newest one before it;
- lost is a message that wants an answer and has none; double, one whose very same words were seen twice.

A waiting line counts as an answer there: give a marker where that matters.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .people import Sight, Way
from .records import Delivery
from .server import WeChatServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    lost: tuple[int, ...]
    """Numbers of the deliveries."""
    double: tuple[int, ...]
    faults: int
    """Fault notices that anybody saw."""


def tally(server: WeChatServer, markers: Mapping[int, str] | None = None) -> Tally:
    """Of all messages that are over. `markers`: by a delivery's number."""
    markers = markers or {}
    by_person: defaultdict[str, list[Delivery]] = defaultdict(list)
    for delivery in server.deliveries:
        if delivery.openid and delivery.repeats is None:
            by_person[delivery.openid].append(delivery)
    lost: list[int] = []
    double: list[int] = []
    for openid, deliveries in by_person.items():
        sights = server.seen(openid)
        owned = _attributed(deliveries, sights)
        for delivery in deliveries:
            if (marker := markers.get(delivery.number)) is not None:
                seen = [s for s in sights if s.at >= delivery.started_at and marker in s.shown]
                is_lost, is_double = not seen, len(seen) > 1
            else:
                texts = [sight.text for sight in owned[delivery.number]]
                is_lost = _wants_answer(delivery) and not texts and not _is_handed_over(delivery)
                is_double = len(set(texts)) < len(texts)
            lost += [delivery.number] * is_lost
            double += [delivery.number] * is_double
    faults = sum(sight.way is Way.FAULT for person in server.people for sight in person.sights)
    return Tally(lost=tuple(sorted(lost)), double=tuple(sorted(double)), faults=faults)


def _wants_answer(delivery: Delivery) -> bool:
    return delivery.post is not None and delivery.post.wants_answer


def _is_handed_over(delivery: Delivery) -> bool:
    reply = delivery.verdict.reply if delivery.verdict else None
    return reply is not None and not reply.is_shown


def _attributed(deliveries: Iterable[Delivery], sights: Iterable[Sight]) -> defaultdict[int, list[Sight]]:
    """Which sights answer which message; a fault notice answers none."""
    owned: defaultdict[int, list[Sight]] = defaultdict(list)
    answerable = [delivery for delivery in deliveries if _wants_answer(delivery)]
    passive = {sight.answers for sight in sights if sight.way is Way.PASSIVE}
    for sight in sights:
        if sight.way is Way.PASSIVE and sight.answers is not None:
            owned[sight.answers].append(sight)
        elif sight.way is Way.CUSTOMER_SERVICE:
            before = [each.number for each in answerable if each.started_at <= sight.at]
            owed = [number for number in before if number not in passive and not owned[number]]
            if before:
                owned[owed[0] if owed else before[-1]].append(sight)
    return owned
