"""The settings, typed: what an operator may write, the default of each, and what is allowed.

Invariant: a `Settings` is frozen and already checked; nothing here reads a file or the environment
(`bot.settings_source` does). A description is the setting's comment in `.env.prod` and its hint in an
error, so it is Chinese.
"""

import ipaddress
import os
import secrets
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from bot.settings_alerts import AlertSettings
from bot.settings_console import ConsoleSettings
from bot.settings_group_chats import GroupSettings
from bot.settings_groups import (
    EmbeddingSettings,
    KnowledgeSettings,
    LlmSettings,
    OneBotSettings,
    RedisSettings,
    Section,
    WeChatSettings,
    split_list,
)
from bot.settings_identity import IdentitySettings
from bot.settings_memory import MemorySettings
from bot.settings_qq import QqSettings

CHANNELS = ("wechat", "onebot", "qq")
"""The adapters whose people can be superusers of ours: lower case, as NoneBot writes them."""


class Settings(Section):
    """Every setting. Attributes are the operator's names in lower case; a group is `GROUP__NAME`."""

    jide_data_dir: Path = Field(
        default=Path("data"),
        description="数据文件夹，可含中文和空格；这一项只能写在进程环境变量或 .env.prod 里",
    )
    host: str = Field(default="127.0.0.1", description="监听的 IP 地址；只在本机用 127.0.0.1，对外用 0.0.0.0")
    port: int = Field(default=8080, ge=1, le=65535, description="监听的端口，1 到 65535")
    log_level: Literal["TRACE", "DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="日志级别：TRACE、DEBUG、INFO、WARNING、ERROR 之一"
    )
    language: Literal["zh_CN"] = Field(default="zh_CN", description="对人说话用的语言，目前是 zh_CN")
    superusers: tuple[str, ...] = Field(
        default=(),
        description="管理员，写成 渠道:编号，多个用逗号分开；编号可发 /我的编号 查到",
        examples=["wechat:oABC123,onebot:10001"],
    )
    nickname: tuple[str, ...] = Field(
        default=(), description="机器人的昵称，群里这样叫它就会应；多个用逗号分开", examples=["小记,记得"]
    )
    ai_label: bool = Field(default=True, description="模型写的回答末尾是否注明「（AI 生成）」：true 或 false")
    wechat: WeChatSettings = WeChatSettings()
    onebot: OneBotSettings = OneBotSettings()
    qq: QqSettings = QqSettings()
    group: GroupSettings = GroupSettings()
    redis: RedisSettings = RedisSettings()
    llm: LlmSettings = LlmSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    memory: MemorySettings = MemorySettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    identity: IdentitySettings = IdentitySettings()
    console: ConsoleSettings = ConsoleSettings()
    alerts: AlertSettings = AlertSettings()

    sources: tuple[str, ...] = Field(default=(), exclude=True)
    """What was read, strongest first: for the line at start that says so."""
    doubts: tuple[str, ...] = Field(default=(), exclude=True)
    """Chinese sentences about things that are allowed and look like mistakes."""
    others: dict[str, Any] = Field(default={}, exclude=True, repr=False)
    """Settings of other NoneBot plugins, by lower-case name."""

    @field_validator("host")
    @classmethod
    def _check_host(cls, host: str) -> str:
        if host.lower() == "localhost":
            return "127.0.0.1"
        try:
            return str(ipaddress.ip_address(host))
        except ValueError:
            raise ValueError(f"「{host}」不是 IP 地址") from None

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper(cls, text: Any) -> Any:
        return text.upper() if isinstance(text, str) else text

    @field_validator("superusers", "nickname", mode="before")
    @classmethod
    def _split(cls, raw: Any) -> Any:
        return split_list(raw) if isinstance(raw, str) else raw

    @field_validator("superusers")
    @classmethod
    def _check_superusers(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_normalise_superuser(entry) for entry in entries)

    @property
    def data_folder(self) -> Path:
        """Absolute; may hold Chinese and spaces; not necessarily there yet."""
        return self.jide_data_dir

    @property
    def is_loopback(self) -> bool:
        """Only this machine can reach the port."""
        return ipaddress.ip_address(self.host).is_loopback

    @property
    def is_wechat_tryout(self) -> bool:
        """The try-out account stands in for an official account."""
        return self.is_loopback and not self.wechat.accounts

    @property
    def is_onebot_tryout(self) -> bool:
        """The try-out token stands in for ONEBOT__ACCESS_TOKEN."""
        return self.is_loopback and not self.onebot.access_token

    @property
    def has_onebot(self) -> bool:
        """OneBot clients may connect: never on a public address without a token."""
        return self.is_loopback or bool(self.onebot.access_token)

    @property
    def superuser_addresses(self) -> frozenset[str]:
        """The superusers of our commands, each an `AccountKey.address`."""
        return frozenset(entry for entry in self.superusers if entry.partition(":")[0] in CHANNELS)

    @property
    def bare_superusers(self) -> tuple[str, ...]:
        """Entries without an adapter: NoneBot lets them match on every platform, ours ignores them."""
        return tuple(entry for entry in self.superusers if ":" not in entry)

    @property
    def console_port(self) -> int:
        """Of the second server; 0: none, also where the first one has taken it."""
        return 0 if self.console.port == self.port else self.console.port

    @property
    def has_playground(self) -> bool:
        """Platforms can be played on the second port."""
        return bool(self.console_port) and self.console.playground

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no log line may hold."""
        onebot = self.onebot
        keys = (self.llm.api_key, self.embedding.api_key, self.memory.api_key, self.redis.url)
        of_accounts = (
            secret
            for account in (self.wechat, *self.wechat.more_accounts)
            for secret in (account.token, account.aes_key, account.previous_aes_key, account.app_secret)
        )
        return tuple(
            filter(
                None,
                (
                    *of_accounts,
                    onebot.access_token,
                    onebot.secret,
                    self.qq.secret,
                    *keys,
                    self.console.token,
                    self.wechat.mini_app_secret,
                    *self.identity.secrets,
                    *self.alerts.secrets,
                ),
            )
        )

    def nonebot_config(self) -> dict[str, Any]:
        """Keyword arguments of `nonebot.init`, which then reads no file of its own.

        Call it inside `bot.settings_source.hidden_from_nonebot()`. Without ONEBOT__SECRET a random
        one closes OneBot's HTTP route, which ignores the access token.
        """
        return {
            **self.others,
            "_env_file": (os.devnull,),
            "driver": "~fastapi+~httpx+~websockets",
            "host": self.host,
            "port": self.port,
            "log_level": self.log_level,
            "superusers": set(self.superusers),
            "nickname": set(self.nickname),
            "command_start": {"/"},
            "onebot_access_token": self.onebot.access_token or None,
            "onebot_secret": self.onebot.secret or secrets.token_hex(32),
        }


def _normalise_superuser(entry: str) -> str:
    adapter, colon, openid = entry.replace("：", ":", 1).partition(":")
    if not colon:
        return entry
    if not adapter.strip() or not openid.strip():
        raise ValueError(f"「{entry}」缺了冒号前的渠道或冒号后的编号")
    return f"{adapter.strip().lower()}:{openid.strip()}"
