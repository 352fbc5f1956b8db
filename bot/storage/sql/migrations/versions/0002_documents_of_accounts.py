"""A document may belong to one official account or bot.

Revision: 0002, after 0001.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("document", sa.Column("app_id", sa.Text(), server_default="", nullable=False))
