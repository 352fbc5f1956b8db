"""The times that a fact names, read once and written beside it.

Revision: 0012, after 0011.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("fact", sa.Column("told_times", sa.Text()))
