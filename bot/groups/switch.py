"""Which groups the bot is switched off in.

Invariant: asked at each message without a read; what is said to be switched is durable.
"""

from bot.ports import GroupStore


class GroupSwitch:
    def __init__(self, store: GroupStore) -> None:
        self._store = store
        self._off: set[str] = set()

    async def load(self) -> None:
        """At start. Raises StoreUnavailable."""
        self._off = set(await self._store.switched_off())

    def is_on(self, place: str) -> bool:
        return place not in self._off

    async def turn(self, place: str, *, is_on: bool) -> None:
        """Raises StoreUnavailable: then nothing has changed."""
        await self._store.switch(place, is_on=is_on)
        (self._off.discard if is_on else self._off.add)(place)
