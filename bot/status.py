"""How the house is, in words: for /状态 and for the operator.

Invariant: counts and states only, never a text, a person or a secret.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from bot.commands import DEGRADED
from bot.conversation.ports import Clock
from bot.metrics import Metrics
from bot.ports import JobStore


class StatusBoard:
    """Collects what each room says of itself."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        metrics: Metrics,
        clock: Clock,
        parts: Mapping[str, str],
        troubles: Callable[[], Awaitable[list[str]]],
    ) -> None:
        """`parts`: what is in use, label → name. `troubles`: what does not work now, in 简体中文."""
        self._jobs = jobs
        self._metrics = metrics
        self._clock = clock
        self._parts = parts
        self._troubles = troubles
        self._since: datetime = clock.now()

    async def report(self) -> Mapping[str, str]:
        """Label → value, in the order to show. Raises StoreUnavailable."""
        minutes = int((self._clock.now() - self._since).total_seconds() // 60)
        answers = self._metrics.answers_by_stage()
        by_stage = "，".join(f"{stage} {count}" for stage, count in sorted(answers.items()))
        return {
            "运行": f"{minutes // 60} 小时 {minutes % 60} 分",
            **self._parts,
            "已回答": f"{sum(answers.values())} 条" + (f"（{by_stage}）" if by_stage else ""),
            "待整理": f"{await self._jobs.backlog()} 轮对话",
            DEGRADED: "；".join(await self._troubles()),
        }
