"""Scripted failures: how the next API calls go wrong.

Invariant: each entry is spent by one call, in order; without an entry a call succeeds.
"""

from collections import defaultdict, deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What happens to one call."""

    retcode: int = 0
    """Non-zero: answered with this code."""
    message: str = ""
    is_delivered: bool = False
    """The message arrives all the same, as with NapCat's 1200."""
    is_unanswered: bool = False
    is_disconnecting: bool = False
    is_async: bool = False
    """Delivered, answered `async` with retcode 1 and without a message id."""


TIMED_OUT = Failure(retcode=1200, message="Timeout: NTEvent sendMsg", is_delivered=True)
"""NapCat. The answer is the same when it was lost."""
TIMED_OUT_AND_LOST = Failure(retcode=1200, message="Timeout: NTEvent sendMsg")
MUTED = Failure(retcode=120, message="发送失败，机器人被禁言")
"""Other implementations answer 100 or 200 and say so only in words."""
NO_PERMISSION = Failure(retcode=102, message="没有权限，机器人不是群成员")
RISK_CONTROL = Failure(retcode=100, message="SEND_MSG_API_ERROR")
"""go-cqhttp: 账号可能被风控."""
RICH_MEDIA_FAILED = Failure(retcode=200, message="EventChecker Failed: rich media transfer failed")

FORWARD_REFUSED = Failure(retcode=200, message="发送合并转发消息失败")
"""Too long, nested, or not supported. Spend it on send_group_forward_msg or send_private_forward_msg."""


class Script:
    """Failures waiting for calls, by action."""

    def __init__(self) -> None:
        self._failures: defaultdict[str, deque[Failure]] = defaultdict(deque)

    def add(self, action: str, failure: Failure, *, times: int = 1) -> None:
        """Spend `failure` on the next calls of `action`: `MUTED`, `NO_PERMISSION`, `TIMED_OUT` …"""
        self._failures[action].extend([failure] * times)

    def fail(self, action: str, retcode: int, message: str = "", *, is_delivered: bool = False) -> None:
        """Answer the next call of `action` with an error, e.g. 1200 "Timeout" or 120 while muted."""
        self.add(action, Failure(retcode=retcode, message=message, is_delivered=is_delivered))

    def drop(self, action: str, *, is_delivered: bool = True) -> None:
        """Leave the next call of `action` without an answer."""
        self.add(action, Failure(is_unanswered=True, is_delivered=is_delivered))

    def disconnect(self, action: str, *, is_delivered: bool = False) -> None:
        """Break the connection instead of answering the next call of `action`."""
        self.add(action, Failure(is_disconnecting=True, is_delivered=is_delivered))

    def next_for(self, action: str) -> Failure | None:
        """Spend and return the next failure of an action."""
        waiting = self._failures[action]
        return waiting.popleft() if waiting else None

    @property
    def left(self) -> int:
        """Failures that no call has spent yet."""
        return sum(map(len, self._failures.values()))
