"""The statements of deliveries and seals, for `bot.storage.sql.deliveries`.

Invariant: a page counts as handed over only where it was the next one.
"""

from sqlalchemy import bindparam, case, delete, select, update

from bot.ports import DeliveryState
from bot.storage.sql.schema import account, delivery, inbox, seal
from bot.storage.sql.statements import Statement, constant, insert_into

DELIVERY_COLUMNS = (
    delivery.c.inbox_id,
    delivery.c.pages,
    delivery.c.next_page,
    delivery.c.state,
    delivery.c.decided_by,
    delivery.c.question,
    delivery.c.at,
)

FIND = Statement(select(*DELIVERY_COLUMNS).where(delivery.c.inbox_id == bindparam("inbox_id")))
INSERT = Statement(
    insert_into(
        delivery,
        *("inbox_id", "account_id", "pages", "page_count", "next_page"),
        *("state", "decided_by", "question", "at"),
    )
)
IS_HELD = (
    delivery.c.account_id == bindparam("account"),
    delivery.c.at >= bindparam("since"),
    delivery.c.next_page < delivery.c.page_count,
    delivery.c.state != constant(DeliveryState.SENDING),
    delivery.c.state != constant(DeliveryState.SENT),
)
SEVERAL_HELD = Statement(select(delivery.c.inbox_id).where(*IS_HELD).limit(2))
OLDEST_HELD = Statement(
    select(*DELIVERY_COLUMNS).where(*IS_HELD).order_by(delivery.c.at, delivery.c.inbox_id).limit(1)
)
OLDEST_HELD_IN = Statement(
    select(*DELIVERY_COLUMNS)
    .select_from(delivery.join(inbox))
    .where(*IS_HELD, inbox.c.place == bindparam("place"))
    .order_by(delivery.c.at, delivery.c.inbox_id)
    .limit(1)
)
_NO_PAGES, _NOTHING = constant("[]"), constant("")
MARK = Statement(
    update(delivery)
    .where(delivery.c.inbox_id == bindparam("inbox"))
    .values(state=bindparam("new_state"), next_page=bindparam("page"))
)
MARK_SENT = Statement(
    update(delivery)
    .where(delivery.c.inbox_id == bindparam("inbox"))
    .values(
        state=constant(DeliveryState.SENT),
        next_page=delivery.c.page_count,
        pages=_NO_PAGES,
        question=_NOTHING,
    )
)
BEGIN = Statement(
    update(delivery)
    .where(
        delivery.c.inbox_id == bindparam("inbox"),
        delivery.c.state == constant(DeliveryState.HELD),
        delivery.c.next_page == constant(0),
    )
    .values(state=constant(DeliveryState.SENDING))
)
CRASHED = Statement(
    update(delivery)
    .where(delivery.c.state == constant(DeliveryState.SENDING))
    .values(state=constant(DeliveryState.UNKNOWN))
    .returning(delivery.c.inbox_id)
)
SENDING_TO = Statement(
    select(inbox.c.channel, inbox.c.app_id, account.c.openid)
    .select_from(delivery.join(inbox).outerjoin(account, account.c.id == delivery.c.account_id))
    .where(delivery.c.state == constant(DeliveryState.SENDING))
)
IS_LAST = delivery.c.next_page + 1 >= delivery.c.page_count
ONE_MORE = {
    "next_page": delivery.c.next_page + 1,
    "state": case((IS_LAST, constant(DeliveryState.SENT)), else_=delivery.c.state),
    "pages": case((IS_LAST, _NO_PAGES), else_=delivery.c.pages),
    "question": case((IS_LAST, _NOTHING), else_=delivery.c.question),
}
ADVANCE = Statement(
    update(delivery)
    .where(
        delivery.c.inbox_id == bindparam("inbox"),
        delivery.c.account_id == bindparam("account"),
        delivery.c.next_page == bindparam("page"),
        delivery.c.next_page < delivery.c.page_count,
    )
    .values(ONE_MORE)
)
HAND_OVER_FIRST = Statement(
    update(delivery)
    .where(delivery.c.inbox_id == bindparam("inbox"), delivery.c.next_page == constant(0))
    .values(ONE_MORE)
)
ENTRY = Statement(
    select(inbox.c.id, inbox.c.state, delivery.c.state, delivery.c.next_page, delivery.c.page_count)
    .select_from(inbox.outerjoin(delivery))
    .where(
        inbox.c.channel == bindparam("channel"),
        inbox.c.app_id == bindparam("app_id"),
        inbox.c.key == bindparam("key"),
    )
)
PROGRESS = Statement(
    update(delivery)
    .where(delivery.c.inbox_id == bindparam("inbox"), delivery.c.state == constant(DeliveryState.SENDING))
    .values(next_page=bindparam("page"))
)
SPEND_PAYLOAD = Statement(
    update(inbox)
    .where(inbox.c.id == bindparam("inbox"), inbox.c.state != constant("accepted"))
    .values(payload=None)
)
SEAL = Statement(
    insert_into(seal, "channel", "app_id", "key", "body", "at").on_conflict_do_nothing(
        index_elements=["channel", "app_id", "key"]
    )
)
SEALED = Statement(
    select(seal.c.body).where(
        seal.c.channel == bindparam("channel"),
        seal.c.app_id == bindparam("app_id"),
        seal.c.key == bindparam("key"),
    )
)
PURGE_SEALS = Statement(
    delete(seal).where(
        (seal.c.at < bindparam("before"))
        & ((seal.c.body != bindparam("promise")) | (seal.c.at < bindparam("promised_before")))
    )
)
PROMISED_KEYS = Statement(
    select(seal.c.app_id, seal.c.key).where(
        seal.c.channel == bindparam("channel"), seal.c.body == bindparam("promise")
    )
)
