"""The groups of settings: `GROUP__NAME` as the operator writes them, with defaults and what is allowed.

Invariant: frozen, already checked, and nothing here reads a file or the environment. A description is
the setting's comment in `.env.prod` and its hint in an error, so it is Chinese.
"""

import json
import re
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from bot.conversation.message import is_playground

AES_KEY = re.compile(r"[A-Za-z0-9]{43}")
"""EncodingAESKey as the WeChat console makes it: base64 of 32 bytes without its closing `=`."""
ROUTES_TAKEN = ("/onebot", "/qq", "/livez", "/export", "/platforms")
"""Paths that other rooms serve on the public port."""


class Section(BaseModel):
    """A group of settings: frozen, and a name it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True)


class WeChatAccount(Section):
    """One official account."""

    app_id: str = Field(default="", description="公众号的开发者 ID（AppID）", examples=["wx0123456789abcdef"])
    token: str = Field(
        default="",
        repr=False,
        description="公众号后台「服务器配置」里的令牌（Token）",
        examples=["自己定的令牌"],
    )
    aes_key: str = Field(
        default="",
        repr=False,
        description="消息加解密密钥（EncodingAESKey），43 个字母和数字；明文模式留空",
        examples=["公众号后台生成的43位密钥"],
    )
    previous_aes_key: str = Field(
        default="",
        repr=False,
        description="换密钥期间的旧 EncodingAESKey，新旧都认；平时留空",
        examples=["换下来的43位密钥"],
    )
    app_secret: str = Field(
        default="",
        repr=False,
        description="公众号的开发者密码（AppSecret）；认证过的账号填了它，慢的回答用客服消息送到；留空则只用被动回复",
        examples=["公众号后台的AppSecret"],
    )
    path: str = Field(default="/wechat", description="接收公众号消息的网址路径，以 / 开头")
    api_base: str = Field(
        default="https://api.weixin.qq.com", description="公众号接口的网址，经代理调用时才要改"
    )

    @field_validator("app_id")
    @classmethod
    def _check_app_id(cls, app_id: str) -> str:
        if is_playground(app_id):
            raise ValueError(f"{app_id} 是试用账号的名字，不能当作公众号")
        if re.search(r"\s", app_id):
            raise ValueError("含有空白字符")
        return app_id

    @field_validator("aes_key", "previous_aes_key")
    @classmethod
    def _check_aes_key(cls, key: str) -> str:
        if key and not AES_KEY.fullmatch(key):
            raise ValueError(f"应为 43 个字母和数字，现在是 {len(key)} 个字符")
        return key

    @field_validator("path")
    @classmethod
    def _check_path(cls, path: str) -> str:
        if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", path):
            raise ValueError("不是以 / 开头、只含字母、数字和 . _ ~ - 的路径")
        if any(path == taken or path.startswith(f"{taken}/") for taken in ROUTES_TAKEN):
            raise ValueError("这个路径已有别的用途")
        return path

    @field_validator("api_base")
    @classmethod
    def _check_api_base(cls, url: str) -> str:
        return http_address(url)


class WeChatSettings(WeChatAccount):
    """The official accounts. Without one, loopback serves the try-out account."""

    taps: bool = Field(default=True, description="「继续」「人工」等词在微信里是否可以点：true 或 false")
    transfer: bool = Field(
        default=False,
        description="发「人工」时是否转给公众号的人工客服：true 或 false；认证的账号在后台添加了客服才能开",
    )
    mini_app_id: str = Field(
        default="",
        description="小程序的 AppID；您的小程序后台用 /identity/phone 提交手机号时才要填",
        examples=["wx0123456789abcdef"],
    )
    mini_app_secret: str = Field(
        default="", repr=False, description="小程序的 AppSecret", examples=["小程序后台的AppSecret"]
    )
    more_accounts: tuple[WeChatAccount, ...] = Field(
        default=(),
        repr=False,
        description="另外的公众号，JSON 列表，每个写 app_id、token、path 等，同上面各项；人设和资料可各用各的",
        examples=['[{"app_id":"wx另一个","token":"另一个令牌","path":"/wechat2"}]'],
    )

    @field_validator("more_accounts", mode="before")
    @classmethod
    def _read_accounts(cls, raw: Any) -> Any:
        return _read_accounts(raw) if isinstance(raw, str) else raw

    @property
    def accounts(self) -> tuple[WeChatAccount, ...]:
        """Every configured account; () while there is none."""
        return (self, *self.more_accounts) if self.app_id else self.more_accounts


def _read_accounts(text: str) -> list[WeChatAccount]:
    """Raises ValueError, in Chinese, naming which account and which part."""
    try:
        written = json.loads(text)
    except ValueError:
        raise ValueError("不是正确的 JSON 列表") from None
    if not isinstance(written, list):
        raise ValueError("不是 JSON 列表")
    accounts: list[WeChatAccount] = []
    for number, fields in enumerate(cast("list[Any]", written), start=1):
        try:
            account = WeChatAccount.model_validate(fields)
        except ValidationError as error:
            detail = error.errors(include_url=False, include_input=False)[0]
            part = ".".join(map(str, detail["loc"])) or "整个"
            told = detail.get("ctx", {}).get("error", "写法不对，或没有这一项")
            raise ValueError(f"第 {number} 个公众号的 {part}：{told}") from None
        if not account.app_id or not account.token:
            raise ValueError(f"第 {number} 个公众号缺 app_id 或 token")
        accounts.append(account)
    return accounts


class OneBotSettings(Section):
    """A QQ bot behind NapCat, LLBot or Lagrange, by OneBot v11."""

    access_token: str = Field(
        default="",
        repr=False,
        description="OneBot 客户端连接时要带的令牌；不用 QQ 就留空",
        examples=["自己定的长令牌"],
    )
    secret: str = Field(
        default="",
        repr=False,
        description="OneBot HTTP 上报的签名密钥；只用反向 WebSocket 就留空，HTTP 上报随之关闭",
        examples=["自己定的长密钥"],
    )
    prefix: str = Field(default="", description="群里以这个前缀开头的话也算对机器人说的；留空则不用前缀")


def http_address(url: str) -> str:
    """Without a slash at its end; "" stays. Raises ValueError."""
    if url and not re.match(r"https?://[^\s/]+\S*$", url):
        raise ValueError("不是 http:// 或 https:// 开头的网址")
    return url.rstrip("/")


def split_list(text: str) -> tuple[str, ...]:
    """A comma list (half- or full-width) or a JSON list; numbers keep their digits as written.

    Raises ValueError, in Chinese.
    """
    text = text.strip()
    if not text.startswith("["):
        return tuple(part.strip() for part in re.split("[,，]", text) if part.strip())
    try:
        parts = json.loads(text, parse_int=str, parse_float=str)
    except ValueError:
        raise ValueError("不是正确的 JSON 列表") from None
    if not all(isinstance(part, str) for part in parts):
        raise ValueError("列表里只能是文字")
    return tuple(part.strip() for part in parts if part.strip())


class RedisSettings(Section):
    url: str = Field(
        default="",
        repr=False,
        description="Redis 地址，作短期记忆的缓存；留空则只用数据库",
        examples=["redis://127.0.0.1:6379/0"],
    )

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str) -> str:
        if url and not re.match(r"(rediss?|unix)://\S+$", url):
            raise ValueError("不是 redis://、rediss:// 或 unix:// 开头的地址")
        return url


class ModelSettings(Section):
    """An OpenAI-compatible endpoint. An empty `base_url` means: none, use what is built in."""

    base_url: str = ""
    api_key: str = ""
    model: str = ""

    @field_validator("base_url")
    @classmethod
    def _check_base_url(cls, url: str) -> str:
        return http_address(url)


class LlmSettings(ModelSettings):
    base_url: str = Field(
        default="",
        description="对话模型的 OpenAI 兼容接口地址；留空则不用模型，只摘录记忆和资料来回答",
        examples=["http://127.0.0.1:11434/v1"],
    )
    api_key: str = Field(
        default="", repr=False, description="对话模型的密钥；本机的模型可留空", examples=["您的密钥"]
    )
    model: str = Field(default="", description="对话模型的名字", examples=["qwen3"])
    vision_model: str = Field(
        default="", description="看图用的模型，同一个接口；留空则不看图，请人用文字说", examples=["qwen3-vl"]
    )
    timeout_seconds: float = Field(default=60.0, gt=0, le=600, description="一次对话最多等几秒")


class EmbeddingSettings(ModelSettings):
    base_url: str = Field(
        default="",
        description="向量模型的 OpenAI 兼容接口地址；留空则用自带的模型",
        examples=["http://127.0.0.1:11434/v1"],
    )
    api_key: str = Field(
        default="", repr=False, description="向量模型的密钥；本机的模型可留空", examples=["您的密钥"]
    )
    model: str = Field(default="", description="向量模型的名字", examples=["bge-m3"])
    deadline_seconds: float = Field(
        default=0.5, gt=0, le=10, description="一次提问最多等向量几秒，过时改用关键词查找"
    )


class KnowledgeSettings(Section):
    k: int = Field(default=4, ge=1, le=50, description="每次最多查出几段资料")
