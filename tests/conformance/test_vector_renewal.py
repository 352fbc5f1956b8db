"""What every store of vectors keeps to while another model's are made beside those that answer."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bot.conversation.errors import EmbedderUnavailable, VectorsOfAnotherModel
from bot.conversation.scope import Scope
from bot.knowledge.passage import NewPassage
from bot.metrics import Metrics
from bot.storage.sql.parking import SqlParking
from bot.storage.sql.passages import SqlPassages
from bot.storage.sql.reembedding import SqlVectors
from identity.model import Account
from tests.memory_stage import Stage, open_stage
from tests.renewing_fakes import SaltedEmbedder, renewing_of

OLD = SaltedEmbedder("model-a", 8)
MANY = 20


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as opened:
        yield opened


@pytest.fixture
def new() -> SaltedEmbedder:
    return SaltedEmbedder("model-b", 8)


async def remembers(stage: Stage, name: str, *texts: str) -> Account:
    account = await stage.arrive(name)
    await keep(stage, account.scope(""), *texts, by=OLD)
    return account


async def keep(stage: Stage, scope: Scope, *texts: str, by: SaltedEmbedder) -> tuple[int, ...]:
    return await stage.facts.keep(
        scope,
        [stage.fact(text) for text in texts],
        await by.embed_passages(texts),
        by.model_id,
        source_turn=None,
    )


async def held(stage: Stage, scope: Scope, by: SaltedEmbedder) -> int | None:
    """How many vectors answer; None: another model's do."""
    try:
        return len((await stage.facts.vector_sheet(scope, *by.kind)).fact_ids)
    except VectorsOfAnotherModel:
        return None


async def test_a_house_at_rest_has_nothing_to_do(stage: Stage) -> None:
    await remembers(stage, "a", "一")
    renewing = renewing_of(stage, OLD)
    OLD.batches.clear()
    assert await renewing.progress() is None
    assert not await renewing.step()
    assert OLD.batches == []
    assert not await renewing_of(stage, None).step()


async def test_what_is_searched_together_changes_over_together(stage: Stage, new: SaltedEmbedder) -> None:
    one, other = await stage.arrive("a", "union"), await stage.arrive("b")
    await keep(stage, one.scope(""), "一", by=OLD)
    await keep(stage, other.scope(""), "二", by=OLD)
    joined = await stage.accounts.learn_unionid(other.id, "union")
    vectors = SqlVectors(stage.database, stage.clock)
    owner, facts = await vectors.facts_to_renew(joined.scope(""), new.kind, 9, ())
    await stage.facts.add_vectors(
        owner, [facts[0].id], await new.embed_passages([facts[0].text]), new.model_id
    )
    assert not await vectors.change_over(owner, new.kind, ())
    assert await held(stage, joined.scope(""), OLD) == 2

    second, more = await vectors.facts_to_renew(joined.scope(""), new.kind, 9, ())
    assert second.account != owner.account
    await stage.facts.add_vectors(
        second, [more[0].id], await new.embed_passages([more[0].text]), new.model_id
    )
    assert await vectors.change_over(joined.scope(""), new.kind, ())
    assert (await held(stage, joined.scope(""), new), await held(stage, joined.scope(""), OLD)) == (2, None)


async def test_who_joins_amid_the_change_is_searched_by_words(stage: Stage, new: SaltedEmbedder) -> None:
    done, other = await stage.arrive("a", "union"), await stage.arrive("b")
    await keep(stage, done.scope(""), "一", by=new)
    await keep(stage, other.scope(""), "二", by=OLD)
    scope = (await stage.accounts.learn_unionid(other.id, "union")).scope("")
    assert (await held(stage, scope, new), await held(stage, scope, OLD)) == (None, None)
    renewing = renewing_of(stage, new)
    while await renewing.step():
        pass
    assert await held(stage, scope, new) == 2


async def test_facts_that_have_ended_keep_nobody_waiting(stage: Stage, new: SaltedEmbedder) -> None:
    account = await stage.arrive("a")
    (closed,) = await keep(stage, account.scope(""), "我住在上海", by=OLD)
    await stage.facts.withdraw(account.scope(""), [closed], stage.clock.now())
    renewing = renewing_of(stage, new)
    while await renewing.step():
        pass
    assert await renewing.progress() is None
    assert await held(stage, account.scope(""), new) == 0
    assert stage.dump()["seg"] == []


async def test_a_text_that_is_declined_keeps_nobody_waiting(stage: Stage, new: SaltedEmbedder) -> None:
    account = await stage.arrive("a")
    texts = [f"第 {number} 件事" for number in range(MANY)]
    await keep(stage, account.scope(""), *texts, by=OLD)
    new.refused = frozenset(texts[7:9])
    renewing = renewing_of(stage, new)
    while await renewing.step():
        pass
    assert await held(stage, account.scope(""), new) == MANY - 2
    assert await renewing.progress() is None
    assert len(await stage.texts(account.scope(""))) == MANY


async def test_an_embedder_that_is_away_changes_nothing(stage: Stage, new: SaltedEmbedder) -> None:
    account = await remembers(stage, "a", "一", "二")
    new.is_away = True
    before = stage.dump(besides=["stamp"])
    renewing = renewing_of(stage, new)
    with pytest.raises(EmbedderUnavailable):
        await renewing.step()
    assert stage.dump(besides=["stamp"]) == before
    new.is_away = False
    while await renewing.step():
        pass
    assert await held(stage, account.scope(""), new) == 2


async def test_a_third_model_takes_the_place_of_the_second(stage: Stage, new: SaltedEmbedder) -> None:
    account = await remembers(stage, "a", *(f"第 {number} 件事" for number in range(MANY)))
    renewing = renewing_of(stage, new)
    for _ in range(2):
        assert await renewing.step()
    assert shelf(stage)[3] > 0
    third = SaltedEmbedder("model-c", 5)
    renewing = renewing_of(stage, third)
    while await renewing.step():
        pass
    assert shelf(stage) == (MANY, "model-c", 5, 0, "")
    assert await held(stage, account.scope(""), third) == MANY


def shelf(stage: Stage) -> tuple[Any, ...]:
    with closing(sqlite3.connect(stage.database.path)) as connection:
        return connection.execute(
            "SELECT size, model, dimension, coming_size, coming_model FROM shelf"
        ).fetchone()


async def test_what_is_parked_is_not_embedded_and_leaves_no_old_vector(
    stage: Stage, new: SaltedEmbedder
) -> None:
    account = await remembers(stage, "a", "一", "二")
    parking = SqlParking(stage.database, stage.clock, None)
    await parking.park(account.id)
    renewing = renewing_of(stage, new)
    while await renewing.step():
        pass
    assert new.batches == [] and stage.dump()["seg"] == []
    await parking.restore(account.id)
    scope = (await stage.refreshed(account)).scope("")
    assert [each.account for each in await stage.facts.scopes_without_vector(9, new.model_id)] == [account.id]
    assert len(await stage.facts.without_vector(scope, new.model_id, 9)) == 2


async def test_it_tells_how_far_it_is(stage: Stage, new: SaltedEmbedder) -> None:
    await remembers(stage, "a", *(f"第 {number} 件事" for number in range(MANY)))
    metrics = Metrics()
    renewing = renewing_of(stage, new, metrics)
    progress = await renewing.progress()
    assert progress is not None
    assert (progress.renewal.old_models, progress.renewal.facts_left) == (("model-a",), MANY)
    assert progress.seconds_left is None and "已完成 0%" in progress.text
    assert await renewing.step()
    progress = await renewing.progress()
    assert progress is not None and progress.renewal.facts_left == MANY - renewing.facts_done
    assert 0 < renewing.facts_done < MANY and progress.seconds_left is not None
    assert f"剩记忆 {MANY - renewing.facts_done} 条" in progress.text and "约剩" in progress.text
    while await renewing.step():
        pass
    assert metrics.registry.get_sample_value("jide_reembedded_total", {"kind": "fact"}) == MANY
    assert metrics.registry.get_sample_value("jide_reembedding_left") == 0


async def test_documents_change_over_together(stage: Stage, new: SaltedEmbedder) -> None:
    store = SqlPassages(stage.database, stage.clock)
    texts = [f"第 {number} 条规定" for number in range(MANY)]
    passages = [NewPassage(heading="", text=text) for text in texts]
    await store.replace_document("规定", "1", passages, await OLD.embed_passages(texts), OLD.model_id)
    renewing = renewing_of(stage, new)
    assert await renewing.step()
    # A document that comes meanwhile is embedded by the present model.
    await store.replace_document(
        "新的",
        "1",
        [NewPassage(heading="", text="新的一条")],
        await new.embed_passages(["新的一条"]),
        new.model_id,
    )
    assert len((await store.passage_sheet(*new.kind)).embedded_ids) == 0
    old = await store.passage_sheet(*OLD.kind)
    assert len(old.embedded_ids) == MANY, "the old ones answer as before"
    while await renewing.step():
        pass
    sheet = await store.passage_sheet(*new.kind)
    assert len(sheet.embedded_ids) == len(sheet.passages) == MANY + 1
    np.testing.assert_array_equal(sheet.matrix[-1], new.vector("新的一条"))
    assert len((await store.passage_sheet(*OLD.kind)).embedded_ids) == 0
    assert await renewing.progress() is None


async def test_documents_whose_old_ones_are_all_replaced_need_no_change(
    stage: Stage, new: SaltedEmbedder
) -> None:
    store = SqlPassages(stage.database, stage.clock)
    await store.replace_document(
        "规定", "1", [NewPassage(heading="", text="旧")], await OLD.embed_passages(["旧"]), OLD.model_id
    )
    await store.replace_document(
        "另外", "1", [NewPassage(heading="", text="二")], await new.embed_passages(["二"]), new.model_id
    )
    await store.replace_document(
        "规定", "2", [NewPassage(heading="", text="一")], await new.embed_passages(["一"]), new.model_id
    )
    new.batches.clear()
    renewing = renewing_of(stage, new)
    while await renewing.step():
        pass
    assert new.batches == []
    assert len((await store.passage_sheet(*new.kind)).embedded_ids) == 2


async def test_going_back_drops_what_was_made_of_documents(stage: Stage, new: SaltedEmbedder) -> None:
    store = SqlPassages(stage.database, stage.clock)
    texts = [f"第 {number} 条规定" for number in range(MANY)]
    passages = [NewPassage(heading="", text=text) for text in texts]
    await store.replace_document("规定", "1", passages, await OLD.embed_passages(texts), OLD.model_id)
    assert await renewing_of(stage, new).step()
    OLD.batches.clear()
    back = renewing_of(stage, OLD)
    while await back.step():
        pass
    assert OLD.batches == [] and await back.progress() is None
    assert len((await store.passage_sheet(*OLD.kind)).embedded_ids) == MANY
    with closing(sqlite3.connect(stage.database.path)) as connection:
        query = "SELECT count(*) FROM passage WHERE coming_vector IS NOT NULL"
        assert connection.execute(query).fetchone() == (0,)
