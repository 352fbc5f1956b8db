"""What the operator configures for one official account.

Invariant: an account that exists can check signatures: a bad token, key or path never gets this far.
"""

import re
from dataclasses import dataclass, field

_AES_KEY = re.compile(r"[A-Za-z0-9]{43}", re.ASCII)
"""EncodingAESKey: 43 letters or digits, base64 of 32 bytes without its "="."""
_SECRET = re.compile(r"[!-~]+", re.ASCII)
"""What the platform issues is 32 hex digits; what matters here is that nothing invisible came along."""
_API_BASE = re.compile(r"https?://[A-Za-z0-9.\-]+(:[0-9]{1,5})?(/[A-Za-z0-9_\-.~]+)*", re.ASCII)
"""No query, user name or closing slash: paths of the API are put behind it, and the secret goes there."""
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
    previous_aes_key: str = field(default="", repr=False)
    """The key before the current one, while the platform may still use it. Only beside a current one."""
    app_secret: str = field(default="", repr=False)
    """AppSecret, for WeChat's API. "" leaves passive replies alone."""
    api_base: str = "https://api.weixin.qq.com"
    """Where WeChat's API is: another of its domains, a proxy with a fixed IP, or a server of tests."""
    path: str = "/wechat"
    """Where WeChat posts to, exactly: it follows no redirect."""

    def __post_init__(self) -> None:
        if not self.app_id.strip():
            raise AccountError("app_id", "没有填写", "填入公众平台“开发者ID(AppID)”")
        if not self.token.strip():
            raise AccountError("token", "没有填写", "填入公众平台“服务器配置”里的 Token，两边要一致")
        if self.token != self.token.strip():
            raise AccountError("token", "首尾有空格", "删去首尾的空格")
        self._check_aes_keys()
        if self.app_secret and not _SECRET.fullmatch(self.app_secret):
            raise AccountError("app_secret", "含有空格、换行或全角字符", "从公众平台重新复制 AppSecret")
        if not _API_BASE.fullmatch(self.api_base):
            raise AccountError(
                "api_base",
                "应为 http:// 或 https:// 开头、末尾没有 / 的网址",
                "例如 https://api.weixin.qq.com",
            )
        if not _PATH.fullmatch(self.path):
            raise AccountError("path", "应以 / 开头，只含字母、数字和 _-./", "例如 /wechat")

    def _check_aes_keys(self) -> None:
        for name, key in (("aes_key", self.aes_key), ("previous_aes_key", self.previous_aes_key)):
            if key and not _AES_KEY.fullmatch(key):
                raise AccountError(
                    name,
                    f"应为 43 个字母或数字，现在是 {len(key)} 个字符",
                    "从公众平台“服务器配置”复制 EncodingAESKey；明文模式则留空",
                )
        if self.previous_aes_key and not self.aes_key:
            raise AccountError(
                "previous_aes_key", "只有旧密钥，没有现在的密钥", "把 aes_key 填上；明文模式则两个都留空"
            )

    @property
    def aes_keys(self) -> tuple[str, ...]:
        """The keys that count, the current one first; () in plain mode."""
        return tuple(key for key in (self.aes_key, self.previous_aes_key) if key)
