"""The group of settings of how a phone is proven.

Invariant: as of `bot.settings_groups`: frozen, checked, and a description is the setting's comment.
"""

import ipaddress
import re
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from bot.settings_groups import Section


class IdentitySettings(Section):
    """By a code that the operator's service sends, or by the phone that a mini-program was given."""

    otp_webhook: str = Field(
        default="",
        description=(
            "发短信验证码的网址，由您自己的服务接收后发短信；要用 https，本机的可用 http；留空则没有“/手机”命令"
        ),
        repr=False,
        examples=["https://sms.example.com/jide"],
    )
    otp_secret: str = Field(
        default="",
        repr=False,
        description="给上面网址的请求签名的密钥，您的服务用它验证请求是机器人发的",
        examples=["自己定的长密钥"],
    )
    port_token: str = Field(
        default="",
        repr=False,
        description="您的小程序后台向运维端口 /identity/phone 提交手机号时要带的令牌；留空则没有这个地址",
        examples=["自己定的长令牌"],
    )

    @field_validator("otp_webhook")
    @classmethod
    def _check_webhook(cls, url: str) -> str:
        if not url:
            return url
        scheme, host = _scheme_and_host(url)
        if not host or scheme not in ("http", "https") or re.search(r"\s", url):
            raise ValueError("不是 https:// 开头的网址")
        if scheme == "http" and not _is_loopback(host):
            raise ValueError(
                "手机号和验证码不能不加密地发出去：用 https://，只有本机（127.0.0.1）可用 http://"
            )
        return url

    @property
    def secrets(self) -> tuple[str, ...]:
        """The address too: many hold a key."""
        return (self.otp_webhook, self.otp_secret, self.port_token)


def _scheme_and_host(url: str) -> tuple[str, str]:
    """ "" where there is none that can be asked."""
    try:
        parts = urlsplit(url)
        # Looked at for its error: a port that is none.
        return (parts.scheme, parts.hostname or "") if parts.port != 0 else ("", "")
    except ValueError:
        return "", ""


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
