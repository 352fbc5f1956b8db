"""What WeChat's error codes mean for us, as data, and how a call can fail.

Invariant: no text here ever holds an openid, a token, a secret or WeChat's own words (which quote them).

ActionFailed ── ApiError          WeChat answered "no": certainly not done
             ├─ ApiClosed         known to be "no": nothing was asked
             └─ MediaTooLarge
NetworkError ── ApiAway           certainly not done: nobody took the request
             └─ OutcomeUnknown    the request was out, no answer came: it may be done
"""

from dataclasses import dataclass
from enum import StrEnum

from nonebot.exception import ActionFailed, NetworkError

_NAME = "WeChat"


class Verdict(StrEnum):
    """What to do about an answer."""

    STALE = "stale"
    """The token: refresh it once, ask once more."""
    WINDOW = "window"
    """This person can be written to again after their next message."""
    QUOTA = "quota"
    """Leave the account alone for a while, and tell the operator."""
    NO_PERMISSION = "no_permission"
    """This account does not have this ability: passive replies only."""
    GONE = "gone"
    """This person no longer follows, or does not want to hear us."""
    MISCONFIGURED = "misconfigured"
    """The operator must mend something: asking again is of no use until then."""
    TOO_LONG = "too_long"
    BAD_ESCAPES = "bad_escapes"
    BUSY = "busy"
    """Try again in a moment."""
    TYPING_IDLE = "typing_idle"
    """The typing sign was of no use now; it is allowed, though."""
    UNKNOWN = "unknown"
    """Refused, for a reason we have no rule for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How one errcode is read."""

    verdict: Verdict
    fix: str = ""
    """What the operator does about it, 简体中文. "" where nothing can be done."""


_SECRET_FIX = "到公众平台“设置与开发-基本配置”重置 AppSecret，填入新的（保存后再启动）"  # noqa: S105
_IP_FIX = "到公众平台“设置与开发-基本配置-IP白名单”加入这台服务器的公网 IP{ip}"
_RULES = (
    (Verdict.STALE, "", (40001, 40014, 41001, 42001)),
    (Verdict.WINDOW, "", (45015, 45047)),
    (Verdict.QUOTA, "到公众平台“设置与开发-接口权限”查看用量，必要时清零", (45009, 45011, 48006)),
    (Verdict.NO_PERMISSION, "到公众平台“设置与开发-接口权限”查看；客服消息要求公众号已认证", (48001, 48008)),
    (Verdict.GONE, "", (40003, 43004, 43019, 48002, 50005)),
    (Verdict.MISCONFIGURED, "核对 AppID 与公众平台“设置与开发-基本配置”一致，注意大小写", (40013,)),
    (Verdict.MISCONFIGURED, _SECRET_FIX, (40125,)),
    (Verdict.MISCONFIGURED, _IP_FIX, (40164, 61004)),
    (
        Verdict.MISCONFIGURED,
        "此次调用要公众号管理员在微信里确认：请管理员点“确认”，或先加 IP 白名单",
        (89503,),
    ),
    (Verdict.MISCONFIGURED, "AppSecret 已被冻结：到公众平台“设置与开发-基本配置”解冻", (40243,)),
    (Verdict.MISCONFIGURED, "接口被封禁：登录公众平台查看通知并申请解封", (48004, 50002)),
    (Verdict.TOO_LONG, "", (45002,)),
    (Verdict.BAD_ESCAPES, "", (40033,)),
    (Verdict.BUSY, "", (-1,)),
    (Verdict.TYPING_IDLE, "", (45080, 45081)),
)
RULES = {code: Rule(verdict=verdict, fix=fix) for verdict, fix, codes in _RULES for code in codes}
"""By errcode. Sources: the global return codes and each API's page on developers.weixin.qq.com."""
_UNRULED = Rule(verdict=Verdict.UNKNOWN)
TOKEN_RULES = {
    # Asked for a token, 40001 is about the secret: there is no token yet that could be stale.
    40001: Rule(verdict=Verdict.MISCONFIGURED, fix=_SECRET_FIX),
    48001: Rule(verdict=Verdict.MISCONFIGURED, fix="确认 AppID 属于公众号，不是别的应用"),
}
"""What differs in the answers to a request for a token."""


class ApiError(ActionFailed):
    """WeChat refused. `errcode` is its number; `address` the caller's own as WeChat saw it, where it says."""

    def __init__(self, errcode: int, *, address: str = "", is_about_token: bool = False) -> None:
        known = RULES.get(errcode, _UNRULED)
        rule = TOKEN_RULES.get(errcode, known) if is_about_token else known
        super().__init__(_NAME)
        self.errcode = errcode
        self.verdict = rule.verdict
        self.address = address
        self.fix = rule.fix.format(ip=f" {address}" if address else "")

    def __str__(self) -> str:
        return f"微信接口返回 {self.errcode}" + (f"：{self.fix}" if self.fix else "")

    __repr__ = __str__


class ApiClosed(ActionFailed):
    """An earlier answer says that this cannot work now, so WeChat was not asked."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(_NAME)
        self.verdict = verdict

    def __str__(self) -> str:
        return f"微信接口暂不可用：{self.verdict.value}"

    __repr__ = __str__


class MediaTooLarge(ActionFailed):
    """A file exceeds the limit of the caller, or of WeChat."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(_NAME)
        self.limit_bytes = limit_bytes

    def __str__(self) -> str:
        return f"文件超过 {self.limit_bytes} 字节"

    __repr__ = __str__


class ApiAway(NetworkError):
    """No one took the request: nothing was done."""

    def __init__(self, reason: str) -> None:
        """`reason`: the kind of failure. No text of the library's: it may quote an address with its token."""
        super().__init__(_NAME)
        self.reason = reason

    def __str__(self) -> str:
        return f"连不上微信接口：{self.reason}"

    __repr__ = __str__


class OutcomeUnknown(NetworkError):
    """The request was out and no answer came. It may have been carried out: do not send it again."""

    def __init__(self, reason: str) -> None:
        super().__init__(_NAME)
        self.reason = reason

    def __str__(self) -> str:
        return f"微信接口没有答复，结果未知：{self.reason}"

    __repr__ = __str__
