"""What a prompt has room for: one's own memories first, and in a group what the group keeps after them."""

from dataclasses import replace
from typing import cast

from bot.conversation.message import AccountKey, Conversation, Kind, Message
from bot.conversation.scope import AccountId, PersonId
from bot.memory.budget import tokens_of
from bot.memory.query import Query
from bot.memory.recall import Recall
from bot.metrics import Metrics
from bot.pointing import Pointed
from bot.recollection import Recollection
from identity.directory import Directory
from identity.model import Account
from tests.memory_fakes import NOW, SCOPE, FactsInMemory, FixedClock, NearnessByHand, make_fact

KEY = AccountKey(channel="onebot", app_id="1", openid="a")
PRIVATE = Conversation(channel="onebot", app_id="1")
GROUP = Conversation(channel="onebot", app_id="1", group="g")
GROUP_PERSON = PersonId(7)
LONG = make_fact(1, "长" * 100)
COST = tokens_of(LONG)


class KnowsOneGroup:
    async def known_group(self, conversation: Conversation) -> Account:
        return account_of(GROUP_PERSON)


def account_of(person: PersonId) -> Account:
    return Account(id=AccountId(int(person)), key=KEY, unionid="", person=person, epoch=0, is_greeted=True)


async def recollected(facts: FactsInMemory, place: Conversation, budget: int) -> tuple[list[int], list[int]]:
    """The ids of what is the person's own and of what is the group's."""
    recollection = Recollection(
        recall=Recall(facts=facts, index=NearnessByHand({}), clock=FixedClock()),
        directory=cast("Directory", KnowsOneGroup()),
        metrics=Metrics(),
        budget_tokens=budget,
    )
    message = Message(key="m1", kind=Kind.TEXT, sender=KEY, conversation=place, text="谁", sent_at=NOW)
    scope = replace(SCOPE, place=place.place)
    pointed = Pointed(query="谁", k=5)
    query = Query(text="谁", vector=None, talk=None)
    found = await recollection.recollect(message, account_of(SCOPE.person), scope, pointed, query)
    return [each.fact.id for each in found.own], [each.fact.id for each in found.group]


def held(place: Conversation, *, group: int = 0) -> FactsInMemory:
    """Three memories of one's own, the best first, and as many of the group's."""
    facts = FactsInMemory()
    facts.hold(
        replace(SCOPE, place=place.place),
        *(replace(LONG, id=each, importance=1 - each / 10) for each in (1, 2, 3)),
    )
    of_group = account_of(GROUP_PERSON).scope(place.place)
    facts.hold(
        of_group, *(replace(LONG, id=each, importance=1 - each / 100) for each in range(11, 11 + group))
    )
    return facts


async def test_within_the_budget_nothing_is_left_out() -> None:
    assert await recollected(held(PRIVATE), PRIVATE, 3 * COST) == ([1, 2, 3], [])


async def test_the_best_are_kept() -> None:
    assert await recollected(held(PRIVATE), PRIVATE, 2 * COST) == ([1, 2], [])
    assert await recollected(held(PRIVATE), PRIVATE, 1) == ([1], [])


async def test_ones_own_comes_before_the_groups() -> None:
    assert await recollected(held(GROUP, group=2), GROUP, 5 * COST) == ([1, 2, 3], [11, 12])
    assert await recollected(held(GROUP, group=2), GROUP, 4 * COST) == ([1, 2, 3], [11])
    assert await recollected(held(GROUP, group=2), GROUP, 2 * COST) == ([1, 2], [])
