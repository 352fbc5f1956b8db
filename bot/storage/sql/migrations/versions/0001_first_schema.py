"""The first schema.

Revision: 0001, from nothing.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    _create_person()
    _create_authority()
    _create_inbox()
    _create_delivery()
    _create_shelf()
    _create_fact()
    _create_job()
    _create_knowledge()
    _create_audit()


def _create_person() -> None:
    op.create_table(
        "person",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_person"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "account",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("app_id", sa.Text(), nullable=False),
        sa.Column("openid", sa.Text(), nullable=False),
        sa.Column("unionid", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("cleared_epoch", sa.Integer(), nullable=False),
        sa.Column("greeted", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name="fk_account_person_id"),
        sa.PrimaryKeyConstraint("id", name="pk_account"),
        sa.UniqueConstraint("channel", "app_id", "openid", name="uq_account_channel_app_id_openid"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_account_person_id", "account", ["person_id"])
    op.create_index("ix_account_unionid", "account", ["unionid"], sqlite_where=sa.text("unionid <> ''"))


def _create_authority() -> None:
    op.create_table(
        "phone_link",
        sa.Column("phone_hash", sa.LargeBinary(), nullable=False),
        sa.Column("key_version", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("verified_by", sa.Text(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_phone_link_account_id"),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"], name="fk_phone_link_person_id"),
        sa.PrimaryKeyConstraint("phone_hash", "key_version", name="pk_phone_link"),
    )
    op.create_index("ix_phone_link_person_id", "phone_link", ["person_id"])
    op.create_table(
        "claim_code",
        sa.Column("code_hash", sa.LargeBinary(), nullable=False),
        sa.Column("issued_at", sa.Integer(), nullable=False),
        sa.Column("spent_at", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("code_hash", name="pk_claim_code"),
    )
    op.create_table(
        "superuser",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("app_id", sa.Text(), nullable=False),
        sa.Column("openid", sa.Text(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "app_id", "openid", name="pk_superuser"),
    )


def _create_inbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("app_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("payload", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("accepted_at", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_inbox_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_inbox"),
        sa.UniqueConstraint("channel", "app_id", "key", name="uq_inbox_channel_app_id_key"),
    )
    op.create_index("ix_inbox_accepted", "inbox", ["id"], sqlite_where=sa.text("state = 'accepted'"))
    op.create_index("ix_inbox_account_id", "inbox", ["account_id"])
    op.create_table(
        "confirmation",
        sa.Column("account_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("argument", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_confirmation_account_id"),
        sa.PrimaryKeyConstraint("account_id", name="pk_confirmation"),
    )


def _create_delivery() -> None:
    op.create_table(
        "delivery",
        sa.Column("inbox_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("pages", sa.Text(), nullable=False),
        sa.Column("page_count", sa.Integer(), nullable=False),
        sa.Column("next_page", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_delivery_account_id"),
        sa.ForeignKeyConstraint(["inbox_id"], ["inbox.id"], name="fk_delivery_inbox_id"),
        sa.PrimaryKeyConstraint("inbox_id", name="pk_delivery"),
    )
    op.create_index("ix_delivery_account_id_at", "delivery", ["account_id", "at"])
    op.create_index(
        "ix_delivery_sending", "delivery", ["inbox_id"], sqlite_where=sa.text("state = 'sending'")
    )
    op.create_index(
        "ix_delivery_unsent",
        "delivery",
        ["inbox_id"],
        sqlite_where=sa.text("state = 'held' AND next_page = 0"),
    )
    op.create_table(
        "seal",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("app_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "app_id", "key", name="pk_seal"),
    )


def _create_shelf() -> None:
    op.create_table(
        "shelf",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_shelf_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_shelf"),
        sa.UniqueConstraint("account_id", "place", name="uq_shelf_account_id_place"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "seg",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("meta", sa.LargeBinary(), nullable=False),
        sa.Column("vecs", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_seg"),
    )
    op.create_table(
        "turn",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("shelf_id", sa.Integer(), nullable=False),
        sa.Column("inbox_id", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["inbox_id"], ["inbox.id"], name="fk_turn_inbox_id"),
        sa.ForeignKeyConstraint(["shelf_id"], ["shelf.id"], name="fk_turn_shelf_id"),
        sa.PrimaryKeyConstraint("id", name="pk_turn"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_turn_shelf_id", "turn", ["shelf_id"])


def _create_fact() -> None:
    op.create_table(
        "fact",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("shelf_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("said_at", sa.Integer(), nullable=False),
        sa.Column("valid_to", sa.Integer(), nullable=True),
        sa.Column("superseded_by", sa.Integer(), nullable=True),
        sa.Column("expires_at", sa.Integer(), nullable=True),
        sa.Column("source_turn", sa.Integer(), nullable=True),
        sa.Column("model", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["shelf_id"], ["shelf.id"], name="fk_fact_shelf_id"),
        sa.PrimaryKeyConstraint("id", name="pk_fact"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_fact_ending",
        "fact",
        ["shelf_id"],
        sqlite_where=sa.text("valid_to IS NOT NULL OR expires_at IS NOT NULL"),
    )
    op.create_index("ix_fact_shelf_id_text", "fact", ["shelf_id", "text"])
    op.create_index("ix_fact_unembedded", "fact", ["shelf_id"], sqlite_where=sa.text("model = ''"))


def _create_job() -> None:
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("turn_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("due_at", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name="fk_job_account_id"),
        sa.ForeignKeyConstraint(["turn_id"], ["turn.id"], name="fk_job_turn_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_job"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_job_account_id", "job", ["account_id"])
    op.create_index("ix_job_leased", "job", ["id"], sqlite_where=sa.text("state = 'leased'"))
    op.create_index("ix_job_turn_id", "job", ["turn_id"])


def _create_knowledge() -> None:
    op.create_table(
        "document",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_document"),
        sa.UniqueConstraint("name", name="uq_document_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "passage",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("heading", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name="fk_passage_document_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_passage"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_passage_document_id", "passage", ["document_id"])
    op.create_table(
        "stamp",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_stamp"),
    )


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject_person", sa.Integer(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_subject_person", "audit", ["subject_person"])
