"""What people point at, what it means of what they told, and when to ask instead of guessing."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.entities import EntityType, SeenEntity
from bot.memory.references import (
    Ambiguous,
    Resolved,
    find_reference,
    is_reference,
    is_reproach,
    may_point,
    resolve,
    rewrite,
    understand,
)

NOW = datetime(2026, 3, 1, 4, tzinfo=UTC)
ORDER, AMOUNT, GOODS, PHONE = (
    EntityType.ORDER_ID,
    EntityType.AMOUNT,
    EntityType.PRODUCT_NAME,
    EntityType.CONTACT_INFO,
)


def seen(kind: EntityType, value: str, minutes: float, context: str = "") -> SeenEntity:
    return SeenEntity(
        type=kind, value=value, normalised=value, seen_at=NOW + timedelta(minutes=minutes), context=context
    )


TOLD = (
    seen(ORDER, "SF1234567898832", 0, "给我妈买的杯子，单号SF1234567898832，顺丰"),
    seen(ORDER, "YT2233445566778", 10, "买了一双鞋，YT2233445566778"),
    seen(AMOUNT, "300元", 20, "答应给我补偿300元"),
    seen(AMOUNT, "1299", 30, "买手机花了1299"),
    seen(GOODS, "红色卫衣", 40, "那件红色卫衣"),
    seen(GOODS, "a款", 50, "A款"),
    seen(PHONE, "13812345678", 60, "电话13812345678"),
)


def meant(text: str, told: tuple[SeenEntity, ...] = TOLD) -> str | tuple[str, ...] | None:
    reference = find_reference(text)
    assert reference is not None, text
    answer = resolve(reference, told)
    if isinstance(answer, Ambiguous):
        return tuple(each.value for each in answer.candidates)
    return answer and answer.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("那个单号到哪了", "YT2233445566778"),
        ("那个订单呢", "YT2233445566778"),
        ("我之前给你的单号", "YT2233445566778"),
        ("它到哪了", "YT2233445566778"),
        ("这单什么时候到", "YT2233445566778"),
        ("尾号8832那单到哪了", "SF1234567898832"),
        ("后四位是6778的那个订单", "YT2233445566778"),
        ("8832那单", "SF1234567898832"),
        ("尾号0000那单", None),
        ("顺丰那个到哪了", "SF1234567898832"),
        ("圆通的那个快递", "YT2233445566778"),
        ("韵达那单", None),
        ("买杯子的那单发货了吗", "SF1234567898832"),
        ("买鞋那单", "YT2233445566778"),
        ("杯子的单号是多少", "SF1234567898832"),
        ("我说的那双鞋的单号", "YT2233445566778"),
        ("我的单号呢，就是上次那个单号", "YT2233445566778"),
        ("给我妈买的那单", "SF1234567898832"),
        ("第一个订单", "SF1234567898832"),
        ("第二单", "YT2233445566778"),
        ("第三单", None),
        ("最后那单", "YT2233445566778"),
        ("上一单", "SF1234567898832"),
        ("上次说的补偿什么时候到", "300元"),
        ("之前答应的赔偿呢", "1299"),
        ("那笔钱到账了吗", "1299"),
        ("那个电话", "13812345678"),
        ("红色的那件", "红色卫衣"),
        ("那件红色卫衣能退吗", "红色卫衣"),
        ("蓝色的那件", None),
        ("A款有货吗", "a款"),
        ("那件能退吗", "a款"),
    ],
)
def test_what_is_meant(text: str, value: str | None) -> None:
    assert meant(text) == value


def test_told_in_one_message_and_not_told_apart_is_asked() -> None:
    both = (seen(ORDER, "A12345", 0, "A12345和B12345"), seen(ORDER, "B12345", 0, "A12345和B12345"))
    assert meant("那个单号到哪了", both) == ("A12345", "B12345")
    assert meant("第一个到哪了", both) == "A12345"
    assert meant("最后那个", both) == "B12345"


def test_the_same_end_or_the_same_words_twice_is_asked() -> None:
    twins = (seen(ORDER, "A18832", 0, "买杯子"), seen(ORDER, "B28832", 5, "又买杯子"))
    assert meant("尾号8832那单", twins) == ("A18832", "B28832")
    assert meant("买杯子的那单", twins) == ("A18832", "B28832")
    assert meant("买伞的那单", twins) == ("A18832", "B28832")


def test_a_number_that_is_no_end_may_be_a_price() -> None:
    told = (seen(ORDER, "A12345", 0, "花了299"), seen(ORDER, "B12345", 5, "花了399"))
    assert meant("299的那单", told) == "A12345"


def test_a_bare_end_yields_to_the_whole_number() -> None:
    told = (seen(ORDER, "SF1234567898832", 0), seen(ORDER, "*8832", 5))
    assert meant("尾号8832那单", told) == "SF1234567898832"


def test_what_was_offered_is_counted_first() -> None:
    reference = find_reference("第二个")
    assert reference is not None
    answer = resolve(reference, TOLD, offered=(TOLD[1], TOLD[0]))
    assert isinstance(answer, Resolved)
    assert answer.value == "SF1234567898832"


def test_last_time_is_before_this_session() -> None:
    reference = find_reference("上次那个单号")
    assert reference is not None
    answer = resolve(reference, TOLD, session_began=NOW + timedelta(minutes=5))
    assert isinstance(answer, Resolved)
    assert answer.value == "SF1234567898832"


def test_words_beside_an_earlier_mention_count() -> None:
    told = (
        seen(ORDER, "A12345", 0, "买杯子"),
        seen(ORDER, "A12345", 9, "A12345到哪了"),
        seen(ORDER, "B12345", 20, "鞋"),
    )
    assert meant("买杯子的那单", told) == "A12345"


ORDERS = (
    seen(ORDER, "SF1111111111111", 0, "上周二给我妈买了件羽绒服，顺丰SF1111111111111"),
    seen(ORDER, "YT2222222222222", 10, "昨天拍的电饭煲，圆通YT2222222222222"),
    seen(ORDER, "ZT3333333333333", 20, "公司订的椅子ZT3333333333333"),
    seen(GOODS, "羽绒服", 0, "上周二给我妈买了件羽绒服，顺丰SF1111111111111"),
    seen(GOODS, "电饭煲", 30, "电饭煲真好用"),
)


def understood(text: str, told: tuple[SeenEntity, ...] = ORDERS) -> str | tuple[str, ...] | None:
    answer = understand(text, told)
    return (
        tuple(each.value for each in answer.candidates)
        if isinstance(answer, Ambiguous)
        else answer and answer.value
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("羽绒服到哪了", "SF1111111111111"),
        ("我妈那件发货了吗", "SF1111111111111"),
        ("椅子什么时候到", "ZT3333333333333"),
        ("我最早发给你的那个单号", "SF1111111111111"),
        ("一开始说的那单到哪了", "SF1111111111111"),
        ("最近发你的单号到了没", "ZT3333333333333"),
        ("昨天拍的那个到哪了", "YT2222222222222"),
        ("圆通的呢", "YT2222222222222"),
        ("第二单", "YT2222222222222"),
        ("尾号3333的到了吗", "ZT3333333333333"),
        ("尾号３３３３那单到了吗", "ZT3333333333333"),
        ("\\u6905\\u5b50到哪了", "ZT3333333333333"),
        ("椅子什么时候能到", "ZT3333333333333"),
        ("那个饭煲呢，发了没", "YT2222222222222"),
        ("煲什么时候能到", "YT2222222222222"),
        ("雨伞到哪了", None),
        ("发货一般要几天", None),
        ("今天天气怎么样", None),
    ],
)
def test_the_whole_question_tells_which(text: str, value: str | None) -> None:
    assert understood(text) == value


def test_the_other_is_not_the_one_named() -> None:
    assert understood("不是椅子那单，是另外那单", ORDERS[1:3]) == "YT2222222222222"
    assert understood("另一单呢", ORDERS[1:3]) == "YT2222222222222", "the last told is the one spoken of"
    assert understood("不是尾号2222的，另外的那个", ORDERS[:2]) == "SF1111111111111"
    assert understood("不是椅子那单，是另外那单") == ("SF1111111111111", "YT2222222222222")


def test_a_day_is_its_whole_word() -> None:
    told = (
        seen(ORDER, "A12345", 0, "前天下的狗粮，A12345"),
        seen(ORDER, "B12345", 5, "大前天抢的鞋，B12345"),
        seen(ORDER, "C12345", 9, "半个月前拍的锅，C12345"),
        seen(GOODS, "拖鞋", 12, "狗在啃拖鞋"),
    )
    assert understood("我前天买的那个", told) == "A12345"
    assert understood("大前天那件还没动静", told) == "B12345"
    assert understood("半个月前那件还没动静", told) == "C12345"


def test_all_parcels_of_one_courier_are_offered_that_may_still_be_under_way() -> None:
    told = (
        seen(ORDER, "JT1111111111111", 0, "手机壳JT1111111111111"),
        seen(ORDER, "JT2222222222222", 9, "极兔的，JT2222222222222"),
        seen(ORDER, "SF3333333333333", 20, "鞋SF3333333333333"),
    )
    both = ("JT1111111111111", "JT2222222222222")
    for text in ("极兔那个到哪了", "有一个是极兔的，看看", "极兔寄的那件到哪一站了"):
        assert understood(text, told) == both
    assert understood("极兔那个手机壳到哪了", told) == "JT1111111111111"
    later = (*told, seen(ORDER, "JT4444444444444", 30 * 24 * 60, "极兔JT4444444444444"))
    assert understood("极兔那个单号呢", later) == "JT4444444444444"


def test_what_nothing_tells_apart_is_asked() -> None:
    same = (seen(ORDER, "A12345", 0, "猫砂A12345"), seen(ORDER, "B12345", 9, "猫砂B12345"))
    assert understood("猫砂什么时候能到", same) == ("A12345", "B12345")
    twins = (seen(ORDER, "A12345", 0, "买杯子A12345"), seen(ORDER, "B12345", 9, "又买杯子B12345"))
    assert understood("杯子那单到哪了", twins) == ("A12345", "B12345")
    assert may_point("杯子那单到哪了") and not may_point("今天天气怎么样")


def test_nothing_told_means_nothing() -> None:
    assert meant("那个单号到哪了", ()) is None
    assert meant("第一个", ()) is None


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("那个单号到哪了", "订单 YT2233445566778 到哪了"),
        ("请问尾号8832那单发货了吗", "请问 订单 SF1234567898832 发货了吗"),
        ("上次说的补偿什么时候到", "上次说的补偿 300元 什么时候到"),
        ("红色的那件能退吗", "红色卫衣 能退吗"),
    ],
)
def test_the_question_with_its_meaning(text: str, rewritten: str) -> None:
    reference = find_reference(text)
    assert reference is not None
    answer = resolve(reference, TOLD)
    assert isinstance(answer, Resolved)
    assert rewrite(text, answer) == rewritten


@pytest.mark.parametrize(
    "text",
    [
        "我的订单号是123456",
        "今天天气怎么样",
        "你好",
        "我想买杯子",
        "怎么退货",
        "那你说呢",
        "那我就放心了",
        "第一次来",
        "最后一天",
        "这天气真好",
        "查一下单号",
        "那个单号SF1234567890123到哪了",
        "",
        "谢谢",
    ],
)
def test_what_points_at_nothing(text: str) -> None:
    assert not is_reference(text)


@pytest.mark.parametrize(
    "text",
    [
        "你忘了",
        "你忘了吗",
        "我不是说过吗",
        "你怎么又忘了",
        "不是告诉过你了吗",
        "说过多少遍了",
        "都说了",
        "你不记得了？",
        "你全忘了",
        "我刚才不是说了吗",
        "刚跟你说过",
        "你记性真差",
        "我早就跟你说过",
        "我上次跟你说了呀",
        "我告诉过你的",
    ],
)
def test_reproaches(text: str) -> None:
    assert is_reproach(text)


@pytest.mark.parametrize(
    "text",
    [
        "我忘了",
        "你别忘了",
        "别忘了提醒我",
        "忘了告诉你",
        "你记得吗",
        "我朋友说过",
        "他说过",
        "如果你忘了",
        "你还记得我吗",
        "我跟你说个事",
        "",
    ],
)
def test_no_reproaches(text: str) -> None:
    assert not is_reproach(text)


@given(st.text() | st.text(alphabet="那这个单号件款上次说的第一二最后尾号8832顺丰买杯子，。它A "))
def test_any_text_is_looked_at(text: str) -> None:
    is_reproach(text)
    reference = find_reference(text)
    if reference is None:
        return
    assert text[reference.start : reference.end] == reference.words != ""
    answer = resolve(reference, TOLD)
    if isinstance(answer, Resolved):
        assert answer.value in rewrite(text, answer)
    if isinstance(answer, Ambiguous):
        assert len(answer.candidates) > 1
