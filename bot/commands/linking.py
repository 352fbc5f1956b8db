"""/绑定, 「确认绑定」, 「取消绑定」, /解绑; and for superusers /冲突, /裁决.

Invariant: in private only; of an account on the other side no more is told than its channel and a mask of its id;
a code that leads nowhere is answered in the same words, whatever the reason.
"""

import re
from collections.abc import Sequence

from bot.commands.clearing import CONFIRM_WITHIN
from bot.commands.context import Asker, channel_name
from bot.commands.people import mask
from bot.conversation.ports import Clock
from bot.conversation.scope import PersonId
from bot.conversation.text import normalise
from bot.conversation.wording import Wording
from bot.ports import Confirmation, ConfirmationStore
from identity.authority import Authority
from identity.linking import CODE_LASTS, CODES_AN_HOUR, Linking, is_code
from identity.model import Account, Conflict, ConflictKind, Decision, LinkOutcome
from identity.ports import AccountStore

UNLINK = "unlink"
MOST_CONFLICTS = 10
"""Shown at once, the oldest first: more would not fit a page."""

_VERDICT = re.compile(r"#?([0-9]{1,18})号?\s*(\S+)")
_DECISIONS = {
    **dict.fromkeys(("合并", "merge"), Decision.MERGE),
    **dict.fromkeys(("分开", "keep"), Decision.KEEP),
}


class LinkingCommands:
    """One person's accounts: together, apart, and what an admin says of it."""

    def __init__(
        self,
        *,
        linking: Linking,
        accounts: AccountStore,
        confirmations: ConfirmationStore,
        authority: Authority,
        wording: Wording,
        clock: Clock,
    ) -> None:
        self._linking = linking
        self._accounts = accounts
        self._confirmations = confirmations
        self._authority = authority
        self._wording = wording
        self._clock = clock

    async def link(self, asker: Asker, code: str) -> str:
        """Without a code: who entered the last one, else a new one."""
        if asker.is_in_group:
            return self._wording.say("private_only")
        if code and not is_code(code):
            return self._wording.say("link_usage")
        if code:
            issuer = await self._linking.enter(asker.account, code)
            if issuer is None:
                return self._wording.say("link_wrong")
            return self._about("link_noted", issuer)
        entered_by = await self._linking.entered_by(asker.account)
        if entered_by is not None:
            return self._about("link_entered", entered_by)
        issued = await self._linking.issue(asker.account)
        if issued is None:
            return self._wording.say("link_too_many", count=CODES_AN_HOUR)
        return self._wording.say("link_code", code=issued, minutes=CODE_LASTS.seconds // 60)

    async def confirm(self, asker: Asker) -> str | None:
        """None: nothing waits for it."""
        if asker.is_in_group:
            return None
        outcome, other = await self._linking.confirm(asker.account)
        if other is None:
            return None
        match outcome:
            case LinkOutcome.UNSEEN:
                return self._about("link_entered", other)
            case LinkOutcome.LINKED:
                return self._about("link_done", other)
            case _:
                return self._wording.say("link_conflict")

    async def refuse(self, asker: Asker) -> str | None:
        """None: there is no code to take back."""
        if asker.is_in_group or not await self._linking.refuse(asker.account):
            return None
        return self._wording.say("link_refused")

    async def ask_to_unlink(self, asker: Asker) -> str:
        if asker.is_in_group:
            return self._wording.say("private_only")
        others = [each for each in await self._together(asker) if each.id != asker.account.id]
        if not others:
            return self._wording.say("unlink_none")
        waiting = Confirmation(action=UNLINK, argument="", reason="")
        await self._confirmations.ask(asker.account.id, waiting, self._clock.now() + CONFIRM_WITHIN)
        lines = "\n".join(self._about("linked_account", each) for each in others)
        return self._wording.say("unlink_ask", accounts=lines)

    async def unlink(self, asker: Asker) -> str:
        """After 「确认」."""
        await self._accounts.part(asker.account.id)
        return self._wording.say("unlink_done")

    async def conflicts(self, asker: Asker) -> str:
        if (refusal := await self._refusal(asker)) is not None:
            return refusal
        waiting = await self._accounts.conflicts()
        if not waiting:
            return self._wording.say("conflict_none")
        lines = [await self._line(each) for each in waiting[:MOST_CONFLICTS]]
        return self._wording.say("conflict_list", count=len(waiting), conflicts="\n".join(lines))

    async def decide(self, asker: Asker, argument: str) -> str:
        if (refusal := await self._refusal(asker)) is not None:
            return refusal
        verdict = _VERDICT.fullmatch(argument.strip())
        decision = _DECISIONS.get(normalise(verdict[2])) if verdict else None
        if verdict is None or decision is None:
            return self._wording.say("decide_usage")
        decided = await self._accounts.decide(int(verdict[1]), decision, asker.account.key)
        if decided is None:
            return self._wording.say("decide_unknown")
        if decision is Decision.MERGE:
            return self._wording.say("decide_merged", first=decided.first, second=decided.second)
        return self._wording.say("decide_kept", first=decided.first, second=decided.second)

    async def _refusal(self, asker: Asker) -> str | None:
        if not await self._authority.is_superuser(asker.message.sender):
            return self._wording.say("not_allowed")
        return self._wording.say("private_only") if asker.is_in_group else None

    async def _together(self, asker: Asker) -> Sequence[Account]:
        return await self._accounts.accounts_of(asker.account.person)

    async def _line(self, conflict: Conflict) -> str:
        is_phones = conflict.kind is ConflictKind.PHONES
        return self._wording.say(
            "conflict_line",
            number=conflict.id,
            first=await self._person(conflict.first),
            second=await self._person(conflict.second),
            why=self._wording.say("conflict_phones") if is_phones else self._wording.say("conflict_unionids"),
        )

    async def _person(self, person: PersonId) -> str:
        accounts = "、".join(
            f"{channel_name(self._wording, each.key.channel)} {mask(each.key.openid)}"
            for each in await self._accounts.accounts_of(person)
        )
        return self._wording.say("find_person", person=person, accounts=accounts)

    def _about(self, key: str, account: Account) -> str:
        channel = channel_name(self._wording, account.key.channel)
        return self._wording.say(key, channel=channel, account=mask(account.key.openid))
