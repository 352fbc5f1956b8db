"""The router of commands: one call for each message, in every channel.

Invariant: whatever isn't a command, or may have been talk and finds nothing to act on, comes back as
None, so that no message is swallowed.
"""

from bot.alerts import Alerts
from bot.commands.clearing import ClearingCommands
from bot.commands.context import (
    HUMAN,
    Asker,
    CommandContext,
    CommandReply,
    StatusReport,
    channel_name,
)
from bot.commands.correcting import CorrectCommands
from bot.commands.exporting import Export, ExportCommands
from bot.commands.forgetting import ForgetCommands
from bot.commands.groups import GroupCommands
from bot.commands.held import HeldAnswers
from bot.commands.leaving import LEAVE, LeavingCommands
from bot.commands.linking import UNLINK, LinkingCommands
from bot.commands.memory import MemoryCommands
from bot.commands.parsing import Call, Command
from bot.commands.pausing import PauseCommands
from bot.commands.people import PeopleCommands
from bot.commands.phone import PhoneCommands
from bot.commands.recognising import recognise
from bot.commands.shown_numbers import ShownNumbers
from bot.commands.state import StateCommands
from bot.conversation.ports import Clock
from bot.conversation.wording import Wording
from bot.erasing import Erasing
from bot.groups.lines import GroupLines
from bot.groups.switch import GroupSwitch
from bot.memory.forget import Forget
from bot.memory.ports import FactStore, TurnWindow
from bot.ports import AuditLog, ConfirmationStore, DeliveryStore, PauseStore
from identity.authority import Authority
from identity.directory import Directory
from identity.linking import Linking
from identity.phone_codes import PhoneCodes
from identity.ports import AccountStore

_FOR_STRANGERS = frozenset({Command.HELP, Command.PRIVACY, Command.STATUS})
"""What needs no account."""
_NAMING_WHAT_GOES = frozenset({Command.FORGET, Command.GROUP_FORGET})


class Commands:
    """Recognises commands and carries them out."""

    def __init__(
        self,
        *,
        facts: FactStore,
        window: TurnWindow,
        forget: Forget,
        erasing: Erasing,
        lines: GroupLines,
        switch: GroupSwitch,
        deliveries: DeliveryStore,
        confirmations: ConfirmationStore,
        audit: AuditLog,
        accounts: AccountStore,
        directory: Directory,
        authority: Authority,
        linking: Linking,
        phone_codes: PhoneCodes | None,
        status: StatusReport,
        alerts: Alerts,
        pauses: PauseStore,
        export: Export,
        wording: Wording,
        clock: Clock,
    ) -> None:
        numbers = ShownNumbers()
        self._memory = MemoryCommands(facts, pauses, wording, numbers)
        self._correcting = CorrectCommands(facts, wording, numbers)
        self._exporting = ExportCommands(export, wording)
        self._pausing = PauseCommands(pauses, wording)
        self._forgetting = ForgetCommands(
            forget=forget,
            numbers=numbers,
            window=window,
            lines=lines,
            confirmations=confirmations,
            audit=audit,
            wording=wording,
            clock=clock,
            clear=lambda asker: self._clearing.ask_for_self(asker),  # noqa: PLW0108 — made below
        )
        self._people = PeopleCommands(directory, authority, wording)
        self._held = HeldAnswers(deliveries, wording)
        self._groups = GroupCommands(
            facts=facts,
            forget=forget,
            erasing=erasing,
            switch=switch,
            lines=lines,
            accounts=accounts,
            directory=directory,
            authority=authority,
            audit=audit,
            wording=wording,
        )
        self._linking = LinkingCommands(
            linking=linking,
            accounts=accounts,
            confirmations=confirmations,
            authority=authority,
            wording=wording,
            clock=clock,
        )
        self._phone = PhoneCommands(phone_codes, alerts, wording)
        self._leaving = LeavingCommands(
            erasing=erasing,
            confirmations=confirmations,
            audit=audit,
            wording=wording,
            clock=clock,
        )
        self._clearing = ClearingCommands(
            erasing=erasing,
            groups=self._groups,
            confirmations=confirmations,
            audit=audit,
            accounts=accounts,
            directory=directory,
            authority=authority,
            wording=wording,
            clock=clock,
            others={UNLINK: self._linking.unlink, LEAVE: self._leaving.leave},
            forgetting=self._forgetting,
        )
        self._authority = authority
        self._state = StateCommands(status, authority, wording)
        self._alerts = alerts
        self._wording = wording

    async def handle(self, context: CommandContext) -> CommandReply | None:
        """Carry out the command in a message. None: it holds none.

        Raises StoreUnavailable.
        """
        call, *more = recognise(context.message.text) or (None,)
        if context.message.is_anonymous or context.account is None or context.scope is None:
            return await self._for_stranger(call)
        asker = Asker(
            message=context.message, account=context.account, scope=context.scope, away=context.away
        )
        if call is None or call.command not in (Command.CONFIRM, Command.CONTINUE):
            if call is not None and call.command is Command.CANCEL:
                return _reply(await self._clearing.cancel(asker) or self._nothing_to_do(call))
            if (declined := await self._clearing.declined(asker, context.message.text)) is not None:
                return _reply(declined)
            await self._clearing.leave(asker)
        if call is None:
            return None
        if call.command is Command.CONTINUE:
            page = await self._held.next_page(asker, is_plain=call.is_plain)
            # What it asked for was still being made, and has been shown since: there is nothing to add.
            return CommandReply(text="") if page is None and context.has_waited else page
        if call.command is Command.HUMAN:
            return CommandReply(text=await self._ask_for_human(asker), decided_by=HUMAN)
        if more:
            return _reply(await self._forget_and_remember(asker, call, more[0]), hides_question=True)
        answer = await self._carry_out(call, asker) or self._nothing_to_do(call)
        return _reply(answer, hides_question=call.command in _NAMING_WHAT_GOES)

    def _nothing_to_do(self, call: Call) -> str | None:
        """Plain words may have been talk; a slash never is."""
        return None if call.is_plain else self._wording.say("confirm_nothing")

    async def _forget_and_remember(self, asker: Asker, forget: Call, remember: Call) -> str:
        """In this order. Where the forgetting waits for 「确认」, what is to be remembered could go with it."""
        forgotten = await self._forgetting.forget(asker, forget) or self._wording.say("forget_nothing")
        if await self._clearing.waits(asker):
            return forgotten + self._wording.say("remember_afterwards")
        return f"{forgotten}\n{await self._memory.remember(asker, remember.argument)}"

    async def _carry_out(self, call: Call, asker: Asker) -> str | None:
        if call.is_too_long:
            return self._wording.say(f"{call.command.value}_too_long")
        match call.command:
            case Command.ID:
                return self._people.own_id(asker)
            case Command.CLAIM:
                return await self._people.claim(asker, call.argument)
            case Command.FIND:
                return await self._people.find(asker, call.argument)
            case Command.STATUS:
                return await self._state.tell(asker)
            case Command.PRIVACY:
                return self._wording.say("privacy")
            case Command.CLEAR:
                return await self._clearing.ask(asker, call.argument)
            case Command.CONFIRM:
                return await self._clearing.confirm(asker)
            case _:
                return await self._about_memory(call, asker)

    async def _about_memory(self, call: Call, asker: Asker) -> str | None:
        match call.command:
            case Command.MEMORY:
                return await self._memory.show(asker, call.argument)
            case Command.REMEMBER:
                return await self._memory.remember(asker, call.argument)
            case Command.FORGET:
                return await self._forgetting.forget(asker, call)
            case Command.CORRECT:
                return await self._correcting.correct(asker, call.argument)
            case Command.EXPORT:
                return await self._exporting.export(asker, call.argument)
            case Command.PAUSE:
                return await self._pausing.pause(asker)
            case Command.RESUME:
                return await self._pausing.resume(asker)
            case _:
                return await self._about_accounts(call, asker)

    async def _about_accounts(self, call: Call, asker: Asker) -> str | None:
        match call.command:
            case Command.LINK:
                return await self._linking.link(asker, call.argument)
            case Command.LINK_CONFIRM:
                return await self._linking.confirm(asker)
            case Command.LINK_REFUSE:
                return await self._linking.refuse(asker)
            case Command.UNLINK:
                return await self._linking.ask_to_unlink(asker)
            case Command.LEAVE:
                return await self._leaving.ask(asker)
            case Command.PHONE:
                return await self._phone.send(asker, call.argument)
            case Command.VERIFY:
                return await self._phone.verify(asker, call.argument)
            case Command.CONFLICTS:
                return await self._linking.conflicts(asker)
            case Command.DECIDE:
                return await self._linking.decide(asker, call.argument)
            case _:
                return await self._about_a_group(call, asker)

    async def _about_a_group(self, call: Call, asker: Asker) -> str:
        match call.command:
            case Command.SWITCH_ON | Command.SWITCH_OFF:
                return await self._groups.switch(asker, is_on=call.command is Command.SWITCH_ON)
            case Command.GROUP_MEMORY:
                return await self._groups.show(asker)
            case Command.GROUP_REMEMBER:
                return await self._groups.remember(asker, call.argument)
            case Command.GROUP_FORGET:
                return await self._groups.forget(asker, call.argument)
            case Command.GROUP_CLEAR:
                return await self._clearing.ask_for_group(asker)
            case Command.OPEN:
                return await self._groups.open(asker, call.argument)
            case _:
                return await self._help(asker)

    async def _ask_for_human(self, asker: Asker) -> str:
        """The operator hears of it, at most once an hour of each; the person may go on talking meanwhile."""
        person, channel = asker.account.person, channel_name(self._wording, asker.message.sender.channel)
        key = f"human:{person}:{asker.message.sent_at:%Y%m%d%H}"
        await self._alerts.tell(key, f"{person} 号人（{channel}）要找真人，请去回复")
        return self._wording.say("human_leave_message")

    async def _for_stranger(self, call: Call | None) -> CommandReply | None:
        if call is None or (call.is_plain and call.command not in _FOR_STRANGERS | {Command.MEMORY}):
            return None
        match call.command:
            case Command.HELP:
                return _reply(self._wording.say("help"))
            case Command.STATUS:
                return _reply(await self._state.in_short())
            case _:
                return _reply(
                    self._wording.say("privacy" if call.command is Command.PRIVACY else "anonymous")
                )

    async def _help(self, asker: Asker) -> str:
        text = self._wording.say("help")
        if self._phone.is_on:
            text = self._wording.say("help_phone", help=text)
        if asker.is_in_group:
            text = self._wording.say("help_group", help=text)
        is_superuser = await self._authority.is_superuser(asker.message.sender)
        return self._wording.say("help_superuser", help=text) if is_superuser else text


def _reply(text: str | None, *, hides_question: bool = False) -> CommandReply | None:
    return None if text is None else CommandReply(text=text, hides_question=hides_question)
