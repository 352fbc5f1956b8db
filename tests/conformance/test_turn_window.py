"""What every short-term window keeps to: from SQL, and with a real Redis-compatible server before it."""

from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.memory.ports import TurnWindow
from bot.memory.short_term import ShortTermMemory
from bot.memory.summary import DueSummary
from bot.storage.redis.connection import open_redis
from bot.storage.redis.turn_window import RedisTurnWindow
from bot.storage.sql.turn_window import SqlTurnWindow
from identity.model import Account
from tests.integration.valkey_fixture import Valkey, run_valkey
from tests.memory_stage import GROUP, PRIVATE, Stage, open_stage

LIMIT = 4


@dataclass
class WindowStage:
    """A window over a database in which people speak."""

    stage: Stage
    window: TurnWindow

    async def say(self, account: Account, question: str, *, in_group: bool = False) -> Turn:
        place = GROUP if in_group else PRIVATE
        turn = await self.stage.say(account, question, f"答{question}", place=place)
        await self.window.append(account.scope(place.place), turn)
        return turn

    async def questions(self, scope: Scope) -> list[str]:
        return [turn.question for turn in (await self.window.recent(scope)).turns]


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    with run_valkey() as running:
        yield running


@pytest.fixture(params=["sql", "redis"])
async def windows(
    request: pytest.FixtureRequest, tmp_path: Path, valkey: Valkey
) -> AsyncGenerator[WindowStage]:
    async with open_stage(tmp_path) as stage:
        turns = SqlTurnWindow(stage.database, limit=LIMIT)
        if request.param == "sql":
            yield WindowStage(stage=stage, window=turns)
            return
        valkey.flush()
        async with open_redis(valkey.url) as redis:
            cache = RedisTurnWindow(redis, limit=LIMIT)
            yield WindowStage(stage=stage, window=ShortTermMemory(turns, cache, budget_tokens=10_000))


async def test_a_new_person_has_no_turns(windows: WindowStage) -> None:
    account = await windows.stage.arrive("a")
    assert await windows.questions(account.scope("")) == []


async def test_one_two_three_sent_fast_are_there_in_order(windows: WindowStage) -> None:
    account = await windows.stage.arrive("a")
    for question in ("1", "2", "3"):
        await windows.say(account, question)
    assert await windows.questions(account.scope("")) == ["1", "2", "3"]
    assert await windows.questions(account.scope("")) == ["1", "2", "3"]


async def test_turns_come_back_whole(windows: WindowStage) -> None:
    account = await windows.stage.arrive("a")
    said = [await windows.say(account, text) for text in ("表情 😀", '引号 " \\ \n 换行', "]]>\x0b")]
    for _ in range(2):
        assert (await windows.window.recent(account.scope(""))).turns == tuple(said)


async def test_only_the_last_turns_stay(windows: WindowStage) -> None:
    account = await windows.stage.arrive("a")
    for number in range(10):
        await windows.say(account, str(number))
        expected = [str(each) for each in range(number + 1)][-LIMIT:]
        assert await windows.questions(account.scope("")) == expected


async def test_people_places_and_epochs_are_apart(windows: WindowStage) -> None:
    one, other = await windows.stage.arrive("a"), await windows.stage.arrive("b")
    await windows.say(one, "私下")
    await windows.say(one, "群里", in_group=True)
    await windows.say(other, "别人")
    for _ in range(2):
        assert await windows.questions(one.scope("")) == ["私下"]
        assert await windows.questions(one.scope(GROUP.place)) == ["群里"]
        assert await windows.questions(other.scope("")) == ["别人"]
        assert await windows.questions(other.scope(GROUP.place)) == []
    await windows.stage.facts.clear_person(one.person)
    fresh = await windows.stage.refreshed(one)
    assert await windows.questions(fresh.scope("")) == []
    await windows.say(fresh, "重新开始")
    assert await windows.questions(fresh.scope("")) == ["重新开始"]


async def test_the_same_turn_twice_is_there_once(windows: WindowStage) -> None:
    account = await windows.stage.arrive("a")
    await windows.say(account, "1")
    await windows.questions(account.scope(""))
    turn = await windows.say(account, "2")
    await windows.window.append(account.scope(""), turn)
    await windows.window.append(account.scope(""), turn)
    assert await windows.questions(account.scope("")) == ["1", "2"]


async def test_what_was_forgotten_and_dropped_is_gone(windows: WindowStage) -> None:
    one, other = await windows.stage.arrive("a"), await windows.stage.arrive("b")
    said = await windows.say(one, "我对花生过敏")
    await windows.say(one, "今天天气")
    await windows.say(other, "别人")
    (kept,) = await windows.stage.remember(one, "花生过敏", source_turn=said.id)
    for account in (one, other):
        await windows.questions(account.scope(""))
    await windows.stage.facts.forget_facts(one.scope(""), [kept])
    await windows.window.drop(one.scope(""))
    for _ in range(2):
        assert await windows.questions(one.scope("")) == ["今天天气"]
        assert await windows.questions(other.scope("")) == ["别人"]


async def test_a_persons_accounts_share_a_window(windows: WindowStage) -> None:
    one, other = await windows.stage.arrive("a", "union"), await windows.stage.arrive("b", "union")
    await windows.say(one, "在一处")
    assert await windows.questions(other.scope("")) == ["在一处"]
    await windows.say(other, "在另一处")
    assert await windows.questions(one.scope("")) == ["在一处", "在另一处"]


async def summarise(windows: WindowStage, account: Account, text: str, turns: list[Turn]) -> None:
    new = DueSummary(turns=tuple(turns)).made(text)
    await windows.stage.facts.keep(account.scope(""), (), None, "", source_turn=None, summary=new)
    await windows.window.drop(account.scope(""))


async def test_a_summary_stands_for_the_turns_it_tells_of(windows: WindowStage) -> None:
    account = await windows.stage.arrive("a")
    said = [await windows.say(account, text) for text in "123"]
    await windows.questions(account.scope(""))
    await summarise(windows, account, "说了一和二", said[:2])
    for _ in range(2):
        talk = await windows.window.recent(account.scope(""))
        assert (talk.turns, talk.fresh) == (tuple(said), (said[2],))
        (summary,) = talk.summaries
        assert (summary.from_turn, summary.to_turn, summary.at) == (said[0].id, said[1].id, said[1].at)


async def test_it_stays_while_turns_come_and_the_old_ones_go(windows: WindowStage) -> None:
    account = await windows.stage.arrive("a")
    said = [await windows.say(account, text) for text in "12"]
    await summarise(windows, account, "说了一", said[:1])
    await windows.questions(account.scope(""))
    for text in "3456":
        said.append(await windows.say(account, text))
        talk = await windows.window.recent(account.scope(""))
        assert talk.turns == tuple(said[-LIMIT:])
        assert [each.text for each in talk.summaries] == ["说了一"]
    assert talk.fresh == talk.turns


async def test_once_it_is_forgotten_nobody_is_shown_it(windows: WindowStage) -> None:
    account = await windows.stage.arrive("a")
    said = [await windows.say(account, text) for text in "12"]
    await summarise(windows, account, "暗号是芝麻开门", said[:1])
    await windows.questions(account.scope(""))
    await windows.stage.facts.forget_facts(account.scope(""), [], ["芝麻开门"])
    await windows.window.drop(account.scope(""))
    for _ in range(2):
        talk = await windows.window.recent(account.scope(""))
        assert (talk.summaries, talk.fresh) == ((), tuple(said))


async def test_summaries_of_a_persons_accounts_are_shown_together(windows: WindowStage) -> None:
    one, other = await windows.stage.arrive("a", "union"), await windows.stage.arrive("b", "union")
    of_other = [await windows.say(other, "1")]
    of_one = [await windows.say(one, "2")]
    left = await windows.say(other, "3")
    await summarise(windows, one, "这一处", of_one)
    await summarise(windows, other, "另一处", of_other)
    for _ in range(2):
        talk = await windows.window.recent(one.scope(""))
        assert [each.text for each in talk.summaries] == ["另一处", "这一处"]
        assert talk.fresh == (left,)
