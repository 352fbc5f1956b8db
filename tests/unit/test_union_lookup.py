"""Asking for unionids: beside the story, once a day, and never with a guess."""

from datetime import datetime

from bot.conversation.message import AccountKey
from bot.conversation.scope import AccountId
from bot.union_lookup import UnionLookup
from identity.model import Account
from tests.story_fakes import HandClock


class Platform:
    def __init__(self) -> None:
        self.unionid: str | None = "u1"
        self.asked: list[str] = []

    async def unionid_of(self, key: AccountKey) -> str | None:
        self.asked.append(key.openid)
        return self.unionid


class Asks:
    def __init__(self) -> None:
        self.at: dict[AccountId, datetime] = {}

    async def asked_at(self, account: AccountId) -> datetime | None:
        return self.at.get(account)

    async def note(self, account: AccountId, at: datetime) -> None:
        self.at[account] = at


class Learning:
    def __init__(self) -> None:
        self.learnt: list[tuple[str, str]] = []
        self.person = 1

    async def identify(self, key: AccountKey, unionid: str = "") -> Account:
        if unionid:
            self.learnt.append((key.openid, unionid))
        return Account(
            id=AccountId(1),
            key=key,
            unionid=unionid,
            person=self.person,  # pyright: ignore[reportArgumentType]
            epoch=0,
            is_greeted=True,
        )


class Bench:
    def __init__(self) -> None:
        self.platform, self.clock, self.directory = Platform(), HandClock(), Learning()
        self.lookup = UnionLookup(
            platforms={"wechat": self.platform},
            asks=Asks(),
            directory=self.directory,  # pyright: ignore[reportArgumentType]
            clock=self.clock,
        )

    async def wrote(self, channel: str = "wechat", unionid: str = "") -> None:
        key = AccountKey(channel=channel, app_id="wx1", openid="o1")
        self.lookup.wonder(
            Account(id=AccountId(1), key=key, unionid=unionid, person=1, epoch=0, is_greeted=True)  # pyright: ignore[reportArgumentType]
        )
        await self.lookup.work_off()


async def test_what_the_platform_says_is_learnt() -> None:
    bench = Bench()
    await bench.wrote()
    assert bench.directory.learnt == [("o1", "u1")]


async def test_none_on_the_platform_is_asked_again_after_a_day_and_matches_nobody() -> None:
    bench = Bench()
    bench.platform.unionid = ""
    await bench.wrote()
    bench.clock.advance(days=1, seconds=-1)
    await bench.wrote()
    assert (len(bench.platform.asked), bench.directory.learnt) == (1, [])
    bench.clock.advance(seconds=1)
    await bench.wrote()
    assert len(bench.platform.asked) == 2


async def test_without_permission_it_is_asked_at_the_next_message() -> None:
    bench = Bench()
    bench.platform.unionid = None
    await bench.wrote()
    bench.platform.unionid = "u1"
    await bench.wrote()
    assert bench.directory.learnt == [("o1", "u1")]


async def test_who_is_known_or_elsewhere_is_not_asked_about() -> None:
    bench = Bench()
    await bench.wrote(unionid="u9")
    await bench.wrote(channel="onebot")
    assert bench.platform.asked == []


async def test_several_messages_are_one_question() -> None:
    bench = Bench()
    bench.platform.unionid = None
    key = AccountKey(channel="wechat", app_id="wx1", openid="o1")
    account = Account(id=AccountId(1), key=key, unionid="", person=1, epoch=0, is_greeted=True)  # pyright: ignore[reportArgumentType]
    for _ in range(3):
        bench.lookup.wonder(account)
    await bench.lookup.work_off()
    assert bench.platform.asked == ["o1"]


async def test_who_left_for_good_meanwhile_is_not_told_again_who_they_were() -> None:
    bench = Bench()
    bench.directory.person = 2
    await bench.wrote()
    assert (bench.platform.asked, bench.directory.learnt) == (["o1"], [])
    bench.directory.person = 1
    await bench.wrote()
    assert bench.directory.learnt == [("o1", "u1")], "a stranger who wrote again is asked about as any other"
