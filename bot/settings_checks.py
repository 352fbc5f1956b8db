"""What no setting can see alone: groups that go together, accounts that clash, doors left open.

Invariant: reads nothing; the first thing wrong is refused.
"""

import itertools
from collections.abc import Mapping, Sequence

from pydantic.fields import FieldInfo

from bot.conversation.errors import ConfigurationError
from bot.settings import Settings
from bot.settings_fields import RawValue, known_fields, refusal
from bot.settings_groups import WeChatAccount


def check_together(settings: Settings, values: Mapping[str, RawValue]) -> None:
    """What no field can see alone."""
    known = known_fields()
    wechat, onebot = settings.wechat, settings.onebot
    _check_whole(settings, values, known)
    _check_apart(wechat.accounts, values)
    memory = settings.memory
    if 0 < memory.summary_after_turns <= memory.summary_keeps:
        raise refusal("MEMORY__SUMMARY_KEEPS", "不能多于 MEMORY__SUMMARY_AFTER_TURNS", values, known)
    mentions_onebot = "ONEBOT__ACCESS_TOKEN" in values or onebot.secret or onebot.prefix
    if not settings.is_loopback and mentions_onebot and not onebot.access_token:
        raise ConfigurationError(
            "ONEBOT__ACCESS_TOKEN",
            f"监听 {settings.host}，谁都能连上来，却没有令牌",
            "填一个长的随机令牌；不用 QQ 就删掉所有 ONEBOT__ 开头的行；只在本机试用就写 HOST=127.0.0.1",
        )


def _check_whole(settings: Settings, values: Mapping[str, RawValue], known: Mapping[str, FieldInfo]) -> None:
    """Some settings of a group need one another."""
    wechat, qq, identity = settings.wechat, settings.qq, settings.identity
    wholes = [
        (
            "公众号",
            {"WECHAT__APP_ID": wechat.app_id, "WECHAT__TOKEN": wechat.token},
            wechat.aes_key or wechat.app_secret,
        ),
        (
            "小程序",
            {"WECHAT__MINI_APP_ID": wechat.mini_app_id, "WECHAT__MINI_APP_SECRET": wechat.mini_app_secret},
            identity.port_token,
        ),
        (
            "短信验证码",
            {"IDENTITY__OTP_WEBHOOK": identity.otp_webhook, "IDENTITY__OTP_SECRET": identity.otp_secret},
            "",
        ),
        (" QQ 官方机器人", {"QQ__APP_ID": qq.app_id, "QQ__SECRET": qq.secret}, qq.websocket or qq.setup_open),
    ]
    for group, model in (("LLM", settings.llm), ("EMBEDDING", settings.embedding)):
        needed = {f"{group}__BASE_URL": model.base_url, f"{group}__MODEL": model.model}
        wholes.append(("这个模型", needed, model.api_key))
    for what, needed, other in wholes:
        missing = next((key for key, value in needed.items() if not value), None)
        if missing and (other or any(needed.values())):
            raise refusal(missing, f"填了{what}的其他项，这一项却空着", values, known)


def _check_apart(accounts: Sequence[WeChatAccount], values: Mapping[str, RawValue]) -> None:
    """An account is written once, and has a path of its own."""
    key, taken = "WECHAT__MORE_ACCOUNTS", {account.path for account in accounts}
    free = next(path for number in itertools.count(2) if (path := f"/wechat{number}") not in taken)
    for one, other in itertools.combinations(accounts, 2):
        where = f"（写在 {values[key].where}）"
        if one.app_id == other.app_id:
            told = f"AppID {one.app_id} 写了两次{where}"
            raise ConfigurationError(key, told, "一个公众号只写一次：两处留一处，删掉另一处")
        if one.path == other.path:
            told = f"公众号 {one.app_id} 和 {other.app_id} 的路径都是 {one.path}{where}"
            fix = f'给 {other.app_id} 换一个路径，例："path":"{free}"；公众号后台的 URL 也照着改'
            raise ConfigurationError(key, told, fix)
