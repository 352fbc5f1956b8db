"""Vectors of another model are made beside those that answer, and take their place together.

Revision: 0010, after 0009.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    for name in ("side", "coming_size", "coming_dimension"):
        op.add_column("shelf", sa.Column(name, sa.Integer(), server_default=sa.text("0"), nullable=False))
    op.add_column("shelf", sa.Column("coming_model", sa.Text(), server_default="", nullable=False))
    op.create_index("ix_shelf_model", "shelf", ["model", "dimension"])
    op.create_index("ix_shelf_coming", "shelf", ["id"], sqlite_where=sa.text("coming_model <> ''"))
    op.add_column("passage", sa.Column("coming_model", sa.Text(), server_default="", nullable=False))
    op.add_column("passage", sa.Column("coming_vector", sa.LargeBinary(), nullable=True))
    op.create_index("ix_passage_model", "passage", ["model"])
    op.create_index("ix_passage_coming", "passage", ["id"], sqlite_where=sa.text("coming_model <> ''"))
