"""One person across platforms: codes, conflicts, parked accounts, and every change of persons on record.

Revision: 0004, after 0003.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for name in ("parked_of", "parked_at", "union_asked_at"):
        op.add_column("account", sa.Column(name, sa.Integer(), nullable=True))
    op.create_index(
        "ix_account_parked_of", "account", ["parked_of"], sqlite_where=sa.text("parked_of IS NOT NULL")
    )
    op.add_column("fact", sa.Column("superseded_from", sa.Integer(), nullable=True))
    op.create_index(
        "ix_fact_superseded", "fact", ["shelf_id"], sqlite_where=sa.text("superseded_by IS NOT NULL")
    )
    _create_codes()
    _create_merges()
    _create_conflicts()


def _create_codes() -> None:
    op.create_table(
        "link_code",
        sa.Column("code_hash", sa.LargeBinary(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("issued_at", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.Integer(), nullable=False),
        sa.Column("entered_by", sa.Integer(), nullable=True),
        sa.Column("shown_at", sa.Integer(), nullable=True),
        sa.Column("spent_at", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_link_code_account_id"),
        sa.ForeignKeyConstraint(["entered_by"], ["account.id"], name="fk_link_code_entered_by"),
        sa.PrimaryKeyConstraint("code_hash", name="pk_link_code"),
    )
    op.create_index("ix_link_code_account_id", "link_code", ["account_id"])
    op.create_table(
        "link_try",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_link_try_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_link_try"),
    )
    op.create_index("ix_link_try_account_id", "link_try", ["account_id"])


def _create_merges() -> None:
    op.create_table(
        "merge",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("from_person", sa.Integer(), nullable=False),
        sa.Column("to_person", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.Column("undone_at", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_merge_account_id"),
        sa.ForeignKeyConstraint(["from_person"], ["person.id"], name="fk_merge_from_person"),
        sa.ForeignKeyConstraint(["to_person"], ["person.id"], name="fk_merge_to_person"),
        sa.PrimaryKeyConstraint("id", name="pk_merge"),
        sqlite_autoincrement=True,
    )
    for column in ("account_id", "from_person", "to_person"):
        op.create_index(f"ix_merge_{column}", "merge", [column])


def _create_conflicts() -> None:
    op.create_table(
        "conflict",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("first_person", sa.Integer(), nullable=False),
        sa.Column("second_person", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.Column("decided_at", sa.Integer(), nullable=True),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_conflict_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_conflict"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_conflict_account_id", "conflict", ["account_id"])
