"""All that is read in one sentence, and why: for who looks at what would be remembered.

Invariant: asks no model, opens no store and keeps nothing.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.conversation.local_time import LOCAL_TIME
from bot.memory.complexity import k_of
from bot.memory.entities import Entity, EntityType, extract
from bot.memory.judge import Judgement, RuleJudge, is_worth_judging
from bot.memory.references import Reference, find_reference, is_reproach
from bot.memory.time_zh import TimeSpan, find_times

REASONS = {
    "small talk": "寒暄、提问或太短，不交给任何人判断",
    "statements": "说了关于自己的事",
    "no statement": "没有说到自己的事",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """All that is read in one sentence."""

    text: str
    entities: tuple[Entity, ...]
    times: tuple[TimeSpan, ...]
    reference: Reference | None
    is_reproach: bool
    k: int
    asks_model: bool
    """The cheap filter lets it through: a house with a model would ask it once."""
    judgement: Judgement
    """By rules."""


async def read_all(text: str, products: tuple[str, ...], at: datetime) -> Extract:
    """`products`: names of the house's goods. `at`: when it is said."""
    return Extract(
        text=text,
        entities=extract(text, at, products),
        times=find_times(text, at),
        reference=find_reference(text),
        is_reproach=is_reproach(text),
        k=k_of(text),
        asks_model=is_worth_judging(text),
        judgement=await RuleJudge().judge(text, at, is_group=False),
    )


def as_document(found: Extract) -> dict[str, object]:
    """In JSON's types; times in Beijing's."""
    judgement = found.judgement
    return {
        "text": found.text,
        "entities": [
            {
                "type": each.type.value,
                "value": each.value,
                "normalised": normalised(each),
                "start": each.start,
                "end": each.end,
                "certainty": each.certainty,
            }
            for each in found.entities
        ],
        "times": [_time_as_json(each) for each in found.times],
        "reference": _reference_as_json(found.reference) if found.reference else None,
        "is_reproach": found.is_reproach,
        "k": found.k,
        "asks_model": found.asks_model,
        "keep": judgement.keep,
        "reason": REASONS.get(judgement.reason, judgement.reason),
        "facts": [
            {"kind": fact.kind.value, "text": fact.text, "importance": fact.importance}
            for fact in judgement.facts
        ],
    }


def _time_as_json(span: TimeSpan) -> dict[str, object]:
    window = span.window
    return {
        "text": span.text,
        "start": span.start,
        "end": span.end,
        "kind": span.kind.value,
        "window": [local_iso(window.start), local_iso(window.end)] if window else None,
        "sessions_back": span.sessions_back,
    }


def _reference_as_json(reference: Reference) -> dict[str, object]:
    return {
        "words": reference.words,
        "start": reference.start,
        "end": reference.end,
        "type": reference.type.value if reference.type else None,
        "ordinal": reference.ordinal,
        "tail": reference.tail,
        "carrier": reference.carrier,
        "attributes": list(reference.attributes),
        "hints": list(reference.hints),
        "is_earlier": reference.is_earlier,
    }


def normalised(entity: Entity) -> str:
    """A date's window in Beijing time, as all times here."""
    if entity.type is not EntityType.DATE:
        return entity.normalised
    return "/".join(local_iso(datetime.fromisoformat(moment)) for moment in entity.normalised.split("/"))


def local_iso(moment: datetime) -> str:
    """In Beijing time, to the second."""
    return moment.astimezone(LOCAL_TIME).isoformat(timespec="seconds")
