"""`PlaceClearer` over SQL: one group is cleared, and nothing else of the same people."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from bot.conversation.errors import ViewChanged
from bot.conversation.message import AccountKey, Conversation, Message, Reply
from bot.memory.fact import ForgetReceipt
from bot.ports import Delivery, DeliveryState
from identity.directory import Directory
from identity.model import Account
from identity.phone import PhoneHasher
from tests.memory_stage import DIMENSION, GROUP, MODEL, PRIVATE, Stage, open_stage, vectors_of

OTHER = Conversation(channel="wechat", app_id="wx1", group="g2")
REPLY = Reply(text="好的", decided_by="model")


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as opened:
        yield opened


async def group_of(stage: Stage, where: Conversation = GROUP) -> Account:
    """The account that stands for the group."""
    return await Directory(stage.accounts, PhoneHasher(b"p" * 32)).group(where)


async def live(stage: Stage, openid: str) -> Account:
    """A person who said something everywhere."""
    account = await stage.arrive(openid)
    for where in (PRIVATE, GROUP, OTHER):
        words = f"{openid} 在「{where.group}」说的"
        turn = await stage.say(account, words, place=where, state=DeliveryState.HELD, consolidate=True)
        await stage.remember(account, words, place=where, source_turn=turn.id)
    return account


async def commit(stage: Stage, inbox_id: int, account: Account, message: Message) -> bool:
    """A turn in the message's place, of the account as it was read. Whether it was stored."""
    turn = await stage.ledger.commit_turn(
        inbox_id, account.scope(message.conversation.place), message, REPLY, None, consolidate=True
    )
    return turn is not None


async def test_everybodys_memory_of_the_group_goes_and_its_own(stage: Stage) -> None:
    people = [await live(stage, openid) for openid in "ab"]
    group = await group_of(stage)
    await stage.remember(group, "周五聚餐", place=GROUP)
    elsewhere = await group_of(stage, OTHER)
    await stage.remember(elsewhere, "周六聚餐", place=OTHER)

    receipt = await stage.facts.clear_place(GROUP.place)

    assert receipt == ForgetReceipt(facts=3, turns=2, jobs=2, deliveries=2, vectors=3)
    for account in people:
        fresh = await stage.refreshed(account)
        name = account.key.openid
        assert await stage.texts(fresh.scope(GROUP.place)) == []
        assert await stage.texts(fresh.scope("")) == [f"{name} 在「」说的"]
        assert await stage.texts(fresh.scope(OTHER.place)) == [f"{name} 在「g2」说的"]
        sheet = await stage.facts.vector_sheet(fresh.scope(OTHER.place), MODEL, DIMENSION)
        assert len(sheet.fact_ids) == 1
    assert await stage.texts((await stage.refreshed(group)).scope(GROUP.place)) == []
    assert await stage.texts((await stage.refreshed(elsewhere)).scope(OTHER.place)) == ["周六聚餐"]
    assert {ticket.scope.place for ticket in await stage.jobs.lease_jobs(9, 60)} == {"", OTHER.place}
    assert await stage.facts.clear_place(GROUP.place) == ForgetReceipt()


async def test_what_is_said_in_the_group_afterwards_is_kept(stage: Stage) -> None:
    account = await live(stage, "a")
    await stage.facts.clear_place(GROUP.place)
    fresh = await stage.refreshed(account)
    turn = await stage.say(fresh, "之后说的", place=GROUP, consolidate=True)
    await stage.remember(fresh, "之后说的", place=GROUP, source_turn=turn.id)
    assert await stage.texts(fresh.scope(GROUP.place)) == ["之后说的"]
    places = [ticket.scope.place for ticket in await stage.jobs.lease_jobs(9, 60)]
    assert GROUP.place in places


async def test_private_and_other_groups_rows_stay_as_they_are(stage: Stage) -> None:
    accounts = [await live(stage, openid) for openid in "abc"]
    message = stage.message(accounts[0], "我私下问的")
    await stage.inbox.admit(message)
    await stage.accounts.set_open(accounts[0].id, is_open=True)
    before = stage.dump()

    await stage.facts.clear_place(GROUP.place)

    after = stage.dump()
    shelves = {row[0] for row in before["shelf"] if row[2] == GROUP.place}
    inboxes = {row[1:4]: row[0] for row in before["inbox"] if row[10] == GROUP.place}
    there = {
        "person": lambda row: True,
        "shelf": lambda row: row[0] in shelves,
        "seg": lambda row: row[0] >> 20 in shelves,
        "turn": lambda row: row[1] in shelves,
        "fact": lambda row: row[1] in shelves,
        "job": lambda row: row[3] == GROUP.place,
        "inbox": lambda row: row[0] in inboxes.values(),
        "delivery": lambda row: row[0] in inboxes.values(),
        "seal": lambda row: row[:3] in inboxes,
    }
    others = 0
    for table, rows in before.items():
        is_there = there.get(table, lambda _: False)
        kept = [row for row in rows if not is_there(row)]
        assert [row for row in after[table] if not is_there(row)] == kept, table
        others += len(kept)
    assert len(shelves) == len(inboxes) == 3 and others > 40
    # Of a member, the epoch alone moves: caches of the old view are left behind.
    assert [row[:1] + row[2:] for row in after["person"]] == [row[:1] + row[2:] for row in before["person"]]
    assert [row[1] for row in after["person"]] == [int(str(row[1])) + 1 for row in before["person"]]


async def test_a_turn_being_answered_there_is_dropped_and_one_in_private_is_made_once_more(
    stage: Stage,
) -> None:
    account = await live(stage, "a")
    there, private = stage.message(account, "群里", GROUP), stage.message(account, "私下")
    entries = [await stage.inbox.admit(message) for message in (there, private)]

    await stage.facts.clear_place(GROUP.place)

    assert not await commit(stage, entries[0].inbox_id, account, there)
    with pytest.raises(ViewChanged):
        await commit(stage, entries[1].inbox_id, account, private)
    assert await commit(stage, entries[1].inbox_id, await stage.refreshed(account), private)
    assert await stage.remember(account, "还在群里", place=GROUP) == ()
    assert len(await stage.remember(account, "还在私下")) == 1
    fresh = await stage.refreshed(account)
    assert await stage.texts(fresh.scope(GROUP.place)) == await stage.texts(account.scope(GROUP.place)) == []
    assert len(await stage.jobs.lease_jobs(9, 60)) == 2


async def test_a_reader_under_way_sees_nothing_said_there_since(stage: Stage) -> None:
    account = await live(stage, "a")
    await stage.facts.clear_place(GROUP.place)
    fresh = await stage.refreshed(account)
    await stage.remember(fresh, "之后说的", place=GROUP)
    (late,) = await stage.facts.keep(
        fresh.scope(GROUP.place), [stage.fact("没有向量")], None, MODEL, source_turn=None
    )
    assert await stage.texts(account.scope(GROUP.place)) == []
    assert await stage.facts.without_vector(account.scope(GROUP.place), MODEL, 9) == ()
    assert await stage.facts.without_vector(account.scope(GROUP.place), "model-b", 9) == ()
    await stage.facts.add_vectors(account.scope(GROUP.place), [late], vectors_of(["没有向量"]), MODEL)
    waiting = await stage.facts.without_vector(fresh.scope(GROUP.place), MODEL, 9)
    assert [fact.id for fact in waiting] == [late]


async def test_a_job_under_way_there_brings_nothing(stage: Stage) -> None:
    account = await live(stage, "a")
    tickets = {ticket.scope.place: ticket for ticket in await stage.jobs.lease_jobs(9, 60)}
    await stage.facts.clear_place(GROUP.place)
    for place, ticket in tickets.items():
        kept = await stage.facts.keep(
            ticket.scope, [stage.fact("判断出的")], None, MODEL, source_turn=ticket.turn.id, job=ticket.id
        )
        assert len(kept) == (place != GROUP.place), place
    assert len(tickets) == 3
    assert await stage.jobs.backlog() == 0
    fresh = await stage.refreshed(account)
    assert await stage.texts(fresh.scope(GROUP.place)) == []


async def test_a_member_at_work_without_a_shelf_there_stores_nothing(stage: Stage) -> None:
    """Their account may be made after the message was accepted."""
    account = await stage.arrive("known")
    message = stage.message(account, "我先来", GROUP)
    entry = await stage.inbox.admit(message)
    key = AccountKey(channel="wechat", app_id="wx1", openid="new")
    first_words = Message(
        key="first",
        kind=message.kind,
        sender=key,
        conversation=GROUP,
        text="初次见面",
        sent_at=stage.clock.now(),
    )
    first = await stage.inbox.admit(first_words)
    new = await stage.accounts.create_account(key, "")
    group = await group_of(stage)

    await stage.facts.clear_place(GROUP.place)

    for person in (account, new, group):
        assert await stage.remember(person, "之前说的", place=GROUP) == (), person.key
        assert len(await stage.remember(person, "私下说的")) == 1
    assert not await commit(stage, entry.inbox_id, account, message)
    assert not await commit(stage, first.inbox_id, new, first_words)
    for person in (account, new, group):
        fresh = await stage.refreshed(person)
        assert len(await stage.remember(fresh, "之后说的", place=GROUP)) == 1


async def test_a_message_that_waited_becomes_no_turn_even_of_a_new_epoch(stage: Stage) -> None:
    """It was said before, and its words are gone from the inbox; what is said of it is still delivered."""
    account = await live(stage, "a")
    message = stage.message(account, "排队时说的", GROUP)
    entry = await stage.inbox.admit(message)
    await stage.facts.clear_place(GROUP.place)
    fresh = await stage.refreshed(account)
    assert not await commit(stage, entry.inbox_id, fresh, message)
    notice = Delivery(
        inbox_id=entry.inbox_id,
        pages=("刚刚清除了",),
        next_page=0,
        state=DeliveryState.HELD,
        decided_by="notice",
        at=stage.clock.now(),
    )
    emptied = Message(
        key=message.key,
        kind=message.kind,
        sender=message.sender,
        conversation=message.conversation,
        text="",
        sent_at=message.sent_at,
    )
    await stage.inbox.close(entry.inbox_id, account=account.id, delivery=notice, payload=emptied)
    assert emptied in [each.message for each in await stage.inbox.undelivered()]
    assert await stage.inbox.unfinished() == ()
    assert (await stage.inbox.admit(message)).delivery == notice


async def test_a_restart_takes_up_nothing_said_there(stage: Stage) -> None:
    account = await live(stage, "a")
    await stage.inbox.admit(stage.message(account, "群里", GROUP))
    failed = await stage.inbox.admit(stage.message(account, "群里又说", GROUP))
    await stage.inbox.refuse(failed.inbox_id, "群里又说")
    private = await stage.inbox.admit(stage.message(account, "私下"))
    await stage.facts.clear_place(GROUP.place)
    assert [each.inbox_id for each in await stage.inbox.unfinished()] == [private.inbox_id]


async def test_a_reply_on_its_way_there_is_stopped(stage: Stage) -> None:
    await live(stage, "a")
    held = {each.message.conversation: each.inbox_id for each in await stage.inbox.undelivered()}
    for inbox_id in held.values():
        assert await stage.deliveries.begin_sending(inbox_id)
    await stage.facts.clear_place(GROUP.place)
    assert {where: await stage.deliveries.note_progress(entry, 1) for where, entry in held.items()} == {
        PRIVATE: True,
        GROUP: False,
        OTHER: True,
    }


async def test_linked_accounts_both_leave_the_group(stage: Stage) -> None:
    """Of one person, each account has its own shelf, and only the cleared ones are cleared."""
    one, other = await stage.arrive("a", "union"), await stage.arrive("b", "union")
    await stage.remember(one, "一号说的", place=GROUP)
    await stage.remember(other, "二号说的", place=GROUP)
    await stage.remember(other, "二号私下说的")
    await stage.facts.clear_place(GROUP.place)
    for account in (one, other):
        assert await stage.remember(account, "之前说的", place=GROUP) == ()
    fresh = await stage.refreshed(one)
    assert fresh.epoch == one.epoch + 1, "once a person, not once an account"
    assert await stage.texts(fresh.scope("")) == ["二号私下说的"]


async def test_a_cleared_member_may_join_another_person(stage: Stage) -> None:
    owner, mover = await stage.arrive("a", "union"), await stage.arrive("b")
    await stage.remember(owner, "甲在群里", place=GROUP)
    for _ in range(3):
        await stage.remember(await stage.refreshed(mover), "乙在群里", place=GROUP)
        await stage.facts.clear_place(GROUP.place)
    joined = await stage.accounts.learn_unionid(mover.id, "union")
    await stage.remember(joined, "合并后说的", place=GROUP)
    both = (joined, await stage.refreshed(owner))
    assert [await stage.texts(each.scope(GROUP.place)) for each in both] == [["合并后说的"]] * 2


async def test_clearing_a_person_afterwards_is_whole(stage: Stage) -> None:
    account = await live(stage, "a")
    await stage.facts.clear_place(GROUP.place)
    fresh = await stage.refreshed(account)
    await stage.remember(fresh, "之后说的", place=GROUP)
    receipt = await stage.facts.clear_person(account.person)
    assert (receipt.facts, receipt.turns) == (3, 2)
    assert await stage.remember(fresh, "迟到的", place=GROUP) == ()
    assert len(await stage.remember(await stage.refreshed(account), "全新的", place=GROUP)) == 1


async def test_private_is_no_place_to_clear(stage: Stage) -> None:
    account = await live(stage, "a")
    with pytest.raises(ValueError, match="private"):
        await stage.facts.clear_place("")
    assert await stage.texts(account.scope("")) == ["a 在「」说的"]


async def test_a_group_nobody_spoke_in_is_nothing(stage: Stage) -> None:
    await live(stage, "a")
    before = stage.dump()
    assert await stage.facts.clear_place("wechat:wx1:g3") == ForgetReceipt()
    assert stage.dump() == before
