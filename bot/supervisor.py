"""Keep the long-running work alive, and stop it in order.

Invariant: one piece of work that fails is restarted after a pause and never takes its siblings along.
"""

import asyncio
from collections.abc import Awaitable, Callable

from loguru import logger

RESTART_SECONDS = 1.0
"""Long enough not to spin on a lasting fault, short enough that nobody notices a passing one."""


class Supervisor:
    """The parent of every task that outlives a message."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` until `stop`, again whenever it ends or fails."""
        self._tasks[name] = asyncio.create_task(self._keep_running(name, work), name=name)

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()

    async def _keep_running(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await work()
            except Exception as error:  # the boundary of background work
                logger.opt(exception=error).error("{} 出错，已重新开始", name)
            await asyncio.sleep(RESTART_SECONDS)
