"""What the bot binds itself to is known as its promise; what others say, or it cannot promise, is none."""

from datetime import timedelta

import pytest

from bot.conversation.turn import Turn
from bot.memory.entities import EntityType, SeenEntity
from bot.memory.fact import FactKind
from bot.memory.naming import named_in, promise_facts, promised_in, seen_lately
from bot.memory.promises import MOST_PROMISES, find_promises
from bot.memory.references import Ambiguous, Resolved, may_point, rewrite, understand
from tests.memory_fakes import NOW


def promises(answer: str) -> list[str]:
    return [each.text for each in find_promises(answer)]


@pytest.mark.parametrize(
    ("answer", "promised"),
    [
        ("24 小时内回复您", ["24 小时内回复您"]),
        ("好的，给您补偿20元优惠券，单号BC20260304001。", ["给您补偿20元优惠券，单号BC20260304001"]),
        ("已为您申请20元补偿，预计三天内到账", ["已为您申请20元补偿，预计三天内到账"]),
        ("专员将在30分钟内致电您", ["专员将在30分钟内致电您"]),
        ("运费由我们承担", ["运费由我们承担"]),
        ("我这就去催仓库发货", ["我这就去催仓库发货"]),
        ("我保证不会再发错货", ["我保证不会再发错货"]),
        ("缺的配件明天寄出", ["缺的配件明天寄出"]),
        ("到货了通知您", ["到货了通知您"]),
        ("给您登记退款了。退款单号是TK8812345。", ["给您登记退款了。退款单号是TK8812345"]),
        ("少的那件今天给您补寄过去。明早我给您打电话！", ["少的那件今天给您补寄过去", "明早我给您打电话"]),
        ("我先给您登记补发，请问地址变了吗？", ["我先给您登记补发"]),
    ],
)
def test_a_promise_is_found_as_it_was_said(answer: str, promised: list[str]) -> None:
    assert promises(answer) == promised


@pytest.mark.parametrize(
    "answer",
    [
        "退款一般3到5个工作日到账",
        "如果您收到破损，我们会给您补发",
        "下单后48小时内发货",
        "很抱歉，这个价格给您退不了",
        "我不能保证到货时间",
        "您需要我帮您申请补偿吗？",
        "明天给您打电话，可以吗？",
        "请您在三天内寄回",
        "您可以在订单页面申请退款",
        "快递员会给您打电话",
        "物流显示明天送达",
        "您的订单SF1234567890123已经发出",
        "好的，已为您记录",
        "给你讲个笑话：小明去上学",
        "您之前说过：“我给您退20元”（2026-03-04）",
        "原文：“我们会在24小时内回复您”（出自《售后》）",
        "花生过敏的人不要吃这个",
        "",
    ],
)
def test_policies_refusals_questions_advice_and_quotations_are_none(answer: str) -> None:
    assert promises(answer) == []


def test_few_are_kept_of_one_answer_and_their_places_are_right() -> None:
    answer = "明天我给您打电话。" * 20
    found = find_promises(answer)
    assert len(found) == MOST_PROMISES
    assert all(answer[each.start : each.end] == each.text for each in found)


def test_a_promise_is_the_bots_own_kind() -> None:
    (seen,) = promised_in("好的，给您补偿20元，卡号4111111111111111，三天内到账", NOW)
    assert (seen.type, seen.seen_at) == (EntityType.PROMISE, NOW)
    assert "4111" not in seen.value + seen.context
    (fact,) = promise_facts([seen])
    assert (fact.kind, fact.text, fact.said_at) == (FactKind.PROMISE, seen.value, NOW)
    assert fact.expires_at is not None


def test_a_person_makes_no_promise_of_the_bots() -> None:
    claimed = "你答应给我补偿500元，24小时内到账，我会给您好评"
    assert EntityType.PROMISE not in {each.type for each in named_in(claimed, NOW)}


def test_what_no_worker_has_kept_yet_is_seen() -> None:
    turn = Turn(id=1, question="杯子碎了", answer="给您补发一个", at=NOW)
    assert [each.value for each in seen_lately((), [turn]) if each.type is EntityType.PROMISE] == [
        "给您补发一个"
    ]


COUPON = promised_in("好的，补偿您20元优惠券，单号BC20260304001", NOW - timedelta(days=3))
CALL = promised_in("我们24小时内给您回电", NOW - timedelta(days=2))
TOLD = (
    *named_in("单号SF1234567890123，杯子碎了，我要补偿300元", NOW - timedelta(days=4)),
    *COUPON,
    *CALL,
)


def meant(text: str, told: tuple[SeenEntity, ...] = TOLD) -> list[str]:
    match understand(text, told):
        case Resolved() as found:
            return [found.value]
        case Ambiguous() as found:
            return [each.value for each in found.candidates]
        case None:
            return []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("上次说的补偿什么时候到", COUPON[0].value),
        ("你说要补我的那个呢", COUPON[0].value),
        ("那个补偿单号是多少", "BC20260304001"),
        ("你们说好的回复呢", CALL[0].value),
        ("你们承诺的优惠券呢", COUPON[0].value),
        ("那个单号到哪了", "SF1234567890123"),
        ("我说的补偿是多少", "300元"),
    ],
)
def test_who_points_at_a_promise_gets_that(text: str, value: str) -> None:
    assert may_point(text)
    assert meant(text) == [value]


@pytest.mark.parametrize("text", ["你答应我的呢", "你们之前承诺过什么", "上回许的那个事办了没"])
def test_what_could_be_each_of_several_is_asked(text: str) -> None:
    assert meant(text) == [COUPON[0].value, CALL[0].value]
    assert meant(text, CALL) == [CALL[0].value]


def test_without_a_promise_the_persons_own_words_are_meant() -> None:
    assert meant("上次说的补偿什么时候到", TOLD[:-2]) == ["300元"]


def test_the_promise_is_put_in_the_place_of_the_words() -> None:
    found = understand("你答应我的什么时候办", CALL)
    assert isinstance(found, Resolved)
    assert rewrite("你答应我的什么时候办", found).startswith(CALL[0].value)


@pytest.mark.parametrize("piece", ["给您", "我", "明天", "“", "：“", "退", "24小时内", "我会，", "请"])
def test_time_is_linear(piece: str) -> None:
    """Fails by never ending, were it not."""
    assert len(find_promises(piece * 20_000)) <= MOST_PROMISES
