"""Blanking what waits to be shown: the pages of replies, and what is kept for a platform's retries.

Invariant: no statement here names a row by anything but its account, and the rows themselves stay: a platform's retry of
an old message must not be a new one.
"""

import sqlite3

from sqlalchemy import func, or_, select, tuple_, update

from bot.storage.sql.deliveries import PROMISE
from bot.storage.sql.schema import delivery, inbox, seal
from bot.storage.sql.shelves import listed
from bot.storage.sql.statements import Statement

HAS_WORDS = or_(delivery.c.pages != "[]", delivery.c.question != "")
BLANKED = update(delivery).values(pages="[]", page_count=0, next_page=0, state="sent", question="")
_BLANK_ALL_DELIVERIES = Statement(BLANKED.where(delivery.c.account_id.in_(listed("accounts")), HAS_WORDS))
_BLANK_HANDED_OVER = Statement(
    BLANKED.where(
        delivery.c.account_id.in_(listed("accounts")),
        delivery.c.state != "sending",
        delivery.c.next_page >= delivery.c.page_count,
        HAS_WORDS,
    )
)
_BLANK_SEALS = Statement(
    update(seal)
    .where(
        tuple_(seal.c.channel, seal.c.app_id, seal.c.key).in_(
            select(inbox.c.channel, inbox.c.app_id, inbox.c.key).where(
                inbox.c.account_id.in_(listed("accounts"))
            )
        ),
        func.length(seal.c.body) > 0,
        # A promise holds no words, and is kept by saying that the question has to be asked again.
        seal.c.body != PROMISE,
    )
    .values(body=b"")
)
_BLANK_PAYLOADS = Statement(
    update(inbox)
    .where(
        inbox.c.account_id.in_(listed("accounts")), inbox.c.state != "accepted", inbox.c.payload.is_not(None)
    )
    .values(payload=None, error="")
)


def drop_replies(connection: sqlite3.Connection, accounts: str) -> int:
    """All replies of these accounts (a JSON list of ids) and what is kept for retries. Returns how many replies."""
    blanked = _BLANK_ALL_DELIVERIES.run(connection, accounts=accounts).rowcount
    drop_kept_for_retries(connection, accounts)
    return blanked


def drop_kept_for_retries(connection: sqlite3.Connection, accounts: str) -> None:
    """Not counted, since nothing of it could be recalled."""
    _BLANK_HANDED_OVER.run(connection, accounts=accounts)
    _BLANK_SEALS.run(connection, accounts=accounts)
    _BLANK_PAYLOADS.run(connection, accounts=accounts)
