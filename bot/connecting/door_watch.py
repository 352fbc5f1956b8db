"""What the doors of the platforms report: counted for the monitor, and noted for the operator who sets one up."""

from bot.connecting.arrivals import ANYONE, Arrivals
from bot.metrics import DoorWatch, Metrics


class NotedDoor(DoorWatch):
    """Of one channel."""

    def __init__(self, metrics: Metrics, channel: str, arrivals: Arrivals) -> None:
        super().__init__(metrics, channel)
        self._channel = channel
        self._arrivals = arrivals

    def verified(self, app_id: str, *, holds: bool) -> None:
        """The platform asked whether this address is ours; `holds`: with proof of who it is."""
        if holds:
            self._arrivals.note_proof(self._channel, app_id)
        else:
            self._arrivals.note_refusal(self._channel, app_id)

    def refused(self) -> None:
        super().refused()
        self._arrivals.note_refusal(self._channel, ANYONE)
