"""Facts that a later one contradicts, when the accounts that said them part and meet again."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from identity.model import Account
from tests.memory_stage import DIMENSION, GROUP, MODEL, Stage, open_stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as opened:
        yield opened


async def pair(stage: Stage) -> tuple[Account, Account]:
    """Two accounts of one person."""
    return await stage.arrive("a", "union"), await stage.arrive("b", "union")


async def texts(stage: Stage, account: Account) -> list[str]:
    return await stage.texts((await stage.refreshed(account)).scope(""))


async def meet_again(stage: Stage, account: Account) -> None:
    (merge, *_) = [
        each
        for each in await stage.accounts.merges((await stage.refreshed(account)).person)
        if each.account == account.id and not each.is_undone
    ]
    assert await stage.accounts.undo_merge(merge.id) is not None


async def contradict(stage: Stage, account: Account, old: int, text: str) -> int:
    (new,) = await stage.remember(await stage.refreshed(account), text)
    assert await stage.facts.supersede((await stage.refreshed(account)).scope(""), [old], new) == 1
    return new


async def test_a_superseded_fact_leaves_the_view_and_its_vector_too(stage: Stage) -> None:
    one, other = await pair(stage)
    (old,) = await stage.remember(one, "住在北京")
    await stage.remember(other, "住在北京")
    before = await stage.facts.version(one.scope(""))
    (new,) = await stage.remember(one, "住在上海")
    # With it the same text of the linked account.
    assert await stage.facts.supersede(one.scope(""), [old], new) == 2
    assert await texts(stage, other) == ["住在上海"]
    assert (await stage.facts.vector_sheet(one.scope(""), MODEL, DIMENSION)).fact_ids.tolist() == [new]
    assert await stage.facts.newer_facts(one.scope(""), before, old) is None
    assert await stage.facts.supersede(one.scope(""), [old], new) == 0


async def test_nothing_outside_the_scope_is_superseded(stage: Stage) -> None:
    one, stranger = await stage.arrive("a"), await stage.arrive("c")
    (mine,) = await stage.remember(one, "住在北京")
    (theirs,) = await stage.remember(stranger, "住在北京")
    (elsewhere,) = await stage.remember(one, "住在北京", place=GROUP)
    (new,) = await stage.remember(one, "住在上海")
    assert await stage.facts.supersede(stranger.scope(""), [theirs], new) == 0
    assert await stage.facts.supersede(one.scope(""), [theirs, elsewhere], new) == 0
    assert await stage.facts.supersede(one.scope(""), [mine], mine) == 0
    assert await texts(stage, one) == ["住在北京", "住在上海"]


async def test_what_the_other_account_contradicted_opens_at_the_parting(stage: Stage) -> None:
    one, other = await pair(stage)
    (old,) = await stage.remember(one, "住在北京")
    await contradict(stage, other, old, "住在上海")
    await stage.accounts.part(other.id)
    assert (await texts(stage, one), await texts(stage, other)) == (["住在北京"], ["住在上海"])
    await meet_again(stage, other)
    assert await texts(stage, one) == ["住在上海"]


async def test_what_the_account_contradicted_itself_stays_closed(stage: Stage) -> None:
    """Also when the other account came in between."""
    one, other = await pair(stage)
    (old,) = await stage.remember(one, "住在北京")
    between = await contradict(stage, other, old, "住在上海")
    await contradict(stage, one, between, "住在深圳")
    await stage.accounts.part(other.id)
    assert (await texts(stage, one), await texts(stage, other)) == (["住在深圳"], ["住在上海"])


async def test_the_link_between_may_be_forgotten(stage: Stage) -> None:
    one, other = await pair(stage)
    (old,) = await stage.remember(one, "住在北京")
    between = await contradict(stage, other, old, "住在上海")
    await contradict(stage, one, between, "住在深圳")
    await stage.facts.forget_facts(one.scope(""), [between])
    await stage.accounts.part(other.id)
    assert (await texts(stage, one), await texts(stage, other)) == (["住在深圳"], [])


async def test_a_contradiction_that_was_forgotten_closes_nothing_again(stage: Stage) -> None:
    one, other = await pair(stage)
    (old,) = await stage.remember(one, "住在北京")
    new = await contradict(stage, other, old, "住在上海")
    await stage.facts.forget_facts(one.scope(""), [new])
    assert await texts(stage, one) == []
    await stage.accounts.part(other.id)
    assert await texts(stage, one) == ["住在北京"]
    await meet_again(stage, other)
    assert await texts(stage, other) == ["住在北京"]


async def test_what_was_said_once_more_meanwhile_is_shown_once(stage: Stage) -> None:
    one, other = await pair(stage)
    (old,) = await stage.remember(one, "住在北京")
    await contradict(stage, other, old, "住在上海")
    await stage.remember(one, "住在北京")
    await stage.accounts.part(other.id)
    assert await texts(stage, one) == ["住在北京"]
    await meet_again(stage, other)
    assert await texts(stage, one) == ["住在上海", "住在北京"]


async def test_who_says_the_same_as_the_other_account_has_contradicted_it_too(stage: Stage) -> None:
    one, other = await pair(stage)
    (old,) = await stage.remember(one, "住在北京")
    between = await contradict(stage, other, old, "住在上海")
    await contradict(stage, other, between, "住在深圳")
    await stage.remember(one, "住在深圳")
    await stage.accounts.part(other.id)
    assert (await texts(stage, one), await texts(stage, other)) == (["住在深圳"], ["住在深圳"])
