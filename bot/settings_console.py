"""The group of settings of the second server.

Invariant: as of `bot.settings_groups`: frozen, checked, and a description is the setting's comment.
"""

import re

from pydantic import Field, field_validator

from bot.settings_groups import Section

SHORTEST_TOKEN = 16
"""Characters. Who can try as often as they like finds a shorter one."""


class ConsoleSettings(Section):
    """The second server. Its address is no setting: it is for this machine alone."""

    port: int = Field(
        default=8081,
        ge=0,
        le=65535,
        description="运维端口，只在本机的 127.0.0.1 上：/readyz、/metrics、/healthz/memory；写 0 则不开",
    )
    playground: bool = Field(
        default=True,
        description="运维端口上是否有试用场，不用公众号和 QQ 就能试：true 或 false；运维端口不开就没有",
    )
    token: str = Field(
        default="",
        repr=False,
        description="运维端口上调试用的 POST /memory/extract 要带的令牌，至少 16 个字符；留空则没有这个地址",
        examples=["自己定的长令牌-0123456789abcdef"],
    )

    @field_validator("token")
    @classmethod
    def _check_token(cls, token: str) -> str:
        if token and not re.fullmatch(rf"[!-~]{{{SHORTEST_TOKEN},}}", token):
            raise ValueError(f"应为至少 {SHORTEST_TOKEN} 个字母、数字或符号，不含空白和汉字")
        return token
