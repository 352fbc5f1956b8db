"""The running bot remembers across a restart, and forgets so that no byte is left."""

import asyncio
import base64
import json
import signal
import sqlite3
from pathlib import Path

import numpy as np

from simulators.openai import OpenAiServer
from tests.e2e.bot_process import BotProcess
from tests.e2e.conftest import StartBot, model_settings, wechat_of

CANARY = "金丝雀七三一九"


async def test_facts_survive_a_restart_and_stay_with_their_person(
    start_bot: StartBot, model: OpenAiServer
) -> None:
    bot = await start_bot(**model_settings(model))
    async with wechat_of(bot) as wechat:
        seen = await wechat.say("oEightySix", "记住：我叫八六，我对花生过敏")
        assert "已记住" in seen.text
        assert "八六" in seen.text
        await wechat.say("oOther", "记住：我叫九七，我对牛奶过敏")
        assert await bot.stop() in (0, -signal.SIGTERM)
        await bot.start()
        model.reset()
        await wechat.say("oEightySix", "我能吃什么零食？还记得我吗")
        mine = _question_prompt(model, "我能吃什么零食")
        assert "八六" in mine and "花生过敏" in mine
        assert "九七" not in mine and "牛奶" not in mine
        model.reset()
        await wechat.say("oOther", "我能吃什么零食？还记得我吗")
        other = _question_prompt(model, "我能吃什么零食")
        assert "九七" in other and "八六" not in other and "花生" not in other


async def test_without_a_model_the_answer_quotes_the_fact(start_bot: StartBot) -> None:
    bot = await start_bot()
    async with wechat_of(bot) as wechat:
        await wechat.say("oEightySix", "记住：我叫八六，我对花生过敏")
        await bot.stop()
        await bot.start()
        seen = await wechat.say("oEightySix", "我能吃什么零食？还记得我吗")
    assert "对花生过敏" in seen.text
    assert "（AI 生成）" not in seen.text


async def test_a_turn_is_consolidated_after_the_reply(start_bot: StartBot, model: OpenAiServer) -> None:
    judgement = {
        "keep": True,
        "reason": "过敏信息",
        "summary": "用户对芒果过敏",
        "facts": [{"kind": "preference", "text": "我对芒果过敏", "importance": 0.9}],
    }
    model.answer_with(
        lambda request: json.dumps(judgement, ensure_ascii=False) if "JSON" in request.prompt else "好的。"
    )
    bot = await start_bot(**model_settings(model))
    async with wechat_of(bot) as wechat:
        await wechat.say("oEightySix", "我对芒果过敏，有什么水果推荐？")
        await bot.until_idle()
        seen = await wechat.say("oEightySix", "/我的记忆")
    assert "我对芒果过敏" in seen.text


async def test_clearing_leaves_no_byte_and_nobody_else_changed(
    start_bot: StartBot, model: OpenAiServer
) -> None:
    model.answer_with(lambda _: f"您说的{CANARY}我看到了。")
    bot = await start_bot(**model_settings(model))
    async with wechat_of(bot) as wechat:
        await wechat.say("oOther", "记住：我叫九七，我对牛奶过敏")
        await wechat.say("oEightySix", f"记住：我的暗号是{CANARY}")
        await wechat.say("oEightySix", f"我刚才说的{CANARY}是什么意思？")
        await bot.until_idle()
        vector = _newest_vector(bot, CANARY)
        needles = _disguises(CANARY) | {"vector": vector}
        assert _found(bot, needles), "the scan must be able to find it"
        before = _rows_of(bot, "oOther")
        asked = await wechat.say("oEightySix", "/清除记忆")
        assert "确认" in asked.text
        done = await wechat.say("oEightySix", "确认")
        assert "已清除" in done.text
        assert _found(bot, needles) == {}
        assert _rows_of(bot, "oOther") == before
        model.reset()
        await wechat.say("oEightySix", "我的暗号是什么？还记得我吗")
        assert CANARY not in _question_prompt(model, "我的暗号是什么")


async def test_forgetting_beside_the_running_bot_cleans_the_next_prompt(
    start_bot: StartBot, model: OpenAiServer
) -> None:
    bot = await start_bot(**model_settings(model))
    async with wechat_of(bot) as wechat:
        await wechat.say("oEightySix", f"记住：我的暗号是{CANARY}")
        await wechat.say("oEightySix", "我的暗号是什么？")
        assert CANARY in _question_prompt(model, "我的暗号是什么")
        await bot.until_idle()
        forgotten = await asyncio.to_thread(bot.cli, "memory", "forget", "wechat:oEightySix", "--yes")
        assert forgotten.returncode == 0, forgotten.stderr
        model.reset()
        await wechat.say("oEightySix", "我的暗号是什么？")
        assert CANARY not in _question_prompt(model, "我的暗号是什么")


def _question_prompt(model: OpenAiServer, question: str) -> str:
    """The prompt that asked the question (and not the judgement of the turn afterwards)."""
    prompts = [prompt for prompt in model.prompts() if question in prompt]
    assert prompts, model.prompts()
    return prompts[0]


def _newest_vector(bot: BotProcess, word: str) -> bytes:
    """The stored float32 bytes of the fact that holds `word`."""
    connection = sqlite3.connect(bot.data / "jide.db", timeout=10)
    try:
        fact_id = connection.execute("SELECT id FROM fact WHERE text LIKE ?", (f"%{word}%",)).fetchone()[0]
        for meta, vectors in connection.execute("SELECT meta, vecs FROM seg"):
            ids = np.frombuffer(meta, np.int64).reshape(-1, 2)[:, 0]
            matrix = np.frombuffer(vectors, np.float32).reshape(len(ids), -1)
            if fact_id in ids:
                return matrix[int(np.flatnonzero(ids == fact_id)[0])].tobytes()
    finally:
        connection.close()
    raise AssertionError("the fact has no vector")


def _disguises(text: str) -> dict[str, bytes]:
    """The forms a text may hide in: UTF-8, JSON escapes, base64 at each alignment."""
    forms = {"utf-8": text.encode(), "escaped": json.dumps(text)[1:-1].encode()}
    for shift in range(3):
        # The first and last characters depend on the neighbours, so only the middle is looked for.
        encoded = base64.b64encode(b"\0" * shift + text.encode())
        forms[f"base64+{shift}"] = encoded[4:-4]
    return forms


def _found(bot: BotProcess, needles: dict[str, bytes]) -> dict[str, list[str]]:
    """Which forms are in which files of the data folder and the log."""
    files = [path for path in (*bot.data.rglob("*"), bot.log) if path.is_file()]
    hits: dict[str, list[str]] = {}
    for path in files:
        content = path.read_bytes()
        for name, needle in needles.items():
            if needle in content:
                hits.setdefault(name, []).append(path.name)
    return hits


def _rows_of(bot: BotProcess, openid: str) -> dict[str, list[tuple[object, ...]]]:
    """Everything stored about one account, for comparing."""
    connection = sqlite3.connect(bot.data / "jide.db", timeout=10)
    queries = {
        "account": "SELECT * FROM account WHERE openid = :o",
        "shelf": "SELECT s.* FROM shelf s JOIN account a ON a.id = s.account_id WHERE a.openid = :o",
        "fact": "SELECT f.* FROM fact f JOIN shelf s ON s.id = f.shelf_id JOIN account a ON a.id = s.account_id"
        " WHERE a.openid = :o",
        "turn": "SELECT t.* FROM turn t JOIN shelf s ON s.id = t.shelf_id JOIN account a ON a.id = s.account_id"
        " WHERE a.openid = :o",
        "seg": "SELECT g.* FROM seg g JOIN shelf s ON s.id = g.id >> 20 JOIN account a ON a.id = s.account_id"
        " WHERE a.openid = :o",
        "delivery": "SELECT d.* FROM delivery d JOIN account a ON a.id = d.account_id WHERE a.openid = :o",
    }
    try:
        return {name: connection.execute(query, {"o": openid}).fetchall() for name, query in queries.items()}
    finally:
        connection.close()


def test_the_disguises_find_what_they_should() -> None:
    for shift in range(3):
        body = base64.b64encode(b"x" * shift + CANARY.encode() + b"tail")
        assert any(form in body for name, form in _disguises(CANARY).items() if name.startswith("base64"))
    assert Path(__file__).exists()
