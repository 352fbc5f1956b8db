"""`identity.history` over SQL: what operators list before they decide or undo.

Invariant: it only reads.
"""

from sqlalchemy import bindparam, func, or_, select

from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId, PersonId
from bot.storage.sql.database import Database
from bot.storage.sql.schema import account, conflict, from_ms, merge
from bot.storage.sql.statements import Row, Statement
from identity.history import ConflictRecord, MergeRecord
from identity.model import Conflict, ConflictKind, Decision, Merge

_SELECT_CONFLICTS = select(
    conflict.c.id,
    conflict.c.kind,
    conflict.c.first_person,
    conflict.c.second_person,
    conflict.c.account_id,
    conflict.c.detail,
    conflict.c.at,
    conflict.c.decided_at,
    conflict.c.decision,
).order_by(conflict.c.id)
_CONFLICTS = Statement(_SELECT_CONFLICTS)
_WAITING = Statement(_SELECT_CONFLICTS.where(conflict.c.decided_at.is_(None)))
_CONFLICT = Statement(_SELECT_CONFLICTS.where(conflict.c.id == bindparam("number")))

_later = merge.alias("later")
_LATEST = (
    select(func.max(_later.c.id))
    .where(_later.c.account_id == merge.c.account_id, _later.c.undone_at.is_(None))
    .scalar_subquery()
)
_SELECT_MERGES = select(
    merge.c.id,
    merge.c.account_id,
    merge.c.from_person,
    merge.c.to_person,
    merge.c.reason,
    merge.c.at,
    merge.c.undone_at,
    account.c.channel,
    account.c.app_id,
    account.c.openid,
    func.coalesce(_LATEST, 0),
).join_from(merge, account)
_NEWEST = _SELECT_MERGES.order_by(merge.c.id.desc()).limit(bindparam("limit"))
_MERGES = Statement(_NEWEST)
_MERGES_OF = Statement(
    _NEWEST.where(or_(merge.c.from_person == bindparam("person"), merge.c.to_person == bindparam("person")))
)
_MERGE = Statement(_SELECT_MERGES.where(merge.c.id == bindparam("number")))
_MERGED_FOR = Statement(_SELECT_MERGES.where(merge.c.reason == bindparam("reason")).order_by(merge.c.id))


class SqlIdentityHistory:
    """`IdentityHistory` over SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def conflicts(self, *, with_decided: bool) -> tuple[ConflictRecord, ...]:
        rows = await self._database.read(_CONFLICTS if with_decided else _WAITING)
        return tuple(map(_conflict_of, rows))

    async def conflict(self, number: int) -> ConflictRecord | None:
        rows = await self._database.read(_CONFLICT, number=number)
        return _conflict_of(rows[0]) if rows else None

    async def merges(self, person: PersonId | None, limit: int) -> tuple[MergeRecord, ...]:
        if person is None:
            rows = await self._database.read(_MERGES, limit=limit)
        else:
            rows = await self._database.read(_MERGES_OF, person=person, limit=limit)
        return tuple(map(_merge_of, rows))

    async def merge(self, number: int) -> MergeRecord | None:
        rows = await self._database.read(_MERGE, number=number)
        return _merge_of(rows[0]) if rows else None

    async def merged_for(self, reason: str) -> tuple[MergeRecord, ...]:
        return tuple(map(_merge_of, await self._database.read(_MERGED_FOR, reason=reason)))


def _conflict_of(row: Row) -> ConflictRecord:
    number, kind, first, second, account_id, detail, at, decided_at, decision = row
    return ConflictRecord(
        conflict=Conflict(
            id=number,
            kind=ConflictKind(kind),
            first=PersonId(first),
            second=PersonId(second),
            account=AccountId(account_id),
            detail=detail,
            at=from_ms(at),
        ),
        decision=None if decision is None else Decision(decision),
        decided_at=None if decided_at is None else from_ms(decided_at),
    )


def _merge_of(row: Row) -> MergeRecord:
    number, account_id, before, after, reason, at, undone_at, channel, app_id, openid, latest = row
    return MergeRecord(
        merge=Merge(
            id=number,
            account=AccountId(account_id),
            before=PersonId(before),
            after=PersonId(after),
            reason=reason,
            at=from_ms(at),
            is_undone=undone_at is not None,
        ),
        key=AccountKey(channel=channel, app_id=app_id, openid=openid),
        latest=latest,
    )
