"""What the owner and the admins of a group may ask: switch the bot, keep and clear what the group remembers.

Invariant: a member's private memory is out of reach here; standing in the group is what the platform states
with the very message that asks, and with the one that confirms.
"""

from bot.commands.context import Asker
from bot.commands.forgetting import receipt_line
from bot.commands.memory import FACT_CHARACTERS, MOST_FACTS
from bot.conversation.message import Role
from bot.conversation.scope import Scope
from bot.conversation.text import clip, normalise
from bot.conversation.wording import Wording
from bot.erasing import Erasing
from bot.groups.lines import GroupLines
from bot.groups.switch import GroupSwitch
from bot.memory.explicit import facts_of_explicit
from bot.memory.forget import Forget
from bot.memory.forget_request import Means
from bot.memory.ports import FactStore
from bot.ports import AuditLog, Confirmation
from identity.authority import Authority
from identity.directory import Directory
from identity.ports import AccountStore

CLEAR_GROUP = "clear_group"
_YES = frozenset(("开", "开启", "on", "是"))
_NO = frozenset(("关", "关闭", "off", "否"))


class GroupCommands:
    """/开启, /关闭, /群记忆, /群记住, /群忘记, /清除群记忆, /群里可用."""

    def __init__(
        self,
        *,
        facts: FactStore,
        forget: Forget,
        erasing: Erasing,
        switch: GroupSwitch,
        lines: GroupLines,
        accounts: AccountStore,
        directory: Directory,
        authority: Authority,
        audit: AuditLog,
        wording: Wording,
    ) -> None:
        self._facts = facts
        self._forget = forget
        self._erasing = erasing
        self._switch = switch
        self._lines = lines
        self._accounts = accounts
        self._directory = directory
        self._authority = authority
        self._audit = audit
        self._wording = wording

    async def switch(self, asker: Asker, *, is_on: bool) -> str:
        if (refusal := await self._refusal(asker)) is not None:
            return refusal
        await self._switch.turn(asker.scope.place, is_on=is_on)
        await self._audit.record(asker.message.sender, "switch_group", None, "", "on" if is_on else "off")
        return self._wording.say("group_on" if is_on else "group_off")

    async def show(self, asker: Asker) -> str:
        """What the group remembers together: for everybody in it."""
        if not asker.is_in_group:
            return self._wording.say("group_only")
        group = await self._directory.known_group(asker.message.conversation)
        facts = (await self._facts.fact_sheet(group.scope(asker.scope.place))).facts if group else ()
        if not facts:
            return self._wording.say("group_memory_empty")
        lines = "\n".join(f"· {clip(fact.text, FACT_CHARACTERS)}" for fact in facts[::-1][:MOST_FACTS])
        return self._wording.say("group_memory_list", count=len(facts), facts=lines)

    async def remember(self, asker: Asker, words: str) -> str:
        if (refusal := await self._refusal(asker)) is not None:
            return refusal
        new = facts_of_explicit(words, asker.message.sent_at, is_group=True)
        if not new:
            return self._wording.say("group_remember_what")
        await self._facts.keep(await self._scope(asker), new, None, "", source_turn=None)
        return self._wording.say("group_remembered", facts="；".join(fact.text for fact in new))

    async def forget(self, asker: Asker, words: str) -> str:
        if (refusal := await self._refusal(asker)) is not None:
            return refusal
        if not words:
            return self._wording.say("group_forget_usage")
        scope = await self._scope(asker)
        found = await self._forget.find(scope, words, asker.message.sent_at)
        self._lines.drop_place(asker.scope.place)
        if found.request.means is Means.ALL or not found.facts:
            return self._wording.say("forget_nothing")
        forgotten = await self._forget.forget(scope, found)
        return self._wording.say("group_forgotten", count=len(forgotten.facts)) + receipt_line(
            self._wording, forgotten.receipt
        )

    async def ask_to_clear(self, asker: Asker) -> tuple[str, Confirmation | None]:
        """What is said, and what then waits for 「确认」."""
        if (refusal := await self._refusal(asker)) is not None:
            return refusal, None
        waiting = Confirmation(action=CLEAR_GROUP, argument=asker.scope.place, reason="")
        return self._wording.say("group_clear_ask"), waiting

    async def clear(self, asker: Asker, confirmed: Confirmation) -> str:
        """After 「确认」: in the same group, by somebody who still may."""
        if (refusal := await self._refusal(asker)) is not None:
            return refusal
        receipt = await self._erasing.place(confirmed.argument)
        detail = f"facts={receipt.facts} turns={receipt.turns} jobs={receipt.jobs} vectors={receipt.vectors}"
        await self._audit.record(asker.message.sender, CLEAR_GROUP, None, "", detail)
        return self._wording.say("group_clear_done", facts=receipt.facts, turns=receipt.turns)

    async def open(self, asker: Asker, argument: str) -> str:
        """Whether one's own private memory may be recalled where one speaks in groups."""
        if asker.is_in_group:
            return self._wording.say("private_only")
        word = normalise(argument)
        if word not in _YES | _NO:
            return self._wording.say("open_usage")
        await self._accounts.set_open(asker.account.id, is_open=word in _YES)
        return self._wording.say("open_on" if word in _YES else "open_off")

    async def _refusal(self, asker: Asker) -> str | None:
        """What to say to who may not; None to who may."""
        if not asker.is_in_group:
            return self._wording.say("group_only")
        is_admin = asker.message.role in (Role.OWNER, Role.ADMIN)
        if is_admin or await self._authority.is_superuser(asker.message.sender):
            return None
        return self._wording.say("group_admin_only")

    async def _scope(self, asker: Asker) -> Scope:
        group = await self._directory.group(asker.message.conversation)
        return group.scope(asker.scope.place)
