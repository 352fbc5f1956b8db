"""What the operator configures for one official account.

Invariant: an account that exists can check signatures: a bad token, key or path never gets this far.
"""

import re
from dataclasses import dataclass, field

_AES_KEY = re.compile(r"[A-Za-z0-9]{43}", re.ASCII)
"""EncodingAESKey: 43 letters or digits, base64 of 32 bytes without its "="."""
_PATH = re.compile(r"/[A-Za-z0-9_\-./]*", re.ASCII)


class AccountError(ValueError):
    """An account's setting is wrong. Names the field, what was found, and how to mend it."""

    def __init__(self, key: str, problem: str, fix: str) -> None:
        super().__init__(f"{key}：{problem}。{fix}")
        self.key = key
        self.problem = problem
        self.fix = fix


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialAccount:
    """One official account.

    Raises:
        AccountError: a field is empty or malformed.
    """

    app_id: str
    token: str = field(repr=False)
    """The same text as in the platform's settings; every signature depends on it."""
    aes_key: str = field(default="", repr=False)
    """EncodingAESKey. "" is plain mode; with a key set, unencrypted posts are refused."""
    path: str = "/wechat"
    """Where WeChat posts to, exactly: it follows no redirect."""

    def __post_init__(self) -> None:
        if not self.app_id.strip():
            raise AccountError("app_id", "没有填写", "填入公众平台“开发者ID(AppID)”")
        if not self.token.strip():
            raise AccountError("token", "没有填写", "填入公众平台“服务器配置”里的 Token，两边要一致")
        if self.token != self.token.strip():
            raise AccountError("token", "首尾有空格", "删去首尾的空格")
        if self.aes_key and not _AES_KEY.fullmatch(self.aes_key):
            raise AccountError(
                "aes_key",
                f"应为 43 个字母或数字，现在是 {len(self.aes_key)} 个字符",
                "从公众平台“服务器配置”复制 EncodingAESKey；明文模式则留空",
            )
        if not _PATH.fullmatch(self.path):
            raise AccountError("path", "应以 / 开头，只含字母、数字和 _-./", "例如 /wechat")
