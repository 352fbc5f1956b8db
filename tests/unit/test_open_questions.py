import pytest

from bot.rules.open_questions import asks


@pytest.mark.parametrize(
    "answer",
    [
        "您穿 M 码吗？",
        "您穿几码？我好帮您查。",
        "请告诉我您的鞋码。",
        "麻烦您提供一下手机号",
        "回复“1”查订单，回复“2”转人工。",
        "要红色还是蓝色呢~",
        "“M”还是“L”？”",
        "请选择 A 还是 B",
    ],
)
def test_what_waits_for_a_word(answer: str) -> None:
    assert asks(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "好的，已为您记录",
        "请您稍等，我们马上发货。",
        "您问的是退款吗？退款三天到账。请注意查收。祝您愉快。",
        "今天天气不错，适合出门。",
    ],
)
def test_what_waits_for_nothing(answer: str) -> None:
    assert not asks(answer)
