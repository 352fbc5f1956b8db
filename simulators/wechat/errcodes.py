"""The errcodes that the simulated API answers with, and roughly their texts.

Invariant: callers go by `errcode`; the texts differ from WeChat's own from month to month.

Source: 微信官方文档 · 公众号 · 全局返回码, 客服消息, 获取稳定版接口调用凭据.
"""

from typing import Any

TEXTS = {
    -1: "system error",
    0: "ok",
    40001: "invalid credential, access_token is invalid or not latest",
    40002: "invalid grant_type",
    40003: "invalid openid",
    40004: "invalid media type",
    40005: "invalid file type",
    40006: "invalid media size",
    40007: "invalid media_id",
    40008: "invalid message type",
    40013: "invalid appid",
    40014: "invalid access_token",
    40029: "invalid code",
    40033: r"invalid charset. please check your request, if include \uxxxx will create fail!",
    40066: "invalid url",
    40125: "invalid appsecret",
    40163: "code been used",
    40164: "invalid ip not in whitelist",
    40243: "appsecret is frozen",
    41001: "access_token missing",
    41002: "appid missing",
    41004: "appsecret missing",
    41005: "media data missing",
    41008: "missing code",
    42001: "access_token expired",
    43001: "require GET method",
    43002: "require POST method",
    43004: "require subscribe",
    43019: "require remove blacklist",
    44001: "empty media data",
    44002: "empty post data",
    44003: "empty news data",
    44004: "empty content",
    45002: "content size out of limit",
    45008: "article size out of limit",
    45009: "reach max api daily quota limit",
    45011: "api minute-quota reach limit mustslower retry next minute",
    45015: "response out of time limit or subscription is canceled",
    45047: "out of response count limit",
    45072: "invalid command",
    45080: "no interaction within 30 seconds",
    45081: "already in typing state",
    47001: "data format error",
    48001: "api unauthorized",
    48006: "api forbid to clear quota because of reaching the limit",
    61004: "access clientip is not registered",
    89503: "this call needs the administrator's confirmation",
}


class ApiRefusal(Exception):
    """An endpoint says no. `errcode` is WeChat's."""

    def __init__(self, errcode: int, detail: str = "") -> None:
        super().__init__(f"{errcode} {detail or TEXTS.get(errcode, '')}")
        self.errcode = errcode
        self.detail = detail

    def as_json(self) -> dict[str, Any]:
        return error_json(self.errcode, self.detail)


def error_json(errcode: int, detail: str = "") -> dict[str, Any]:
    """What WeChat answers, with HTTP 200."""
    if errcode == 0:
        return {"errcode": 0, "errmsg": "ok"}
    text = detail or TEXTS.get(errcode, "scripted")
    return {"errcode": errcode, "errmsg": f"{text} rid: simulated"}
