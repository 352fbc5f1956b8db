"""What a conversation has named: orders, sums, goods.

Revision: 0006, after 0005.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "entity",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("shelf_id", sa.Integer(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("normalised", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.Integer(), nullable=False),
        sa.Column("source_turn", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["shelf_id"], ["shelf.id"], name="fk_entity_shelf_id"),
        sa.PrimaryKeyConstraint("id", name="pk_entity"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_entity_shelf_id_seen_at", "entity", ["shelf_id", "seen_at"])
    op.create_index("ix_entity_source_turn", "entity", ["source_turn"])
