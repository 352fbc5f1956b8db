"""The one schema, in SQLAlchemy Core.

Invariant: plain column types only (INTEGER, TEXT, REAL, BLOB), so that what the driver gives is what we
use. Times are INTEGER milliseconds since 1970 UTC (`to_ms`, `from_ms`); flags are 0 and 1. Ids of rows that
can be deleted are never given out again (AUTOINCREMENT): caches and Redis keys name rows by id.
"""

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
    text,
)

from bot.conversation.milliseconds import from_ms as from_ms
from bot.conversation.milliseconds import to_ms as to_ms
from bot.storage.sql.entity_schema import entity_table
from bot.storage.sql.identity_schema import account as account
from bot.storage.sql.identity_schema import claim_code as claim_code
from bot.storage.sql.identity_schema import conflict as conflict
from bot.storage.sql.identity_schema import link_code as link_code
from bot.storage.sql.identity_schema import link_try as link_try
from bot.storage.sql.identity_schema import merge as merge
from bot.storage.sql.identity_schema import metadata as metadata
from bot.storage.sql.identity_schema import person as person
from bot.storage.sql.identity_schema import phone_ask as phone_ask
from bot.storage.sql.identity_schema import phone_code as phone_code
from bot.storage.sql.identity_schema import phone_link as phone_link
from bot.storage.sql.identity_schema import superuser as superuser

_IS_ENDING = "valid_to IS NOT NULL OR expires_at IS NOT NULL"

inbox = Table(
    "inbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("channel", Text, nullable=False),
    Column("app_id", Text, nullable=False),
    Column("key", Text, nullable=False),
    # Null until the sender has an account, and for anonymous senders for ever.
    Column("account_id", Integer, ForeignKey("account.id"), index=True),
    # The Message as JSON; null as soon as nothing can need it again. While accepted: its place was cleared.
    Column("payload", Text),
    Column("state", Text, nullable=False),  # accepted | closed | dead
    Column("tries", Integer, nullable=False),
    Column("error", Text, nullable=False),
    Column("accepted_at", Integer, nullable=False),
    Column("place", Text, nullable=False, server_default=""),  # Conversation.place
    UniqueConstraint("channel", "app_id", "key"),
    Index("ix_inbox_accepted", "id", sqlite_where=literal_column("state = 'accepted'")),
)

delivery = Table(
    "delivery",
    metadata,
    Column("inbox_id", Integer, ForeignKey("inbox.id"), primary_key=True, autoincrement=False),
    Column("account_id", Integer, ForeignKey("account.id")),
    Column("pages", Text, nullable=False),  # a JSON list of strings, `page_count` long
    Column("page_count", Integer, nullable=False),
    Column("next_page", Integer, nullable=False),
    Column("state", Text, nullable=False),  # DeliveryState
    Column("decided_by", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("at", Integer, nullable=False),
    # For 「继续」, and to forget an account's.
    Index("ix_delivery_account_id_at", "account_id", "at"),
    # What a start looks for: answered but perhaps unsent, and sendings a crash cut off.
    Index("ix_delivery_unsent", "inbox_id", sqlite_where=literal_column("state = 'held' AND next_page = 0")),
    Index("ix_delivery_sending", "inbox_id", sqlite_where=literal_column("state = 'sending'")),
)

seal = Table(
    "seal",
    metadata,
    Column("channel", Text, primary_key=True),
    Column("app_id", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("body", LargeBinary, nullable=False),  # already given to the platform: holds words of the answer
    Column("at", Integer, nullable=False),
)

shelf = Table(
    "shelf",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account_id", Integer, ForeignKey("account.id"), nullable=False),
    Column("place", Text, nullable=False),  # Conversation.place
    # Raised by every change of its facts or vectors: see shelves.ADDED and REWRITTEN.
    Column("version", Integer, nullable=False),
    # How many vectors its segments hold, and of what kind ("" and 0 while none).
    Column("size", Integer, nullable=False),
    Column("model", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    # As account.cleared_epoch, for work in this place alone.
    Column("cleared_epoch", Integer, nullable=False, server_default=text("0")),
    # On which side of its segments these vectors lie; and how many of what kind are made on the other.
    Column("side", Integer, nullable=False, server_default=text("0")),
    Column("coming_size", Integer, nullable=False, server_default=text("0")),
    Column("coming_dimension", Integer, nullable=False, server_default=text("0")),
    Column("coming_model", Text, nullable=False, server_default=""),
    UniqueConstraint("account_id", "place"),
    Index("ix_shelf_model", "model", "dimension"),
    Index("ix_shelf_coming", "id", sqlite_where=literal_column("coming_model <> ''")),
    sqlite_autoincrement=True,
)

seg = Table(
    "seg",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),  # shelf.id << 20 | side << 19 | n
    Column("meta", LargeBinary, nullable=False),  # capacity × (int64 fact id, int64 said_at in ms)
    Column("vecs", LargeBinary, nullable=False),  # capacity × dimension float32
)

turn = Table(
    "turn",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("shelf_id", Integer, ForeignKey("shelf.id"), nullable=False, index=True),
    Column("inbox_id", Integer, ForeignKey("inbox.id"), nullable=False),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("decided_by", Text, nullable=False),
    Column("at", Integer, nullable=False),  # when the person wrote
    # Said while its person wanted nothing remembered: kept for the talk going on, and for no longer.
    Column("is_passing", Integer, nullable=False, server_default=text("0")),
    Index("ix_turn_passing", "id", sqlite_where=literal_column("is_passing = 1")),
    sqlite_autoincrement=True,
)

fact = Table(
    "fact",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("shelf_id", Integer, ForeignKey("shelf.id"), nullable=False),
    Column("kind", Text, nullable=False),  # FactKind
    Column("text", Text, nullable=False),
    Column("importance", Float, nullable=False),
    Column("said_at", Integer, nullable=False),
    Column("said_again_at", Integer),  # the last time
    # Both set when a later fact contradicts this one; the current view leaves it out.
    Column("valid_to", Integer),
    Column("superseded_by", Integer),
    # The account that said the later one, which may be forgotten. Both stay when the fact opens again because
    # that account left the person (valid_to is then null): should it come back, the fact closes again.
    Column("superseded_from", Integer),
    Column("expires_at", Integer),
    Column("source_turn", Integer),  # no foreign key: the turn may be deleted and the fact kept
    Column("model", Text, nullable=False),  # of its vector in the shelf's segments; "" while it has none
    Column("told_times", Text),  # the times that its words name; null where they have not been read
    # A shelf's facts; and whether it holds a text already, asked at each keeping.
    Index("ix_fact_shelf_id_text", "shelf_id", "text"),
    # The few whose vectors must be left out, now or one day.
    Index("ix_fact_unembedded", "shelf_id", sqlite_where=literal_column("model = ''")),
    Index("ix_fact_ending", "shelf_id", sqlite_where=literal_column(_IS_ENDING)),
    # The few that a join or a parting may close or open again.
    Index("ix_fact_superseded", "shelf_id", sqlite_where=literal_column("superseded_by IS NOT NULL")),
    sqlite_autoincrement=True,
)

entity = entity_table(metadata)

summary = Table(
    "summary",
    metadata,
    # One of a shelf: it never mixes the words of two accounts.
    Column("shelf_id", Integer, ForeignKey("shelf.id"), primary_key=True, autoincrement=False),
    # The turns of the shelf that it condenses, first and last; 0 once words of it were forgotten, and then
    # `text` is "": it is to be made anew from the turns that are left.
    Column("from_turn", Integer, nullable=False),
    Column("to_turn", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Integer, nullable=False),  # when the last of them was written
)

job = Table(
    "job",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("turn_id", Integer, ForeignKey("turn.id", ondelete="CASCADE"), nullable=False, index=True),
    # The scope, but for the person, who is the account's of the day: accounts move between persons.
    Column("account_id", Integer, ForeignKey("account.id"), nullable=False, index=True),
    Column("place", Text, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("state", Text, nullable=False),  # waiting | leased | dead
    Column("due_at", Integer, nullable=False),  # when it may be taken: a leased one, when its lease lapses
    Column("tries", Integer, nullable=False),
    Column("error", Text, nullable=False),
    Index("ix_job_leased", "id", sqlite_where=literal_column("state = 'leased'")),
    sqlite_autoincrement=True,
)

group_switch = Table(
    "group_switch",
    metadata,
    Column("place", Text, primary_key=True),
    Column("is_on", Integer, nullable=False),
    Column("at", Integer, nullable=False),
)

confirmation = Table(
    "confirmation",
    metadata,
    Column("account_id", Integer, ForeignKey("account.id"), primary_key=True, autoincrement=False),
    Column("action", Text, nullable=False),
    Column("argument", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("expires_at", Integer, nullable=False),
)

document = Table(
    "document",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("at", Integer, nullable=False),
    Column("app_id", Text, nullable=False, server_default=""),  # "": of all accounts and bots
    UniqueConstraint("name"),
    sqlite_autoincrement=True,
)

passage = Table(
    "passage",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document_id", Integer, ForeignKey("document.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("heading", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("model", Text, nullable=False),  # "" while it has no vector
    Column("vector", LargeBinary),  # (d,) float32
    # As `model` and `vector`, of another model, until every passage has one.
    Column("coming_model", Text, nullable=False, server_default=""),
    Column("coming_vector", LargeBinary),
    Index("ix_passage_model", "model"),
    Index("ix_passage_coming", "id", sqlite_where=literal_column("coming_model <> ''")),
    sqlite_autoincrement=True,
)

passage_tokens = Table(
    "passage_tokens",
    metadata,
    Column(
        "passage_id",
        Integer,
        ForeignKey("passage.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("model", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("vectors", LargeBinary, nullable=False),  # (n, d) int8
)

stamp = Table(
    "stamp",
    metadata,
    Column("name", Text, primary_key=True),  # `knowledge`: the version of all documents together
    Column("value", Integer, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Integer, nullable=False),
    Column("actor", Text, nullable=False),  # channel:app_id:openid, "cli", or "" for the house itself
    Column("action", Text, nullable=False),
    Column("subject_person", Integer, index=True),  # no foreign key: the record outlives the person
    Column("reason", Text, nullable=False),
    Column("detail", Text, nullable=False),  # ids and counts, never text of a memory
)
