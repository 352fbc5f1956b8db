"""The account's automatic replies, fetched, proposed, and put into the FAQ.

Invariant: nothing is written but what the operator chose, and no rule that is there is touched.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from bot.channels.wechat.api import ApiAway, ApiClient, ApiClosed, ApiError, OutcomeUnknown
from bot.connecting.keyword_replies import AccountReplies, read_replies
from bot.connecting.steps import Kept
from bot.connecting.trials import ApiTrial
from bot.conversation.errors import ConfigurationError, RejectedInput
from bot.rules.faq import FaqRule
from bot.rules.faq_appending import append_rules
from bot.rules.faq_yaml import read_book

HEADING = "从公众号的自动回复导入"


class KeywordImport:
    """Of one account at a time: what was fetched last is what is proposed."""

    def __init__(self, faq: Path, client: Callable[[str, str], Awaitable[ApiClient]]) -> None:
        """`client` takes an app_id and its secret; "" for either: what is saved."""
        self._faq = faq
        self._client = client
        self._writing = asyncio.Lock()
        self._answer: Mapping[str, Any] | None = None

    async def fetch(self, *, app_id: str, app_secret: str) -> ApiTrial:
        """Ask WeChat now."""
        try:
            self._answer = await (await self._client(app_id, app_secret)).autoreply_info()
        except ApiError as error:
            return ApiTrial(errcode=error.errcode, address=error.address)
        except (ApiAway, ApiClosed, OutcomeUnknown):
            return ApiTrial(is_away=True)
        return ApiTrial()

    async def proposed(self) -> AccountReplies | None:
        """Beside what the FAQ has now; None: nothing was fetched. Raises ConfigurationError: the FAQ is wrong."""
        if self._answer is None:
            return None
        return read_replies(self._answer, await asyncio.to_thread(self._rules))

    async def keep(self, numbers: Collection[int]) -> Kept:
        """Those of `proposed`, by place. Raises ConfigurationError or RejectedInput, with nothing changed."""
        async with self._writing:
            replies = await self.proposed()
            proposals = replies.proposals if replies is not None else ()
            chosen = [each for number, each in enumerate(proposals) if number in numbers and each.is_possible]
            rules = [rule for each in chosen for rule in each.rules]
            if not rules:
                return Kept(count=0)
            try:
                backup = await asyncio.to_thread(append_rules, self._faq, rules, HEADING)
            except OSError as error:
                problem = f"写不了 {self._faq.name}（{error.strerror}）：检查权限和剩余空间"
                raise RejectedInput(problem) from error
        return Kept(count=len(chosen), backup=backup.name if backup is not None else "")

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
