"""The running bot with a real Redis-compatible server, which hangs, forgets, and must forget."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from simulators.openai import OpenAiServer
from tests.e2e.bot_process import BotProcess
from tests.e2e.conftest import StartBot, model_settings, wechat_of
from tests.integration.valkey_fixture import Valkey, run_valkey

CANARY = "金丝雀五八二六"
PERSON = "oEightySix"


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    with run_valkey() as server:
        yield server


async def test_the_conversation_goes_on_whatever_redis_does(
    start_bot: StartBot, model: OpenAiServer, valkey: Valkey
) -> None:
    model.answer_with(lambda request: f"答复甲{len(model.requests)}。")
    bot = await start_bot(**model_settings(model), REDIS__URL=valkey.url)
    await _ask(bot, model, "这件外套有红色的吗")
    assert "这件外套有红色的吗" in await _ask(bot, model, "那件蓝的多少钱")

    _rewrite_cached_answers(valkey, "改写过的答复。")
    assert "改写过的答复。" in await _ask(bot, model, "两件一起买便宜吗"), "the context is the cached one"

    valkey.freeze()
    frozen = await _ask(bot, model, "包邮送到乌鲁木齐吗")
    assert "两件一起买便宜吗" in frozen and "改写过的答复。" not in frozen
    valkey.thaw()
    assert "包邮送到乌鲁木齐吗" in await _ask(bot, model, "大概几天送到")
    valkey.flush()
    emptied = await _ask(bot, model, "可以货到付款吗")
    assert "大概几天送到" in emptied and "包邮送到乌鲁木齐吗" in emptied


async def test_the_context_is_cached_again_after_redis_forgot(
    start_bot: StartBot, model: OpenAiServer, valkey: Valkey
) -> None:
    bot = await start_bot(**model_settings(model), REDIS__URL=valkey.url)
    await _ask(bot, model, "这件外套有红色的吗")
    await _ask(bot, model, "那件蓝的多少钱")
    valkey.flush()
    assert _everything_in(valkey) == {}
    await _ask(bot, model, "两件一起买便宜吗")
    assert any("蓝的多少钱" in content for content in _everything_in(valkey).values())


async def test_clearing_leaves_nothing_in_redis(
    start_bot: StartBot, model: OpenAiServer, valkey: Valkey
) -> None:
    bot = await start_bot(**model_settings(model), REDIS__URL=valkey.url)
    await _ask(bot, model, f"我的暗号是{CANARY}，好听吗")
    await _ask(bot, model, "换一个短一点的暗号呢")
    assert _holding(valkey, CANARY), "the scan must be able to find it"
    async with wechat_of(bot) as wechat:
        await wechat.say("oOther", "这件外套有红色的吗")
        await wechat.say("oOther", "那件蓝的多少钱")
        assert "确认" in (await wechat.say(PERSON, "/清除记忆")).text
        assert "已清除" in (await wechat.say(PERSON, "确认")).text
    assert _holding(valkey, CANARY) == []
    assert _holding(valkey, "红色的"), "another person's window stays"
    assert CANARY not in await _ask(bot, model, "我刚才说的暗号是什么")


async def _ask(bot: BotProcess, model: OpenAiServer, question: str) -> str:
    """The prompt in which `question` was asked (and not the judgement of the turn afterwards)."""
    async with wechat_of(bot) as wechat:
        seen = await wechat.say(PERSON, question)
    assert seen.text and not seen.is_fault
    prompts = [request.prompt for request in model.requests if request.question.rstrip().endswith(question)]
    assert prompts, model.prompts()
    return prompts[0]


def _rewrite_cached_answers(valkey: Valkey, answer: str) -> None:
    """Put other words into the cached turns: only who reads the cache can know them."""
    with redis.Redis.from_url(valkey.url) as client:
        windows = list(client.scan_iter("jide:talk:*"))
        assert len(windows) == 1
        # The first tells what was before them.
        cached: Any = client.zrange(windows[0], 1, -1, withscores=True)
        for member, score in cached:
            turn = json.loads(member) | {"answer": answer}
            client.zrem(windows[0], member)
            client.zadd(windows[0], {json.dumps(turn): score})


def _everything_in(valkey: Valkey) -> dict[str, str]:
    """Every key with its content; JSON escapes are undone."""
    found: dict[str, str] = {}
    with redis.Redis.from_url(valkey.url, decode_responses=True) as client:
        for key in client.scan_iter("*"):
            kind = client.type(key)
            assert kind in ("zset", "set"), f"{key} is a {kind}: teach this test to read it"
            members: Any = client.zrange(key, 0, -1) if kind == "zset" else client.smembers(key)
            found[key] = "\n".join(f"{each}\n{_unescaped(each)}" for each in members)
    return found


def _unescaped(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return ""


def _holding(valkey: Valkey, words: str) -> list[str]:
    return [key for key, content in _everything_in(valkey).items() if words in key or words in content]
