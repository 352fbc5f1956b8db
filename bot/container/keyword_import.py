"""The account's automatic replies, fetched, proposed, and put into the FAQ.

Invariant: nothing is written but what the operator chose, and no rule that is there is touched.
"""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.channels.wechat.api import ApiAway, ApiClient, ApiClosed, ApiError, OutcomeUnknown
from bot.connecting.keyword_replies import AccountReplies, read_replies
from bot.connecting.steps import Kept
from bot.connecting.trials import ApiTrial
from bot.conversation.errors import ConfigurationError, RejectedInput
from bot.rules.faq import FaqRule
from bot.rules.faq_appending import append_rules, is_writable
from bot.rules.faq_yaml import read_book

HEADING = "从公众号的自动回复导入"
MARK_CHARACTERS = 32
"""Of a digest: it tells two answers apart, and guards no secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetched:
    """What WeChat answered, and for whom."""

    account: str
    answer: Mapping[str, Any]
    mark: str = field(init=False)

    def __post_init__(self) -> None:
        written = json.dumps([self.account, self.answer], sort_keys=True)
        object.__setattr__(self, "mark", hashlib.sha256(written.encode()).hexdigest()[:MARK_CHARACTERS])


class KeywordImport:
    """Of one account at a time: what was fetched last is what is proposed."""

    def __init__(self, faq: Path, client: Callable[[str, str], Awaitable[ApiClient]]) -> None:
        """`client` takes an app_id and its secret; "" for either: what is saved."""
        self._faq = faq
        self._client = client
        self._writing = asyncio.Lock()
        self._fetched: _Fetched | None = None

    async def fetch(self, *, app_id: str, app_secret: str) -> ApiTrial:
        """Ask WeChat now."""
        try:
            client = await self._client(app_id, app_secret)
            self._fetched = _Fetched(account=client.app_id, answer=await client.autoreply_info())
        except ApiError as error:
            return ApiTrial(errcode=error.errcode, address=error.address)
        except (ApiAway, ApiClosed, OutcomeUnknown):
            return ApiTrial(is_away=True)
        return ApiTrial()

    async def proposed(self) -> AccountReplies | None:
        """Beside what the FAQ has now; None: nothing was fetched. Raises ConfigurationError: the FAQ is wrong."""
        fetched = self._fetched
        if fetched is None:
            return None
        replies = read_replies(fetched.answer, await asyncio.to_thread(self._rules))
        return replace(replies, account=fetched.account, mark=fetched.mark)

    async def keep(self, numbers: Collection[int], mark: str) -> Kept:
        """Those of the replies that bear `mark`, by place. Raises ConfigurationError or RejectedInput, with nothing
        changed."""
        async with self._writing:
            replies = await self.proposed()
            if replies is None or replies.mark != mark:
                return Kept(count=0, is_outdated=True)
            asked = enumerate(replies.proposals)
            possible = [each for number, each in asked if number in numbers and each.is_possible]
            chosen = [each for each in possible if is_writable(each.rules)]
            left_out = tuple(each.name or each.rules[0].id for each in possible if each not in chosen)
            rules = [rule for each in chosen for rule in each.rules]
            if not rules:
                return Kept(count=0, left_out=left_out)
            try:
                backup = await asyncio.to_thread(append_rules, self._faq, rules, HEADING)
            except OSError as error:
                problem = f"写不了 {self._faq.name}（{error.strerror}）：检查权限和剩余空间"
                raise RejectedInput(problem) from error
        return Kept(count=len(chosen), backup=backup.name if backup is not None else "", left_out=left_out)

    def _rules(self) -> tuple[FaqRule, ...]:
        try:
            text = self._faq.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            return ()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                self._faq.name, "读不了这个文件", "检查它的权限，并用 UTF-8 保存"
            ) from error
        return read_book(text, self._faq.name).rules
