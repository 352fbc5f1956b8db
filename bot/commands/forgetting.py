"""/忘记 and the same in plain words: by word, number, time, the last thing said; everything by /清除记忆.

Invariant: 「已忘记」 is said only after the deletion, and never in the words that were forgotten: what went is told by its
topic and date, since the reply itself is kept until it has arrived. Much is asked for once before it goes.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from bot.commands.context import Asker, channel_name
from bot.commands.parsing import Call
from bot.commands.shown_numbers import ShownNumbers
from bot.conversation.local_time import local_date
from bot.conversation.ports import Clock
from bot.conversation.text import clip
from bot.conversation.wording import Wording
from bot.forgetting import FORGET, Forgetting
from bot.groups.lines import GroupLines
from bot.memory.fact import Fact, ForgetReceipt
from bot.memory.forget import Forget, Forgotten, Found
from bot.memory.forget_request import Means
from bot.memory.ports import TurnWindow
from bot.memory.topics import topic_label
from bot.ports import AuditLog, Confirmation, ConfirmationStore

CONFIRM_WITHIN = timedelta(minutes=5)
MOST_UNASKED = 5
"""Facts that go without a question."""
MOST_TURNS_UNASKED = 30
MOST_SHOWN = 20
"""About one WeChat page."""
SHOWN_CHARACTERS = 80


class ForgetCommands:
    def __init__(
        self,
        *,
        forget: Forget,
        numbers: ShownNumbers,
        window: TurnWindow,
        lines: GroupLines,
        confirmations: ConfirmationStore,
        audit: AuditLog,
        wording: Wording,
        clock: Clock,
        clear: Callable[[Asker], Awaitable[str]],
    ) -> None:
        """`clear`: asks about everything."""
        self._forget = forget
        self._numbers = numbers
        self._forgetting = Forgetting(forget=forget, window=window, lines=lines, audit=audit)
        self._confirmations = confirmations
        self._wording = wording
        self._clock = clock
        self._clear = clear

    async def forget(self, asker: Asker, call: Call) -> str | None:
        """None: it was talk, and there is nothing to act on."""
        words = call.argument
        if not words:
            return self._wording.say("forget_usage")
        shown = self._numbers.of(asker.scope)
        found = await self._forget.find(asker.scope, words, asker.message.sent_at, shown)
        if found.request.means is Means.ALL:
            return await self._clear(asker)
        if not (found.facts or found.turns):
            if not call.is_certain:
                return None
            if found.gone:
                return self._gone(found)
        if call.is_asking or self._is_much(found) or not found.is_sure:
            return await self._ask(asker, words, found)
        return await self._carry_out(asker, found)

    def is_here(self, asker: Asker, waiting: Confirmation) -> bool:
        """Confirmed where it was asked for."""
        return json.loads(waiting.argument)["place"] == asker.scope.place

    async def confirmed(self, asker: Asker, waiting: Confirmation) -> str:
        """After 「确认」: what the words mean, as of when they were said."""
        asked = json.loads(waiting.argument)
        if asked["facts"]:
            # By number: what was shown with the question.
            found = await self._forget.those(asker.scope, asked["facts"])
        else:
            at = datetime.fromisoformat(asked["at"])
            found = await self._forget.find(asker.scope, asked["words"], at, self._numbers.of(asker.scope))
        return await self._carry_out(asker, found)

    def _is_much(self, found: Found) -> bool:
        return len(found.facts) > MOST_UNASKED or len(found.turns) > MOST_TURNS_UNASKED

    async def _ask(self, asker: Asker, words: str, found: Found) -> str:
        by_number = found.request.means is Means.NUMBER and not found.words
        asked = {
            "place": asker.scope.place,
            "words": words,
            "at": asker.message.sent_at.isoformat(),
            "facts": [fact.id for fact in found.facts] if by_number else [],
        }
        waiting = Confirmation(action=FORGET, argument=json.dumps(asked, ensure_ascii=False), reason="")
        await self._confirmations.ask(asker.account.id, waiting, self._clock.now() + CONFIRM_WITHIN)
        count, turns = len(found.facts), len(found.turns)
        if asker.is_in_group:
            return self._wording.say("forget_ask_group", count=count, turns=turns)
        shown = "\n".join(f"· {clip(fact.text, SHOWN_CHARACTERS)}" for fact in found.facts[:MOST_SHOWN])
        left = len(found.facts) - MOST_SHOWN
        if left > 0:
            shown += self._wording.say("forget_ask_more", left=left)
        return self._wording.say("forget_ask", facts=shown, count=count, turns=turns) + self._gone_too(found)

    def _gone(self, found: Found) -> str:
        return self._wording.say("forget_no_number", numbers="、".join(map(str, found.gone)))

    def _gone_too(self, found: Found) -> str:
        return "\n" + self._gone(found) if found.gone else ""

    async def _carry_out(self, asker: Asker, found: Found) -> str:
        done = await self._forgetting.carry_out(
            asker.account, asker.scope, found, actor=asker.message.sender, asked_in=asker.message.key
        )
        forgotten = done.forgotten
        if forgotten.is_nothing:
            return self._wording.say("forget_nothing")
        answer = self._told(asker, forgotten) + receipt_line(self._wording, forgotten.receipt)
        answer += self._gone_too(found)
        return answer + self._wording.say("forget_window_left") if done.is_window_left else answer

    def _told(self, asker: Asker, forgotten: Forgotten) -> str:
        facts, receipt = forgotten.facts, forgotten.receipt
        if not facts and not receipt.turns:
            return self._wording.say("forgotten_summary")
        if not facts:
            return self._wording.say("forgotten_talk", turns=receipt.turns)
        if asker.is_in_group:
            answer = self._wording.say("forgotten_count", count=len(facts))
        else:
            answer = self._wording.say("forgotten", count=len(facts), facts=self._labels(asker, facts))
        return answer + self._wording.say("forgotten_turns", turns=receipt.turns) if receipt.turns else answer

    def _labels(self, asker: Asker, facts: Sequence[Fact]) -> str:
        """With the numbers under which they were last seen."""
        shown = self._numbers.of(asker.scope)
        numbers = {fact: number for number, fact in enumerate(shown.ids, 1) if number in shown.seen}
        lines = [
            self._wording.say(
                "forgotten_numbered" if fact.id in numbers else "forgotten_fact",
                number=numbers.get(fact.id, 0),
                what=topic_label(fact.text) or self._wording.say(f"kind_{fact.kind.value}"),
                channel=channel_name(self._wording, fact.channel),
                date=local_date(fact.said_at),
            )
            for fact in facts[:MOST_SHOWN]
        ]
        return "\n".join(lines)


def receipt_line(wording: Wording, receipt: ForgetReceipt) -> str:
    """With what the person may prove it by; "" where nothing was there."""
    return wording.say("forget_receipt", number=receipt.number) if receipt.number else ""
