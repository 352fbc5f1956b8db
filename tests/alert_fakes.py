"""Alerts that are written down instead of sent."""


class Told:
    """`bot.alerts.Alerts`: each key once until it is settled."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.open: set[str] = set()

    async def tell(self, key: str, text: str) -> None:
        if key not in self.open:
            self.open.add(key)
            self.texts.append(text)

    def settle(self, key: str) -> None:
        self.open.discard(key)
