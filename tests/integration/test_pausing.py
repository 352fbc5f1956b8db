"""/暂停记忆 through a whole house: answers look back on the talk going on, and nothing of it is remembered."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.storage.sql.ledger import PASSING_KEPT
from bot.worker import PASSING_KEPT as PASSING_FOR
from simulators.openai import Request
from tests.integration.living_house import QQ, WECHAT, LivingHouse, OpenHouse, neighbourhood

CANARY = "青花瓷二七"


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[LivingHouse]:
    async with neighbourhood(tmp_path) as open_house:
        yield await settled(open_house)


async def settled(open_house: OpenHouse) -> LivingHouse:
    shop = await open_house()
    await shop.greet("li", "wang")
    shop.model.answer_with(answers)
    return shop


def answers(request: Request) -> str:
    """Whatever it is asked to judge is worth keeping."""
    if "是否需要存入长期记忆" not in request.prompt:
        return "好的。"
    said = json.loads(request.question)["said"]
    fact = {"kind": "preference", "text": said, "importance": 0.9}
    return json.dumps({"keep": True, "reason": "", "facts": [fact]}, ensure_ascii=False)


async def test_nothing_of_a_pause_is_remembered(shop: LivingHouse) -> None:
    await shop.say("我喜欢蓝色")
    await shop.house.worker.work_off()
    before = await shop.facts()
    assert before
    await shop.say("/暂停记忆")
    await shop.say(f"我对{CANARY}过敏，单号SF998877665544")
    assert await shop.house.worker.work_off() == 0
    assert await shop.facts() == before
    assert shop.count("entity") == 0 and shop.count("job") == 0
    assert "记忆暂停着" in await shop.say("/我的记忆")

    await shop.say("那个呢")
    assert CANARY in shop.model.prompts()[-1], "the next answer looks back on it"
    await shop.say("/恢复记忆")
    await shop.say("我喜欢红色")
    await shop.house.worker.work_off()
    assert [text for text in await shop.facts() if CANARY in text] == []
    assert len(await shop.facts()) == len(before) + 1
    await shop.house.worker.work_off()
    shop.clock.advance(seconds=PASSING_FOR.total_seconds() + 1)
    await shop.house.worker.sweep()
    assert CANARY not in "".join(map(str, shop.rows("turn")))
    assert shop.tables_with("我喜欢蓝色") >= {"turn", "fact"}


async def test_only_the_turns_that_an_answer_looks_back_on_are_kept(shop: LivingHouse) -> None:
    await shop.say("暂停前说的")
    await shop.say("/暂停记忆")
    for number in range(PASSING_KEPT + 3):
        await shop.say(f"第{number}句")
    kept = [row for row in shop.rows("turn") if "句" in str(row)]
    assert len(kept) == PASSING_KEPT
    assert "turn" in shop.tables_with("暂停前说的")


async def test_a_pause_is_the_persons_and_nobody_elses(shop: LivingHouse) -> None:
    await shop.say("/暂停记忆")
    await shop.say("我喜欢绿色", group="30001")
    await shop.say("我喜欢白色", by="wang")
    assert await shop.house.worker.work_off() == 1
    assert await shop.facts("wang") != []
    assert await shop.facts(place="onebot:10001:30001") == []


async def test_an_account_that_joins_does_not_end_a_pause(shop: LivingHouse) -> None:
    await shop.greet("li", channel=WECHAT)
    await shop.say("/暂停记忆")
    assert (await shop.account()).person != (await shop.account(channel=WECHAT)).person
    assert await link(shop)
    assert (await shop.account()).person == (await shop.account(channel=WECHAT)).person
    await shop.say("我喜欢蓝色", channel=WECHAT)
    assert await shop.house.worker.work_off() == 0
    await shop.say("/恢复记忆", channel=WECHAT)
    await shop.say("我喜欢红色", channel=QQ)
    assert await shop.house.worker.work_off() == 1


async def link(shop: LivingHouse) -> bool:
    issued = await shop.say("/绑定", channel=QQ)
    code = issued.split("绑定码：", 1)[1].split("（", 1)[0]
    await shop.say(f"/绑定 {code}", channel=WECHAT)
    await shop.say("确认绑定", channel=QQ)  # shows which account it is
    return "已绑定" in await shop.say("确认绑定", channel=QQ)
