"""/暂停记忆 and /恢复记忆: from now on nothing new is remembered of a person, or again.

Invariant: what was remembered before stays, and stays theirs to see, correct, take away and forget.
"""

from bot.commands.context import Asker
from bot.conversation.wording import Wording
from bot.ports import PauseStore


class PauseCommands:
    def __init__(self, pauses: PauseStore, wording: Wording) -> None:
        self._pauses = pauses
        self._wording = wording

    async def pause(self, asker: Asker) -> str:
        await self._pauses.pause(asker.account.person)
        return self._wording.say("memory_pause_done")

    async def resume(self, asker: Asker) -> str:
        was_paused = await self._pauses.is_paused(asker.account.person)
        await self._pauses.resume(asker.account.person)
        return self._wording.say("memory_resume_done" if was_paused else "memory_resume_nothing")
