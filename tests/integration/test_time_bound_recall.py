"""A question about a time, over a real store: what was said then is in the prompt, and nothing else is."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from bot.answering.prompt import load_template, render_prompt
from bot.answering.question import Question
from bot.memory.asked_time import AskedTimes
from bot.memory.query import Query
from bot.memory.recall import Recall
from bot.metrics import Metrics
from bot.pointing import Pointing
from bot.recollection import Recollection
from bot.storage.sql.entities import SqlEntities
from bot.storage.sql.turn_log import SqlTurnLog
from bot.storage.vectors.person_index import PersonIndex
from identity.directory import Directory
from identity.model import Account
from identity.phone import PhoneHasher
from tests.memory_stage import MODEL, Stage, open_stage, vector_of


@dataclass
class Talk:
    """One person and a bot that remembers."""

    stage: Stage
    account: Account
    pointing: Pointing
    recollection: Recollection

    async def say(self, text: str, *, is_fact: bool = True) -> None:
        turn = await self.stage.say(self.account, text)
        if is_fact:
            await self.stage.remember(self.account, text, source_turn=turn.id)
        self.stage.clock.advance(minutes=1)

    async def prompt(self, text: str) -> str:
        """What a model would be told."""
        scope, at = self.account.scope(""), self.stage.clock.now()
        message = self.stage.message(self.account, text)
        pointed = await self.pointing.read(text, at, scope, ())
        found = await self.recollection.recollect(
            message,
            self.account,
            scope,
            pointed,
            Query(text=pointed.query, vector=vector_of(pointed.query), talk=None),
        )
        question = Question(
            text=text,
            quoted="",
            persona="",
            short_term=(),
            facts=found.own,
            passages=(),
            at=at,
            is_group=False,
            asked=pointed.asked,
            said=found.said,
        )
        return render_prompt(load_template(), question)[0].text


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncGenerator[Talk]:
    async with open_stage(tmp_path) as stage:
        log = SqlTurnLog(stage.database)
        index = PersonIndex(stage.facts, stage.clock, model_id=lambda: MODEL)
        yield Talk(
            stage=stage,
            account=await stage.arrive("a"),
            pointing=Pointing(SqlEntities(stage.database), 5, times=AskedTimes(log)),
            recollection=Recollection(
                recall=Recall(facts=stage.facts, index=index, clock=stage.clock),
                directory=Directory(stage.accounts, PhoneHasher(b"p" * 32)),
                metrics=Metrics(),
                log=log,
            ),
        )


async def test_last_time_is_the_latest_earlier_talk_and_no_nearer_one(talk: Talk) -> None:
    await talk.say("我上次买的那双是跑鞋")
    talk.stage.clock.advance(days=3)
    await talk.say("我要买登山靴")
    talk.stage.clock.advance(hours=2)
    await talk.say("我想看看凉鞋")
    prompt = await talk.prompt("上次买的那双是什么")
    assert "登山靴" in prompt
    assert "跑鞋" not in prompt and "凉鞋" not in prompt


async def test_what_was_kept_as_no_fact_is_found_by_its_turn(talk: Talk) -> None:
    await talk.say("我的车牌尾号是八六三", is_fact=False)
    await talk.say("今天好热", is_fact=False)
    talk.stage.clock.advance(days=1)
    prompt = await talk.prompt("昨天说的车牌尾号是多少")
    assert "八六三" in prompt and "那时的原话" in prompt
    assert "好热" not in prompt


async def test_an_empty_time_is_said_to_be_empty_and_nothing_takes_its_place(talk: Talk) -> None:
    await talk.say("地址是桂花巷9号")
    talk.stage.clock.advance(days=9)
    prompt = await talk.prompt("昨天说的地址是哪个")
    assert "没有记下的内容" in prompt and "桂花巷" not in prompt
    assert "桂花巷" in await talk.prompt("地址是哪个")


async def test_the_window_is_told_in_words(talk: Talk) -> None:
    await talk.say("地址是桂花巷9号")
    talk.stage.clock.time = datetime(2026, 1, 3, 4, tzinfo=talk.stage.clock.time.tzinfo)
    prompt = await talk.prompt("昨天说的地址是哪个")
    assert "“昨天”指 2026-01-02 00:00 起，2026-01-03 00:00 止" in prompt
