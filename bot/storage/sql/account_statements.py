"""The statements of `accounts`: what is asked and changed about accounts, persons and authority.

Invariant: "" is never sought as a unionid, so empty ids match nobody.
"""

from sqlalchemy import bindparam, func, or_, select, update
from sqlalchemy.sql import Select

from bot.storage.sql.schema import account, claim_code, person, phone_link, shelf, superuser
from bot.storage.sql.statements import Statement, constant, insert_into

ACCOUNTS: Select[*tuple[object, ...]] = select(
    account.c.id,
    account.c.channel,
    account.c.app_id,
    account.c.openid,
    account.c.unionid,
    account.c.person_id,
    person.c.epoch,
    account.c.greeted,
    account.c.is_open,
).select_from(account.join(person))

FIND = Statement(
    ACCOUNTS.where(
        account.c.channel == bindparam("channel"),
        account.c.app_id == bindparam("app_id"),
        account.c.openid == bindparam("openid"),
    )
)
BY_ID = Statement(ACCOUNTS.where(account.c.id == bindparam("account")))
OF_PERSON = Statement(ACCOUNTS.where(account.c.person_id == bindparam("person")).order_by(account.c.id))
IN_PLACE = Statement(
    ACCOUNTS.where(account.c.id.in_(select(shelf.c.account_id).where(shelf.c.place == bindparam("place"))))
)
SEARCH = Statement(
    ACCOUNTS.where(
        account.c.parked_of.is_(None),
        or_(
            func.instr(account.c.openid, bindparam("word")) > constant(0),
            account.c.person_id.in_(
                select(phone_link.c.person_id).where(phone_link.c.phone_hash == bindparam("phone_hash"))
            ),
        ),
    )
    .order_by(account.c.id)
    .limit(bindparam("limit"))
)

INSERT_PERSON = Statement(insert_into(person, "epoch", "created_at"))
INSERT = Statement(
    insert_into(
        account,
        *("channel", "app_id", "openid", "unionid"),
        *("person_id", "cleared_epoch", "greeted", "created_at"),
    )
)
SET_UNIONID = Statement(
    update(account).where(account.c.id == bindparam("account")).values(unionid=bindparam("new_unionid"))
)
SET_GREETED = Statement(update(account).where(account.c.id == bindparam("account")).values(greeted=1))
SET_OPEN = Statement(
    update(account).where(account.c.id == bindparam("account")).values(is_open=bindparam("open_now"))
)

# `unionid <> ''` is spelt out for the partial index. The oldest account decides where several persons
# have it (phones kept them apart). Of one channel: another platform's unionids are other ids.
OWNER_OF_UNIONID = Statement(
    select(account.c.person_id)
    .where(
        account.c.unionid == bindparam("sought"),
        account.c.unionid != constant(""),
        account.c.channel == bindparam("channel"),
    )
    .order_by(account.c.id)
    .limit(1)
)
OF_UNIONID = Statement(
    ACCOUNTS.where(
        account.c.unionid == bindparam("sought"),
        account.c.unionid != constant(""),
        account.c.channel == bindparam("channel"),
    )
    .order_by(account.c.id)
    .limit(1)
)
OWNER_OF_PHONE = Statement(
    select(phone_link.c.person_id).where(
        phone_link.c.phone_hash == bindparam("phone_hash"),
        phone_link.c.key_version == bindparam("key_version"),
    )
)
HAS_PHONE = Statement(
    select(phone_link.c.account_id).where(phone_link.c.person_id == bindparam("person")).limit(1)
)
INSERT_PHONE = Statement(
    insert_into(phone_link, "phone_hash", "key_version", "person_id", "account_id", "verified_by", "at")
)

CLOSE = Statement(
    update(account)
    .where(account.c.person_id == bindparam("person"), account.c.is_open != constant(0))
    .values(is_open=0)
)
SUPERUSERS = Statement(
    select(superuser.c.channel, superuser.c.app_id, superuser.c.openid).order_by(superuser.c.at)
)
INSERT_SUPERUSER = Statement(
    insert_into(superuser, "channel", "app_id", "openid", "at").on_conflict_do_nothing()
)
SPEND_CODE = Statement(
    update(claim_code)
    .where(claim_code.c.code_hash == bindparam("code"), claim_code.c.spent_at.is_(None))
    .values(spent_at=bindparam("now"))
)
ANY_CODE = Statement(select(claim_code.c.issued_at).limit(1))
INSERT_CODE = Statement(insert_into(claim_code, "code_hash", "issued_at"))
