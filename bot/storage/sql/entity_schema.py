"""The table of what a conversation has named: orders, sums, goods.

Invariant: a row belongs to one shelf and is forgotten with the turn it was seen in.
"""

from sqlalchemy import Column, ForeignKey, Index, Integer, MetaData, Table, Text


def entity_table(metadata: MetaData) -> Table:
    """`entity`, beside the table `shelf` of the same metadata."""
    return Table(
        "entity",
        metadata,
        Column("id", Integer, primary_key=True),
        Column("shelf_id", Integer, ForeignKey("shelf.id"), nullable=False),
        Column("type", Text, nullable=False),  # EntityType
        Column("value", Text, nullable=False),
        Column("normalised", Text, nullable=False),
        Column("context", Text, nullable=False),  # the words it stood among
        Column("seen_at", Integer, nullable=False),
        # A turn's id. No foreign key: both go with the turn, whichever is deleted first.
        Column("source_turn", Integer, index=True),
        Index("ix_entity_shelf_id_seen_at", "shelf_id", "seen_at"),
        sqlite_autoincrement=True,
    )
