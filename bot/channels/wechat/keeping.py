"""The store as a run uses it: what it cannot do is told, not raised.

Invariant: a store that fails costs the memory of an answer, never the answer.
"""

import asyncio

from nonebot.utils import logger_wrapper

from .event import Event
from .happenings import Failed, Promise, Seal, Written
from .store import ReplyStore

_log = logger_wrapper("WeChat")


class Keeping:
    """What was said, and what was promised."""

    def __init__(self, store: ReplyStore) -> None:
        self._store = store

    async def find(self, event: Event) -> bytes | None:
        """What was said to this message before; None: nothing, or nobody knows."""
        if not event.takes_reply:
            return None
        try:
            return await self._store.sealed(event.app_id, event.key)
        except Exception as error:  # any store: answering beats knowing
            fault("查不到这条消息是否已回复", error)
            return None

    async def write(self, event: Event, what: Seal | Promise) -> Written | Failed:
        """Write it down durably."""
        try:
            match what:
                case Promise():
                    body = await self._store.promise(event.app_id, event.key)
                case Seal(body=body, carries_answer=carries_answer):
                    body = await self._store.seal(
                        event.app_id, event.key, body, carries_answer=carries_answer
                    )
        except Exception as error:  # any store: answering beats remembering
            fault("没能记下这条回复", error)
            return Failed(now=asyncio.get_running_loop().time())
        return Written(body=body)


def fault(message: str, error: Exception) -> None:
    """The kind of error for the operator; its text, which may quote a person, at DEBUG only."""
    _log("ERROR", f"{message}：{type(error).__name__}")
    _log("DEBUG", message, error)
