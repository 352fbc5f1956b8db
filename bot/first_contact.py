"""The first words to a person or a group: who the bot is, what it does with what they write.

Invariant: the notice is given once per account, and never instead of an answer.
"""

from collections.abc import Callable

from bot.conversation.message import Message, Reply
from bot.conversation.wording import Wording
from identity.model import Account
from identity.ports import AccountStore

WELCOME = "welcome"


class FirstContact:
    """Gives the first-contact notice (BEHAVIOUR.md, "First contact and consent")."""

    def __init__(self, accounts: AccountStore, wording: Wording, name_of: Callable[[str], str]) -> None:
        """`name_of`: what the official account or bot with an app_id is called."""
        self._accounts = accounts
        self._wording = wording
        self._name_of = name_of

    def welcome(self, message: Message) -> Reply:
        """On following the account, or when the bot joins a group."""
        key = "welcome_group" if message.conversation.is_group else "welcome"
        name = self._name_of(message.sender.app_id)
        return Reply(text=self._wording.say(key, name=name), decided_by=WELCOME)

    async def introduce(self, message: Message, account: Account, reply: Reply, text: str) -> str:
        """Put the notice behind the first answer to somebody who never got a welcome.

        Groups are told once on joining, so their members are not told one by one.
        """
        if account.is_greeted or message.conversation.is_group:
            return text
        await self._accounts.mark_greeted(account.id)
        if reply.decided_by == WELCOME:
            return text
        notice = self._wording.say("first_notice", name=self._name_of(message.sender.app_id))
        return f"{text}\n\n{notice}"
