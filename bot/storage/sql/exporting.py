"""Everything that is kept about one person, as a JSON document for them to take away.

Invariant: reads one snapshot, by the accounts of that person alone; times are ISO 8601 with their zone.
"""

from typing import Any

from sqlalchemy import bindparam, select

from bot.conversation.scope import PersonId
from bot.storage.sql.database import Database
from bot.storage.sql.schema import account, entity, fact, from_ms, phone_link, shelf, summary, turn
from bot.storage.sql.statements import Statement

FORMAT = 1

_ACCOUNTS = Statement(
    select(
        account.c.channel,
        account.c.app_id,
        account.c.openid,
        account.c.unionid,
        account.c.created_at,
        account.c.is_open,
    )
    .where(account.c.person_id == bindparam("person"))
    .order_by(account.c.id)
)
_PHONES = Statement(
    select(phone_link.c.verified_by, phone_link.c.at)
    .where(phone_link.c.person_id == bindparam("person"))
    .order_by(phone_link.c.at)
)
_FACTS = Statement(
    select(
        fact.c.id,
        account.c.channel,
        shelf.c.place,
        fact.c.kind,
        fact.c.text,
        fact.c.importance,
        fact.c.said_at,
        fact.c.said_again_at,
        fact.c.valid_to,
        fact.c.expires_at,
    )
    .select_from(fact.join(shelf).join(account))
    .where(account.c.person_id == bindparam("person"))
    .order_by(fact.c.said_at, fact.c.id)
)
_ENTITIES = Statement(
    select(
        account.c.channel, shelf.c.place, entity.c.type, entity.c.value, entity.c.context, entity.c.seen_at
    )
    .select_from(entity.join(shelf).join(account))
    .where(account.c.person_id == bindparam("person"))
    .order_by(entity.c.seen_at, entity.c.id)
)
_SUMMARIES = Statement(
    select(
        account.c.channel,
        shelf.c.place,
        summary.c.from_turn,
        summary.c.to_turn,
        summary.c.text,
        summary.c.at,
    )
    .select_from(summary.join(shelf).join(account))
    .where(account.c.person_id == bindparam("person"), summary.c.to_turn > 0)
    .order_by(summary.c.to_turn)
)
_TURNS = Statement(
    select(
        turn.c.id,
        account.c.channel,
        shelf.c.place,
        turn.c.question,
        turn.c.answer,
        turn.c.decided_by,
        turn.c.at,
    )
    .select_from(turn.join(shelf).join(account))
    .where(account.c.person_id == bindparam("person"))
    .order_by(turn.c.at, turn.c.id)
)


async def export_person(database: Database, person: PersonId) -> dict[str, Any]:
    """Of a phone only that it was proven is known: its number is nowhere. Raises StoreUnavailable."""
    async with database.snapshot() as read:
        accounts = await read(_ACCOUNTS, person=person)
        phones = await read(_PHONES, person=person)
        facts = await read(_FACTS, person=person)
        entities = await read(_ENTITIES, person=person)
        summaries = await read(_SUMMARIES, person=person)
        turns = await read(_TURNS, person=person)
    return {
        "format": FORMAT,
        "person": person,
        "accounts": [
            {
                "channel": row[0],
                "app_id": row[1],
                "openid": row[2],
                "unionid": row[3],
                "since": _iso(row[4]),
                "is_open_in_groups": bool(row[5]),
            }
            for row in accounts
        ],
        "phones": [{"verified_by": row[0], "at": _iso(row[1])} for row in phones],
        "facts": [
            {
                "id": row[0],
                "channel": row[1],
                "place": row[2],
                "kind": row[3],
                "text": row[4],
                "importance": row[5],
                "said_at": _iso(row[6]),
                "said_again_at": _iso(row[7]),
                "valid_to": _iso(row[8]),
                "expires_at": _iso(row[9]),
            }
            for row in facts
        ],
        "entities": [
            {
                "channel": row[0],
                "place": row[1],
                "type": row[2],
                "value": row[3],
                "context": row[4],
                "seen_at": _iso(row[5]),
            }
            for row in entities
        ],
        "summaries": [
            {
                "channel": row[0],
                "place": row[1],
                "from_turn": row[2],
                "to_turn": row[3],
                "text": row[4],
                "until": _iso(row[5]),
            }
            for row in summaries
        ],
        "turns": [
            {
                "id": row[0],
                "channel": row[1],
                "place": row[2],
                "question": row[3],
                "answer": row[4],
                "decided_by": row[5],
                "at": _iso(row[6]),
            }
            for row in turns
        ],
    }


def _iso(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else from_ms(milliseconds).isoformat(timespec="seconds")
