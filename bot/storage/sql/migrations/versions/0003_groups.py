"""Groups: switched off and on, cleared alone; and who lets their private memory be recalled in one.

Revision: 0003, after 0002.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_OF_MESSAGES = """
UPDATE inbox SET place = CASE WHEN json_valid(payload) THEN
    json_extract(payload, '$.conversation.channel') || ':' || json_extract(payload, '$.conversation.app_id')
    || ':' || json_extract(payload, '$.conversation.group') ELSE '' END
WHERE payload IS NOT NULL
    AND CASE WHEN json_valid(payload) THEN json_extract(payload, '$.conversation.group') ELSE '' END <> ''
"""
_OF_TURNS = """
UPDATE inbox SET place = shelf.place FROM turn JOIN shelf ON shelf.id = turn.shelf_id
WHERE turn.inbox_id = inbox.id AND shelf.place <> ''
"""


def upgrade() -> None:
    op.create_table(
        "group_switch",
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("is_on", sa.Integer(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("place", name="pk_group_switch"),
    )
    op.add_column("account", sa.Column("is_open", sa.Integer(), server_default=sa.text("0"), nullable=False))
    op.add_column(
        "shelf", sa.Column("cleared_epoch", sa.Integer(), server_default=sa.text("0"), nullable=False)
    )
    op.add_column("inbox", sa.Column("place", sa.Text(), server_default="", nullable=False))
    op.execute(sa.text(_OF_MESSAGES))
    op.execute(sa.text(_OF_TURNS))
