"""/注销: memory, links and phone, all at once.

Invariant: nothing goes without its sender's 「确认」, and 「已注销」 is said only when all of it is gone; the audit log
keeps ids and counts.
"""

from bot.commands.clearing import CONFIRM_WITHIN
from bot.commands.context import Asker
from bot.conversation.ports import Clock
from bot.conversation.wording import Wording
from bot.erasing import Erasing
from bot.ports import AuditLog, Confirmation, ConfirmationStore

LEAVE = "leave"


class LeavingCommands:
    """Being a stranger again."""

    def __init__(
        self,
        *,
        erasing: Erasing,
        confirmations: ConfirmationStore,
        audit: AuditLog,
        wording: Wording,
        clock: Clock,
    ) -> None:
        self._erasing = erasing
        self._confirmations = confirmations
        self._audit = audit
        self._wording = wording
        self._clock = clock

    async def ask(self, asker: Asker) -> str:
        if asker.is_in_group:
            return self._wording.say("private_only")
        waiting = Confirmation(action=LEAVE, argument="", reason="")
        await self._confirmations.ask(asker.account.id, waiting, self._clock.now() + CONFIRM_WITHIN)
        return self._wording.say("leave_ask")

    async def leave(self, asker: Asker) -> str:
        """After 「确认」."""
        person = asker.account.person
        receipt, count = await self._erasing.departing(person, seen_in=(asker.scope,))
        detail = f"accounts={count} facts={receipt.facts} turns={receipt.turns} vectors={receipt.vectors}"
        await self._audit.record(None, LEAVE, person, "", detail)
        return self._wording.say("leave_done", facts=receipt.facts, turns=receipt.turns)
