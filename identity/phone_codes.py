"""Proving a phone by a one-time code: sent to the phone, sent back by who holds it.

Invariant: of a number and of a code nothing but keyed hashes is stored, and both leave only by the sender; whoever
asks learns nothing of whether a number is known; no phone is linked before its code came back.
"""

import asyncio
import secrets
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum

from loguru import logger

from bot.conversation.errors import RejectedInput, StoreUnavailable
from bot.conversation.message import AccountKey, is_playground
from bot.conversation.ports import Clock
from identity.directory import Directory, Proof
from identity.model import Account, CodeLimits, Sending
from identity.phone import PhoneHash, PhoneKeys, e164
from identity.ports import AccountStore, CodeSender, PhoneCodeStore

CODE_DIGITS = 6
"""What people know from every other code. A guesser has five tries, and a phone five codes a day: 25 in a million."""
LONGEST_TYPED = 64
"""Characters around a code and the code."""
CODE_LASTS = timedelta(minutes=5)
WRONG_TRIES = 5
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
OF_ACCOUNT_AN_HOUR = 3
OF_PHONE_AN_HOUR = 3
"""By whomever: its owner may be a stranger to all of this."""
OF_PHONE_A_DAY = 5
PRUNE_SECONDS = 600.0

_LABEL = b"phone-code:v1:"
_TRYING_OUT = b"phone:playground:v1:"


class Asked(StrEnum):
    """What became of the wish for a code."""

    SENT = "sent"
    TOO_MANY = "too_many"
    NOT_SENT = "not_sent"


class Proven(StrEnum):
    """What a code that came back has led to."""

    NO_CODE = "no_code"
    """It cannot be one, and is no try."""
    WRONG = "wrong"
    """Or over, spent, locked, never sent."""
    LINKED = "linked"
    JOINED = "joined"
    """Somebody had this phone: the account belongs to that person now."""
    CONFLICT = "conflict"
    """Both persons have phones of their own, or unionids: an admin decides."""


class PhoneCodes:
    def __init__(
        self,
        *,
        store: PhoneCodeStore,
        sender: CodeSender,
        accounts: AccountStore,
        directory: Directory,
        keys: PhoneKeys,
        keyed_hash: Callable[[bytes], bytes],
        clock: Clock,
    ) -> None:
        """`keyed_hash`: under the operator's pepper. A bare hash of six digits is found at once."""
        self._store = store
        self._sender = sender
        self._accounts = accounts
        self._directory = directory
        self._keys = keys
        self._keyed_hash = keyed_hash
        self._clock = clock
        self._open: dict[AccountKey, datetime] = {}
        """Until when a code is out: for every one in the table, and maybe for some that are gone."""

    async def load(self) -> None:
        """Know the codes an earlier process sent. Before the first message. Raises StoreUnavailable."""
        self._open.update(await self._store.open_until(self._clock.now()))

    def is_open(self, account: AccountKey) -> bool:
        """A code may be out for this account: what looks like one is one."""
        until = self._open.get(account)
        return until is not None and self._clock.now() < until

    async def send(self, account: Account, phone: str) -> Asked:
        """A new code to a phone, in place of an earlier one of this account.

        Raises RejectedInput: not a phone number.
        """
        number = e164(phone)
        await self._directory.hash_of(number)
        hashes = [self._of_world(account, each) for each in self._keys.current().hashes(number)]
        code = "".join(secrets.choice("0123456789") for _ in range(CODE_DIGITS))
        code_hash, now = self._hash(account, code), self._clock.now()
        limits = CodeLimits(
            of_account=OF_ACCOUNT_AN_HOUR,
            of_account_since=now - HOUR,
            of_phone=OF_PHONE_AN_HOUR,
            of_phone_since=now - HOUR,
            of_phone_a_day=OF_PHONE_A_DAY,
            day_since=now - DAY,
        )
        until = now + CODE_LASTS
        if not await self._store.issue(
            account.id, hashes, code_hash, now=now, expires_at=until, limits=limits
        ):
            return Asked.TOO_MANY
        self._open[account.key] = until
        sending = await self._sender.send(number, code, CODE_LASTS.seconds // 60)
        if sending is Sending.SENT:
            return Asked.SENT
        # What may have reached the phone counts against the phone: who owns it is to be left in peace.
        await self._store.take_back(
            account.id, code_hash, now=now, is_phone_counted=sending is Sending.UNKNOWN
        )
        # Where a text may have arrived all the same, its code may come back: still nothing to be stored.
        if sending is not Sending.UNKNOWN:
            self._open.pop(account.key, None)
        return Asked.NOT_SENT

    async def prove(self, account: Account, code: str) -> Proven:
        """A code came back from the account that asked for it."""
        typed = _digits(code)
        if len(typed) != CODE_DIGITS:
            return Proven.NO_CODE
        phone = await self._store.spend(
            account.id, self._hash(account, typed), now=self._clock.now(), most_tries=WRONG_TRIES
        )
        if phone is not None:
            self._open.pop(account.key, None)
        # Under a pepper that was replaced meanwhile nobody would find it: it is to be asked for again.
        if phone is None or phone.version != self._keys.current().key_version:
            return Proven.WRONG
        try:
            linked = await self._directory.prove_hash(account, phone, Proof.CODE)
        except RejectedInput:
            return Proven.CONFLICT
        return Proven.LINKED if linked.person == account.person else Proven.JOINED

    async def is_proven(self, account: Account) -> bool:
        """Its person has a phone, however it was proven."""
        return await self._accounts.has_phone(account.person)

    async def keep_pruning(self) -> None:
        """Until cancelled: what is over does not stay until somebody asks for the next code."""
        while True:
            now = self._clock.now()
            self._open = {key: until for key, until in self._open.items() if now < until}
            try:
                await self._store.forget_overdue(now, now - DAY)
            except StoreUnavailable as error:
                logger.debug("overdue codes stay for now: {}", error)
            await asyncio.sleep(PRUNE_SECONDS)

    def _of_world(self, account: Account, phone: PhoneHash) -> PhoneHash:
        """Accounts that are tried out and real ones never meet: there the same number is another."""
        if not is_playground(account.key.app_id):
            return phone
        return PhoneHash(phone.version, self._keyed_hash(_TRYING_OUT + phone.digest))

    def _hash(self, account: Account, code: str) -> bytes:
        return self._keyed_hash(_LABEL + f"{account.id}:{code}".encode())


def _digits(code: str) -> str:
    """Of a text no longer than people write around a code; "" for any other."""
    if len(code) > LONGEST_TYPED:
        return ""
    return "".join(filter(str.isdecimal, unicodedata.normalize("NFKC", code)))
