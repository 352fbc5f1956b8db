"""Account and Person."""

from dataclasses import dataclass

from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId, PersonId, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One account and the person it belongs to, as of now."""

    id: AccountId
    key: AccountKey
    unionid: str
    person: PersonId
    epoch: int
    """The person's."""
    is_greeted: bool
    """The first-contact notice has been given."""
    is_open: bool = False
    """Its person lets their private memory be recalled where this account speaks in a group."""

    def scope(self, place: str) -> Scope:
        """This account's scope in a place (`Conversation.place`)."""
        return Scope(person=self.person, account=self.id, epoch=self.epoch, place=place)
