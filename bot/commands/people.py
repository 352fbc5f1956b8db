"""Who is who: one's own id, claiming authority, and finding people.

Invariant: authority is asked at each execution and hangs on ids alone; somebody without it learns
nothing about anybody, not even whether they exist.
"""

from collections.abc import Sequence

from bot.commands.context import Asker, channel_name
from bot.conversation.message import is_playground
from bot.conversation.scope import PersonId
from bot.conversation.text import normalise
from bot.conversation.wording import Wording
from identity.authority import Authority
from identity.directory import Directory
from identity.model import Account

MOST_ACCOUNTS = 20
"""Shown at once: more is no answer but a dump."""
_SHORTEST_WORD = 2
"""Characters to look for. One would list everybody."""


class PeopleCommands:
    """/我的编号, /认领, /查人."""

    def __init__(self, directory: Directory, authority: Authority, wording: Wording) -> None:
        self._directory = directory
        self._authority = authority
        self._wording = wording

    def own_id(self, asker: Asker) -> str:
        if asker.is_in_group:
            return self._wording.say("private_only")
        return self._wording.say("own_id", address=asker.message.sender.address)

    async def claim(self, asker: Asker, code: str) -> str:
        if asker.is_in_group:
            return self._wording.say("private_only")
        if not code:
            return self._wording.say("claim_usage")
        sender = asker.message.sender
        if is_playground(sender.app_id):
            return self._wording.say("claim_playground")
        if await self._authority.claim(sender, code):
            return self._wording.say("claim_done", address=sender.address)
        return self._wording.say("claim_refused")

    async def find(self, asker: Asker, word: str) -> str:
        if not await self._authority.is_superuser(asker.message.sender):
            return self._wording.say("not_allowed")
        if asker.is_in_group:
            return self._wording.say("private_only")
        if len(normalise(word)) < _SHORTEST_WORD:
            return self._wording.say("find_usage")
        accounts = await self._directory.find(word, MOST_ACCOUNTS)
        if not accounts:
            return self._wording.say("find_nothing")
        people = "\n".join(
            self._wording.say("find_person", person=person, accounts=self._masked(own))
            for person, own in _by_person(accounts).items()
        )
        return self._wording.say("find_list", people=people)

    def _masked(self, accounts: Sequence[Account]) -> str:
        return "、".join(
            f"{channel_name(self._wording, account.key.channel)} {mask(account.key.openid)}"
            for account in accounts
        )


def mask(openid: str) -> str:
    """Enough of an id to tell people apart on a screen, not enough to use it elsewhere."""
    shown = 4 if len(openid) > 12 else 2
    if len(openid) <= 2 * shown:
        return f"{openid[: len(openid) // 3]}…"
    return f"{openid[:shown]}…{openid[-shown:]}"


def _by_person(accounts: Sequence[Account]) -> dict[PersonId, list[Account]]:
    people: dict[PersonId, list[Account]] = {}
    for account in accounts:
        people.setdefault(account.person, []).append(account)
    return people
