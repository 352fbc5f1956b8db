"""Passive windows: which message or event may still be answered, and how often.

Invariant: what is refused costs nothing; the same (id, msg_seq) is accepted once.
"""

from dataclasses import dataclass, field

from .account import Allowance, Scene

ANSWERABLE = {
    Scene.C2C: frozenset({"INTERACTION_CREATE", "C2C_MSG_RECEIVE", "FRIEND_ADD"}),
    Scene.GROUP: frozenset({"INTERACTION_CREATE", "GROUP_ADD_ROBOT", "GROUP_MSG_RECEIVE"}),
    Scene.CHANNEL: frozenset({"INTERACTION_CREATE"}),
    Scene.DIRECT: frozenset({"INTERACTION_CREATE"}),
}
"""Events whose id may be answered as `event_id`. Source: 发送消息 (send.md); for guilds assumed."""


@dataclass(slots=True, kw_only=True)
class _Window:
    scene: Scene
    place: str
    opened_at: float
    event: str = ""
    """The event's type; "" for a message."""
    used: int = 0
    sequences: set[int] = field(default_factory=set[int])


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a message of the bot answers."""

    scene: Scene
    place: str
    msg_id: str = ""
    event_id: str = ""
    msg_seq: int = 1


class Windows:
    def __init__(self) -> None:
        self._messages: dict[str, _Window] = {}
        self._events: dict[str, _Window] = {}

    def open_message(self, msg_id: str, scene: Scene, place: str, now: float) -> None:
        """A message delivered again opens nothing anew."""
        self._messages.setdefault(msg_id, _Window(scene=scene, place=place, opened_at=now))

    def open_event(self, event_id: str, event: str, scene: Scene, place: str, now: float) -> None:
        self._events.setdefault(event_id, _Window(scene=scene, place=place, opened_at=now, event=event))

    def refusal(self, answered: Answered, allowance: Allowance, now: float) -> int:
        """The code that refuses it; 0 when there is none.

        The v2 interfaces differ from the guild's. Assumed where nothing is published: a repeated msg_seq
        is noticed before the window's end.
        """
        window = self._find(answered)
        is_guild = answered.scene.is_guild
        if window is None or (window.scene, window.place) != (answered.scene, answered.place):
            return 304026 if is_guild else 40034024 if answered.msg_id else 40034025
        if window.event and window.event not in ANSWERABLE[answered.scene]:
            return 304026 if is_guild else 40034027
        if not is_guild and answered.msg_seq in window.sequences:
            return 40054005
        if now > window.opened_at + allowance.seconds:
            return 304027 if is_guild else 40034005 if answered.msg_id else 40034026
        if allowance.messages is not None and window.used >= allowance.messages:
            return 40034128
        return 0

    def spend(self, answered: Answered) -> None:
        window = self._find(answered)
        assert window is not None
        window.used += 1
        window.sequences.add(answered.msg_seq)

    def used(self, msg_id: str) -> int:
        """How many messages answered it."""
        window = self._messages.get(msg_id) or self._events.get(msg_id)
        return window.used if window else 0

    def forget(self, most: int) -> None:
        """Of the oldest nothing can be answered any more."""
        for windows in (self._messages, self._events):
            for name in list(windows)[: max(len(windows) - most, 0)]:
                del windows[name]

    def _find(self, answered: Answered) -> _Window | None:
        if answered.msg_id:
            return self._messages.get(answered.msg_id)
        return self._events.get(answered.event_id)
