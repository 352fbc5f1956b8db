"""New facts beside those that are held: what they close, what they repeat, and what the bot promised."""

from dataclasses import replace
from datetime import timedelta

from bot.conversation.turn import Turn
from bot.memory.consolidation import Consolidation
from bot.memory.fact import Fact, FactKind, NewFact
from bot.memory.judge import Judge, ModelJudge, RuleJudge
from bot.memory.revising import INLINE_FACTS, Revising
from bot.memory.revision import MOST_KNOWN, equal_to, nearest_to, settled
from tests.memory_fakes import NOW, SCOPE, FactsInMemory, ScriptedModel, make_fact


def new(text: str, *, kind: FactKind = FactKind.IDENTITY, instead_of: str = "") -> NewFact:
    return NewFact(kind=kind, text=text, importance=0.5, said_at=NOW, instead_of=instead_of)


def one(text: str, *held: Fact, instead_of: str = "") -> NewFact:
    (fact,) = settled([new(text, instead_of=instead_of)], held)
    return fact


def test_a_contradicted_fact_is_closed() -> None:
    held = make_fact(1, "我住在杭州", days_ago=1), make_fact(2, "我喜欢喝咖啡", days_ago=1)
    assert one("我搬到上海了", *held).closes == (1,)
    assert one("我不喝咖啡了", *held).closes == (2,)
    assert one("我对花生过敏", *held).closes == ()


def test_a_repeated_fact_is_raised_and_closed_by_nobody() -> None:
    fact = one("我鞋子穿42码", make_fact(1, "我的鞋码是42", days_ago=1))
    assert (fact.repeats, fact.closes) == (1, ())


def test_another_number_is_of_what_was_ordered_last_and_not_long_ago() -> None:
    orders = (
        make_fact(1, "我订了三份盒饭", days_ago=0.5),
        make_fact(2, "我点了两份小龙虾", days_ago=0.25),
        make_fact(3, "我订了一间房", days_ago=0.1),
    )
    assert one("改成四份", *orders).closes == (2,)
    assert one("改成四份", make_fact(1, "我订了三份盒饭", days_ago=3)).closes == ()


def test_what_the_message_says_is_as_before_is_closed_by_none_of_its_statements() -> None:
    held = make_fact(1, "我住在苏州", days_ago=1)
    assert settled([new("我搬去上海住了")], [held], "我搬去上海住了，现在还是住苏州")[0].closes == ()
    assert settled([new("我搬去上海住了")], [held], "我搬去上海住了")[0].closes == (1,)


def test_what_was_said_later_stays() -> None:
    fact = one("我住在杭州", replace(make_fact(1, "我住在上海"), said_at=NOW + timedelta(minutes=1)))
    assert (fact.repeats, fact.closes) == (None, ())


def test_a_message_says_a_thing_once() -> None:
    facts = settled([new("我对花生过敏"), new("花生我过敏")], [])
    assert [fact.text for fact in facts] == ["我对花生过敏"]


def test_what_the_bot_promised_is_neither_closed_nor_closing() -> None:
    promise = make_fact(1, "给您补偿20元，三天内到账", kind=FactKind.PROMISE, days_ago=1)
    assert one("补偿取消了", promise).closes == ()
    (kept,) = settled(
        [new("我们搬到上海了", kind=FactKind.PROMISE)], [make_fact(2, "我住在杭州", days_ago=1)]
    )
    assert kept.closes == ()


class TestNamedByAModel:
    def test_closes_what_it_names(self) -> None:
        held = make_fact(1, "我每天五点起来赶早班车", days_ago=1)
        assert one("我调到家门口的分店了", held).closes == ()
        assert one("我调到家门口的分店了", held, instead_of="我每天五点起来赶早班车").closes == (1,)

    def test_not_of_somebody_else(self) -> None:
        held = make_fact(1, "我妈穿38码", days_ago=1)
        assert one("我穿43码", held, instead_of="我妈穿38码").closes == ()

    def test_not_of_another_slot(self) -> None:
        held = make_fact(1, "我公司地址是建国路88号", days_ago=1)
        assert one("我住在朝阳路8号", held, instead_of="我公司地址是建国路88号").closes == ()

    def test_not_in_words_that_nobody_holds(self) -> None:
        held = make_fact(1, "我每天五点起来赶早班车", days_ago=1)
        assert one("我调到家门口的分店了", held, instead_of="我的一切").closes == ()


def test_the_nearest_are_shown_and_no_others() -> None:
    held = [make_fact(number, f"我有{number}只碗") for number in range(1, MOST_KNOWN + 3)]
    held += [make_fact(50, "他乡遇故知"), make_fact(51, "我有20只碗", kind=FactKind.PROMISE)]
    shown = nearest_to("我有一些碗", held)
    assert len(shown) == MOST_KNOWN
    assert set(shown) <= {fact.text for fact in held[: MOST_KNOWN + 2]}


def test_equal_facts_are_found_in_other_words() -> None:
    held = make_fact(1, "我鞋子穿42码"), make_fact(2, "我的鞋码是43")
    assert equal_to("我的鞋码是42", NOW, held) == (1,)


class Before:
    def __init__(self, turn: Turn | None) -> None:
        self.turn = turn

    async def before(self, scope: object, turn: int) -> Turn | None:
        return self.turn


def asked(answer: str, *, hours_ago: float = 0.1) -> Before:
    return Before(Turn(id=6, question="问", answer=answer, at=NOW - timedelta(hours=hours_ago)))


async def consolidate(
    facts: FactsInMemory, before: Before, text: str, judge: Judge | None = None, *, shows: bool = False
) -> None:
    revising = Revising(facts, before, shows_known=shows)
    consolidation = Consolidation(judge=judge or RuleJudge(), facts=facts, embedder=None, revising=revising)
    turn = Turn(id=7, question=text, answer="好的", at=NOW)
    await consolidation.consolidate(SCOPE, turn, job=3, is_group=False)


class TestConsolidation:
    async def test_a_yes_is_kept_without_asking_a_model(self) -> None:
        facts = FactsInMemory()
        await consolidate(facts, asked("您的鞋码是42，对吗？"), "对", ModelJudge(ScriptedModel()))
        assert (facts.texts(), facts.finished) == (["我的鞋码是42"], [3])

    async def test_a_late_yes_or_one_to_nothing_is_none(self) -> None:
        facts = FactsInMemory()
        await consolidate(facts, asked("您的鞋码是42，对吗？", hours_ago=25), "对")
        await consolidate(facts, Before(None), "对")
        assert facts.texts() == []

    async def test_a_no_closes_what_was_held(self) -> None:
        facts = FactsInMemory("我鞋子穿42码", "我穿L码的衣服")
        await consolidate(facts, asked("您的鞋码是42，对吗？"), "不是")
        assert facts.texts() == ["我穿L码的衣服"]

    async def test_the_store_is_told_what_is_closed(self) -> None:
        facts = FactsInMemory()
        facts.hold(SCOPE, make_fact(1, "我住在杭州", days_ago=1))
        await consolidate(facts, Before(None), "我搬到上海了")
        assert [(fact.text, fact.closes) for fact in facts.kept] == [("我搬到上海了", (1,))]

    async def test_many_facts_are_settled_too(self) -> None:
        facts = FactsInMemory()
        held = (make_fact(number, f"我喜欢{number}路车", days_ago=1) for number in range(2, INLINE_FACTS + 5))
        facts.hold(SCOPE, make_fact(1, "我住在杭州", days_ago=1), *held)
        await consolidate(facts, Before(None), "我搬到上海了")
        assert facts.kept[0].closes == (1,)

    async def test_a_model_is_shown_what_a_message_may_contradict(self) -> None:
        facts, model = FactsInMemory(), ScriptedModel('{"keep": false, "facts": []}')
        facts.hold(SCOPE, make_fact(1, "我每天坐早班车", days_ago=1), make_fact(2, "小米粥", days_ago=1))
        await consolidate(facts, Before(None), "早班车我不坐了", ModelJudge(model), shows=True)
        assert '"known": ["我每天坐早班车"]' in model.asked[0][1].text
        assert "小米粥" not in model.asked[0][1].text
