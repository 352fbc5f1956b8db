"""Who asked that nothing new be remembered of them, and the turns that are then kept for the talk alone.

Revision: 0009, after 0008.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("account", sa.Column("paused_at", sa.Integer(), nullable=True))
    op.add_column("turn", sa.Column("is_passing", sa.Integer(), server_default=sa.text("0"), nullable=False))
    op.create_index("ix_turn_passing", "turn", ["id"], sqlite_where=sa.text("is_passing = 1"))
