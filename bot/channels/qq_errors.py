"""What the QQ open platform answers to a send, as data.

Invariant: an answer is judged by its code alone: the texts change, and the HTTP status may be 200 for an
error and 202 for what is none.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import cast


class Verdict(StrEnum):
    """What a code means for the page that was sent."""

    DELIVERED = "delivered"
    """It is there, or will be once the platform has looked at it."""
    OVER = "over"
    """The time or the number of replies to this message is used up. It will not open again."""
    LINK = "link"
    """Not with this address in it."""
    TOO_LONG = "too_long"
    AGAIN = "again"
    """Certainly not delivered, and the platform asks to try once more."""
    FORBIDDEN = "forbidden"
    """Somebody has to change something first: the operator is told."""
    REFUSED = "refused"
    """Not this page, whatever is done: its content."""


_TABLE: Mapping[Verdict, Mapping[int, str]] = {
    Verdict.DELIVERED: {
        304023: "等待人工审核",
        304024: "等待人工审核",
        40054005: "消息被去重：同一条已经送达",
    },
    Verdict.OVER: {
        304027: "回复的消息过期",
        304103: "消息 ID 已过期",
        40034005: "msg_id 已过期",
        40034024: "msg_id 无效或越权",
        40034025: "event_id 无效",
        40034026: "event_id 已过期",
        40034027: "该事件不支持回复消息",
        40034128: "被动回复的时间或次数超限",
        304026: "回复的消息 id 错误",
        304028: "非 @ 机器人的消息不允许回复",
        50046: "非 @ 机器人的消息",
    },
    Verdict.LINK: {304003: "url 未报备", 40054010: "不允许发送 url"},
    Verdict.TOO_LONG: {40054007: "消息过长", 40054018: "消息过长或异常"},
    Verdict.AGAIN: {
        11242: "校验 token 失败",
        11252: "检查应用权限失败",
        11263: "检查频道权限失败",
        11281: "检查管理员失败",
        20028: "子频道消息限频",
        22009: "消息发送超频",
        340067: "获取机器人信息失败",
        40054006: "验证好友关系失败",
        50055001: "消息发送异常",
        50055002: "消息发送异常",
        1100100: "消息被限频",
        1100300: "系统内部错误",
        1100308: "触发频道内限频",
    },
    Verdict.FORBIDDEN: {
        11241: "缺少 token，请检查 QQ__APP_ID 和 QQ__SECRET",
        11243: "token 不对，请检查 QQ__APP_ID 和 QQ__SECRET",
        11244: "token 过期，请检查 QQ__APP_ID 和 QQ__SECRET",
        11251: "appid 不对，请检查 QQ__APP_ID",
        11253: "机器人没有这个接口的权限，请到 q.qq.com 申请",
        11254: "这个接口被封禁，请到 q.qq.com 查看",
        11261: "缺少 appid，请检查 QQ__APP_ID",
        11264: "频道没有授予权限，请管理员重新授权",
        11265: "机器人被封禁，请到 q.qq.com 查看",
        11275: "缺少 appid，请检查 QQ__APP_ID",
        304018: "机器人没有连上 gateway",
        304031: "私信已关闭",
        40034100: "主动消息超过频控，机器人只应被动回复",
        40034101: "机器人不在群里",
        40034102: "没有主动消息的权限，机器人只应被动回复",
        40034105: "没有主动消息的权限，机器人只应被动回复",
        40054002: "机器人被禁言，请群管理员解除",
        40054003: "机器人不在群里",
        40054004: "对方没有加机器人为好友",
        40054013: "对方拒收机器人的消息",
        40054016: "机器人已下线，请到 q.qq.com 查看",
        610007: "机器人不在频道里",
        1100104: "群已失效",
        1100301: "机器人不在群里",
    },
    Verdict.REFUSED: {
        304025: "消息被打击",
        304061: "消息内容无效",
        40034006: "消息内容违规",
        50006: "消息为空",
        1100101: "内容涉及敏感",
        1100103: "安全打击",
    },
}
"""The documents' own words, shortened: bot-docs error-trace/openapi.md and the pages of each send (2026-07)."""
_VERDICTS = {code: verdict for verdict, codes in _TABLE.items() for code in codes}
DELIVERED = frozenset(_TABLE[Verdict.DELIVERED])
TOKEN_REFUSED = frozenset({11243, 11244})
"""A new token may help."""


def verdict_of(code: int, http_status: int) -> Verdict | None:
    """What an answer means; None where it says nothing certain: a page may have been delivered.

    `code` 0: there was none. An unknown code is a refusal: the platform names what it did not do.
    """
    if code in _VERDICTS:
        return _VERDICTS[code]
    if http_status == 429:
        return Verdict.AGAIN
    if code == 0:
        return None if http_status >= 500 or http_status < 300 else Verdict.REFUSED
    return Verdict.REFUSED


def fix_of(code: int) -> str:
    """What a code says and what to do, for the operator; "" where nothing is known of it."""
    verdict = _VERDICTS.get(code)
    return _TABLE[verdict][code] if verdict is not None else ""


def code_of(body: object) -> int:
    """The code in an answer's body: `code`, or `err_code` alone since 2026, a number or its digits. 0: none."""
    if not isinstance(body, dict):
        return 0
    fields = cast("dict[str, object]", body)
    for name in ("code", "err_code"):
        value = fields.get(name)
        if isinstance(value, str) and value.isdecimal():
            value = int(value)
        if isinstance(value, int) and value:
            return int(value)
    return 0
