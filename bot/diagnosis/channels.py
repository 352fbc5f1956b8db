"""The platforms' settings, and the port they call.

Invariant: pure but for `check_port`, which only asks this machine.
"""

import hashlib
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import httpx

from bot.diagnosis.finding import Finding, failure, fine, warning

SECONDS = 5.0
_APP_ID = re.compile(r"wx[0-9a-f]{16}")
_TOKEN = re.compile(r"[A-Za-z0-9]{3,32}")
"""What the console of WeChat takes (开发接口管理: 必须为英文或数字，长度为 3-32 字符)."""
_SHORTEST_TOKEN = 16
"""Characters of a token that guards a public port."""


_ABOUT = {40013: "app_id", 40001: "app_secret", 40125: "app_secret"}
"""The setting that an errcode of the token endpoint finds wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedAccount:
    """An official account as it is set."""

    app_id: str
    token: str = field(repr=False)
    aes_key: str = field(repr=False)
    app_secret: str = field(repr=False)
    api_base: str
    path: str
    is_first: bool
    """Set by `WECHAT__…`; the others are entries of WECHAT__MORE_ACCOUNTS."""

    def setting(self, name: str) -> str:
        """Where the operator finds one of the fields above."""
        if self.is_first:
            return f"WECHAT__{name.upper()}"
        return f"WECHAT__MORE_ACCOUNTS 里 {self.app_id} 的 {name}"


def check_no_wechat(*, is_tryout: bool) -> list[Finding]:
    return [fine("wechat", "公众号用试用账号，只限本机" if is_tryout else "没有接公众号")]


def check_wechat_settings(account: ExaminedAccount) -> list[Finding]:
    setting = account.setting
    if account.app_id.startswith("gh_"):
        fix = "AppID 以 wx 开头，在公众号后台「设置与开发 → 基本配置」里；gh_ 开头的是原始 ID"
        return [failure("wechat", f"{setting('app_id')} 填的是原始 ID", fix)]
    found: list[Finding] = []
    if not _APP_ID.fullmatch(account.app_id):
        fix = "AppID 是 wx 加 16 位数字或小写字母 a 到 f，从公众号后台复制"
        found.append(warning("wechat", f"{setting('app_id')}“{account.app_id}”不像 AppID", fix))
    if not _TOKEN.fullmatch(account.token):
        fix = f"令牌只能是 3 到 32 个字母或数字：改 {setting('token')}，并在公众号后台填同样的"
        found.append(failure("wechat", f"{setting('token')} 含有公众号后台不收的字符，或长度不对", fix))
    if not account.aes_key:
        fix = f"后台选「安全模式」，把 EncodingAESKey 填到 {setting('aes_key')}"
        found.append(warning("wechat", f"公众号 {account.app_id} 用明文模式，消息在路上没有加密", fix))
    return found or [fine("wechat", f"公众号 {account.app_id}，安全模式")]


def check_onebot_settings(token: str, *, is_loopback: bool, is_on: bool) -> list[Finding]:
    if not is_on:
        return [fine("onebot", "没有接 QQ")]
    if token and not is_loopback and len(token) < _SHORTEST_TOKEN:
        said = f"ONEBOT__ACCESS_TOKEN 只有 {len(token)} 个字符，而端口对外开放"
        return [warning("onebot", said, f"换成 {_SHORTEST_TOKEN} 位以上的随机令牌，QQ 客户端里也改")]
    return [fine("onebot", "QQ（OneBot）可以连接" if token else "QQ（OneBot）用试用令牌，只限本机")]


def check_superusers(bare: Sequence[str], *, configured: int, claimed: int) -> list[Finding]:
    found = [
        warning(
            "superusers",
            f"SUPERUSERS 里的“{each}”没写渠道，本机器人的命令不认它",
            f"改成 wechat:{each}、onebot:{each} 或 qq:{each}",
        )
        for each in bare
    ]
    if configured + claimed == 0:
        fix = "启动后对机器人发日志里的“/认领 ……”；或发 /我的编号，把编号写进 SUPERUSERS"
        found.append(warning("superusers", "还没有管理员", fix))
    return found or [fine("superusers", f"管理员 {configured + claimed} 人")]


async def check_port(host: str, port: int, accounts: Sequence[ExaminedAccount]) -> list[Finding]:
    """Whether the bot answers on its port, and on each path WeChat calls."""
    base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    occupied = failure("port", f"端口 {port} 被别的程序占用", "停掉那个程序，或在 data/jide.env 里改 PORT")
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=SECONDS) as client:
            alive = await client.get(f"{base}/livez")
            if alive.status_code != 200 or alive.text.strip() != "ok":
                return [occupied]
            fix = "改过设置要重启机器人；路径要和公众号后台填的一样"
            refused = [
                failure("port", f"机器人在运行，{each.path} 却不认现在的 {each.setting('token')}", fix)
                for each in accounts
                if not await _answers_as_wechat_asks(client, base + each.path, each.token)
            ]
    except httpx.ConnectError:
        return [fine("port", f"机器人没有在运行，端口 {port} 空着")]
    except httpx.HTTPError:
        return [occupied]
    verified = f"，{len(accounts)} 个公众号的签名核对通过" if accounts else ""
    return refused or [fine("port", f"机器人正在 {base} 运行{verified}")]


async def check_wechat_api(account: ExaminedAccount, explain: Callable[[int], str]) -> list[Finding]:
    """Whether WeChat gives a token for the secret. `explain`: what the operator does about an errcode, or "".

    The ordinary request of a stable token changes nothing: whoever asks gets the one in use.
    """
    app_id, setting = account.app_id, account.setting
    asked = {"grant_type": "client_credential", "appid": app_id, "secret": account.app_secret}
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=SECONDS) as client:
            answer = (await client.post(f"{account.api_base}/cgi-bin/stable_token", json=asked)).json()
        code = int(answer.get("errcode") or 0)
    except (httpx.HTTPError, ValueError, AttributeError):
        fix = f"检查这台机器能不能上网、能不能访问公众号接口的网址（{setting('api_base')}）"
        return [failure("wechat", f"连不上公众号 {app_id} 的接口", fix)]
    if code:
        fix = explain(code) or "在微信开放文档的“全局返回码”里查这个数字"
        if code in _ABOUT:
            fix += f"。设置是 {setting(_ABOUT[code])}"
        return [failure("wechat", f"公众号 {app_id} 的接口返回 {code}", fix)]
    return [fine("wechat", f"公众号 {app_id} 的接口可用")]


async def _answers_as_wechat_asks(client: httpx.AsyncClient, url: str, token: str) -> bool:
    """The console's own test: a signed GET gets its `echostr` back."""
    stamp, nonce, echo = str(int(time.time())), secrets.token_hex(4), secrets.token_hex(8)
    signed = "".join(sorted((token, stamp, nonce))).encode()
    signature = hashlib.sha1(signed, usedforsecurity=False).hexdigest()  # WeChat's protocol
    asked = {"signature": signature, "timestamp": stamp, "nonce": nonce, "echostr": echo}
    answered = await client.get(url, params=asked)
    return answered.status_code == 200 and answered.text == echo
