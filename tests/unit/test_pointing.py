"""What a message points at is put into what is searched, never into what the person wrote; k goes by the question."""

from datetime import datetime, timedelta

import pytest

from bot.conversation.scope import Scope
from bot.conversation.turn import Turn
from bot.memory.asked_time import AskedTimes
from bot.memory.complexity import BOUND_K, COMPLEX_K
from bot.memory.entities import LIVE_ENTITIES, SeenEntity
from bot.memory.naming import named_in, promised_in
from bot.pointing import LOOKED_AT, WIDER, Pointing
from tests.memory_fakes import NOW, SCOPE


class Named:
    """An `EntityStore` of what was said in one scope, minutes apart."""

    def __init__(self, *said: str) -> None:
        self.entities = [
            each
            for number, text in enumerate(said)
            for each in named_in(text, NOW - timedelta(days=1) + timedelta(minutes=number))
        ]
        self.limits: list[int] = []

    async def seen(self, scope: Scope, limit: int) -> tuple[SeenEntity, ...]:
        assert scope == SCOPE
        self.limits.append(limit)
        return tuple(self.entities[-limit:])


def turn(text: str, minutes_ago: float = 1) -> Turn:
    return Turn(id=1, question=text, answer="好的", at=NOW - timedelta(minutes=minutes_ago))


async def test_the_latest_order_is_put_in_the_place_of_the_words() -> None:
    store = Named("单号SF1111111111111", "单号SF2222222222222")
    pointed = await Pointing(store, 5).read("那个单号到哪了", NOW, SCOPE, ())
    assert "SF2222222222222" in pointed.query and "那个单号" not in pointed.query
    assert (pointed.words, [each.value for each in pointed.meant]) == ("那个单号", ["SF2222222222222"])
    assert store.limits == [LOOKED_AT]


async def test_who_points_at_nothing_known_is_searched_as_written() -> None:
    for text in ("那个单号到哪了", "我能吃什么"):
        pointed = await Pointing(Named(), 5).read(text, NOW, SCOPE, ())
        assert (pointed.query, pointed.words, pointed.meant) == (text, "", ())


async def test_two_told_together_are_asked_about_and_then_chosen_from() -> None:
    store = Named("单号SF1111111111111和SF2222222222222")
    asked = await Pointing(store, 5).read("那个单号到哪了", NOW, SCOPE, ())
    assert [each.value for each in asked.meant] == ["SF1111111111111", "SF2222222222222"]
    assert asked.query == "那个单号到哪了"
    chosen = await Pointing(store, 5).read("第二个", NOW, SCOPE, (turn("那个单号到哪了"),))
    assert [each.value for each in chosen.meant] == ["SF2222222222222"]


async def test_what_the_worker_has_not_kept_yet_is_known() -> None:
    pointed = await Pointing(Named(), 5).read("那个单号到哪了", NOW, SCOPE, (turn("单号SF1111111111111"),))
    assert [each.value for each in pointed.meant] == ["SF1111111111111"]


async def test_last_time_is_before_this_talk() -> None:
    store = Named("单号SF1111111111111")
    recent = (turn("单号SF2222222222222", 5), turn("好", 2))
    pointed = await Pointing(store, 5).read("上次说的单号到哪了", NOW, SCOPE, recent)
    assert [each.value for each in pointed.meant] == ["SF1111111111111"]


async def test_the_prompts_entities_are_the_newest_ten() -> None:
    store = Named(*(f"单号SF11111111111{number}" for number in range(10, 25)))
    pointed = await Pointing(store, 5).read("你好呀", NOW, SCOPE, ())
    assert len(pointed.entities) == LIVE_ENTITIES and store.limits == [LIVE_ENTITIES]
    assert pointed.entities[0].value == "SF1111111111124"


async def test_a_reproach_looks_wider_and_at_what_was_asked_before() -> None:
    pointed = await Pointing(Named(), 5).read("你怎么忘了", NOW, SCOPE, (turn("我穿什么码"),))
    plain = await Pointing(Named(), 5).read("我穿什么码", NOW, SCOPE, ())
    assert pointed.is_reproach and not plain.is_reproach
    assert pointed.k >= WIDER * 3 and "我穿什么码" in pointed.query


@pytest.mark.parametrize(
    ("question", "k"), [("我叫什么", 3), ("总结一下我说过的所有事", 10), ("我能吃什么零食，贵不贵？", 5)]
)
async def test_k_goes_by_the_question_and_the_setting(question: str, k: int) -> None:
    assert (await Pointing(Named(), 5).read(question, NOW, None, ())).k == k
    assert (await Pointing(Named(), 10).read(question, NOW, None, ())).k == 2 * k


async def test_nobody_known_points_at_nothing() -> None:
    store = Named("单号SF1111111111111")
    pointed = await Pointing(store, 5).read("那个单号到哪了", NOW, None, ())
    assert (pointed.query, pointed.meant, store.limits) == ("那个单号到哪了", (), [])


class Log:
    """A `TurnLog` that knows when turns were said."""

    def __init__(self, *times: datetime) -> None:
        self.newest_first = times

    async def times(self, scope: Scope, limit: int) -> tuple[datetime, ...]:
        return self.newest_first[:limit]

    async def between(self, scope: Scope, start: datetime, end: datetime, limit: int) -> tuple[Turn, ...]:
        return ()


async def test_only_what_was_named_in_the_time_that_is_asked_for_is_meant() -> None:
    store = Named("单号SF1111111111111")
    times = AskedTimes(Log())
    for text, meant in (("昨天说的单号到哪了", ["SF1111111111111"]), ("前天说的单号到哪了", [])):
        pointed = await Pointing(store, 5, times=times).read(text, NOW, SCOPE, ())
        assert [each.value for each in pointed.meant] == meant
        assert [each.value for each in pointed.entities if each.value == "SF1111111111111"] == meant


async def test_what_was_done_then_may_have_been_told_later() -> None:
    store = Named("前天买的那单的单号是SF1111111111111")
    pointed = await Pointing(store, 5, times=AskedTimes(Log())).read("前天买的那单到哪了", NOW, SCOPE, ())
    assert [each.value for each in pointed.meant] == ["SF1111111111111"]


async def test_a_promise_of_another_time_is_found_without_binding_to_the_time_that_is_named() -> None:
    store = Named()
    promise = promised_in("我们会在24小时内给您补偿20元优惠券。", NOW - timedelta(minutes=2))
    store.entities.extend(promise)
    log = Log(NOW - timedelta(minutes=2), NOW - timedelta(days=3))
    pointed = await Pointing(store, 5, times=AskedTimes(log)).read("上次说的补偿呢", NOW, SCOPE, ())
    assert [each.value for each in pointed.meant] == [each.value for each in promise]
    assert pointed.asked is None and pointed.window is None, "what is recalled may be of today"


async def test_a_promise_of_the_time_that_is_named_binds_to_it() -> None:
    store = Named()
    store.entities.extend(promised_in("我们会给您补偿20元优惠券。", NOW - timedelta(days=1)))
    pointed = await Pointing(store, 5, times=AskedTimes(Log())).read("昨天说的补偿呢", NOW, SCOPE, ())
    assert pointed.meant and pointed.window is not None


async def test_the_words_of_the_time_are_not_searched_for() -> None:
    pointed = await Pointing(Named(), 5, times=AskedTimes(Log())).read("昨天说的地址是哪个", NOW, SCOPE, ())
    assert pointed.query == "说的地址是哪个"
    assert pointed.asked is not None and pointed.asked.words == "昨天"


async def test_who_asks_for_all_of_a_time_gets_more() -> None:
    pointing = Pointing(Named(), 5, times=AskedTimes(Log()))
    everything = await pointing.read("昨天我说过什么", NOW, SCOPE, ())
    something = await pointing.read("昨天说的地址", NOW, SCOPE, ())
    assert (everything.k, something.k) == (COMPLEX_K, BOUND_K)
