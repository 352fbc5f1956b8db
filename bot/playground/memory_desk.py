"""The memory of the playground's people, to be looked at and changed by who tries the bot out.

Invariant: whoever isn't of the playground, or shares a person with an account that isn't, is nobody here; what is
changed is changed by the parts that the commands use, and put on record.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.conversation.message import AccountKey, is_playground
from bot.conversation.ports import Clock
from bot.erasing import Erasing
from bot.forgetting import Forgetting, detail_of
from bot.memory.correcting import Corrected, Correction, put_right
from bot.memory.fact import ForgetReceipt
from bot.memory.forget import Forget, Found
from bot.memory.forget_request import ForgetRequest, Means
from bot.memory.ports import FactStore
from bot.memory.time_zh import Window
from bot.playground.kept import Going, KeptFact, KeptStore, Player
from bot.ports import AuditLog
from identity.model import Account
from identity.ports import AccountStore

MOST_PLAYERS = 200
CONSOLE = AccountKey(channel="console", app_id="", openid="")
"""Who did it, in the audit log: whoever has the password."""
CORRECT, CLEAR = "correct", "clear_person"


class What(StrEnum):
    """What is to be forgotten."""

    ONE = "one"
    WORDS = "words"
    WINDOW = "window"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetAsked:
    """An order to forget."""

    what: What
    at: datetime
    """When it was asked: 「昨天」 is the day before."""
    place: str = ""
    """`Conversation.place`. Of ALL: everywhere, whatever stands here."""
    fact: int = 0
    words: str = ""
    window: Window | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What an order would come to."""

    found: Found
    going: Going


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a forgetting came to."""

    removed: ForgetReceipt
    is_window_left: bool = False
    """See `CarriedOut`."""

    @property
    def is_nothing(self) -> bool:
        removed = self.removed
        return not (removed.total or removed.summaries or removed.entities or removed.vectors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """All that is kept of one person."""

    account: Account
    """By which they were chosen."""
    accounts: tuple[Account, ...]
    """All of the person's, this one too."""
    facts: tuple[KeptFact, ...]
    """Newest first."""
    document: Mapping[str, Any]
    """As /导出 gives it."""
    at: datetime
    """When it was read."""

    in_view: tuple[KeptFact, ...] = field(init=False)
    closed: tuple[KeptFact, ...] = field(init=False)
    expired: tuple[KeptFact, ...] = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "in_view", tuple(each for each in self.facts if each.is_in_view(self.at)))
        put(self, "closed", tuple(each for each in self.facts if each.valid_to is not None))
        put(self, "expired", tuple(each for each in self.facts if each.is_expired(self.at)))

    def replacement_of(self, kept: KeptFact) -> KeptFact | None:
        """What contradicts it; None: nothing does, or that is forgotten."""
        return next((each for each in self.facts if each.fact.id == kept.replaced_by), None)

    @property
    def places(self) -> tuple[str, ...]:
        """Where something is kept of them, private first."""
        kinds = ("facts", "entities", "summaries", "turns")
        return tuple(sorted({"", *(each["place"] for kind in kinds for each in self.document[kind])}))


class MemoryDesk:
    def __init__(
        self,
        *,
        kept: KeptStore,
        accounts: AccountStore,
        facts: FactStore,
        forget: Forget,
        forgetting: Forgetting,
        erasing: Erasing,
        export: Callable[[Any], Awaitable[Mapping[str, Any]]],
        audit: AuditLog,
        on_work: Callable[[], None],
        clock: Clock,
    ) -> None:
        """`on_work`: there is something to embed."""
        self._kept = kept
        self._accounts = accounts
        self._facts = facts
        self._forget = forget
        self._forgetting = forgetting
        self._erasing = erasing
        self._export = export
        self._audit = audit
        self._on_work = on_work
        self._clock = clock

    def now(self) -> datetime:
        """When an order is asked."""
        return self._clock.now()

    async def players(self) -> tuple[Player, ...]:
        """Raises StoreUnavailable, as every call here."""
        return await self._kept.players(MOST_PLAYERS)

    async def groups(self) -> tuple[Player, ...]:
        """With what is remembered for a group as a whole."""
        return await self._kept.groups(MOST_PLAYERS)

    async def remembered(self, key: AccountKey) -> Remembered | None:
        """None: nobody of the playground."""
        account = await self._player(key)
        if account is None:
            return None
        return Remembered(
            account=account,
            accounts=await self._accounts.accounts_of(account.person),
            facts=await self._kept.kept_facts(account.person),
            document=await self._export(account.person),
            at=self._clock.now(),
        )

    async def exported(self, key: AccountKey) -> Mapping[str, Any] | None:
        """The same document as /导出's. None: nobody of the playground."""
        account = await self._player(key)
        return await self._export(account.person) if account is not None else None

    async def correct(self, key: AccountKey, fact: int, place: str, text: str) -> Corrected | None:
        """As /更正. None: nobody of the playground, or no memory in view there."""
        account = await self._player(key)
        if account is None:
            return None
        scope = account.scope(place)
        held = await self._facts.fact_sheet(scope)
        meant = next((each for each in held.facts if each.id == fact), None)
        if meant is None:
            return None
        corrected = await put_right(self._facts, scope, meant, text, self._clock.now())
        if corrected.outcome is Correction.DONE:
            self._on_work()
            detail = f"fact={fact} facts={len(corrected.texts)}"
            await self._audit.record(CONSOLE, CORRECT, account.person, "", detail)
        return corrected

    async def meant(self, key: AccountKey, asked: ForgetAsked) -> Meant | None:
        """What an order would delete, as /忘记 finds it. None: nobody of the playground."""
        account = await self._player(key)
        if account is None:
            return None
        found = await self._find(account, asked)
        if found.request.means is Means.ALL:
            return Meant(found=found, going=Going(facts=len(found.facts), turns=len(found.turns)))
        going = await self._kept.would_forget(
            account.scope(asked.place), [each.id for each in found.facts], found.words, found.turns
        )
        return Meant(found=found, going=going)

    async def forget(self, key: AccountKey, asked: ForgetAsked) -> Receipt | None:
        """Carry an order out, as of when it was asked. None: nobody of the playground."""
        account = await self._player(key)
        if account is None:
            return None
        found = await self._find(account, asked)
        if found.request.means is Means.ALL:
            return await self._clear(account)
        done = await self._forgetting.carry_out(account, account.scope(asked.place), found, actor=CONSOLE)
        return Receipt(removed=done.forgotten.receipt, is_window_left=done.is_window_left)

    async def _clear(self, account: Account) -> Receipt:
        kept = await self._export(account.person)
        scopes = {account.scope(each["place"]) for each in kept["turns"]}
        removed = await self._erasing.person(account.person, seen_in=scopes)
        await self._audit.record(CONSOLE, CLEAR, account.person, "", detail_of(removed))
        return Receipt(removed=removed)

    async def _find(self, account: Account, asked: ForgetAsked) -> Found:
        scope = account.scope(asked.place)
        match asked.what:
            case What.ONE:
                return await self._forget.one(scope, asked.fact)
            case What.WORDS:
                found = await self._forget.find(scope, asked.words, asked.at)
                return found if found.request.means is not Means.ALL else await self._everything(account)
            case What.WINDOW:
                window = asked.window
                if window is None:
                    raise ValueError("a window without a window")
                return await self._forget.said_in(scope, window)
            case What.ALL:
                return await self._everything(account)

    async def _everything(self, account: Account) -> Found:
        facts = tuple(each.fact for each in await self._kept.kept_facts(account.person))
        turns = tuple(each["id"] for each in (await self._export(account.person))["turns"])
        return Found(request=ForgetRequest(means=Means.ALL), facts=facts, turns=turns)

    async def _player(self, key: AccountKey) -> Account | None:
        if not is_playground(key.app_id):
            return None
        account = await self._accounts.find_account(key)
        if account is None:
            return None
        others = await self._accounts.accounts_of(account.person)
        return account if all(is_playground(each.key.app_id) for each in others) else None
