"""What every FactStore keeps to."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from bot.conversation.errors import EmbedderUnavailable, VectorsOfAnotherModel
from bot.conversation.scope import Scope
from bot.memory.fact import ForgetReceipt
from bot.storage.sql.facts import FEW_VECTORS
from bot.storage.sql.reembedding import SqlVectors
from tests.memory_stage import (
    DIMENSION,
    GROUP,
    MODEL,
    PRIVATE,
    START,
    Stage,
    open_stage,
    renew,
    vector_of,
    vectors_of,
)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as opened:
        yield opened


async def test_keeps_facts_and_vectors_in_order_of_time(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    texts = [f"喜欢第 {number} 种茶" for number in range(30)]
    kept: list[int] = []
    for text in texts:
        stage.clock.advance(minutes=1)
        kept += await stage.remember(account, text)

    facts = await stage.facts.fact_sheet(scope)
    vectors = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)

    assert [fact.text for fact in facts.facts] == texts
    assert [fact.id for fact in facts.facts] == kept == vectors.fact_ids.tolist()
    assert facts.facts[0].said_at == START + timedelta(minutes=1)
    assert facts.facts[0].channel == "wechat"
    np.testing.assert_array_equal(vectors.matrix, vectors_of(texts))
    assert facts.version == vectors.version == await stage.facts.version(scope)


async def test_a_fact_embedded_late_stands_where_its_time_is(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    (first,) = await stage.facts.keep(scope, [stage.fact("先说的")], None, MODEL, source_turn=None)
    stage.clock.advance(minutes=1)
    (second,) = await stage.remember(account, "后说的")
    await stage.facts.add_vectors(scope, [first], vectors_of(["先说的"]), MODEL)

    sheet = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    assert sheet.fact_ids.tolist() == [first, second]
    np.testing.assert_array_equal(sheet.matrix, vectors_of(["先说的", "后说的"]))


async def test_each_change_changes_the_version(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    versions = [await stage.facts.version(scope)]
    (kept,) = await stage.facts.keep(scope, [stage.fact("对花生过敏")], None, MODEL, source_turn=None)
    versions.append(await stage.facts.version(scope))
    await stage.facts.add_vectors(scope, [kept], vectors_of(["对花生过敏"]), MODEL)
    versions.append(await stage.facts.version(scope))
    await stage.facts.forget_facts(scope, [kept])
    versions.append(await stage.facts.version(scope))
    await stage.facts.clear_person(account.person)
    versions.append(await stage.facts.version((await stage.refreshed(account)).scope("")))
    assert len(set(versions)) == len(versions)


async def test_newer_facts_are_those_added_since_and_nothing_after_a_forgetting(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    await stage.remember(account, "一", "二")
    sheet = await stage.facts.fact_sheet(scope)
    newest = max(fact.id for fact in sheet.facts)
    same = await stage.facts.newer_facts(scope, sheet.version, newest)
    assert same is not None and (same.version, same.facts) == (sheet.version, ())
    (third,) = await stage.remember(account, "三")
    newer = await stage.facts.newer_facts(scope, sheet.version, newest)
    whole = await stage.facts.fact_sheet(scope)
    assert newer is not None and newer.version == whole.version
    assert (*sheet.facts, *newer.facts) == whole.facts
    await stage.facts.forget_facts(scope, [third])
    assert await stage.facts.newer_facts(scope, sheet.version, newest) is None
    assert await stage.facts.newer_facts(scope, whole.version, third) is None


async def test_many_facts_and_vectors_are_read_in_a_thread_and_the_same(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope, texts = account.scope(""), [f"第 {number} 件" for number in range(FEW_VECTORS + 1)]
    empty = await stage.facts.fact_sheet(scope)
    nothing = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    ids = await stage.remember(account, "最早的")
    first, vectors = (
        await stage.facts.fact_sheet(scope),
        await stage.facts.vector_sheet(scope, MODEL, DIMENSION),
    )
    ids += await stage.remember(account, *texts)
    whole = await stage.facts.fact_sheet(scope)
    assert empty.facts == () and len(nothing.fact_ids) == 0
    assert [fact.id for fact in whole.facts] == list(ids)
    newer = await stage.facts.newer_facts(scope, first.version, ids[0])
    assert newer is not None and newer.facts == whole.facts[1:]
    added = await stage.facts.newer_vectors(scope, MODEL, DIMENSION, vectors.version, vectors.slots)
    assert added is not None and added.fact_ids.tolist() == list(ids[1:])
    assert (await stage.facts.vector_sheet(scope, MODEL, DIMENSION)).fact_ids.tolist() == list(ids)


async def test_reading_changes_no_version(stage: Stage) -> None:
    account = await stage.arrive("a")
    await stage.remember(account, "对花生过敏")
    before = await stage.facts.version(account.scope(""))
    assert await stage.remember(account, "对花生过敏") == ()
    await stage.facts.vector_sheet(account.scope(""), MODEL, DIMENSION)
    assert await stage.facts.version(account.scope("")) == before


async def test_an_account_stores_the_same_text_once(stage: Stage) -> None:
    account = await stage.arrive("a")
    assert len(await stage.remember(account, "对花生过敏", "对花生过敏", "住在上海")) == 2
    assert await stage.remember(account, "对花生过敏") == ()
    assert len(await stage.remember(account, "对花生过敏", place=GROUP)) == 1
    assert len(await stage.remember(await stage.arrive("c"), "对花生过敏")) == 1
    sheet = await stage.facts.vector_sheet(account.scope(""), MODEL, DIMENSION)
    assert len(sheet.fact_ids) == 2
    np.testing.assert_array_equal(sheet.matrix, vectors_of(["对花生过敏", "住在上海"]))


async def test_what_two_linked_accounts_said_is_read_once(stage: Stage) -> None:
    """In whole and as an addition: the one stored first, also where the other was said before."""
    account, sibling = await stage.arrive("a", "union"), await stage.arrive("b", "union")
    scope = account.scope("")
    first, home = await stage.remember(account, "对花生过敏", "住在上海")
    stage.clock.advance(days=-1)
    _, new = await stage.remember(sibling, "对花生过敏", "喜欢游泳")
    sheet = await stage.facts.fact_sheet(scope)
    assert {fact.id for fact in sheet.facts} == {first, home, new}
    assert sheet == await stage.facts.fact_sheet(sibling.scope(""))
    vectors = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    assert sorted(vectors.fact_ids.tolist()) == [first, home, new]

    await stage.remember(sibling, "住在上海")
    newer = await stage.facts.newer_facts(scope, sheet.version, new)
    added = await stage.facts.newer_vectors(scope, MODEL, DIMENSION, vectors.version, vectors.slots)
    assert newer is not None
    assert added is not None
    assert (newer.facts, added.fact_ids.tolist()) == ((), [])


async def test_a_repeated_text_stays_when_the_first_expires(stage: Stage) -> None:
    account, sibling = await stage.arrive("a", "union"), await stage.arrive("b", "union")
    ends = stage.clock.now() + timedelta(days=1)
    await stage.facts.keep(
        account.scope(""), [stage.fact("在住院", expires_at=ends)], None, MODEL, source_turn=None
    )
    await stage.remember(sibling, "在住院")
    sheet = await stage.facts.fact_sheet(account.scope(""))
    assert (len(sheet.facts), sheet.fresh_until) == (1, ends)
    stage.clock.advance(days=2)
    assert await stage.texts(account.scope("")) == ["在住院"]


async def test_forgetting_a_text_takes_it_from_every_linked_account(stage: Stage) -> None:
    account, sibling = await stage.arrive("a", "union"), await stage.arrive("b", "union")
    stranger = await stage.arrive("c")
    (kept,) = await stage.remember(account, "对花生过敏")
    for other in (sibling, stranger):
        await stage.remember(other, "对花生过敏")
    await stage.remember(sibling, "对花生过敏", place=GROUP)
    assert (await stage.facts.forget_facts(account.scope(""), [kept])).facts == 2
    assert await stage.texts(sibling.scope("")) == []
    assert await stage.texts(sibling.scope(GROUP.place)) == ["对花生过敏"]
    assert await stage.texts(stranger.scope("")) == ["对花生过敏"]


async def test_a_scope_shows_its_person_and_place_only(stage: Stage) -> None:
    one, other = await stage.arrive("a"), await stage.arrive("b")
    await stage.remember(one, "私下说的")
    await stage.remember(one, "群里说的", place=GROUP)
    await stage.remember(other, "别人说的")

    assert await stage.texts(one.scope("")) == ["私下说的"]
    assert await stage.texts(one.scope(GROUP.place)) == ["群里说的"]
    assert await stage.texts(other.scope("")) == ["别人说的"]
    assert await stage.texts(other.scope(GROUP.place)) == []


async def test_a_scope_whose_account_is_another_persons_shows_nothing(stage: Stage) -> None:
    one, other = await stage.arrive("a"), await stage.arrive("b")
    await stage.remember(one, "私下说的")
    await stage.remember(other, "别人说的")
    forged = Scope(person=one.person, account=other.id, epoch=one.epoch)
    assert await stage.texts(forged) == []
    assert len((await stage.facts.vector_sheet(forged, MODEL, DIMENSION)).fact_ids) == 0
    kept = await stage.facts.fact_sheet(one.scope(""))
    assert await stage.facts.forget_facts(forged, [fact.id for fact in kept.facts]) == ForgetReceipt()
    assert await stage.texts(one.scope("")) == ["私下说的"]


async def test_joined_accounts_share_what_each_said(stage: Stage) -> None:
    one, other = await stage.arrive("a", "union"), await stage.arrive("b")
    await stage.remember(one, "在一处说的")
    stage.clock.advance(minutes=1)
    await stage.remember(other, "在另一处说的")
    before = await stage.facts.version(one.scope(""))
    joined = await stage.accounts.learn_unionid(other.id, "union")

    assert await stage.texts(joined.scope("")) == ["在一处说的", "在另一处说的"]
    sheet = await stage.facts.vector_sheet(joined.scope(""), MODEL, DIMENSION)
    assert len(sheet.fact_ids) == 2
    assert sheet.version != before


async def test_facts_without_a_vector_wait_for_one(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    facts = [stage.fact(text) for text in ("一", "二", "三")]
    ids = await stage.facts.keep(scope, facts, None, MODEL, source_turn=None)

    waiting = await stage.facts.without_vector(scope, MODEL, 2)
    assert [fact.id for fact in waiting] == list(ids[:2])
    await stage.facts.add_vectors(scope, ids[:2], vectors_of(["一", "二"]), MODEL)
    await stage.facts.add_vectors(scope, ids[:2], vectors_of(["一", "二"]), MODEL)
    assert [fact.id for fact in await stage.facts.without_vector(scope, MODEL, 9)] == [ids[2]]
    sheet = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    assert sheet.fact_ids.tolist() == list(ids[:2])


async def test_newer_vectors_are_those_added_since(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    texts = [f"第 {number} 件事" for number in range(30)]
    await stage.remember(account, *texts[:10])
    (late,) = await stage.facts.keep(scope, [stage.fact("晚有向量")], None, MODEL, source_turn=None)
    sheet = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    mark = (sheet.version, sheet.slots)
    nothing = await stage.facts.newer_vectors(scope, MODEL, DIMENSION, *mark)
    assert nothing is not None and nothing.matrix.shape == (0, DIMENSION)

    ids = await stage.remember(account, *texts[10:])
    await stage.facts.add_vectors(scope, [late], vectors_of(["晚有向量"]), MODEL)
    newer = await stage.facts.newer_vectors(scope, MODEL, DIMENSION, *mark)
    whole = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    assert newer is not None
    assert sorted(newer.fact_ids.tolist()) == sorted((*ids, late))
    assert sorted((*sheet.fact_ids.tolist(), *newer.fact_ids.tolist())) == sorted(whole.fact_ids.tolist())
    assert (newer.version, newer.slots) == (whole.version, whole.slots)
    vector = dict(zip(newer.fact_ids.tolist(), newer.matrix, strict=True))[late]
    np.testing.assert_array_equal(vector, vector_of("晚有向量"))
    rest = await stage.facts.newer_vectors(scope, MODEL, DIMENSION, whole.version, whole.slots)
    assert rest is not None and len(rest.fact_ids) == 0


async def test_newer_vectors_say_when_they_expire(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    await stage.remember(account, "一")
    sheet = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    ends = stage.clock.now() + timedelta(days=1)
    await stage.facts.keep(
        scope, [stage.fact("二", expires_at=ends)], vectors_of(["二"]), MODEL, source_turn=None
    )
    newer = await stage.facts.newer_vectors(scope, MODEL, DIMENSION, sheet.version, sheet.slots)
    assert newer is not None and newer.fresh_until == ends
    stage.clock.advance(days=1)
    newer = await stage.facts.newer_vectors(scope, MODEL, DIMENSION, sheet.version, sheet.slots)
    assert newer is not None and len(newer.fact_ids) == 0


@pytest.mark.parametrize("change", ["forget", "clear", "join", "first in the place", "model", "reindex"])
async def test_newer_vectors_are_none_after_anything_but_adding(stage: Stage, change: str) -> None:
    account, other = await stage.arrive("a"), await stage.arrive("b", "union")
    place = PRIVATE if change != "first in the place" else GROUP
    scope = account.scope(place.place)
    ids = await stage.remember(account, "一", "二")
    await stage.remember(other, "三")
    sheet = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    match change:
        case "forget":
            await stage.facts.forget_facts(scope, ids[:1])
        case "clear":
            await stage.facts.clear_person(account.person)
        case "join":
            await stage.accounts.learn_unionid(account.id, "union")
        case "first in the place":
            await stage.remember(account, "四", place=GROUP)
        case "reindex":
            await SqlVectors(stage.database, stage.clock).drop_all()
            await stage.facts.add_vectors(scope, ids, vectors_of(["一", "二"]), MODEL)
        case "model":
            await renew(stage, scope, ("model-b", DIMENSION))
            await renew(stage, scope, (MODEL, DIMENSION))
    scope = (await stage.refreshed(account)).scope(place.place)
    # Adding afterwards does not hide it.
    await stage.remember(await stage.refreshed(account), "五", "六", "七", place=place)
    assert await stage.facts.newer_vectors(scope, MODEL, DIMENSION, sheet.version, sheet.slots) is None


async def test_vectors_are_never_given_to_anothers_facts(stage: Stage) -> None:
    one, other = await stage.arrive("a"), await stage.arrive("b")
    (kept,) = await stage.facts.keep(one.scope(""), [stage.fact("一")], None, MODEL, source_turn=None)
    await stage.facts.keep(other.scope(""), [stage.fact("二")], None, MODEL, source_turn=None)
    await stage.facts.add_vectors(other.scope(""), [kept], vectors_of(["一"]), MODEL)
    for account in (one, other):
        sheet = await stage.facts.vector_sheet(account.scope(""), MODEL, DIMENSION)
        assert sheet.fact_ids.tolist() == []


@pytest.mark.parametrize("change", ["model", "dimension"])
async def test_vectors_of_two_models_are_never_mixed(stage: Stage, change: str) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    old = await stage.remember(account, "一", "二")
    model = "model-b" if change == "model" else MODEL
    dimension = 4 if change == "dimension" else DIMENSION
    with pytest.raises(VectorsOfAnotherModel):
        await stage.facts.vector_sheet(scope, model, dimension)

    (new,) = await stage.facts.keep(
        scope, [stage.fact("三")], vectors_of(["三"], dimension), model, source_turn=None
    )
    with pytest.raises(VectorsOfAnotherModel):
        await stage.facts.vector_sheet(scope, model, dimension)
    held = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    assert held.fact_ids.tolist() == list(old), "the old ones answer until the new ones are whole"
    assert await stage.facts.without_vector(scope, model, 9) == ()
    vectors = SqlVectors(stage.database, stage.clock)
    assert not await vectors.change_over(scope, (model, dimension), ())
    await stage.facts.add_vectors(scope, old, vectors_of(["一", "二"], dimension), model)
    assert await vectors.change_over(scope, (model, dimension), ())
    sheet = await stage.facts.vector_sheet(scope, model, dimension)
    assert sorted(sheet.fact_ids.tolist()) == sorted((*old, new))
    with pytest.raises(VectorsOfAnotherModel):
        await stage.facts.vector_sheet(scope, MODEL, DIMENSION)


@pytest.mark.parametrize(
    "vectors",
    [
        np.empty((1, 0), dtype=np.float32),
        np.empty((0, DIMENSION), dtype=np.float32),
        np.zeros((1, DIMENSION), dtype=np.float32),
        np.full((1, DIMENSION), np.nan, dtype=np.float32),
        np.full((1, DIMENSION), np.inf, dtype=np.float32),
        np.ones(DIMENSION, dtype=np.float32),
    ],
    ids=["no dimension", "no rows", "zeros", "nan", "infinite", "one vector for a matrix"],
)
async def test_unusable_vectors_lose_no_fact_and_are_never_stored(stage: Stage, vectors: np.ndarray) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    (kept,) = await stage.facts.keep(scope, [stage.fact("一")], vectors, MODEL, source_turn=None)
    assert await stage.texts(scope) == ["一"]
    with pytest.raises(EmbedderUnavailable):
        await stage.facts.add_vectors(scope, [kept], vectors, MODEL)
    assert [fact.id for fact in await stage.facts.without_vector(scope, MODEL, 9)] == [kept]
    assert len((await stage.facts.vector_sheet(scope, MODEL, DIMENSION)).fact_ids) == 0


async def test_what_has_expired_is_out_of_view(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    ends = stage.clock.now() + timedelta(days=180)
    facts = [stage.fact("订单 1", expires_at=ends), stage.fact("叫李四")]
    ids = await stage.facts.keep(scope, facts, vectors_of(["订单 1", "叫李四"]), MODEL, source_turn=None)
    sheet = await stage.facts.fact_sheet(scope)
    vectors = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    assert sheet.fresh_until == vectors.fresh_until == ends
    assert len(sheet.facts) == len(vectors.fact_ids) == 2

    stage.clock.advance(days=180)
    assert await stage.texts(scope) == ["叫李四"]
    vectors = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    assert vectors.fact_ids.tolist() == [ids[1]]
    assert vectors.fresh_until is None
    np.testing.assert_array_equal(vectors.matrix, [vector_of("叫李四")])
    assert len(await stage.remember(account, "订单 1")) == 1


async def test_work_of_an_older_epoch_is_dropped(stage: Stage) -> None:
    account = await stage.arrive("a")
    (kept,) = await stage.facts.keep(account.scope(""), [stage.fact("一")], None, MODEL, source_turn=None)
    await stage.facts.clear_person(account.person)
    fresh = (await stage.refreshed(account)).scope("")
    assert fresh.epoch > account.epoch

    assert await stage.remember(account, "清除前说的") == ()
    await stage.facts.add_vectors(account.scope(""), [kept], vectors_of(["一"]), MODEL)
    assert await stage.texts(fresh) == []
    assert len((await stage.facts.vector_sheet(fresh, MODEL, DIMENSION)).fact_ids) == 0
    await stage.facts.keep(fresh, [stage.fact("清除后说的")], None, MODEL, source_turn=None)
    assert await stage.texts(fresh) == ["清除后说的"]
    assert await stage.texts(account.scope("")) == []


async def test_a_job_brings_its_facts_once(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    turn = await stage.say(account, "我叫李四", consolidate=True)
    (ticket,) = await stage.jobs.lease_jobs(9, 60)
    for text, stored in (("叫李四", 1), ("姓李", 0)):
        ids = await stage.facts.keep(
            scope, [stage.fact(text)], None, MODEL, source_turn=turn.id, job=ticket.id
        )
        assert len(ids) == stored
    assert await stage.texts(scope) == ["叫李四"]
    assert await stage.jobs.backlog() == 0


async def test_a_job_without_facts_is_finished(stage: Stage) -> None:
    account = await stage.arrive("a")
    await stage.say(account, "嗯", consolidate=True)
    (ticket,) = await stage.jobs.lease_jobs(9, 60)
    assert await stage.facts.keep(account.scope(""), [], None, MODEL, source_turn=None, job=ticket.id) == ()
    assert await stage.jobs.backlog() == 0


async def test_a_job_under_way_brings_back_nothing_forgotten(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    turn = await stage.say(account, "记住我对花生过敏", consolidate=True)
    (ticket,) = await stage.jobs.lease_jobs(9, 60)
    (kept,) = await stage.facts.keep(scope, [stage.fact("我对花生过敏")], None, MODEL, source_turn=None)
    receipt = await stage.facts.forget_facts(scope, [kept])
    assert receipt == ForgetReceipt(facts=1, turns=1, jobs=1, deliveries=1)
    late = [stage.fact("我对花生过敏")]
    assert await stage.facts.keep(scope, late, None, MODEL, source_turn=turn.id, job=ticket.id) == ()
    assert await stage.texts(scope) == []


async def test_forgetting_by_words_takes_the_talk_that_holds_them_and_leaves_other_places(
    stage: Stage,
) -> None:
    account, other = await stage.arrive("a"), await stage.arrive("b")
    (kept,) = await stage.remember(account, "对核桃酥过敏")
    await stage.say(account, "我对核桃酥真的过敏", consolidate=True)
    await stage.say(account, "推荐点心", "核桃酥不行，绿豆糕可以")
    await stage.say(account, "今天天气怎么样", "晴")
    await stage.say(other, "核桃酥好吃")
    receipt = await stage.facts.forget_facts(account.scope(""), [kept], ("核桃酥",))
    assert (receipt.facts, receipt.turns, receipt.jobs) == (1, 2, 1)
    nothing_kept = await stage.facts.forget_facts(account.scope(""), [], ("天气", "气"))
    assert (nothing_kept.facts, nothing_kept.turns) == (0, 1)
    assert (await stage.facts.forget_facts(account.scope(""), [], ("天气",))).total == 0
    assert (await stage.facts.forget_facts(account.scope(GROUP.place), [], ("核桃酥",))).total == 0
    assert (await stage.facts.forget_facts(other.scope(""), [], ("核桃酥",))).turns == 1


async def test_forgetting_takes_the_fact_its_vector_and_its_turns(stage: Stage) -> None:
    account = await stage.arrive("a")
    scope = account.scope("")
    turn = await stage.say(account, "我花生吃不得")
    ids = await stage.remember(account, "对花生过敏", "住在上海", source_turn=turn.id)
    await stage.say(account, "我对什么过敏", "您说过：对花生过敏")
    await stage.say(account, "今天天气怎么样", "晴")

    receipt = await stage.facts.forget_facts(scope, [ids[0], 999_999])

    assert receipt == ForgetReceipt(facts=1, turns=2, jobs=0, deliveries=2, vectors=1)
    assert await stage.texts(scope) == ["住在上海"]
    sheet = await stage.facts.vector_sheet(scope, MODEL, DIMENSION)
    assert sheet.fact_ids.tolist() == [ids[1]]
    np.testing.assert_array_equal(sheet.matrix, [vector_of("住在上海")])


async def test_ids_of_others_are_ignored_without_a_word(stage: Stage) -> None:
    one, other = await stage.arrive("a"), await stage.arrive("b")
    ids = await stage.remember(one, "一", "二")
    group = await stage.remember(one, "三", place=GROUP)
    before = stage.dump()
    assert await stage.facts.forget_facts(other.scope(""), ids) == ForgetReceipt()
    assert await stage.facts.forget_facts(one.scope(PRIVATE.place), group) == ForgetReceipt()
    assert stage.dump() == before


async def test_clearing_nobody_is_nothing(stage: Stage) -> None:
    account = await stage.arrive("a")
    await stage.remember(account, "一")
    nobody = type(account.person)(4711)
    assert await stage.facts.clear_person(nobody) == ForgetReceipt()
    assert await stage.texts(account.scope("")) == ["一"]


async def test_clearing_a_person_closes_what_they_opened(stage: Stage) -> None:
    one, other = await stage.arrive("a"), await stage.arrive("b")
    for account in (one, other):
        await stage.accounts.set_open(account.id, is_open=True)
    await stage.facts.clear_person(one.person)
    assert not (await stage.refreshed(one)).is_open
    assert (await stage.refreshed(other)).is_open
