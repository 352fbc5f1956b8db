"""The group of settings of QQ's official bot.

Invariant: as of `bot.settings_groups`: frozen, checked, and a description is the setting's comment.
"""

import re
from typing import Any

from pydantic import Field, field_validator

from bot.settings_groups import Section, http_address, split_list

_HOST = re.compile(r"(?:[a-z0-9\-]{1,63}\.)+[a-z0-9\-]{2,63}")


class QqSettings(Section):
    """An official bot of q.qq.com."""

    app_id: str = Field(
        default="", description="QQ 官方机器人的 AppID，在 q.qq.com 的「开发设置」里", examples=["102000001"]
    )
    secret: str = Field(
        default="",
        repr=False,
        description="QQ 官方机器人的 AppSecret，和 AppID 在同一页",
        examples=["开发设置里的AppSecret"],
    )
    websocket: bool = Field(
        default=False,
        description="是否由机器人连到 QQ 收消息：true 或 false；false 是等 QQ 发到回调地址 /qq/webhook",
    )
    setup_open: bool = Field(
        default=False,
        description="是否回答回调地址的验证：true 或 false；在 q.qq.com 保存回调地址时开，存好就改回 false",
    )
    api_base: str = Field(
        default="",
        description="QQ 接口的网址，经代理调用时才要改；留空则用官方的",
        examples=["https://api.bot.qq.com"],
    )
    auth_base: str = Field(
        default="",
        description="取 access_token 的网址，经代理调用时才要改；留空则用官方的",
        examples=["https://api.bot.qq.com/app/getAppAccessToken"],
    )
    url_hosts: tuple[str, ...] = Field(
        default=(),
        description="在 q.qq.com「消息 URL 配置」里登记过的域名，其中的网址原样发出；多个用逗号分开",
        examples=["example.com,docs.example.com"],
    )

    @field_validator("app_id")
    @classmethod
    def _check_app_id(cls, app_id: str) -> str:
        if app_id and not re.fullmatch("[0-9]{5,20}", app_id):
            raise ValueError("应为 5 到 20 位数字")
        return app_id

    @field_validator("secret")
    @classmethod
    def _check_secret(cls, secret: str) -> str:
        if re.search(r"\s", secret):
            raise ValueError("含有空白字符")
        return secret

    @field_validator("api_base", "auth_base")
    @classmethod
    def _check_address(cls, url: str) -> str:
        return http_address(url)

    @field_validator("url_hosts", mode="before")
    @classmethod
    def _split(cls, raw: Any) -> Any:
        return split_list(raw) if isinstance(raw, str) else raw

    @field_validator("url_hosts")
    @classmethod
    def _check_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        for host in hosts:
            if not _HOST.fullmatch(host.lower()):
                raise ValueError(f"「{host}」不是域名：不带 https://，也不带路径")
        return tuple(host.lower() for host in hosts)
