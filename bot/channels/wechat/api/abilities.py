"""What an account may do, and whom it may write to, learned from WeChat's answers.

Invariant: nothing is closed for ever: a person's window opens when they write, everything else is asked
again after a while. Kept in memory: a restart learns anew, with the first call.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from nonebot.utils import logger_wrapper

from .errors import ApiError, Verdict

PERMISSION_SECONDS = 24 * 3600.0
"""An account that gets certified is noticed within a day."""
MISCONFIGURED_SECONDS = 10 * 60.0
"""An IP list is mended without a restart; asking every ten minutes harms nobody."""
MINUTE_QUOTA_SECONDS = 60.0
DAY_QUOTA_SECONDS = 3600.0
"""The daily count ends at midnight in Beijing, or when the operator clears it: look every hour."""
_MINUTE_QUOTA = 45011
_BEIJING_SECONDS = 8 * 3600
_PEOPLE = 10_000
"""Closed windows remembered. One forgotten costs a refused call."""

_log = logger_wrapper("WeChat")


class Ability(StrEnum):
    """What WeChat permits separately."""

    CUSTOMER_SERVICE = "customer_service"
    """Messages and the typing sign."""
    USER_INFO = "user_info"
    MEDIA = "media"
    AUTOREPLY = "autoreply"
    PHONE = "phone"
    """Of a mini-program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """Why something is not asked, and for how long."""

    verdict: Verdict
    since: float
    """Unix seconds."""
    seconds: float
    errcode: int
    fix: str

    def holds(self, now: float) -> bool:
        """A clock set back ends it too."""
        return self.since <= now < self.since + self.seconds


class Abilities:
    """Of one account."""

    def __init__(self, *, app_id: str, now: Callable[[], float]) -> None:
        """`now`: Unix seconds."""
        self._app_id = app_id
        self._now = now
        self._known_good: set[Ability] = set()
        self._not_permitted: dict[Ability, Closure] = {}
        self._account: Closure | None = None
        self._people: OrderedDict[str, Verdict] = OrderedDict()
        self._told: set[str] = set()

    @property
    def trouble(self) -> Closure | None:
        """What keeps the whole account closed now; for the operator."""
        return self._account if self._account and self._account.holds(self._now()) else None

    def closed(self, ability: Ability, openid: str = "") -> Verdict | None:
        """Why this need not be asked now; None where it may be tried."""
        if trouble := self.trouble:
            return trouble.verdict
        closure = self._not_permitted.get(ability)
        if closure and closure.holds(self._now()):
            return closure.verdict
        return self._people.get(openid)

    def is_known_good(self, ability: Ability, openid: str = "") -> bool:
        """WeChat took the last call of this kind, and nothing is known against this person."""
        return ability in self._known_good and self.closed(ability, openid) is None

    def heard(self, openid: str) -> None:
        """They wrote: their window is open, and they are there."""
        self._people.pop(openid, None)

    def note_success(self, ability: Ability) -> None:
        self._permit(ability)
        # A quota is kept: the call may have been under way before it was used up.
        if self._account and self._account.verdict is Verdict.MISCONFIGURED:
            self._account = None
        if self.trouble is None:
            self._told.clear()

    def note_silence(self, ability: Ability) -> None:
        """No answer: nobody is promised anything on the strength of an earlier one."""
        self._known_good.discard(ability)

    def note_refusal(self, ability: Ability, openid: str, error: ApiError) -> None:
        match error.verdict:
            case Verdict.WINDOW | Verdict.GONE:
                self._close_person(openid, error.verdict)
            case Verdict.TYPING_IDLE:
                self._permit(ability)
            case Verdict.NO_PERMISSION:
                self._known_good.discard(ability)
                self._not_permitted[ability] = self._closure(error, PERMISSION_SECONDS)
                self._tell("INFO", error, f"没有“{ability.value}”权限")
            case Verdict.QUOTA:
                self._account = self._closure(error, self._quota_seconds(error.errcode))
                self._tell("WARNING", error, "接口调用次数用完，暂停调用")
            case Verdict.MISCONFIGURED:
                self._account = self._closure(error, MISCONFIGURED_SECONDS)
                self._tell("ERROR", error, "接口不能用，改为只做被动回复")
            case Verdict.BUSY | Verdict.STALE:
                self.note_silence(ability)
            case Verdict.TOO_LONG | Verdict.BAD_ESCAPES | Verdict.UNKNOWN:
                # About this one request.
                pass

    def _permit(self, ability: Ability) -> None:
        self._known_good.add(ability)
        self._not_permitted.pop(ability, None)

    def _close_person(self, openid: str, verdict: Verdict) -> None:
        if not openid:
            return
        self._people[openid] = verdict
        self._people.move_to_end(openid)
        if len(self._people) > _PEOPLE:
            self._people.popitem(last=False)

    def _closure(self, error: ApiError, seconds: float) -> Closure:
        return Closure(
            verdict=error.verdict, since=self._now(), seconds=seconds, errcode=error.errcode, fix=error.fix
        )

    def _quota_seconds(self, errcode: int) -> float:
        if errcode == _MINUTE_QUOTA:
            return MINUTE_QUOTA_SECONDS
        day_seconds = 24 * 3600.0
        to_midnight = day_seconds - (self._now() + _BEIJING_SECONDS) % day_seconds
        return min(DAY_QUOTA_SECONDS, to_midnight)

    def _tell(self, level: str, error: ApiError, what: str) -> None:
        """Once, until calls succeed again."""
        fix = f"。{error.fix}" if error.fix else ""
        line = f"公众号 {self._app_id} {what}（{error.errcode}）{fix}"
        if line not in self._told:
            self._told.add(line)
            _log(level, line)
