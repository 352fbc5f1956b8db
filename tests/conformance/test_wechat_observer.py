"""What whoever watches the door is told: how long a genuine post waited, and how many were none."""

from dataclasses import dataclass, field

from tests.conformance.wechat_app import wechat_app


@dataclass
class Watcher:
    seconds: list[float] = field(default_factory=list)
    refusals: int = 0
    verifications: list[tuple[str, bool]] = field(default_factory=list)

    def acknowledged(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def refused(self) -> None:
        self.refusals += 1

    def verified(self, app_id: str, *, holds: bool) -> None:
        self.verifications.append((app_id, holds))


async def test_genuine_posts_are_timed_and_others_counted() -> None:
    watcher = Watcher()
    async with wechat_app(observer=watcher) as app, app.wechat() as wechat:
        assert (await wechat.say("o1", "你好")).text == "收到"
        await wechat.image("o1")
        await wechat.raw("<xml><Broken", "o1")
        assert (len(watcher.seconds), watcher.refusals) == (3, 0)
        assert all(seconds >= 0 for seconds in watcher.seconds)
        await app.post({"signature": "forged", "timestamp": "1", "nonce": "2"}, b"<xml></xml>")
        await app.post("", b"<xml></xml>")
        await app.client.get(f"{app.account.path}?echostr=1&signature=forged")
        assert (len(watcher.seconds), watcher.refusals) == (3, 3)
        assert await wechat.verify()
        assert watcher.refusals == 3
        app_id = app.account.app_id
        assert watcher.verifications == [(app_id, True)] * 3 + [(app_id, False), (app_id, True)]
