"""The tables of who is who: persons, accounts, what joins them, and who may command.

Invariant: as in `schema`, whose half this is.
"""

from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

person = Table(
    "person",
    metadata,
    Column("id", Integer, primary_key=True),
    # Names one view of the person's memory; raised by each clearing and each joining.
    Column("epoch", Integer, nullable=False),
    Column("created_at", Integer, nullable=False),
    sqlite_autoincrement=True,
)

account = Table(
    "account",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("channel", Text, nullable=False),
    Column("app_id", Text, nullable=False),
    Column("openid", Text, nullable=False),
    Column("unionid", Text, nullable=False),
    Column("person_id", Integer, ForeignKey("person.id"), nullable=False, index=True),
    # Work of an epoch below this was overtaken by a clearing: see scopes.is_current.
    Column("cleared_epoch", Integer, nullable=False),
    Column("greeted", Integer, nullable=False),
    Column("created_at", Integer, nullable=False),
    # Account.is_open
    Column("is_open", Integer, nullable=False, server_default=text("0")),
    # Of an account that stands for what another left behind when it unsubscribed: whose, and when.
    Column("parked_of", Integer),
    Column("parked_at", Integer),
    # When the platform was last asked for the unionid.
    Column("union_asked_at", Integer),
    # Since when nothing new is to be remembered.
    Column("paused_at", Integer),
    UniqueConstraint("channel", "app_id", "openid"),
    # "" matches nothing, so it is not indexed.
    Index("ix_account_unionid", "unionid", sqlite_where=literal_column("unionid <> ''")),
    Index("ix_account_parked_of", "parked_of", sqlite_where=literal_column("parked_of IS NOT NULL")),
    sqlite_autoincrement=True,
)

phone_link = Table(
    "phone_link",
    metadata,
    Column("phone_hash", LargeBinary, primary_key=True),
    Column("key_version", Integer, primary_key=True),
    Column("person_id", Integer, ForeignKey("person.id"), nullable=False, index=True),
    Column("account_id", Integer, ForeignKey("account.id"), nullable=False),  # the one that proved it
    Column("verified_by", Text, nullable=False),
    Column("at", Integer, nullable=False),
)

link_code = Table(
    "link_code",
    metadata,
    Column("code_hash", LargeBinary, primary_key=True),  # keyed: six characters are found by trying
    Column("account_id", Integer, ForeignKey("account.id"), nullable=False, index=True),
    Column("issued_at", Integer, nullable=False),
    Column("expires_at", Integer, nullable=False),
    Column("entered_by", Integer, ForeignKey("account.id")),
    # When the account that issued it was told who entered it.
    Column("shown_at", Integer),
    # Confirmed, refused, or taken back for a newer one. The row stays an hour, to be counted.
    Column("spent_at", Integer),
)

link_try = Table(
    "link_try",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account_id", Integer, ForeignKey("account.id"), nullable=False, index=True),
    Column("at", Integer, nullable=False),  # of a wrong code
)

phone_code = Table(
    "phone_code",
    metadata,
    Column("account_id", Integer, ForeignKey("account.id"), primary_key=True, autoincrement=False),
    Column("phone_hash", LargeBinary, nullable=False),
    Column("code_hash", LargeBinary, nullable=False),  # keyed: six digits are found by trying
    Column("key_version", Integer, nullable=False),  # of the phone's hash
    Column("issued_at", Integer, nullable=False),
    Column("expires_at", Integer, nullable=False),
    Column("tries", Integer, nullable=False),  # wrong ones
)

phone_ask = Table(
    # A code that was asked for is counted twice, once by who asked and once by the phone, in rows that do not
    # name each other: what limits an account need not say whose phone it wrote to.
    "phone_ask",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account_id", Integer, ForeignKey("account.id"), index=True),
    Column("phone_hash", LargeBinary, index=True),
    Column("at", Integer, nullable=False),
)

merge = Table(
    "merge",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account_id", Integer, ForeignKey("account.id"), nullable=False, index=True),
    Column("from_person", Integer, ForeignKey("person.id"), nullable=False, index=True),
    Column("to_person", Integer, ForeignKey("person.id"), nullable=False, index=True),
    Column("reason", Text, nullable=False),
    Column("at", Integer, nullable=False),
    Column("undone_at", Integer),
    sqlite_autoincrement=True,
)

conflict = Table(
    "conflict",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", Text, nullable=False),  # ConflictKind
    Column("first_person", Integer, nullable=False),
    Column("second_person", Integer, nullable=False),
    Column("account_id", Integer, ForeignKey("account.id"), nullable=False, index=True),  # of the first
    Column("detail", Text, nullable=False),  # ids and reasons, never a number
    Column("at", Integer, nullable=False),
    Column("decided_at", Integer),
    Column("decision", Text),  # Decision
    sqlite_autoincrement=True,
)

claim_code = Table(
    "claim_code",
    metadata,
    Column("code_hash", LargeBinary, primary_key=True),
    Column("issued_at", Integer, nullable=False),
    Column("spent_at", Integer),
)

superuser = Table(
    "superuser",
    metadata,
    Column("channel", Text, primary_key=True),
    Column("app_id", Text, primary_key=True),
    Column("openid", Text, primary_key=True),
    Column("at", Integer, nullable=False),
)
