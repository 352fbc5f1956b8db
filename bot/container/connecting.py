"""What the connecting pages do: settings saved for the next start, and trials of what was typed.

Invariant: a saved key goes to no other address than it was saved for; nothing of what is typed is logged.
"""

import asyncio
import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from bot.channels.wechat.api import ApiAway, ApiClient, ApiClosed, ApiError, OutcomeUnknown
from bot.channels.wechat.api.transport import Send
from bot.connecting.steps import Made, ModelSet, OneBotSet, QqSet, WeChatSet
from bot.connecting.trials import ApiTrial, ModelFault, ModelTrial, try_model
from bot.container.keyword_import import KeywordImport
from bot.conversation.errors import ConfigurationError
from bot.llm.openai_chat import OpenAiChat
from bot.settings import Settings
from bot.settings_file import change, overruled, random_secret
from bot.settings_groups import http_address
from bot.settings_source import read_settings

TRIAL_SECONDS = 30.0
"""A reasoning model takes its time, also for one word."""
TOKEN_CHARACTERS = 32
"""Of a Token: as many as WeChat's console takes."""
AES_CHARACTERS = 43

_APP_ID = re.compile(r"wx[0-9a-f]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Typed:
    """A secret that was tried and not saved yet, and what it belongs to."""

    owner: str = ""
    secret: str = field(default="", repr=False)


class Connecting:
    """For the operator who has signed in. Used from one event loop."""

    def __init__(
        self, running: Settings, request: Send, read: Callable[[], Settings] = read_settings
    ) -> None:
        """`running`: what the bot was started with. `request`: HTTP to WeChat. `read`: what is saved now."""
        self._running = running
        self._request = request
        self._read = read
        self._saving = asyncio.Lock()
        self._typed_secret = _Typed()
        self._typed_key = _Typed()
        self.replies = KeywordImport(running.data_folder / "faq.yaml", self._client)

    async def wechat(self) -> WeChatSet:
        saved = await self._saved()
        account = saved.wechat
        return WeChatSet(
            app_id=account.app_id,
            path=account.path,
            has_token=bool(account.token),
            has_aes_key=bool(account.aes_key),
            has_secret=bool(account.app_secret),
            needs_restart=account != self._running.wechat,
            listens_on=f"{self._running.host}:{self._running.port}",
            others=tuple(each.app_id for each in account.more_accounts),
        )

    async def onebot(self) -> OneBotSet:
        saved, running = await self._saved(), self._running
        host = f"[{saved.host}]" if ":" in saved.host else saved.host
        shown = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104
        return OneBotSet(
            has_token=bool(saved.onebot.access_token),
            has_tryout=running.is_onebot_tryout,
            needs_restart=(saved.onebot, saved.host, saved.port)
            != (running.onebot, running.host, running.port),
            address=f"ws://{shown}:{saved.port}/onebot/v11/ws",
            is_loopback=saved.is_loopback,
        )

    async def qq(self) -> QqSet:
        qq = (await self._saved()).qq
        return QqSet(
            app_id=qq.app_id,
            has_secret=bool(qq.secret),
            is_websocket=qq.websocket,
            is_setup_open=self._running.qq.setup_open,
            needs_restart=qq != self._running.qq,
            listens_on=f"{self._running.host}:{self._running.port}",
        )

    async def model(self) -> ModelSet:
        llm = (await self._saved()).llm
        return ModelSet(
            base_url=llm.base_url,
            model=llm.model,
            has_key=bool(llm.api_key),
            needs_restart=llm != self._running.llm,
        )

    async def save_wechat(
        self, *, app_id: str, app_secret: str, token: str, aes_key: str, renews: bool
    ) -> Made:
        """A Token and a key are made where none is typed and none is set, or `renews`. Raises ConfigurationError
        or RejectedInput, with nothing saved."""
        if not app_id:
            raise ConfigurationError("WECHAT__APP_ID", "没有填写", "从公众号后台复制 AppID")
        if not _APP_ID.fullmatch(app_id):
            how = "gh_ 开头的是原始 ID" if app_id.startswith("gh_") else "应为 wx 加 16 位数字或小写字母"
            raise ConfigurationError(
                "WECHAT__APP_ID", f"不是 AppID，{how}", "从「设置与开发 → 基本配置」复制"
            )
        saved = (await self._saved()).wechat
        is_same = saved.app_id == app_id
        changes = {
            "WECHAT__APP_ID": app_id,
            "WECHAT__APP_SECRET": app_secret
            or self._remembered(self._typed_secret, app_id)
            or (saved.app_secret if is_same else ""),
        }
        made = Made(
            token=token or ("" if saved.token and not renews else random_secret(TOKEN_CHARACTERS)),
            aes_key=aes_key or ("" if saved.aes_key and not renews else random_secret(AES_CHARACTERS)),
        )
        if made.token:
            changes["WECHAT__TOKEN"] = made.token
        if made.aes_key:
            changes["WECHAT__AES_KEY"] = made.aes_key
            # Messages under way are still encrypted with the one before.
            changes["WECHAT__PREVIOUS_AES_KEY"] = saved.aes_key if is_same and renews else ""
        stronger = await self._save(changes)
        self._typed_secret = _Typed()
        return Made(
            token="" if token else made.token, aes_key="" if aes_key else made.aes_key, overruled=stronger
        )

    async def save_onebot(self, *, token: str) -> Made:
        """`token` "": one is made."""
        made = "" if token else secrets.token_urlsafe(24)
        return Made(token=made, overruled=await self._save({"ONEBOT__ACCESS_TOKEN": token or made}))

    async def save_qq(self, *, app_id: str, secret: str, is_websocket: bool) -> Made:
        saved = (await self._saved()).qq
        changes = {
            "QQ__APP_ID": app_id,
            "QQ__SECRET": secret or (saved.secret if saved.app_id == app_id else ""),
            "QQ__WEBSOCKET": "true" if is_websocket else "false",
        }
        return Made(overruled=await self._save(changes))

    async def save_model(self, *, base_url: str, model: str, key: str) -> Made:
        base_url = _as_address(base_url)
        changes = {
            "LLM__BASE_URL": base_url,
            "LLM__MODEL": model,
            "LLM__API_KEY": key or await self._known_key(base_url),
        }
        stronger = await self._save(changes)
        self._typed_key = _Typed()
        return Made(overruled=stronger)

    async def try_wechat(self, *, app_id: str, app_secret: str) -> ApiTrial:
        """ "" stands for what is saved. What is typed is remembered until it is saved or the bot stops."""
        if app_id and app_secret:
            self._typed_secret = _Typed(owner=app_id, secret=app_secret)
        try:
            await (await self._client(app_id, app_secret)).prove()
        except ApiError as error:
            return ApiTrial(errcode=error.errcode, address=error.address)
        except (ApiAway, ApiClosed, OutcomeUnknown):
            return ApiTrial(is_away=True)
        return ApiTrial()

    async def try_model(self, *, base_url: str, model: str, key: str) -> ModelTrial:
        """The key "" stands for the one that is known for this address. Raises ConfigurationError."""
        base_url = _as_address(base_url)
        if not base_url or not model:
            return ModelTrial(fault=ModelFault.NAME)
        key = key or await self._known_key(base_url)
        self._typed_key = _Typed(owner=base_url, secret=key)
        chat = OpenAiChat(base_url=base_url, api_key=key, model=model, timeout_seconds=TRIAL_SECONDS)
        try:
            return await try_model(chat)
        finally:
            await chat.close()

    async def _client(self, app_id: str, app_secret: str) -> ApiClient:
        """Of the account as it was typed, else as it is saved. Its token is its own."""
        saved = (await self._saved()).wechat
        app_id = app_id or saved.app_id
        if not app_secret:
            is_saved = app_id == saved.app_id
            app_secret = self._remembered(self._typed_secret, app_id) or (
                saved.app_secret if is_saved else ""
            )
        return ApiClient(app_id=app_id, app_secret=app_secret, request=self._request, api_base=saved.api_base)

    async def _known_key(self, base_url: str) -> str:
        saved = (await self._saved()).llm
        return self._remembered(self._typed_key, base_url) or (
            saved.api_key if saved.base_url == base_url else ""
        )

    def _remembered(self, typed: _Typed, owner: str) -> str:
        return typed.secret if hmac.compare_digest(typed.owner.encode(), owner.encode()) else ""

    async def _saved(self) -> Settings:
        """What the next start will read; what runs, where that cannot be read."""
        try:
            return await asyncio.to_thread(self._read)
        except ConfigurationError:
            return self._running

    async def _save(self, changes: Mapping[str, str]) -> tuple[str, ...]:
        async with self._saving:
            await asyncio.to_thread(partial(change, self._running.data_folder, changes))
        return overruled(changes)


def _as_address(typed: str) -> str:
    """Raises ConfigurationError."""
    try:
        return http_address(typed)
    except ValueError as error:
        raise ConfigurationError("LLM__BASE_URL", str(error), "例：https://api.deepseek.com") from error
