"""The bot with four official accounts, each before a simulator of its own, and one model for all.

Invariant: every account has a secret and an API; what it may do is for WeChat to say.
"""

import json
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from benchmarks.running_bot import RunningBot
from simulators.openai import Answer, OpenAiServer, Request, by_marker
from simulators.wechat import AccountType, Mode, WeChatServer

NOTHING_TO_KEEP = json.dumps({"keep": False, "reason": "", "summary": "", "facts": []})
JUDGING = "只输出一个 JSON 对象"
ACCOUNTS = tuple(
    product((AccountType.UNVERIFIED_SUBSCRIPTION, AccountType.VERIFIED_SERVICE), (Mode.PLAIN, Mode.SAFE))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    bot: RunningBot
    model: OpenAiServer
    servers: Mapping[tuple[AccountType, Mode], WeChatServer]


@asynccontextmanager
async def open_stage(
    data: Path, accounts: tuple[tuple[AccountType, Mode], ...] = ACCOUNTS
) -> AsyncGenerator[Stage]:
    """Everything but the bot is running; `stage.bot.start()` is the caller's."""
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(OpenAiServer())
        model.answer_with(_answer)
        settings: dict[str, str] = {"LLM__BASE_URL": model.base_url, "LLM__MODEL": "simulated"}
        bot = RunningBot(data, settings)
        servers: dict[tuple[AccountType, Mode], WeChatServer] = {}
        written: list[dict[str, str]] = []
        for number, (account, mode) in enumerate(accounts):
            server, fields = _account(bot.port, number, account, mode)
            servers[account, mode] = await stack.enter_async_context(server)
            written.append(fields | {"api_base": server.api.base_url})
        first, *more = written
        settings |= {f"WECHAT__{name.upper()}": value for name, value in first.items()}
        settings["WECHAT__MORE_ACCOUNTS"] = json.dumps(more) if more else ""
        stack.push_async_callback(bot.kill)
        yield Stage(bot=bot, model=model, servers=servers)


def _account(port: int, number: int, account: AccountType, mode: Mode) -> tuple[WeChatServer, dict[str, str]]:
    fields = {
        "app_id": f"wxbench{number:09d}",
        "token": secrets.token_hex(16),
        "app_secret": secrets.token_hex(16),
        "path": f"/wechat{number}",
        "aes_key": "" if mode is Mode.PLAIN else secrets.token_hex(22)[:43],
    }
    server = WeChatServer(
        f"http://127.0.0.1:{port}{fields['path']}",
        fields["token"],
        fields["app_id"],
        fields["aes_key"] or None,
        app_secret=fields["app_secret"],
        account_type=account,
        mode=mode,
    )
    return server, fields


def _answer(request: Request) -> Answer | str | None:
    """Judgements at once, whatever pace the words they hold ask for."""
    return NOTHING_TO_KEEP if JUDGING in request.prompt else by_marker(request)
