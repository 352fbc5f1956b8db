"""Look at a database file without changing it, for `jide doctor`.

Invariant: opened read-only, beside a running bot as well; a file that cannot be read is a finding.
"""

import sqlite3
from collections.abc import Collection
from pathlib import Path

from sqlalchemy import func, select

from bot.diagnosis.database import DatabaseReport
from bot.storage.sql.lineage import pepper_use
from bot.storage.sql.migrating import HEAD, is_known, stored_revision
from bot.storage.sql.schema import fact, from_ms, inbox, job, passage, superuser
from bot.storage.sql.stamps import FORGOTTEN, read_stamp
from bot.storage.sql.statements import Statement, constant

BUSY_SECONDS = 5.0

_FACT_MODELS = Statement(select(fact.c.model, func.count()).group_by(fact.c.model))
_PASSAGE_MODELS = Statement(select(passage.c.model, func.count()).group_by(passage.c.model))
_SUPERUSERS = Statement(select(func.count()).select_from(superuser))
_DEAD_JOBS = Statement(select(func.count()).where(job.c.state == constant("dead")))
_NEWEST = Statement(select(inbox.c.accepted_at).order_by(inbox.c.id.desc()).limit(1))


def examine(
    path: Path, pepper_check: int | None, checks_before: Collection[int] = ()
) -> DatabaseReport | None:
    """None where there is no file. `pepper_check` None: there is no pepper to compare. Blocks."""
    if not path.exists():
        return None
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
        try:
            return _read(connection, pepper_check, checks_before)
        finally:
            connection.close()
    except sqlite3.Error as error:
        return DatabaseReport(problem=str(error))


def _read(
    connection: sqlite3.Connection, pepper_check: int | None, checks_before: Collection[int]
) -> DatabaseReport:
    said = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if said != "ok":
        return DatabaseReport(problem=said.splitlines()[0])
    revision = stored_revision(connection)
    if revision != HEAD:
        # Its tables may be others: nothing more is asked of it.
        return DatabaseReport(
            revision=revision,
            is_known_revision=revision is None or is_known(revision),
            is_newest_revision=False,
        )
    use = pepper_use(connection, pepper_check or 0, checks_before)
    newest = _NEWEST.first(connection)
    return DatabaseReport(
        revision=revision,
        is_same_pepper=pepper_check is None or use.is_the_same,
        phones=use.phones,
        superusers=_number(_SUPERUSERS, connection),
        fact_models=dict(_FACT_MODELS.rows(connection)),
        passage_models=dict(_PASSAGE_MODELS.rows(connection)),
        dead_jobs=_number(_DEAD_JOBS, connection),
        forgotten=read_stamp(connection, FORGOTTEN) or 0,
        newest=None if newest is None else from_ms(newest[0]),
    )


def _number(statement: Statement, connection: sqlite3.Connection) -> int:
    row = statement.first(connection)
    return row[0] if row is not None else 0
