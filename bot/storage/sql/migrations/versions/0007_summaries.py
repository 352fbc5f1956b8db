"""The rolling summary of each shelf.

Revision: 0007, after 0006.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "summary",
        sa.Column("shelf_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("from_turn", sa.Integer(), nullable=False),
        sa.Column("to_turn", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["shelf_id"], ["shelf.id"], name="fk_summary_shelf_id"),
        sa.PrimaryKeyConstraint("shelf_id", name="pk_summary"),
    )
