"""When a fact was last told again.

Revision: 0008, after 0007.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("fact", sa.Column("said_again_at", sa.Integer(), nullable=True))
