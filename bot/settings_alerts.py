"""The group of settings of the operator's alerts.

Invariant: as of `bot.settings_groups`: frozen, checked, and a description is the setting's comment.
"""

import re
from typing import Any

from pydantic import Field, field_validator

from bot.settings_groups import Section, split_list

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://\S+")
_KEY = re.compile(r"[A-Za-z0-9_\-]{12,}")
"""What in an address may be a key or token: host names have dots, schemes are shorter."""


class AlertSettings(Section):
    """Where the operator hears of trouble."""

    urls: tuple[str, ...] = Field(
        default=(),
        repr=False,
        description=(
            "有事要您处理时通知到哪里，Apprise 的网址：企业微信 wecombot://、飞书 feishu://、钉钉 dingtalk://、"
            "邮件 mailtos:// 等；多个用逗号分开，网址里有逗号就写成 JSON 列表；留空则只写日志"
        ),
        examples=["wecombot://机器人的key,mailtos://账号:授权码@qq.com"],
    )

    @field_validator("urls", mode="before")
    @classmethod
    def _split(cls, raw: Any) -> Any:
        return split_list(raw) if isinstance(raw, str) else raw

    @field_validator("urls")
    @classmethod
    def _check_urls(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for number, url in enumerate(urls, start=1):
            if not _ADDRESS.fullmatch(url):
                raise ValueError(f"第 {number} 个不是 服务名:// 开头的网址")
        return urls

    @property
    def secrets(self) -> tuple[str, ...]:
        """The addresses, and the keys in them: services are reached at other addresses with the same keys."""
        return (*self.urls, *(key for url in self.urls for key in _KEY.findall(url)))
