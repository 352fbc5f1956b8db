"""/清除记忆: all of one's own memory, or a superuser's clearing of another's; /清除群记忆: a group's.

Invariant: nothing is cleared without its sender's 「确认」 within five minutes; a superuser's right is
asked again at that moment; whoever has none learns nothing about the person they named.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from bot.commands.context import Asker
from bot.commands.forgetting import CONFIRM_WITHIN, ForgetCommands, receipt_line
from bot.commands.groups import CLEAR_GROUP, GroupCommands
from bot.commands.yes_no import says_no, says_yes
from bot.conversation.message import AccountKey
from bot.conversation.ports import Clock
from bot.conversation.scope import PersonId
from bot.conversation.text import clean, clip
from bot.conversation.wording import Wording
from bot.erasing import Erasing
from bot.forgetting import FORGET, detail_of
from bot.memory.fact import ForgetReceipt
from bot.ports import AuditLog, Confirmation, ConfirmationStore
from identity.authority import Authority
from identity.directory import Directory
from identity.ports import AccountStore

CLEAR_SELF = "clear_self"
CLEAR_PERSON = "clear_person"
LONGEST_REASON = 200
"""Characters kept in the audit log."""
_NAMESAKES = 200
"""Accounts looked through for one openid, which may occur under several apps and inside other ids."""

_PERSON = re.compile(r"#?([0-9]{1,18})号?")
_ADDRESS = re.compile(r"([A-Za-z_]+)[:：](\S+)")
_MENTION = re.compile(r"@\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whose memory, by what was written: one of the three is set."""

    person: PersonId | None = None
    address: tuple[str, str] | None = None
    """(channel, openid)."""
    key: AccountKey | None = None


class ClearingCommands:
    """/清除记忆, /清除群记忆; 「确认」 and 「取消」, also of what others ask."""

    def __init__(
        self,
        *,
        erasing: Erasing,
        groups: GroupCommands,
        confirmations: ConfirmationStore,
        audit: AuditLog,
        accounts: AccountStore,
        directory: Directory,
        authority: Authority,
        wording: Wording,
        clock: Clock,
        others: Mapping[str, Callable[[Asker], Awaitable[str]]],
        forgetting: ForgetCommands,
    ) -> None:
        """`others`: what else waits for 「确认」 in private, and what carries it out."""
        self._erasing = erasing
        self._forgetting = forgetting
        self._groups = groups
        self._others = others
        self._confirmations = confirmations
        self._audit = audit
        self._accounts = accounts
        self._directory = directory
        self._authority = authority
        self._wording = wording
        self._clock = clock

    async def ask(self, asker: Asker, argument: str) -> str:
        """First step: say what would happen and wait for 「确认」."""
        if argument or asker.message.mentioned:
            return await self._ask_for_other(asker, argument)
        return await self.ask_for_self(asker)

    async def ask_for_self(self, asker: Asker) -> str:
        """First step of all one's own."""
        if asker.is_in_group:
            return self._wording.say("private_only")
        await self._wait(asker, Confirmation(action=CLEAR_SELF, argument="", reason=""))
        return self._wording.say("clear_self_ask")

    async def ask_for_group(self, asker: Asker) -> str:
        """First step for a whole group's memory."""
        answer, waiting = await self._groups.ask_to_clear(asker)
        if waiting is not None:
            await self._wait(asker, waiting)
        return answer

    async def confirm(self, asker: Asker) -> str | None:
        """Second step. None: nothing waits for it."""
        pending = await self._confirmations.pending(asker.account.id)
        if pending is None:
            return None
        if (elsewhere := self._elsewhere(asker, pending)) is not None:
            return elsewhere
        taken = await self._confirmations.take(asker.account.id)
        if taken is None:
            return None
        if taken.action == CLEAR_SELF:
            return await self._clear_self(asker)
        if taken.action == FORGET:
            return await self._forgetting.confirmed(asker, taken)
        if taken.action == CLEAR_GROUP:
            return await self._groups.clear(asker, taken)
        if (carry_out := self._others.get(taken.action)) is not None:
            return await carry_out(asker)
        return await self._clear_other(asker, taken)

    def _elsewhere(self, asker: Asker, pending: Confirmation) -> str | None:
        """What is said to who answers in another place than where they were asked."""
        if (pending.action == CLEAR_SELF or pending.action in self._others) and asker.is_in_group:
            return self._wording.say("private_only")
        if pending.action == CLEAR_GROUP and asker.scope.place != pending.argument:
            return self._wording.say("group_clear_there")
        if pending.action == FORGET and not self._forgetting.is_here(asker, pending):
            return self._wording.say("forget_there")
        return None

    async def cancel(self, asker: Asker) -> str | None:
        """None: nothing waits."""
        taken = await self._confirmations.take(asker.account.id)
        if taken is None:
            return None
        return self._wording.say("cancelled" if taken.action in self._others else "clear_cancelled")

    async def declined(self, asker: Asker, text: str) -> str | None:
        """What is said to 「不」, and to 「好」, which isn't enough, where they answer what waits here; None for the rest."""
        if not (says_yes(text) or says_no(text)):
            return None
        pending = await self._confirmations.pending(asker.account.id)
        if pending is None or self._elsewhere(asker, pending) is not None:
            return None
        cancelled = await self.cancel(asker)
        return self._wording.say("confirm_unsaid") if says_yes(text) else cancelled

    async def waits(self, asker: Asker) -> bool:
        return await self._confirmations.pending(asker.account.id) is not None

    async def leave(self, asker: Asker) -> None:
        """Anything but 「确认」 leaves the memory: a later 「确认」 may mean something else."""
        if await self._confirmations.pending(asker.account.id) is not None:
            await self._confirmations.take(asker.account.id)

    async def _ask_for_other(self, asker: Asker, argument: str) -> str:
        if not await self._authority.is_superuser(asker.message.sender):
            return self._wording.say("clear_other_refused" if asker.is_in_group else "clear_only_own")
        parsed = parse_target(argument, asker.message.mentioned)
        if parsed is None:
            return self._wording.say("clear_usage")
        target, reason = parsed
        people = await self._people(asker, target)
        if not people:
            return self._wording.say("find_nothing")
        if len(people) > 1:
            numbers = "、".join(map(str, sorted(people)))
            return self._wording.say("clear_several", people=numbers)
        (person,) = people
        confirmation = Confirmation(action=CLEAR_PERSON, argument=str(person), reason=reason)
        await self._wait(asker, confirmation)
        return self._wording.say("clear_other_ask", person=person, reason=reason)

    async def _wait(self, asker: Asker, confirmation: Confirmation) -> None:
        await self._confirmations.ask(asker.account.id, confirmation, self._clock.now() + CONFIRM_WITHIN)

    async def _people(self, asker: Asker, target: Target) -> set[PersonId]:
        """Whole ids only: a part of one names nobody."""
        if target.person is not None:
            return {target.person} if await self._accounts.accounts_of(target.person) else set()
        if target.key is not None:
            account = await self._accounts.find_account(target.key)
            return {account.person} if account else set()
        assert target.address is not None
        channel, openid = target.address
        here = AccountKey(channel=channel, app_id=asker.message.sender.app_id, openid=openid)
        if (account := await self._accounts.find_account(here)) is not None:
            return {account.person}
        found = await self._directory.find(openid, _NAMESAKES)
        return {account.person for account in found if account.key.address == f"{channel}:{openid}"}

    async def _clear_self(self, asker: Asker) -> str:
        receipt = await self._clear(asker, asker.account.person, CLEAR_SELF, "")
        done = self._wording.say("clear_self_done", facts=receipt.facts, turns=receipt.turns)
        return done + receipt_line(self._wording, receipt)

    async def _clear_other(self, asker: Asker, confirmation: Confirmation) -> str:
        if not await self._authority.is_superuser(asker.message.sender):
            return self._wording.say("clear_other_refused")
        person = PersonId(int(confirmation.argument))
        receipt = await self._clear(asker, person, CLEAR_PERSON, confirmation.reason)
        done = self._wording.say(
            "clear_other_done",
            person=person,
            facts=receipt.facts,
            turns=receipt.turns,
            jobs=receipt.jobs,
            deliveries=receipt.deliveries,
            vectors=receipt.vectors,
        )
        return done + receipt_line(self._wording, receipt)

    async def _clear(self, asker: Asker, person: PersonId, action: str, reason: str) -> ForgetReceipt:
        receipt = await self._erasing.person(person, seen_in=(asker.scope,))
        detail = detail_of(receipt)
        await self._audit.record(asker.message.sender, action, person, reason, detail)
        return receipt


def parse_target(argument: str, mentioned: tuple[AccountKey, ...]) -> tuple[Target, str] | None:
    """(whose memory, why) of `<人> <理由>`; None when either is missing or ambiguous.

    With one person mentioned the argument is the reason, since channels take the mention out.
    """
    said = clean(argument)
    if mentioned:
        reason = clip(_MENTION.sub("", said, count=1), LONGEST_REASON)
        is_named_twice = _named(said.partition(" ")[0]) is not None
        if len(set(mentioned)) > 1 or is_named_twice or not reason:
            return None
        return Target(key=mentioned[0]), reason
    first, _, rest = said.partition(" ")
    target, reason = _named(first), clip(rest, LONGEST_REASON)
    return (target, reason) if target is not None and reason else None


def _named(word: str) -> Target | None:
    if (person := _PERSON.fullmatch(word)) is not None:
        return Target(person=PersonId(int(person[1])))
    if (address := _ADDRESS.fullmatch(word)) is not None:
        return Target(address=(address[1].lower(), address[2]))
    return None
