"""Why a played message was answered so: recorded of the playground's people, and of nobody else."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.conversation.message import AccountKey, Conversation, Message
from bot.memory.trace import Exclusion
from bot.playground.why import Why
from tests.integration.living_house import QQ, LivingHouse, OpenHouse, neighbourhood

PLAYED = "playground"
GROUP = "30001"


@pytest.fixture
async def open_house(tmp_path: Path) -> AsyncIterator[OpenHouse]:
    async with neighbourhood(tmp_path) as open_house:
        yield open_house


def played(message: Message, app_id: str = PLAYED) -> Message:
    sender = replace(message.sender, app_id=app_id)
    return replace(message, sender=sender, conversation=replace(message.conversation, app_id=app_id))


async def say(living: LivingHouse, text: str, *, app_id: str = PLAYED, **more: Any) -> Message:
    message = played(living.message(text, **more), app_id)
    await living.hear(message)
    return message


async def why(living: LivingHouse, message: Message) -> Why | None:
    return await living.house.whys.find(message.sender.channel, message.sender.app_id, message.key)


async def told(living: LivingHouse, message: Message) -> Why:
    record = await why(living, message)
    assert record is not None
    return record


class TestRecord:
    async def test_of_a_question_tells_what_was_weighed_and_what_was_sent(
        self, open_house: OpenHouse
    ) -> None:
        living = await open_house(memory={"recall_k": 1})
        for text in ("记住：我对花生过敏", "记住：我穿 M 码", "记住：我住在苏州工业园区"):
            await say(living, text)
            living.clock.advance(seconds=5)
        asked = await say(living, "我对什么过敏？")
        record = await told(living, asked)
        found = record.found
        assert record.decided_by == "model" and record.text == "我对什么过敏？" and found is not None
        reasons = {each.traced.fact.text: each.traced.excluded for each in found.weighed.candidates}
        recalled = {text for text, reason in reasons.items() if reason is None}
        assert recalled == {each.fact.text for each in found.question.facts} and "我对花生过敏" in recalled
        assert len(reasons) == 3 and set(reasons.values()) == {None, Exclusion.BEYOND_K}
        assert found.prompt[-1].text.endswith("我对什么过敏？") or "我对什么过敏？" in found.prompt[-1].text
        assert "我对花生过敏" in "".join(line.text for line in found.prompt)
        assert {"identify", "rules", "recall", "note", "answer", "commit"} <= record.milliseconds.keys()
        assert record.total_milliseconds >= sum(record.milliseconds.values())
        assert record.pages

    async def test_says_what_was_closed_and_what_is_outside_of_the_time(self, open_house: OpenHouse) -> None:
        living = await open_house()
        await say(living, "记住：我住在苏州")
        living.clock.advance(days=2)
        await say(living, "/更正 苏州 → 杭州")
        living.clock.advance(days=2)
        record = await told(living, await say(living, "我住在哪里？"))
        assert record.found is not None
        reasons = {each.traced.fact.text: each.traced.excluded for each in record.found.weighed.candidates}
        assert reasons == {"我住在杭州": None, "我住在苏州": Exclusion.CLOSED}
        record = await told(living, await say(living, "我昨天说的住址是哪里？"))
        assert record.found is not None and record.found.pointed.window is not None
        reasons = {each.traced.fact.text: each.traced.excluded for each in record.found.weighed.candidates}
        assert reasons == {"我住在杭州": Exclusion.OUTSIDE_WINDOW, "我住在苏州": Exclusion.CLOSED}

    async def test_of_what_rules_decide_has_no_search(self, open_house: OpenHouse) -> None:
        living = await open_house()
        record = await told(living, await say(living, "/隐私"))
        assert record.decided_by == "command" and record.found is None and "rules" in record.milliseconds

    async def test_of_group_talk_that_was_not_for_the_bot_holds_no_word(self, open_house: OpenHouse) -> None:
        living = await open_house()
        record = await told(living, await say(living, "晚上吃火锅", group=GROUP, is_addressed=False))
        assert record.decided_by == "nobody" and "火锅" not in repr(record)

    async def test_of_a_group_weighs_what_the_group_keeps_together(self, open_house: OpenHouse) -> None:
        living = await open_house()
        key = AccountKey(channel=QQ, app_id=PLAYED, openid="li")
        conversation = Conversation(channel=QQ, app_id=PLAYED, group=GROUP)
        await say(living, "记住：我对芒果过敏", group=GROUP)
        group = await living.house.directory.group(conversation)
        from bot.memory.explicit import facts_of_explicit

        new = facts_of_explicit("周五聚餐在小南国", living.clock.now(), is_group=True)
        await living.house.stores.facts.keep(group.scope(conversation.place), new, None, "", source_turn=None)
        record = await told(living, await say(living, "聚餐在哪里？我对什么过敏？", group=GROUP))
        assert record.sender == key and record.found is not None
        kept = {each.traced.fact.text: each.is_group for each in record.found.weighed.candidates}
        assert kept == {"我对芒果过敏": False, "周五聚餐在小南国": True}

    async def test_only_the_latest_are_kept(self, open_house: OpenHouse) -> None:
        living = await open_house()
        living.house.whys._most = 2
        messages = [await say(living, "/隐私") for _ in range(3)]
        assert [await why(living, each) is not None for each in messages] == [False, True, True]


class TestRealPeople:
    async def test_nothing_of_them_is_recorded_or_traced(
        self, open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        living = await open_house()
        traced: list[object] = []

        async def trace(looked: object) -> None:
            traced.append(looked)

        monkeypatch.setattr(living.house.explaining._recall, "trace", trace)
        await living.say("记住：我对花生过敏")
        await living.say("我对什么过敏？")
        assert len(living.house.whys) == 0 and traced == []

    async def test_even_while_somebody_plays(self, open_house: OpenHouse) -> None:
        """Their answers are made side by side, in tasks of their own."""
        living = await open_house()
        real, play = living.message("我对什么过敏？", by="wang"), played(living.message("我穿什么码？"))
        async with living.thinking():
            running = [asyncio.create_task(living.hear(each)) for each in (play, real)]
            await asyncio.sleep(0)
        await asyncio.gather(*running)
        assert len(living.house.whys) == 1
        assert "过敏" not in repr(await told(living, play))

    async def test_their_forgetting_leaves_the_records(self, open_house: OpenHouse) -> None:
        living = await open_house()
        message = await say(living, "我穿什么码？")
        await living.say("记住：我对花生过敏")
        await living.say("/忘记 花生")
        assert await why(living, message) is not None


class TestForgetting:
    @pytest.mark.parametrize("orders", [("/忘记 花生",), ("/清除记忆", "确认"), ("/注销", "确认")])
    async def test_leaves_no_word_in_any_record(self, open_house: OpenHouse, orders: tuple[str, ...]) -> None:
        living = await open_house()
        await say(living, "记住：我对花生过敏")
        asked = await say(living, "我对什么过敏？")
        last = asked
        for order in orders:
            last = await say(living, order)
        assert await why(living, asked) is None
        record = await told(living, last)
        assert record.is_forgotten and "花生" not in repr(record) and not record.pages

    async def test_while_another_is_answered_keeps_no_word_of_that_one(self, open_house: OpenHouse) -> None:
        living = await open_house()
        await say(living, "记住：我对花生过敏")
        slow = played(living.message("我对什么过敏？"))
        async with living.thinking() as asked:
            answering = asyncio.create_task(living.hear(slow))
            await asked.wait()
            account = await living.house.stores.accounts.find_account(slow.sender)
            assert account is not None
            living.house._lines.drop_account(account.key)
        await answering
        record = await told(living, slow)
        assert record.is_forgotten and record.found is None and record.text == ""

    async def test_by_another_process_is_noticed(self, open_house: OpenHouse) -> None:
        living = await open_house()
        asked = await say(living, "我对什么过敏？")
        account = await living.house.stores.accounts.find_account(asked.sender)
        assert account is not None
        await living.house.stores.facts.clear_person(account.person)
        assert await why(living, asked) is None and len(living.house.whys) == 0

    async def test_of_a_group_leaves_none(self, open_house: OpenHouse) -> None:
        living = await open_house()
        asked = await say(living, "聚餐在哪里？", group=GROUP)
        living.house._lines.drop_place(asked.conversation.place)
        assert await why(living, asked) is None
