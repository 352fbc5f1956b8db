"""A rolling summary is kept with its job while all it was made of is there, and gone with any of it."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.conversation.message import Conversation
from bot.conversation.turn import Turn
from bot.memory.summary import DueSummary, NewSummary, OpenTalk, Summary, SummaryRule
from bot.storage.forget_ledger import ForgetLedger
from bot.storage.sql import summaries as summaries_module
from bot.storage.sql.exporting import export_person
from bot.storage.sql.facts import SqlFacts
from bot.storage.sql.parking import SqlParking
from bot.storage.sql.replaying import replay
from bot.storage.sql.summaries import SqlSummaries
from bot.storage.sql.turn_window import SqlTurnWindow
from identity.model import Account
from tests.memory_stage import GROUP, PRIVATE, Stage, open_stage, traces

CANARY = "金丝雀四一三"
RULE = SummaryRule(after_turns=5, keeps=2, budget_tokens=100_000)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    async with open_stage(tmp_path) as made:
        yield made


async def talk_of(stage: Stage, account: Account, place: Conversation = PRIVATE) -> OpenTalk | None:
    return await SqlSummaries(stage.database).open_talk(account.scope(place.place))


async def due(stage: Stage, account: Account, place: Conversation = PRIVATE) -> DueSummary | None:
    talk = await talk_of(stage, account, place)
    return RULE.due(talk) if talk is not None else None


async def chat(stage: Stage, account: Account, *said: str, place: Conversation = PRIVATE) -> list[Turn]:
    turns: list[Turn] = []
    for text in said:
        stage.clock.advance(minutes=1)
        turns.append(await stage.say(account, text, f"答{text}", place=place))
    return turns


async def keep(stage: Stage, account: Account, summary: NewSummary, place: Conversation = PRIVATE) -> None:
    await stage.facts.keep(account.scope(place.place), (), None, "", source_turn=None, summary=summary)


async def summarise(stage: Stage, account: Account, text: str, place: Conversation = PRIVATE) -> Summary:
    """Enough is said, and what is due condensed."""
    await chat(stage, account, *(f"第{number}句" for number in range(RULE.after_turns)), place=place)
    found = await due(stage, account, place)
    assert found is not None
    await keep(stage, account, found.made(text), place)
    return (await shown(stage, account, place))[-1]


async def shown(stage: Stage, account: Account, place: Conversation = PRIVATE) -> tuple[Summary, ...]:
    fresh = await stage.refreshed(account)
    return (await SqlTurnWindow(stage.database, limit=50).recent(fresh.scope(place.place))).summaries


def rows(stage: Stage) -> list[tuple[object, ...]]:
    return stage.dump()["summary"]


async def test_it_cites_its_turns_and_leaves_the_last_ones(stage: Stage) -> None:
    account = await stage.arrive("a")
    turns = await chat(stage, account, "一", "二", "三", "四")
    assert await due(stage, account) is None
    turns += await chat(stage, account, "五")
    found = await due(stage, account)
    assert found is not None
    assert found == DueSummary(turns=tuple(turns[:3]), previous=None)
    await keep(stage, account, found.made("说了一二三"))
    assert await shown(stage, account) == (
        Summary(text="说了一二三", from_turn=turns[0].id, to_turn=turns[2].id, at=turns[2].at),
    )
    assert len(stage.dump()["turn"]) == 5, "the turns stay"


async def test_it_rolls_on_from_the_one_before(stage: Stage) -> None:
    account = await stage.arrive("a")
    first = await summarise(stage, account, "先前")
    later = await chat(stage, account, "六", "七")
    assert await due(stage, account) is None
    later += await chat(stage, account, "八")
    found = await due(stage, account)
    assert found is not None and found.previous == first
    assert [turn.question for turn in found.turns] == ["第3句", "第4句", "六"]
    await keep(stage, account, found.made("先前和后来"))
    (second,) = await shown(stage, account)
    assert (second.from_turn, second.to_turn, second.text) == (first.from_turn, later[0].id, "先前和后来")
    assert len(rows(stage)) == 1


async def test_the_window_has_it_in_place_of_what_it_tells(stage: Stage) -> None:
    account = await stage.arrive("a")
    kept = await summarise(stage, account, "先前")
    await chat(stage, account, "六")
    talk = await SqlTurnWindow(stage.database, limit=4).recent(account.scope(""))
    assert [turn.question for turn in talk.turns] == ["第2句", "第3句", "第4句", "六"]
    assert [turn.question for turn in talk.fresh] == ["第3句", "第4句", "六"]
    assert talk.summaries == (kept,)
    off = await SqlTurnWindow(stage.database, limit=4, has_summaries=False).recent(account.scope(""))
    assert (off.summaries, off.fresh) == ((), talk.turns)


async def test_what_none_tells_of_is_there_beyond_the_limit(stage: Stage) -> None:
    account, other = await stage.arrive("a"), await stage.arrive("b")
    await summarise(stage, account, "先前")
    for person in (account, other):
        await chat(stage, person, *"六七八九")
    window = SqlTurnWindow(stage.database, limit=3, most_fresh=5)
    assert [turn.question for turn in (await window.recent(account.scope(""))).fresh] == [
        "第4句",
        *"六七八九",
    ]
    assert [turn.question for turn in (await window.recent(other.scope(""))).turns] == [*"七八九"]


async def test_who_has_none_is_asked_for_none(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    account = await stage.arrive("a")
    await chat(stage, account, "一", "二")
    monkeypatch.setattr(summaries_module, "_OF_SHELF", None)
    talk = await SqlTurnWindow(stage.database, limit=4).recent(account.scope(""))
    assert [turn.question for turn in talk.turns] == ["一", "二"]


async def test_each_place_and_account_has_its_own(stage: Stage) -> None:
    account, other = await stage.arrive("a"), await stage.arrive("b")
    await summarise(stage, account, "私聊")
    await summarise(stage, account, "群里", GROUP)
    assert [each.text for each in await shown(stage, account)] == ["私聊"]
    assert [each.text for each in await shown(stage, account, GROUP)] == ["群里"]
    assert await shown(stage, other) == () == await shown(stage, other, GROUP)


async def test_linked_accounts_keep_theirs_apart_and_are_read_together(stage: Stage) -> None:
    one, other = await stage.arrive("a", "union"), await stage.arrive("b", "union")
    await summarise(stage, other, "另一处")
    await summarise(stage, one, "这一处")
    talk = await talk_of(stage, one)
    assert talk is not None and [turn.question for turn in talk.turns] == ["第3句", "第4句"]
    assert [each.text for each in await shown(stage, one)] == ["另一处", "这一处"]
    window = await SqlTurnWindow(stage.database, limit=50).recent(one.scope(""))
    assert [turn.question for turn in window.fresh] == ["第3句", "第4句"] * 2


async def test_a_finished_job_keeps_none(stage: Stage) -> None:
    account = await stage.arrive("a")
    await chat(stage, account, "一", "二", "三", "四")
    await stage.say(account, "五", consolidate=True)
    (ticket,) = await stage.jobs.lease_jobs(1, 60)
    found = await due(stage, account)
    assert found is not None
    for text in ("先到的", "后到的"):
        await stage.facts.keep(
            account.scope(""), (), None, "", source_turn=None, job=ticket.id, summary=found.made(text)
        )
    assert [each.text for each in await shown(stage, account)] == ["先到的"]


async def test_of_an_epoch_that_has_passed_none_is_kept(stage: Stage) -> None:
    account = await stage.arrive("a")
    await chat(stage, account, *"一二三四五")
    found = await due(stage, account)
    assert found is not None
    await stage.facts.clear_person(account.person)
    await keep(stage, account, found.made(CANARY))
    assert rows(stage) == []
    # A group cleared beside it.
    fresh = await stage.refreshed(account)
    await chat(stage, fresh, *"一二三四五", place=GROUP)
    found = await due(stage, fresh, GROUP)
    assert found is not None
    await stage.facts.clear_place(GROUP.place)
    await keep(stage, fresh, found.made(CANARY), GROUP)
    assert rows(stage) == []


async def test_what_was_forgotten_while_it_was_made_comes_back_in_none(stage: Stage) -> None:
    account = await stage.arrive("a")
    await chat(stage, account, "一", f"我的暗号{CANARY}", "三", "四", "五")
    found = await due(stage, account)
    assert found is not None
    await stage.facts.forget_facts(account.scope(""), [], [CANARY])
    await keep(stage, account, found.made(f"暗号是{CANARY}"))
    assert rows(stage) == [] and traces(stage.folder, CANARY) == set()


async def test_one_that_has_changed_meanwhile_is_not_gone_on_with(stage: Stage) -> None:
    account = await stage.arrive("a")
    await summarise(stage, account, f"暗号{CANARY}")
    await chat(stage, account, "六", "七", "八")
    found = await due(stage, account)
    assert found is not None and found.previous is not None
    await stage.facts.forget_facts(account.scope(""), [], [CANARY])
    await keep(stage, account, found.made(f"暗号{CANARY}，后来"))
    assert await shown(stage, account) == () and traces(stage.folder, CANARY) == set()


@pytest.mark.parametrize("how", ["person", "place"])
async def test_clearing_leaves_no_byte(stage: Stage, how: str) -> None:
    account = await stage.arrive("a")
    place = GROUP if how == "place" else PRIVATE
    await summarise(stage, account, "另一处的", PRIVATE if how == "place" else GROUP)
    await summarise(stage, account, CANARY, place)
    await stage.database.quiesce_and_checkpoint()
    assert traces(stage.folder, CANARY)
    if how == "place":
        assert (await stage.facts.clear_place(GROUP.place)).summaries == 1
    else:
        assert (await stage.facts.clear_person(account.person)).summaries == 2
    assert traces(stage.folder, CANARY) == set()
    assert [row[3] for row in rows(stage)] == (["另一处的"] if how == "place" else [])


async def test_forgetting_a_fact_takes_what_tells_of_its_turn_and_it_is_made_anew(stage: Stage) -> None:
    account = await stage.arrive("a")
    turns = await chat(stage, account, "一", f"我爱{CANARY}", "三", "四", "五")
    (fact,) = await stage.remember(account, f"我爱{CANARY}", source_turn=turns[1].id)
    found = await due(stage, account)
    assert found is not None
    await keep(stage, account, found.made("用户说了自己爱什么"))
    await stage.facts.forget_facts(account.scope(""), [fact])
    assert await shown(stage, account) == ()
    assert traces(stage.folder, "用户说了自己爱什么") == set()
    again = await due(stage, account)
    assert again is not None, "at once, not after five more"
    assert [turn.question for turn in again.turns] == ["一", "三"] and again.previous is None
    await keep(stage, account, again.made("说了一和三"))
    assert [each.text for each in await shown(stage, account)] == ["说了一和三"]


async def test_forgetting_words_takes_what_holds_them_though_no_turn_does(stage: Stage) -> None:
    account, other = await stage.arrive("a"), await stage.arrive("b")
    await summarise(stage, account, f"用户提过{CANARY}")
    await summarise(stage, other, f"别人也提过{CANARY}")
    receipt = await stage.facts.forget_facts(account.scope(""), [], [CANARY])
    assert (receipt.turns, receipt.summaries) == (0, 1)
    assert await shown(stage, account) == ()
    assert len(await shown(stage, other)) == 1


async def test_forgetting_a_later_turn_leaves_it(stage: Stage) -> None:
    account = await stage.arrive("a")
    await summarise(stage, account, "先前")
    await chat(stage, account, f"我爱{CANARY}")
    receipt = await stage.facts.forget_facts(account.scope(""), [], [CANARY])
    assert (receipt.turns, receipt.summaries) == (1, 0)
    assert [each.text for each in await shown(stage, account)] == ["先前"]


async def test_of_two_linked_accounts_only_the_one_that_said_it_loses_its_own(stage: Stage) -> None:
    one, other = await stage.arrive("a", "union"), await stage.arrive("b", "union")
    await chat(stage, one, "一", "二")
    await chat(stage, other, "甲", f"我爱{CANARY}", "丙", "丁", "戊")
    await chat(stage, one, "三", "四", "五")
    for account in (one, other):
        found = await due(stage, account)
        assert found is not None
        await keep(stage, account, found.made(f"{account.key.openid}的"))
    await stage.facts.forget_facts(one.scope(""), [], [CANARY])
    assert [each.text for each in await shown(stage, one)] == ["a的"]


async def test_an_older_copy_loses_every_one(stage: Stage, tmp_path: Path) -> None:
    """What was forgotten may stand in it in other words, which the ledger can't name."""
    ledger = ForgetLedger(tmp_path / "forgotten.jsonl", b"pepper", stage.clock)
    account = await stage.arrive("a")
    await summarise(stage, account, f"用户提过{CANARY}")
    async with open_stage(tmp_path / "copy") as copy:
        again = await copy.arrive("a")
        await summarise(copy, again, f"用户提过{CANARY}")
        noted = SqlFacts(stage.database, stage.clock, ledger)
        assert (await noted.forget_facts(account.scope(""), [], [CANARY])).summaries == 1
        assert len(ledger.path.read_text("utf-8").splitlines()) == 2, "noted, and done"
        await copy.database.write(lambda connection: replay(connection, ledger))
        assert await shown(copy, again) == ()
        assert await due(copy, again) is not None


async def test_it_is_put_away_and_given_back_with_its_shelf(stage: Stage) -> None:
    account = await stage.arrive("a")
    await summarise(stage, account, "先前")
    parking = SqlParking(stage.database, stage.clock)
    await parking.park(account.id)
    assert await shown(stage, account) == ()
    await parking.restore(account.id)
    assert [each.text for each in await shown(stage, account)] == ["先前"]


async def test_given_back_to_who_has_talked_since_none_tells_of_both(stage: Stage) -> None:
    account = await stage.arrive("a")
    await summarise(stage, account, "从前")
    parking = SqlParking(stage.database, stage.clock)
    await parking.park(account.id)
    await summarise(stage, await stage.refreshed(account), "后来")
    await parking.restore(account.id)
    assert rows(stage) == []
    fresh = await stage.refreshed(account)
    found = await due(stage, fresh)
    assert found is not None and len(found.turns) == 2 * RULE.after_turns - RULE.keeps


async def test_what_was_put_away_and_discarded_leaves_no_byte(stage: Stage) -> None:
    account = await stage.arrive("a")
    await summarise(stage, account, CANARY)
    parking = SqlParking(stage.database, stage.clock)
    await parking.park(account.id)
    await parking.discard(account.id)
    assert rows(stage) == [] and traces(stage.folder, CANARY) == set()


async def test_an_account_of_another_person_is_shown_none(stage: Stage) -> None:
    account, other = await stage.arrive("a"), await stage.arrive("b")
    await summarise(stage, account, "先前")
    stolen = replace(other.scope(""), person=account.person)
    assert (await SqlTurnWindow(stage.database, limit=9).recent(stolen)).summaries == ()


async def test_the_export_has_it(stage: Stage) -> None:
    account, other = await stage.arrive("a"), await stage.arrive("b")
    kept = await summarise(stage, account, "先前")
    await summarise(stage, other, "别人的")
    document = await export_person(stage.database, account.person)
    assert json.loads(json.dumps(document["summaries"])) == [
        {
            "channel": "wechat",
            "place": "",
            "from_turn": kept.from_turn,
            "to_turn": kept.to_turn,
            "text": "先前",
            "until": kept.at.isoformat(timespec="seconds"),
        }
    ]
    await stage.facts.forget_facts(account.scope(""), [], ["先前"])
    assert (await export_person(stage.database, account.person))["summaries"] == []
