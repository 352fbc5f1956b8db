"""The services the bot asks: chat model, embedder, Redis. Each is asked one small thing.

Invariant: one question, one deadline, no retry by us.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from bot.conversation.errors import (
    EmbedderUnavailable,
    ModelRefused,
    ModelUnavailable,
    ModelUnpaid,
    StoreUnavailable,
)
from bot.conversation.ports import ChatLine, ChatModel, Embedder
from bot.diagnosis.finding import Finding, failure, fine, warning

MODEL_SECONDS = 30.0
"""A reasoning model takes its time, also for one word."""
DATE_SECONDS = 5.0
SLOW_REDIS_SECONDS = 0.05
"""It is asked in each turn; SQL answers in 0.002."""


async def check_model(model: ChatModel | None, name: str, section: str = "LLM") -> list[Finding]:
    """`section`: of the settings that name it."""
    if model is None:
        return [fine("model", "没有接对话模型：只摘录记忆和资料来回答")]
    try:
        seconds = await ask_once(model)
    except ModelUnpaid as error:
        fix = f"到服务商的控制台充值、核对密钥和模型权限，改 data/jide.env 里的 {section}__API_KEY"
        return [failure("model", f"对话模型 {name} 拒绝了：{error}", fix)]
    except (ModelUnavailable, TimeoutError) as error:
        said = f"对话模型 {name} 没有回答：{error or f'{MODEL_SECONDS:.0f} 秒内没有结果'}"
        return [
            failure(
                "model", said, f"核对 {section}__BASE_URL（多半以 /v1 结尾）、{section}__MODEL、网络和代理"
            )
        ]
    except ModelRefused:
        return [warning("model", f"对话模型 {name} 拒绝了一句普通的话", "换一个模型，或问服务商")]
    return [fine("model", f"对话模型 {name} 用 {seconds:.1f} 秒回答")]


async def ask_once(model: ChatModel) -> float:
    """The seconds that one word took. Raises ModelUnavailable, ModelRefused or TimeoutError."""
    begun = time.perf_counter()
    async with asyncio.timeout(MODEL_SECONDS):
        await model.complete([ChatLine(role="user", text="请只回答一个字：好")])
    return time.perf_counter() - begun


async def check_embedder(embedder: Embedder | None, deadline_seconds: float) -> tuple[list[Finding], str]:
    """Findings, and the model's id ("" where no vector is to be had)."""
    if embedder is None:
        fix = "这台机器跑不了自带的向量模型：设置 EMBEDDING__BASE_URL 等三项，或接受只用关键词"
        return [warning("embedder", "没有向量模型，只用关键词查找", fix)], ""
    try:
        async with asyncio.timeout(MODEL_SECONDS):
            await embedder.embed_passages(["你好"])
            begun = time.perf_counter()
            await embedder.embed_passages(["再见"])
            seconds = time.perf_counter() - begun
            name, dimension = embedder.model_id, embedder.dimension
    except (EmbedderUnavailable, TimeoutError) as error:
        fix = "核对 EMBEDDING__BASE_URL、EMBEDDING__API_KEY、EMBEDDING__MODEL；这期间只用关键词查找"
        return [failure("embedder", f"向量模型没有回答：{error or '超时'}", fix)], ""
    if seconds > deadline_seconds:
        said = (
            f"向量模型 {name} 一次要 {seconds:.1f} 秒，超过 EMBEDDING__DEADLINE_SECONDS={deadline_seconds:g}"
        )
        return [warning("embedder", said, "换近一点的服务，或把这个设置调大")], name
    return [fine("embedder", f"向量模型 {name}，{dimension} 维，一次 {seconds * 1000:.0f} 毫秒")], name


async def check_redis(ping: Callable[[], Awaitable[None]] | None) -> list[Finding]:
    if ping is None:
        return [fine("redis", "没有用 Redis，短期记忆读数据库")]
    begun = time.perf_counter()
    try:
        await ping()
    except StoreUnavailable as error:
        fix = "启动 Redis，核对 REDIS__URL 的地址和密码；不用就留空。机器人这期间改读数据库"
        return [failure("redis", f"Redis 没有回答（{error}）", fix)]
    seconds = time.perf_counter() - begun
    said = f"Redis 用 {seconds * 1000:.0f} 毫秒回答"
    if seconds > SLOW_REDIS_SECONDS:
        return [warning("redis", f"{said}，比数据库还慢", "用本机或同机房的 Redis，或留空 REDIS__URL")]
    return [fine("redis", said)]


async def date_of(url: str) -> datetime | None:
    """What a server says the time is, by its HTTP Date; None where it does not say."""
    try:
        async with httpx.AsyncClient(timeout=DATE_SECONDS, follow_redirects=False) as client:
            said = (await client.get(url)).headers.get("date")
        return parsedate_to_datetime(said).astimezone(UTC) if said else None
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError):
        return None
