"""The statements of `joining` and `conflicts`: persons that change, and those that might.

Invariant: none of them reads or writes a memory.
"""

from sqlalchemy import and_, bindparam, delete, exists, func, or_, select, update

from bot.storage.sql.schema import (
    account,
    audit,
    confirmation,
    conflict,
    link_code,
    link_try,
    merge,
    person,
    phone_code,
    phone_link,
)
from bot.storage.sql.shelves import listed
from bot.storage.sql.statements import Statement, constant, insert_into

UNLINK = "unlink"
"""The reason of a parting, as `merge` has it."""

REPOINT = Statement(
    update(account).where(account.c.id == bindparam("account")).values(person_id=bindparam("owner"))
)
TAKE_PHONES = Statement(
    update(phone_link)
    .where(phone_link.c.account_id == bindparam("account"))
    .values(person_id=bindparam("owner"))
)
_both = person.alias()
RAISE_ABOVE = Statement(
    update(person)
    .where(person.c.id.in_(listed("persons")))
    .values(
        epoch=constant(1)
        + select(func.max(_both.c.epoch)).where(_both.c.id.in_(listed("persons"))).scalar_subquery()
    )
)
DROP_UNREFERENCED = Statement(
    delete(person).where(
        person.c.id == bindparam("left"),
        ~exists().where(account.c.person_id == person.c.id),
        ~exists().where(audit.c.subject_person == person.c.id),
        ~exists().where(or_(merge.c.from_person == person.c.id, merge.c.to_person == person.c.id)),
    )
)

HAS_PARTED = Statement(
    select(merge.c.id)
    .where(
        merge.c.account_id.in_(listed("accounts")),
        or_(merge.c.reason == constant(UNLINK), merge.c.undone_at.is_not(None)),
    )
    .limit(1)
)
INSERT_MERGE = Statement(insert_into(merge, "account_id", "from_person", "to_person", "reason", "at"))
MARK_UNDONE = Statement(
    update(merge).where(merge.c.id == bindparam("merge")).values(undone_at=bindparam("now"))
)

_OPEN = conflict.c.decided_at.is_(None)
FOLLOW_FIRST = Statement(
    update(conflict)
    .where(_OPEN, conflict.c.first_person == bindparam("left"))
    .values(first_person=bindparam("owner"))
)
FOLLOW_SECOND = Statement(
    update(conflict)
    .where(_OPEN, conflict.c.second_person == bindparam("left"))
    .values(second_person=bindparam("owner"))
)
FOLLOW_ACCOUNT = Statement(
    update(conflict)
    .where(_OPEN, conflict.c.account_id == bindparam("account"))
    .values(first_person=bindparam("owner"))
)
DROP_MOOT = Statement(delete(conflict).where(_OPEN, conflict.c.first_person == conflict.c.second_person))

LEAVE = tuple(
    map(
        Statement,
        (
            delete(link_code).where(
                or_(
                    link_code.c.account_id.in_(listed("accounts")),
                    link_code.c.entered_by.in_(listed("accounts")),
                )
            ),
            delete(link_try).where(link_try.c.account_id.in_(listed("accounts"))),
            delete(phone_code).where(phone_code.c.account_id.in_(listed("accounts"))),
            delete(phone_link).where(phone_link.c.account_id.in_(listed("accounts"))),
            delete(merge).where(merge.c.account_id.in_(listed("accounts"))),
            delete(confirmation).where(confirmation.c.account_id.in_(listed("accounts"))),
            update(account)
            .where(account.c.id.in_(listed("accounts")))
            .values(unionid="", union_asked_at=None, greeted=0, is_open=0),
        ),
    )
)
"""What makes accounts newcomers again, one after the other. Parameter: `accounts`, a JSON list."""
DROP_CONFLICTS = Statement(delete(conflict).where(conflict.c.account_id.in_(listed("accounts"))))
DROP_CONFLICTS_OF = Statement(
    delete(conflict).where(
        or_(conflict.c.first_person == bindparam("person"), conflict.c.second_person == bindparam("person"))
    )
)

MERGE = Statement(
    select(merge.c.account_id, merge.c.from_person, merge.c.to_person, merge.c.undone_at).where(
        merge.c.id == bindparam("merge")
    )
)
LAST_MERGE = Statement(
    select(merge.c.id)
    .where(merge.c.account_id == bindparam("account"), merge.c.undone_at.is_(None))
    .order_by(merge.c.id.desc())
    .limit(1)
)
MERGES = Statement(
    select(
        merge.c.id,
        merge.c.account_id,
        merge.c.from_person,
        merge.c.to_person,
        merge.c.reason,
        merge.c.at,
        merge.c.undone_at,
    )
    .where(
        or_(
            merge.c.from_person == bindparam("person"),
            merge.c.to_person == bindparam("person"),
        )
    )
    .order_by(merge.c.id)
)

_one, _other = account.alias("one"), account.alias("other")
OTHER_UNIONID = Statement(
    # In some channel the first has a unionid that the second, who has one there too, has not.
    select(_one.c.id)
    .join_from(_one, _other, _one.c.channel == _other.c.channel)
    .where(
        _one.c.person_id == bindparam("first"),
        _other.c.person_id == bindparam("second"),
        _one.c.unionid != "",
        _other.c.unionid != "",
        _one.c.unionid.not_in(
            select(account.c.unionid).where(
                account.c.person_id == bindparam("second"), account.c.channel == _one.c.channel
            )
        ),
    )
    .limit(1)
)
INSERT_CONFLICT = Statement(
    insert_into(conflict, "kind", "first_person", "second_person", "account_id", "detail", "at")
)
_COLUMNS = (
    conflict.c.id,
    conflict.c.kind,
    conflict.c.first_person,
    conflict.c.second_person,
    conflict.c.account_id,
    conflict.c.detail,
    conflict.c.at,
)
CONFLICTS = Statement(select(*_COLUMNS).where(_OPEN).order_by(conflict.c.id))
CONFLICT = Statement(select(*_COLUMNS).where(_OPEN, conflict.c.id == bindparam("conflict")))
KNOWN_CONFLICT = Statement(
    select(conflict.c.id)
    .where(
        conflict.c.kind == bindparam("kind"),
        or_(
            and_(conflict.c.first_person == bindparam("one"), conflict.c.second_person == bindparam("other")),
            and_(conflict.c.first_person == bindparam("other"), conflict.c.second_person == bindparam("one")),
        ),
        or_(_OPEN, conflict.c.decision == bindparam("keep")),
    )
    .limit(1)
)
DECIDE = Statement(
    update(conflict)
    .where(conflict.c.id == bindparam("conflict"))
    .values(decided_at=bindparam("now"), decision=bindparam("made"))
)
KEEP_APART = Statement(
    update(conflict)
    .where(
        _OPEN,
        or_(
            and_(
                conflict.c.first_person == bindparam("first"), conflict.c.second_person == bindparam("second")
            ),
            and_(
                conflict.c.first_person == bindparam("second"), conflict.c.second_person == bindparam("first")
            ),
        ),
    )
    .values(decided_at=bindparam("now"), decision=bindparam("made"))
)
