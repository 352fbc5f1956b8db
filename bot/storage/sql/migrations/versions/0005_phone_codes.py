"""Proving a phone by a code: the code that waits, and how many were asked for.

Revision: 0005, after 0004.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "phone_code",
        sa.Column("account_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("phone_hash", sa.LargeBinary(), nullable=False),
        sa.Column("code_hash", sa.LargeBinary(), nullable=False),
        sa.Column("key_version", sa.Integer(), nullable=False),
        sa.Column("issued_at", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_phone_code_account_id"),
        sa.PrimaryKeyConstraint("account_id", name="pk_phone_code"),
    )
    op.create_table(
        "phone_ask",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("phone_hash", sa.LargeBinary(), nullable=True),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_phone_ask_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_phone_ask"),
    )
    for column in ("account_id", "phone_hash"):
        op.create_index(f"ix_phone_ask_{column}", "phone_ask", [column])
