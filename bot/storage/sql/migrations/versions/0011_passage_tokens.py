"""A vector for each token of a passage, beside the one for the whole.

Revision: 0011, after 0010.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "passage_tokens",
        sa.Column("passage_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("vectors", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["passage_id"], ["passage.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("passage_id"),
    )
