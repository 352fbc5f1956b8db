"""The commands over stores that live in memory, for the tests of each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.commands import CommandContext, CommandReply, Commands
from bot.conversation.errors import StoreUnavailable
from bot.conversation.message import AccountKey, Conversation, Kind, Message, Role
from bot.conversation.scope import AccountId, PersonId, Scope
from bot.conversation.turn import Turn
from bot.conversation.wording import Wording
from bot.erasing import Erasing
from bot.groups.lines import GroupLines
from bot.groups.switch import GroupSwitch
from bot.memory.entities import SeenEntity
from bot.memory.fact import Fact, FactKind, ForgetReceipt, MemoryVersion, NewFact
from bot.memory.forget import Forget
from bot.memory.ports import FactSheet
from bot.memory.summary import NewSummary
from bot.ports import Confirmation, Delivery
from identity.authority import Authority
from identity.directory import Directory
from identity.linking import Linking
from identity.model import Account, Conflict, Decision, LinkOutcome
from identity.phone import PhoneHasher
from identity.phone_codes import PhoneCodes
from tests.alert_fakes import Told

NOW = datetime(2025, 11, 29, 18, 30, tzinfo=UTC)
WORDING = Wording.load("zh_CN")

ALICE = AccountKey(channel="wechat", app_id="wxshop", openid="oAlice_0123456789")
ALICE_QQ = AccountKey(channel="onebot", app_id="10000", openid="20001")
BOB = AccountKey(channel="wechat", app_id="wxshop", openid="oBobby_0123456789")
ROOT = AccountKey(channel="onebot", app_id="10000", openid="99999")


class Clock:
    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return self.at


class Facts:
    """`FactStore`, as far as commands go."""

    def __init__(self) -> None:
        self.held: dict[tuple[PersonId, str], list[Fact]] = {}
        self.epochs: dict[PersonId, int] = {}
        self.cleared: list[PersonId] = []
        self.told = 0
        """No id is given twice."""

    def hold(
        self,
        scope: Scope,
        *texts: str,
        channel: str = "wechat",
        kind: FactKind = FactKind.PREFERENCE,
    ) -> None:
        for text in texts:
            known = self.held.setdefault((scope.person, scope.place), [])
            self.told += 1
            known.append(
                Fact(
                    id=self.told,
                    kind=kind,
                    text=text,
                    importance=0.5,
                    said_at=NOW + timedelta(minutes=len(known)),
                    channel=channel,
                )
            )

    def texts(self, scope: Scope) -> list[str]:
        return [fact.text for fact in self.held.get((scope.person, scope.place), [])]

    async def fact_sheet(self, scope: Scope) -> FactSheet:
        facts = tuple(self.held.get((scope.person, scope.place), []))
        return FactSheet(version=MemoryVersion(epoch=scope.epoch, shelves=()), facts=facts)

    async def keep(
        self,
        scope: Scope,
        facts: Sequence[NewFact],
        vectors: object,
        model_id: str,
        *,
        source_turn: int | None,
        job: int | None = None,
        entities: Sequence[SeenEntity] = (),
        summary: NewSummary | None = None,
    ) -> tuple[int, ...]:
        assert vectors is None and not entities and not summary
        if scope.epoch < self.epochs.get(scope.person, 0):
            return ()
        new = [fact.text for fact in facts if fact.text not in self.texts(scope)]
        self.hold(scope, *new)
        return tuple(range(len(new)))

    async def held_facts(self, scope: Scope) -> tuple[Fact, ...]:
        return tuple((await self.fact_sheet(scope)).facts)

    async def supersede(self, scope: Scope, fact_ids: Sequence[int], by: int) -> int:
        known = self.held[scope.person, scope.place]
        self.held[scope.person, scope.place] = [fact for fact in known if fact.id not in fact_ids]
        return len(known) - len(self.held[scope.person, scope.place])

    async def forget_facts(
        self,
        scope: Scope,
        fact_ids: Sequence[int],
        words: Sequence[str] = (),
        *,
        turns: Sequence[int] = (),
        asked_in: str = "",
    ) -> ForgetReceipt:
        known = self.held.get((scope.person, scope.place), [])
        left = [fact for fact in known if fact.id not in fact_ids]
        self.held[scope.person, scope.place] = left
        return ForgetReceipt(facts=len(known) - len(left))

    async def clear_person(self, person: PersonId) -> ForgetReceipt:
        self.cleared.append(person)
        places = [key for key in self.held if key[0] == person]
        count = sum(len(self.held.pop(key)) for key in places)
        return ForgetReceipt(facts=count, turns=7, jobs=1, deliveries=2, vectors=count)

    async def clear_place(self, place: str) -> ForgetReceipt:
        keys = [key for key in self.held if key[1] == place]
        count = sum(len(self.held.pop(key)) for key in keys)
        return ForgetReceipt(facts=count, turns=5, jobs=1, deliveries=2, vectors=count)


class Window:
    def __init__(self) -> None:
        self.dropped: list[Scope] = []
        self.is_away = False

    async def drop(self, scope: Scope, *, for_good: bool = False) -> None:
        if self.is_away:
            raise StoreUnavailable("redis")
        self.dropped.append(scope)


class NoTurns:
    """A `TurnLog` of somebody who gave commands alone."""

    async def times(self, scope: Scope, limit: int) -> tuple[datetime, ...]:
        return ()

    async def between(self, scope: Scope, start: datetime, end: datetime, limit: int) -> tuple[Turn, ...]:
        return ()


class Pauses:
    """A `PauseStore`."""

    def __init__(self) -> None:
        self.paused: set[PersonId] = set()

    async def is_paused(self, person: PersonId) -> bool:
        return person in self.paused

    async def pause(self, person: PersonId) -> None:
        self.paused.add(person)

    async def resume(self, person: PersonId) -> None:
        self.paused.discard(person)


class Departures:
    def __init__(self, facts: Facts, accounts: "Accounts") -> None:
        self._facts = facts
        self._accounts = accounts

    async def depart(self, person: PersonId) -> ForgetReceipt:
        receipt = await self._facts.clear_person(person)
        for account in await self._accounts.accounts_of(person):
            await self._accounts.part(account.id)
        return receipt


class Deliveries:
    def __init__(self) -> None:
        self.held: dict[AccountId, Delivery] = {}
        self.places: dict[AccountId, str] = {}
        self.has_others = False

    async def has_several_held(self, account: AccountId) -> bool:
        return self.has_others

    async def oldest_held(self, account: AccountId, place: str | None = None) -> Delivery | None:
        held = self.held.get(account)
        return held if place in (None, self.places.get(account, "")) else None


class Confirmations:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[AccountId, tuple[Confirmation, datetime]] = {}

    async def ask(self, account: AccountId, confirmation: Confirmation, expires_at: datetime) -> None:
        self._waiting[account] = (confirmation, expires_at)

    async def pending(self, account: AccountId) -> Confirmation | None:
        waiting = self._waiting.get(account)
        return waiting[0] if waiting and waiting[1] > self._clock.now() else None

    async def take(self, account: AccountId) -> Confirmation | None:
        pending = await self.pending(account)
        self._waiting.pop(account, None)
        return pending


class Audit:
    def __init__(self) -> None:
        self.rows: list[tuple[AccountKey | None, str, PersonId | None, str, str]] = []

    async def record(
        self, actor: AccountKey | None, action: str, subject: PersonId | None, reason: str, detail: str
    ) -> None:
        self.rows.append((actor, action, subject, reason, detail))


class Accounts:
    def __init__(self) -> None:
        self.all: list[Account] = []
        self.claimed: list[tuple[str, str, str]] = []
        self.code_hash: bytes | None = None
        self.waiting: dict[int, Conflict] = {}
        self.decided: list[tuple[int, Decision, AccountKey | None]] = []

    def add(self, key: AccountKey, person: int) -> Account:
        account = Account(
            id=AccountId(len(self.all) + 1),
            key=key,
            unionid="",
            person=PersonId(person),
            epoch=0,
            is_greeted=True,
        )
        self.all.append(account)
        return account

    async def find_account(self, key: AccountKey) -> Account | None:
        return next((account for account in self.all if account.key == key), None)

    async def create_account(self, key: AccountKey, unionid: str) -> Account:
        return await self.find_account(key) or self.add(key, 100 + len(self.all))

    async def set_open(self, account: AccountId, *, is_open: bool) -> None:
        self.all[account - 1] = replace(self.all[account - 1], is_open=is_open)

    async def accounts_in(self, place: str) -> tuple[Account, ...]:
        return ()

    async def accounts_of(self, person: PersonId) -> tuple[Account, ...]:
        return tuple(account for account in self.all if account.person == person)

    async def find_accounts(self, word: str, phone_hash: bytes | None, limit: int) -> tuple[Account, ...]:
        return tuple(account for account in self.all if word in account.key.openid)[:limit]

    async def part(self, account: AccountId) -> Account:
        self.all[account - 1] = replace(self.all[account - 1], person=PersonId(500 + account))
        return self.all[account - 1]

    async def conflicts(self) -> tuple[Conflict, ...]:
        return tuple(self.waiting.values())

    async def decide(
        self, conflict: int, decision: Decision, actor: AccountKey | None = None
    ) -> Conflict | None:
        found = self.waiting.pop(conflict, None)
        if found is not None:
            self.decided.append((conflict, decision, actor))
        return found

    async def superusers(self) -> Sequence[tuple[str, str, str]]:
        return self.claimed

    async def issue_claim_code(self, code_hash: bytes) -> bool:
        self.code_hash = code_hash
        return True

    async def claim_superuser(self, key: AccountKey, code_hash: bytes) -> bool:
        if code_hash != self.code_hash:
            return False
        self.code_hash = None
        self.claimed.append((key.channel, key.app_id, key.openid))
        return True


class LinkCodes:
    """A `LinkStore` without its limits."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self.issued: dict[bytes, AccountId] = {}
        self.entered: dict[AccountId, AccountId] = {}
        self.shown: set[AccountId] = set()
        self.outcome = LinkOutcome.LINKED
        self.tried = 0

    async def issue(self, account: AccountId, code_hash: bytes, **limits: object) -> bool:
        if list(self.issued.values()).count(account) == limits["most"]:
            return False
        self.issued[code_hash] = account
        return True

    async def enter(self, account: AccountId, code_hash: bytes, **limits: object) -> Account | None:
        self.tried += 1
        issuer = self.issued.get(code_hash)
        if issuer is None or issuer == account or issuer in self.entered:
            return None
        self.entered[issuer] = account
        return self._accounts.all[issuer - 1]

    async def show(self, account: AccountId, now: datetime) -> Account | None:
        if account not in self.entered:
            return None
        self.shown.add(account)
        return self._accounts.all[self.entered[account] - 1]

    async def confirm(self, account: AccountId, now: datetime) -> tuple[LinkOutcome, Account | None]:
        was_shown = account in self.shown
        other = await self.show(account, now)
        if other is None or not was_shown:
            return (LinkOutcome.NOTHING if other is None else LinkOutcome.UNSEEN), other
        del self.entered[account]
        if self.outcome is LinkOutcome.LINKED:
            person = self._accounts.all[account - 1].person
            self._accounts.all[other.id - 1] = replace(other, person=person)
        return self.outcome, other

    async def refuse(self, account: AccountId, now: datetime) -> bool:
        self.entered.pop(account, None)
        codes = [code for code, issuer in self.issued.items() if issuer == account]
        for code in codes:
            del self.issued[code]
        return bool(codes)


class Switches:
    """A `GroupStore`."""

    def __init__(self) -> None:
        self.off: set[str] = set()

    async def switched_off(self) -> frozenset[str]:
        return frozenset(self.off)

    async def switch(self, place: str, *, is_on: bool) -> None:
        (self.off.discard if is_on else self.off.add)(place)


@dataclass
class House:
    """Everything commands work with, and the commands."""

    clock: Clock = field(default_factory=Clock)
    facts: Facts = field(default_factory=Facts)
    window: Window = field(default_factory=Window)
    deliveries: Deliveries = field(default_factory=Deliveries)
    audit: Audit = field(default_factory=Audit)
    accounts: Accounts = field(default_factory=Accounts)
    alerts: Told = field(default_factory=Told)
    switches: Switches = field(default_factory=Switches)
    pauses: Pauses = field(default_factory=Pauses)
    document: dict[str, Any] = field(default_factory=dict)
    report: dict[str, str] = field(default_factory=dict)
    phone_codes: PhoneCodes | None = None

    def __post_init__(self) -> None:
        self.confirmations = Confirmations(self.clock)
        self.codes = LinkCodes(self.accounts)
        self.lines = GroupLines(10, self.clock)
        self.switch = GroupSwitch(self.switches)
        self.authority = Authority(self.accounts, [ROOT.address], lambda: 0.0)  # type: ignore[arg-type]
        self.commands = Commands(
            facts=self.facts,  # type: ignore[arg-type]
            window=self.window,  # type: ignore[arg-type]
            forget=Forget(self.facts, NoTurns()),  # type: ignore[arg-type]
            erasing=Erasing(
                facts=self.facts,  # type: ignore[arg-type]
                departures=Departures(self.facts, self.accounts),
                window=self.window,  # type: ignore[arg-type]
                lines=self.lines,
                accounts=self.accounts,  # type: ignore[arg-type]
            ),
            lines=self.lines,
            switch=self.switch,
            deliveries=self.deliveries,  # type: ignore[arg-type]
            confirmations=self.confirmations,
            audit=self.audit,
            accounts=self.accounts,  # type: ignore[arg-type]
            directory=Directory(self.accounts, PhoneHasher(b"p" * 32)),  # type: ignore[arg-type]
            authority=self.authority,
            linking=Linking(self.codes, lambda text: text, self.clock),
            phone_codes=self.phone_codes,
            status=self.status,
            alerts=self.alerts,
            pauses=self.pauses,
            export=self.export,
            wording=WORDING,
            clock=self.clock,
        )
        self.alice = self.accounts.add(ALICE, 1)
        self.bob = self.accounts.add(BOB, 2)
        self.root = self.accounts.add(ROOT, 3)

    async def export(self, person: PersonId) -> Mapping[str, Any]:
        return self.document

    async def status(self) -> Mapping[str, str]:
        return self.report

    async def reply(
        self,
        account: Account | None,
        text: str,
        *,
        group: str = "",
        mentioned: tuple[AccountKey, ...] = (),
        role: Role = Role.MEMBER,
        aside: str = "",
    ) -> CommandReply | None:
        key = account.key if account else AccountKey(channel="onebot", app_id="10000", openid="")
        conversation = Conversation(channel=key.channel, app_id=key.app_id, group=group)
        message = Message(
            key="1",
            kind=Kind.TEXT,
            sender=key,
            conversation=conversation,
            text=text,
            sent_at=self.clock.now(),
            mentioned=mentioned,
            role=role,
            aside=aside,
        )
        scope = account.scope(conversation.place) if account else None
        return await self.commands.handle(CommandContext(message=message, account=account, scope=scope))

    async def say(self, account: Account | None, text: str, **more: object) -> str | None:
        reply = await self.reply(account, text, **more)  # type: ignore[arg-type]
        return reply.text if reply else None
