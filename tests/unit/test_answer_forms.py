"""The form of an answer: which a question asks for, which a memory has, and what that counts."""

import pytest

from bot.memory.answer_forms import Form, forms_asked
from bot.memory.recall import Recall
from tests.memory_fakes import SCOPE, FactsInMemory, FixedClock, NearnessByHand
from tests.plain_forms import has_form


@pytest.mark.parametrize(
    ("question", "forms"),
    [
        ("退货那单的单号", {Form.CODE}),
        ("会员号是多少", {Form.CODE}),
        ("电脑的密码", {Form.CODE}),
        ("我几号的飞机", {Form.WHEN}),
        ("合同什么时候到期", {Form.WHEN}),
        ("快递送到哪儿", {Form.WHERE}),
        ("我穿什么码", set()),
        ("鞋多大码", set()),
        ("我对什么过敏", set()),
        ("推荐点零食", set()),
    ],
)
def test_the_forms_a_question_asks_for(question: str, forms: set[Form]) -> None:
    assert forms_asked(question) == forms


@pytest.mark.parametrize(
    ("memory", "form", "has"),
    [
        ("订单号是 SF12345", Form.CODE, True),
        ("我的尾号7719", Form.CODE, True),
        ("花了300块", Form.CODE, False),
        ("周五下午三点见", Form.WHEN, True),
        ("我对花生过敏", Form.WHEN, False),
        ("寄到学校", Form.WHERE, True),
        ("我对花生过敏", Form.WHERE, False),
    ],
)
def test_the_forms_a_memory_has(memory: str, form: Form, *, has: bool) -> None:
    assert has_form(memory, form) is has


async def test_of_two_that_are_near_the_one_with_a_code_is_first() -> None:
    facts = FactsInMemory("我家猫叫米糕", "米糕的芯片是 900118000456271")
    recall = Recall(facts=facts, index=NearnessByHand({1: 0.9, 2: 0.9}), clock=FixedClock())
    assert (await recall.recall(SCOPE, "它的编号", 1)).facts[0].fact.id == 2
    trace = await recall.trace(SCOPE, "它的编号", 1, budget_tokens=999)
    assert [each.form for each in trace.candidates] == [1, 0]
