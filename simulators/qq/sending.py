"""Messages of the bot: what the rules make of each, and where it is then seen.

Invariant: a message is seen once, or refused with a code and not seen; a refusal spends nothing.
"""

import datetime
import itertools
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .account import BotAccount, Rules, Scene
from .clock import Clock
from .content import TYPING, Content, read_content
from .errors import ApiRefusal
from .media import Media
from .places import Place, Places, Sight
from .windows import Answered, Windows

BEIJING = datetime.timezone(datetime.timedelta(hours=8))
_LEFT = {Scene.C2C: 40054004, Scene.GROUP: 40034101, Scene.CHANNEL: 10003, Scene.DIRECT: 304032}
_NO_PUSH = {Scene.C2C: 40034102, Scene.GROUP: 40034105, Scene.CHANNEL: 304046, Scene.DIRECT: 304049}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A message that waits for its audit (人工审核)."""

    audit_id: str
    sight: Sight
    guild_id: str = ""


class Sending:
    def __init__(self, account: BotAccount, places: Places, media: Media, clock: Clock, rules: Rules) -> None:
        self.rules = rules
        self.windows = Windows()
        self.audits: dict[str, Audit] = {}
        """Waiting ones, by audit_id."""
        self._audited_next = 0
        self._account = account
        self._places = places
        self._media = media
        self._clock = clock
        self._numbers = itertools.count(1)

    def audit_next(self, times: int = 1) -> None:
        """Hold the next messages that are in order until somebody has looked at them."""
        self._audited_next += times

    def send(
        self, scene: Scene, place_id: str, body: Mapping[str, Any], guild_id: str = ""
    ) -> dict[str, Any]:
        """What a sending interface answers. Raises ApiRefusal, 304023 and 304024 among them."""
        place = self._places.find(scene, place_id)
        if place is None or place.is_left:
            raise ApiRefusal(_LEFT[scene])
        if place.is_muted:
            raise ApiRefusal(40054002)
        content = read_content(body, scene, self.rules)
        if content.kind == "media" and not scene.is_guild:
            content = replace(content, media=self._media.source(content.media, scene, self._clock.now()))
        answered = self._answered(scene, place_id, body)
        self._refuse_untimely(answered, place)
        if answered is not None:
            self.windows.spend(answered)
        if content.kind == TYPING:
            place.typings.append(self._clock.now())
            self._places.touch()
            return {"id": "", "timestamp": self._timestamp()}
        sight = self._sight(content, scene, place_id, answered, body)
        if self._audited_next:
            self._audited_next -= 1
            raise self._held(sight, guild_id)
        self._places.show(sight)
        return self._answer(sight, guild_id)

    def push_file(self, scene: Scene, place_id: str, source: str) -> dict[str, Any]:
        """srv_send_msg: the file is a message by itself. Raises ApiRefusal."""
        place = self._places.find(scene, place_id)
        if place is None or place.is_left:
            raise ApiRefusal(_LEFT[scene])
        self._refuse_untimely(None, place)
        sight = self._sight(Content(kind="media", text="", media=source), scene, place_id, None, {})
        self._places.show(sight)
        return self._answer(sight, "")

    def settle(self, audit_id: str, *, is_passed: bool) -> tuple[Audit, dict[str, Any]]:
        """The audit is over: a passed message is seen now. Also gives what the event tells of it.

        Raises KeyError: nothing waits under that id.
        """
        audit = self.audits.pop(audit_id)
        if is_passed:
            self._places.show(replace(audit.sight, at=self._clock.now()))
        field = {Scene.C2C: "user_openid", Scene.GROUP: "group_openid", Scene.CHANNEL: "channel_id"}
        told = {
            "audit_id": audit_id,
            "message_id": audit.sight.message_id if is_passed else "",
            field.get(audit.sight.scene, "guild_id"): audit.sight.place,
            "audit_time": self._timestamp(),
            "create_time": self._timestamp(audit.sight.at),
            "seq_in_channel": "",
        }
        return audit, told | ({"guild_id": audit.guild_id} if audit.guild_id else {})

    def recall(self, scene: Scene, place_id: str, message_id: str) -> None:
        """Raises ApiRefusal 306002."""
        place = self._places.find(scene, place_id)
        if place is None or all(sight.message_id != message_id for sight in place.sights):
            raise ApiRefusal(306002)
        place.recalled.append(message_id)

    def told(self, channel: str, message_id: str, guild_id: str) -> dict[str, Any]:
        """A message of the bot in a channel, as whoever quotes it looks it up. Raises ApiRefusal 306002."""
        place = self._places.find(Scene.CHANNEL, channel)
        for sight in place.sights if place else ():
            if sight.message_id == message_id:
                return self._answer(sight, guild_id)
        raise ApiRefusal(306002)

    def _refuse_untimely(self, answered: Answered | None, place: Place) -> None:
        if answered is not None:
            code = self.windows.refusal(answered, self.rules.allowance(place.scene), self._clock.now())
            if code:
                raise ApiRefusal(code)
        elif not self.rules.may_push:
            raise ApiRefusal(_NO_PUSH[place.scene])
        elif place.is_push_refused:
            raise ApiRefusal(40054013 if place.scene is Scene.C2C else _NO_PUSH[place.scene])

    @staticmethod
    def _answered(scene: Scene, place_id: str, body: Mapping[str, Any]) -> Answered | None:
        msg_id, event_id = str(body.get("msg_id") or ""), str(body.get("event_id") or "")
        if not (msg_id or event_id):
            return None
        return Answered(
            scene=scene,
            place=place_id,
            msg_id=msg_id,
            event_id="" if msg_id else event_id,
            msg_seq=1 if scene.is_guild else body.get("msg_seq", 1),
        )

    def _sight(
        self,
        content: Content,
        scene: Scene,
        place_id: str,
        answered: Answered | None,
        body: Mapping[str, Any],
    ) -> Sight:
        reference = body.get("message_reference")
        return Sight(
            at=self._clock.now(),
            scene=scene,
            place=place_id,
            message_id=f"ROBOT1.0_{secrets.token_urlsafe(12)}.{next(self._numbers)}!",
            kind=content.kind,
            text=content.text,
            msg_id=answered.msg_id if answered else "",
            event_id=answered.event_id if answered else "",
            msg_seq=answered.msg_seq if answered else 1,
            media=content.media,
            quoted=str(reference.get("message_id", "")) if isinstance(reference, dict) else "",
            body=dict(body),
        )

    def _held(self, sight: Sight, guild_id: str) -> ApiRefusal:
        audit_id = secrets.token_hex(16)
        self.audits[audit_id] = Audit(audit_id=audit_id, sight=sight, guild_id=guild_id)
        self._places.touch()
        code = 304023 if sight.is_push else 304024
        return ApiRefusal(code, data={"message_audit": {"audit_id": audit_id}})

    def _answer(self, sight: Sight, guild_id: str) -> dict[str, Any]:
        if not sight.scene.is_guild:
            reference = {"ref_idx": reference_of(sight.message_id)}
            return {"id": sight.message_id, "timestamp": self._timestamp(), "ext_info": reference}
        return {
            "id": sight.message_id,
            "channel_id": sight.place if sight.scene is Scene.CHANNEL else guild_id,
            "guild_id": guild_id,
            "content": sight.text,
            "timestamp": self._timestamp(),
            "tts": False,
            "mention_everyone": False,
            "author": {"id": self._account.id, "username": self._account.username, "avatar": "", "bot": True},
            "pinned": False,
            "type": 0,
            "flags": 0,
            "seq_in_channel": str(len(self._places.sights)),
        }

    def _timestamp(self, at: float | None = None) -> str:
        return timestamp(self._clock.now() if at is None else at)


def timestamp(at: float) -> str:
    """RFC 3339, in Beijing's time."""
    return datetime.datetime.fromtimestamp(int(at), BEIJING).isoformat()


def reference_of(message_id: str) -> str:
    """The index by which a quotation names a message."""
    return f"REFIDX_{message_id.partition('_')[2] or message_id}"
