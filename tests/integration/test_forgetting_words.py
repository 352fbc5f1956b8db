"""「忘记…」 through a whole house: after the reply, no byte of what went is in the data folder, nor the order's own words."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from simulators.openai import Request
from tests.integration.living_house import GROUP, PAGE_BREAK, QQ, WECHAT, LivingHouse, neighbourhood
from tests.memory_stage import traces

CANARY = "SF7310028846"
WORDS = "青花瓷二七"


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[LivingHouse]:
    async with neighbourhood(tmp_path) as open_house:
        shop = await open_house()
        await shop.greet("li", "wang")
        await shop.greet("li", channel=WECHAT)
        shop.model.answer_with(answers)
        yield shop


def answers(request: Request) -> str:
    """Keeps whatever is told, repeats it in two pages, and condenses."""
    if "是否需要存入长期记忆" not in request.prompt:
        return f"好的，第一页{PAGE_BREAK}您说的是：{request.question}"
    asked = json.loads(request.question)
    fact = {"kind": "preference", "text": asked["said"], "importance": 0.9}
    summary = "用户说过：" + str(asked.get("earlier_turns", ""))
    return json.dumps({"keep": True, "reason": "", "summary": summary, "facts": [fact]}, ensure_ascii=False)


async def tell(shop: LivingHouse, *texts: str, **more: str) -> None:
    for text in texts:
        await shop.say(text, **more)
        await shop.house.worker.work_off()
        shop.clock.advance(minutes=1)


def left_of(shop: LivingHouse, words: str) -> set[str]:
    return traces(shop.house.settings.data_folder, words)


@pytest.mark.parametrize("channel", [QQ, WECHAT])
@pytest.mark.parametrize(
    "order", [f"忘掉我的单号{CANARY}", f"/忘记 {CANARY.lower()}", "把我的单号忘了吧", "忘记今天说的"]
)
async def test_no_byte_is_left_once_it_is_said(shop: LivingHouse, channel: str, order: str) -> None:
    await tell(shop, "我的单号是SF1", "我对芒果过敏", by="wang")
    await tell(shop, f"我的单号是{CANARY}", channel=channel)
    await shop.say(f"{CANARY} 到哪了", channel=channel)
    await shop.say("/我的记忆", channel=channel)
    assert {"fact", "turn", "entity"} <= shop.tables_with(CANARY)
    before = {table: shop.count(table) for table in ("fact", "turn", "entity")}

    shop.clock.advance(minutes=1)
    said = await shop.say(order, channel=channel)
    if "确认" in said:
        said = await shop.say("确认", channel=channel)
    assert "已忘记" in said and "回执号：1" in said and CANARY not in said

    mine = await shop.facts(channel=channel)
    assert not [text for text in mine if CANARY in text]
    assert all(shop.count(table) < count for table, count in before.items())
    assert await shop.facts("wang") == ["我的单号是SF1", "我对芒果过敏"]
    assert left_of(shop, CANARY) == set()


async def test_the_order_to_forget_leaves_no_words_either(shop: LivingHouse) -> None:
    await tell(shop, "您好，我想问问发货")
    said = await shop.say(f"忘掉我说的{WORDS}")
    assert "没有找到" in said
    await tell(shop, f"我喜欢{WORDS}", "我叫八六", channel=WECHAT)
    await shop.say(f"忘掉{WORDS}", channel=WECHAT)
    assert left_of(shop, WORDS) == set()
    assert await shop.facts(channel=WECHAT) == ["我叫八六"]


async def test_the_last_statement_goes_before_it_was_judged(shop: LivingHouse) -> None:
    await tell(shop, "我叫八六")
    await shop.say(f"我喜欢{WORDS}")
    shop.clock.advance(seconds=20)
    assert "1 轮对话已删除" in await shop.say("忘记我刚才说的")
    assert await shop.house.worker.work_off() == 0
    assert await shop.facts() == ["我叫八六"]
    assert left_of(shop, WORDS) == set()


async def test_a_group_forgets_what_was_said_in_it_alone(shop: LivingHouse) -> None:
    await tell(shop, f"我喜欢{WORDS}")
    await tell(shop, f"我喜欢{WORDS}", group=GROUP)
    place = f"{QQ}:10001:{GROUP}"
    assert await shop.facts(place=place)
    said = await shop.say(f"忘掉我喜欢{WORDS}", group=GROUP)
    assert "已忘记 1 件事" in said and WORDS not in said
    assert await shop.facts(place=place) == []
    assert await shop.facts() == [f"我喜欢{WORDS}"]


async def test_a_question_about_forgetting_deletes_nothing(shop: LivingHouse) -> None:
    await tell(shop, "我穿 M 码", "我对密码学感兴趣")
    for text in ("你是不是忘了我说的尺码", "忘记密码怎么办", "别忘了我的尺码", "你会忘记我说的尺码吗"):
        await shop.say(text)
    assert await shop.facts() == ["我穿 M 码", "我对密码学感兴趣"]


async def test_what_is_closed_or_expired_is_forgotten_too(shop: LivingHouse) -> None:
    await tell(shop, f"我住在{WORDS}小区")
    scope = (await shop.account()).scope("")
    facts = shop.house.stores.facts
    (old,) = (await facts.fact_sheet(scope)).facts
    await tell(shop, "我住在望京小区")
    new = (await facts.fact_sheet(scope)).facts[-1]
    await facts.supersede(scope, [old.id], new.id)
    assert [fact.text for fact in (await facts.fact_sheet(scope)).facts] == ["我住在望京小区"]
    assert "已忘记 1 件事" in await shop.say(f"/忘记 {WORDS}")
    assert left_of(shop, WORDS) == set()


async def test_a_correction_closes_the_old(shop: LivingHouse) -> None:
    await tell(shop, "我的鞋码是42")
    assert "已更正" in await shop.say("/更正 鞋码 42→43")
    assert await shop.facts() == ["我的鞋码是43"]
    text = await shop.say("/导出")
    assert "我的鞋码是42" in text and "已不是这样" in text
    await shop.house.worker.work_off()
    scope = (await shop.account()).scope("")
    assert (embedder := shop.house.models.embedder) is not None
    assert await shop.house.stores.facts.without_vector(scope, embedder.model_id, 9) == ()


async def test_an_answer_under_way_does_not_bring_it_back(shop: LivingHouse) -> None:
    await link(shop)
    await tell(shop, f"我喜欢{WORDS}", "我叫八六")
    asked = shop.message("我喜欢什么")
    async with shop.thinking() as is_asked:
        waiting = asyncio.create_task(shop.hear(asked))
        await is_asked.wait()
        assert WORDS in await shop.say("/我的记忆", channel=WECHAT)
        shop.model.answer_with(lambda _: f"您喜欢{WORDS}")
        assert "已忘记 1 件事" in await shop.say(f"/忘记 {WORDS}", channel=WECHAT)
    assert await waiting == shop.house.wording.say("cleared_meanwhile")
    assert left_of(shop, WORDS) == set()
    assert "八六" in await shop.say("/我的记忆")


async def link(shop: LivingHouse) -> None:
    issued = await shop.say("/绑定")
    code = issued.split("绑定码：", 1)[1].split("（", 1)[0]
    await shop.say(f"/绑定 {code}", channel=WECHAT)
    await shop.say("确认绑定")
    assert "已绑定" in await shop.say("确认绑定")
