# pyright: basic
"""What keeps a OneBot account from being heard: bans, missing permission, risk control, a lost login.

Invariant: while a ban is known nothing is sent to that group, and the operator is told of each cause once until
it is over. What only an answer's words say is believed for `ASK_AGAIN_SECONDS`, then tried again.
"""

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nonebot.adapters.onebot.v11 import ActionFailed

from bot.alerts import Alerts

ASK_AGAIN_SECONDS = 600.0
"""A ban without an end is tried again after this: its lifting may have been missed. It costs one refused call."""
_TIMED_OUT = 1200
"""NapCat: "Timeout". The message has often been delivered (PROTOCOLS.md §3)."""
_REMEMBERED = 10_000
_WHOLE_GROUP = "0"
"""The user_id of a ban that is everybody's (go-cqhttp, NapCat)."""
_MUTED_WORDS = re.compile(r"禁言|\bmuted\b|\bbanned\b", re.IGNORECASE)
_PERMISSION_WORDS = re.compile(
    r"没有权限|无权限|权限不足|不是群成员|不在群|已被移出|no permission|permission denied|not in (?:the )?group",
    re.IGNORECASE,
)
_RISK_WORDS = re.compile(r"风控|SEND_MSG_API_ERROR|EventChecker", re.IGNORECASE)
"""go-cqhttp and NapCat, where the account is under risk control or the content was refused."""


class Cause(StrEnum):
    """Why a group is not reached."""

    MUTED = "muted"
    ALL_MUTED = "all_muted"
    NO_PERMISSION = "no_permission"
    RISK = "risk"


_CODES = {120: Cause.MUTED, 102: Cause.NO_PERMISSION}
"""QQ's own, which several clients hand on."""
_BANS = frozenset({Cause.MUTED, Cause.ALL_MUTED})
_WHAT_TO_DO = {
    Cause.MUTED: "机器人被禁言，解除前不在那里说话；请群管理员解除禁言",
    Cause.ALL_MUTED: "全体禁言，解除前不在那里说话；要它在禁言时也能说话，请设为群管理员",
    Cause.NO_PERMISSION: "没有发言权限，或者不是群成员；请检查机器人是否还在群里",
    Cause.RISK: "QQ 拒收消息，账号可能被风控；请用手机登录看看，并少发一些",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ban:
    until: float
    """By the monotonic clock."""
    is_everybodys: bool = False


def is_uncertain(failure: ActionFailed) -> bool:
    """A refusal is certain; a time-out inside the client is not: the message may have arrived."""
    words = _words_of(failure)
    return failure.info.get("retcode") == _TIMED_OUT or "timeout" in words.lower() or "超时" in words


def cause_of(failure: ActionFailed) -> Cause | None:
    """What the operator can mend of a certain refusal; None: it is about the message alone."""
    words, code = _words_of(failure), failure.info.get("retcode")
    # The words first: implementations share no codes.
    if _MUTED_WORDS.search(words):
        return Cause.MUTED
    if _PERMISSION_WORDS.search(words):
        return Cause.NO_PERMISSION
    if _RISK_WORDS.search(words):
        return Cause.RISK
    return _CODES.get(code) if isinstance(code, int) else None


def _words_of(failure: ActionFailed) -> str:
    return " ".join(str(failure.info.get(name) or "") for name in ("message", "msg", "wording"))


class Troubles:
    """Of all accounts of one application. Ids are texts; `self_id` is the account's own number."""

    def __init__(
        self, alerts: Alerts, monotonic: Callable[[], float] = time.monotonic, *, played: str = ""
    ) -> None:
        """`played`: of whose troubles nobody is told, since somebody plays them."""
        self._played = played
        self._alerts = alerts
        self._monotonic = monotonic
        self._bans: dict[tuple[str, str], Ban] = {}
        self._told: dict[tuple[str, str], set[Cause]] = {}
        self._logged_out: set[str] = set()
        self._back = asyncio.Event()

    def ban_of(self, self_id: str, group: str) -> Ban | None:
        """The ban that holds in a group now."""
        ban = self._bans.get((self_id, group))
        if ban is not None and ban.until <= self._monotonic():
            del self._bans[self_id, group]
            return None
        return ban

    def is_online(self, self_id: str) -> bool:
        """The account is logged in at QQ, as far as its client says."""
        return self_id not in self._logged_out

    async def wait_back(self) -> None:
        """Until an account that had lost its login has it again."""
        await self._back.wait()
        self._back.clear()

    async def noticed(self, fields: Mapping[str, Any]) -> None:
        """What an event's fields, as they came, say of the account itself. Most say nothing."""
        self_id = str(fields.get("self_id"))
        if fields.get("notice_type") == "group_ban":
            await self._ban(self_id, fields)
        elif fields.get("meta_event_type") == "heartbeat":
            status = fields.get("status")
            await self._heartbeat(self_id, status.get("online") if isinstance(status, dict) else None)
        elif fields.get("meta_event_type") == "lifecycle" and fields.get("sub_type") == "connect":
            # What was lifted while nobody was connected nobody told.
            for place in [place for place in self._bans if place[0] == self_id]:
                del self._bans[place]
            self._log_in(self_id)

    async def refused(self, self_id: str, group: str, failure: ActionFailed) -> Cause | None:
        """Note a certain refusal. `group` "" in a private chat, where a ban is nobody's business."""
        cause = cause_of(failure)
        if cause is None or (not group and cause is not Cause.RISK):
            return None
        if cause is Cause.MUTED and self.ban_of(self_id, group) is None:
            self._keep(self_id, group, Ban(until=self._monotonic() + ASK_AGAIN_SECONDS))
        await self._tell(self_id, group, cause)
        return cause

    async def held_back(self, self_id: str, group: str, ban: Ban) -> None:
        """Nothing was sent because of a ban."""
        await self._tell(self_id, group, Cause.ALL_MUTED if ban.is_everybodys else Cause.MUTED)

    def delivered(self, self_id: str, group: str) -> None:
        """A message has arrived there: whatever was in the way no longer is."""
        self._over(self_id, group, frozenset(Cause))

    def lifted(self, self_id: str, group: str) -> None:
        """A ban is over. Another one may hold: sending finds out."""
        self._over(self_id, group, _BANS)

    async def _ban(self, self_id: str, fields: Mapping[str, Any]) -> None:
        group, who = str(fields.get("group_id")), str(fields.get("user_id"))
        if who not in (self_id, _WHOLE_GROUP):
            return
        if fields.get("sub_type") == "lift_ban":
            self.lifted(self_id, group)
            return
        seconds = _seconds(fields.get("duration"))
        until = self._monotonic() + (seconds if seconds > 0 else ASK_AGAIN_SECONDS)
        self._keep(self_id, group, Ban(until=until, is_everybodys=who == _WHOLE_GROUP))
        if who == self_id:
            await self._tell(self_id, group, Cause.MUTED)

    async def _heartbeat(self, self_id: str, is_online: object) -> None:
        if is_online is False:
            self._logged_out.add(self_id)
            await self._alerts.tell(
                _login_key(self_id), f"QQ {self_id} 掉线了，客户端还连着：请在客户端里重新登录"
            )
        elif is_online is True:
            self._log_in(self_id)

    def _log_in(self, self_id: str) -> None:
        if self_id in self._logged_out:
            self._logged_out.discard(self_id)
            self._alerts.settle(_login_key(self_id))
            self._back.set()

    def _over(self, self_id: str, group: str, causes: frozenset[Cause]) -> None:
        self._bans.pop((self_id, group), None)
        told = self._told.get((self_id, group))
        if not told:
            return
        for cause in told & causes:
            self._alerts.settle(_key(self_id, group, cause))
        told -= causes
        if not told:
            del self._told[self_id, group]

    def _keep(self, self_id: str, group: str, ban: Ban) -> None:
        self._bans[self_id, group] = ban
        if len(self._bans) > _REMEMBERED:
            del self._bans[next(iter(self._bans))]

    async def _tell(self, self_id: str, group: str, cause: Cause) -> None:
        if self_id == self._played:
            return
        self._told.setdefault((self_id, group), set()).add(cause)
        if len(self._told) > _REMEMBERED:
            del self._told[next(iter(self._told))]
        where = f"在群 {group} 里" if group else ""
        await self._alerts.tell(
            _key(self_id, group, cause), f"QQ {self_id} {where}发不出消息：{_WHAT_TO_DO[cause]}"
        )


def _key(self_id: str, group: str, cause: Cause) -> str:
    return f"onebot:{self_id}:{group}:{cause}"


def _login_key(self_id: str) -> str:
    return f"onebot:{self_id}:logged_out"


def _seconds(duration: Any) -> int:
    try:
        return int(duration)
    except (TypeError, ValueError):
        return 0
