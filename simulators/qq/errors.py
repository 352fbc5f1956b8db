"""The codes that the simulated API refuses with, and roughly their texts.

Invariant: callers go by `code`; neither the texts nor the HTTP status are to be relied on.

Source: QQ 机器人文档 · 错误码 (openapi.md) and the pages of the two v2 sending interfaces.
"""

from typing import Any

TEXTS = {
    10003: "UnknownChannel",
    11241: "token is missing",
    11243: "token does not pass",
    11253: "no privilege for this interface",
    12002: "request invalid",
    22009: "msg limit exceed",
    40034004: "富媒体转存失败",
    40034005: "回复消息msg_id已过期",
    40034024: "请求参数msg_id无效或越权",
    40034025: "请求参数event_id无效",
    40034026: "event_id已过期",
    40034027: "event_id对应事件不能回复消息",
    40034101: "机器人非群成员",
    40034102: "主动消息失败, 无权限",
    40034105: "主动消息失败, 无权限",
    40034128: "被动回复时间或次数超限",
    40054002: "机器人被禁言",
    40054004: "无好友关系",
    40054005: "消息被去重，请检查请求msgseq",
    40054007: "消息长度超限",
    40054010: "消息发送失败, 不允许发送url",
    40054013: "用户拒收消息",
    50006: "message is empty",
    50055: "invalid markdown content",
    50056: "markdown content is not allowed",
    100007: "appid invalid",
    100016: "invalid appid or secret",
    304003: "url not allowed",
    304023: "push message is waiting for audit now",
    304024: "reply message is waiting for audit now",
    304026: "msg id error",
    304027: "msg expire",
    304032: "direct message session does not exist",
    304046: "push is not allowed in this channel",
    304049: "push limit of direct messages",
    304080: "file info is invalid",
    306002: "msgid error",
    630001: "invalid interaction",
}

_STATUS = {11241: 401, 11243: 401, 22009: 429, 100007: 200, 100016: 200, 304023: 202, 304024: 202}
"""Every other one comes with 400."""


class ApiRefusal(Exception):
    """An endpoint says no, or not yet. `code` is the platform's."""

    def __init__(self, code: int, *, status: int | None = None, data: dict[str, Any] | None = None) -> None:
        super().__init__(f"{code} {TEXTS.get(code, '')}")
        self.code = code
        self.status = _STATUS.get(code, 400) if status is None else status
        self.data = data

    def as_json(self, trace_id: str) -> dict[str, Any]:
        answer: dict[str, Any] = {"message": TEXTS.get(self.code, "scripted"), "code": self.code}
        if self.data is not None:
            return answer | {"data": self.data}
        return answer | {"err_code": self.code, "trace_id": trace_id}
