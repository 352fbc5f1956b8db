"""/状态: how the house is.

Invariant: details are for a superuser in private alone.
"""

from bot.commands.context import DEGRADED, Asker, StatusReport
from bot.conversation.wording import Wording
from identity.authority import Authority


class StateCommands:
    def __init__(self, status: StatusReport, authority: Authority, wording: Wording) -> None:
        self._status = status
        self._authority = authority
        self._wording = wording

    async def tell(self, asker: Asker) -> str:
        if asker.is_in_group or not await self._authority.is_superuser(asker.message.sender):
            return await self.in_short()
        report = await self._status()
        told = ((label, value) for label, value in report.items() if value)
        lines = "\n".join(self._wording.say("status_line", label=label, value=value) for label, value in told)
        return self._wording.say("status_report", lines=lines)

    async def in_short(self) -> str:
        report = await self._status()
        return self._wording.say("status_degraded" if report.get(DEGRADED) else "status_ok")
