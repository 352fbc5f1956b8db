"""What the bot remembers of somebody: list it, add to it, take from it.

Invariant: 「已记住」 is said only after a durable commit, 「已忘记」 only after the deletion; in a group
nothing of a memory is shown, only counts.
"""

from collections.abc import Sequence

from loguru import logger

from bot.commands.context import Asker, channel_name
from bot.conversation.errors import StoreUnavailable
from bot.conversation.local_time import local_date
from bot.conversation.text import clip
from bot.conversation.wording import Wording
from bot.groups.lines import GroupLines
from bot.memory.explicit import facts_of_explicit
from bot.memory.fact import Fact, NewFact
from bot.memory.forget import Forget
from bot.memory.ports import FactStore, TurnWindow

MOST_FACTS = 20
"""Shown at once (about one WeChat page)."""
FACT_CHARACTERS = 80
"""Shown of each."""


class MemoryCommands:
    """/我的记忆, /记住, /忘记."""

    def __init__(
        self, facts: FactStore, window: TurnWindow, forget: Forget, lines: GroupLines, wording: Wording
    ) -> None:
        self._facts = facts
        self._window = window
        self._forget = forget
        self._lines_of_groups = lines
        self._wording = wording

    async def show(self, asker: Asker) -> str:
        facts = (await self._facts.fact_sheet(asker.scope)).facts
        if not facts:
            return self._wording.say("memory_empty")
        if asker.is_in_group:
            return self._wording.say("memory_count", count=len(facts))
        newest = facts[::-1][:MOST_FACTS]
        left = len(facts) - len(newest)
        key = "memory_list_more" if left else "memory_list"
        return self._wording.say(key, count=len(facts), left=left, facts=self._lines(newest))

    async def remember(self, asker: Asker, words: str) -> str:
        """`words`: what to remember, without the 「记住」 before it."""
        new = facts_of_explicit(words, asker.message.sent_at, is_group=asker.is_in_group)
        if not new:
            return self._wording.say("remember_what")
        kept = await self._facts.keep(asker.scope, new, None, "", source_turn=None)
        if len(kept) < len(new) and not await self._holds(asker, new):
            return self._wording.say("remember_failed")
        return self._wording.say("remembered", facts="；".join(fact.text for fact in new))

    async def forget(self, asker: Asker, words: str) -> str:
        if not words:
            return self._wording.say("forget_usage")
        forgotten = await self._forget.forget(asker.scope, words)
        if not forgotten.facts:
            return self._wording.say("forget_nothing", words=clip(words, FACT_CHARACTERS))
        answer = self._forgotten(asker, forgotten.facts)
        self._lines_of_groups.drop_account(asker.account.key)
        try:
            await self._window.drop(asker.scope)
        except StoreUnavailable as error:
            logger.warning("忘记后短期记忆的缓存没能刷新，等它过期：{}", error)
            answer += self._wording.say("forget_window_left")
        return answer

    async def _holds(self, asker: Asker, new: Sequence[NewFact]) -> bool:
        """A fact already held isn't stored twice; one of an older epoch isn't stored at all."""
        texts = {fact.text for fact in (await self._facts.fact_sheet(asker.scope)).facts}
        return texts.issuperset(fact.text for fact in new)

    def _forgotten(self, asker: Asker, facts: Sequence[Fact]) -> str:
        if asker.is_in_group:
            return self._wording.say("forgotten_count", count=len(facts))
        return self._wording.say("forgotten", count=len(facts), facts=self._lines(facts[:MOST_FACTS]))

    def _lines(self, facts: Sequence[Fact]) -> str:
        return "\n".join(
            self._wording.say(
                "memory_fact",
                text=clip(fact.text, FACT_CHARACTERS),
                channel=channel_name(self._wording, fact.channel),
                date=local_date(fact.said_at),
            )
            for fact in facts
        )
