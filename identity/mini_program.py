"""Proving a phone by the operator's mini-program: its platform says who logged in, and which phone they gave it.

Invariant: a phone is linked to an account that has written to us and has the very unionid of the login; both codes
are the platform's to judge, and a phone code is not spent on a stranger.
"""

from enum import StrEnum

from bot.conversation.errors import RejectedInput
from identity.directory import Directory, Proof
from identity.phone import e164
from identity.ports import LoginPort, PhonePort


class Outcome(StrEnum):
    """What the mini-program's backend is told: these words are part of the interface."""

    LINKED = "linked"
    JOINED = "joined"
    """Somebody had this phone: the account belongs to that person now."""
    LOGIN_REFUSED = "login_refused"
    NO_UNIONID = "no_unionid"
    """The mini-program and the official account are not bound to one Open Platform account."""
    UNKNOWN_PERSON = "unknown_person"
    """Nobody with this unionid has written to the official account yet."""
    PHONE_REFUSED = "phone_refused"
    CONFLICT = "conflict"
    """Both persons have phones of their own, or unionids: an admin decides."""

    @property
    def is_linked(self) -> bool:
        return self in (Outcome.LINKED, Outcome.JOINED)


class MiniProgramPhones:
    def __init__(self, *, logins: LoginPort, phones: PhonePort, directory: Directory, channel: str) -> None:
        """`channel`: of the accounts whose unionids the mini-program shares."""
        self._logins = logins
        self._phones = phones
        self._directory = directory
        self._channel = channel

    async def prove(self, login_code: str, phone_code: str) -> Outcome:
        """Raises PlatformUnavailable or StoreUnavailable; a code may be spent then."""
        unionid = await self._logins.unionid_of(login_code)
        if unionid is None:
            return Outcome.LOGIN_REFUSED
        if not unionid:
            return Outcome.NO_UNIONID
        account = await self._directory.by_unionid(self._channel, unionid)
        if account is None:
            return Outcome.UNKNOWN_PERSON
        phone = await self._phones.phone_of(phone_code)
        if phone is None or not _is_phone(phone):
            return Outcome.PHONE_REFUSED
        try:
            linked = await self._directory.prove_phone(account, phone, Proof.MINI_PROGRAM)
        except RejectedInput:
            return Outcome.CONFLICT
        return Outcome.LINKED if linked.person == account.person else Outcome.JOINED


def _is_phone(phone: str) -> bool:
    try:
        return bool(e164(phone))
    except RejectedInput:
        return False
