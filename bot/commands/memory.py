"""What the bot remembers of somebody: list it, add to it.

Invariant: 「已记住」 is said only after a durable commit; in a group nothing of a memory is shown, only counts.
"""

import re
from collections.abc import Mapping, Sequence

from bot.commands.context import Asker, channel_name
from bot.commands.shown_numbers import ShownNumbers
from bot.conversation.local_time import local_date
from bot.conversation.text import clip
from bot.conversation.wording import Wording
from bot.memory.clauses import states
from bot.memory.explicit import facts_of_explicit
from bot.memory.fact import Fact, FactKind, NewFact
from bot.memory.never import own_clauses
from bot.memory.ports import FactStore
from bot.memory.revising import settled_beside
from bot.ports import PauseStore

_PAGE = re.compile(r"[0-9]{1,4}")
MOST_FACTS = 20
"""Shown at once (about one WeChat page)."""
FACT_CHARACTERS = 80
"""Shown of each."""


class MemoryCommands:
    """/我的记忆, /记住."""

    def __init__(self, facts: FactStore, pauses: PauseStore, wording: Wording, numbers: ShownNumbers) -> None:
        self._facts = facts
        self._numbers = numbers
        self._pauses = pauses
        self._wording = wording

    async def show(self, asker: Asker, argument: str) -> str:
        """`argument`: "2" for those after the newest `MOST_FACTS`, and so on."""
        text = await self._list(asker, max(1, int(argument)) if _PAGE.fullmatch(argument) else 1)
        if await self._pauses.is_paused(asker.account.person):
            return self._wording.say("memory_paused", memory=text)
        return text

    async def _list(self, asker: Asker, page: int) -> str:
        facts = (await self._facts.fact_sheet(asker.scope)).facts
        if not facts:
            return self._wording.say("memory_empty")
        if asker.is_in_group:
            return self._wording.say("memory_count", count=len(facts))
        before = min(page - 1, (len(facts) - 1) // MOST_FACTS) * MOST_FACTS
        shown = facts[::-1][before : before + MOST_FACTS]
        held = await self._facts.held_facts(asker.scope)
        numbers = self._numbers.show(asker.scope, held, [fact.text for fact in shown], is_anew=before == 0)
        lines = self._lines(shown, numbers)
        left = len(facts) - before - len(shown)
        if not left:
            return self._wording.say("memory_list", count=len(facts), facts=lines)
        following = before // MOST_FACTS + 2
        return self._wording.say(
            "memory_list_more", count=len(facts), left=left, facts=lines, following=following
        )

    async def remember(self, asker: Asker, words: str) -> str:
        """`words`: what to remember, without the 「记住」 before it."""
        new = facts_of_explicit(words, asker.message.sent_at, is_group=asker.is_in_group)
        if not new:
            if asker.is_in_group and facts_of_explicit(words, asker.message.sent_at):
                return self._wording.say("remember_not_others")
            is_barred = states(words) and not own_clauses(words, is_asked=True)
            return self._wording.say("remember_barred" if is_barred else "remember_what")
        if await self._pauses.is_paused(asker.account.person):
            return self._wording.say("remember_paused")
        new = await settled_beside(new, (await self._facts.fact_sheet(asker.scope)).facts)
        kept = await self._facts.keep(asker.scope, new, None, "", source_turn=None)
        if len(kept) < len(new) and not await self._holds(asker, new):
            return self._wording.say("remember_failed")
        return self._wording.say("remembered", facts="；".join(fact.text for fact in new))

    async def _holds(self, asker: Asker, new: Sequence[NewFact]) -> bool:
        """A fact already held, in these words or in others, isn't stored twice; one of an older epoch isn't stored at
        all."""
        held = {fact.id: fact.text for fact in (await self._facts.fact_sheet(asker.scope)).facts}
        texts = set(held.values())
        return all(fact.text in texts or fact.repeats in held for fact in new)

    def _lines(self, facts: Sequence[Fact], numbers: Mapping[str, int]) -> str:
        return "\n".join(
            self._wording.say(
                "memory_promise" if fact.kind is FactKind.PROMISE else "memory_fact",
                number=numbers.get(fact.text, 0),
                text=clip(fact.text, FACT_CHARACTERS),
                channel=channel_name(self._wording, fact.channel),
                date=local_date(fact.said_at),
            )
            for fact in facts
        )
