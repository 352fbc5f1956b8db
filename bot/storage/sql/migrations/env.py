"""Where alembic enters: it runs on the connection, and in the transaction, of `migrating`."""

from alembic import context

from bot.storage.sql.schema import metadata

# Said to be transactional, or alembic would switch to AUTOCOMMIT, which in Python's sqlite3 commits at once.
context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True
)
context.run_migrations()
