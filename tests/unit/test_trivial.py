from datetime import timedelta

import pytest

from bot.rules.trivial import COURTESY_PAUSE, Trivial, classify, line_for


def private(text: str, *, is_open: bool = False, has_held: bool = False) -> Trivial | None:
    return classify(text, is_open=is_open, is_group=False, has_held=has_held)


@pytest.mark.parametrize("text", ["？", "?", "？？？", "在吗", "在吗？", "在么", "有人吗", "喂", " 在 "])
def test_pings(text: str) -> None:
    assert private(text) is Trivial.PING


@pytest.mark.parametrize(
    "text", ["嗯", "谢谢", "谢谢！", "好的", "好的👌", "OK", "收到。", "谢谢[微笑]", "哈哈"]
)
def test_courtesies(text: str) -> None:
    assert private(text) is Trivial.COURTESY


@pytest.mark.parametrize(
    "text",
    [
        "。",
        "。。。",
        "啊啊啊",
        "嗯哼哼哈哈".replace("哼", "嗯"),
        "👍",
        "[捂脸]",
        "/::)",
        "/:rose",
        "666",
        "M",
        "红",
        "1",
        "……",
    ],
)
def test_noise_when_nothing_is_open(text: str) -> None:
    assert private(text) is Trivial.NOISE


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *(
            (text, Trivial.NOISE)
            for text in ("哈哈哈嗝", "噗哈哈", "111", "xswl", "冒泡", "LMAO", "emmmm", "+1", "/呲牙")
        ),
        *(
            (text, Trivial.NOISE)
            for text in ("asdfgh", "jkjkjk", "sdfsdf", "xkcdvb", "红红火火恍恍惚惚", "[表情]")
        ),
        *(
            (text, Trivial.COURTESY)
            for text in ("嗯嗯好的", "没事没事", "收到收到收到", "多谢哈", "好的谢谢", "okok", "88")
        ),
        ("滴滴", Trivial.PING),
    ],
)
def test_chatter_is_trivial_while_nothing_is_open(text: str, kind: Trivial) -> None:
    assert private(text) is kind


@pytest.mark.parametrize(
    "text", ["嗯嗯好的", "okok", "88", "111", "没事没事", "asdfgh", "随便", "+1", "好的谢谢"]
)
def test_chatter_may_answer_an_open_question(text: str) -> None:
    assert private(text, is_open=True) is None


@pytest.mark.parametrize(
    "text",
    [
        "power",
        "assert",
        "glass",
        "xml",
        "42",
        "8832",
        "好了吗",
        "对不对",
        "救命",
        "哭了",
        "随便推荐一个",
        "退款吧",
        "谢谢，退款呢",
    ],
)
def test_what_looks_like_chatter_and_says_something(text: str) -> None:
    assert private(text) is None


def test_a_long_string_of_courtesies_takes_no_time() -> None:
    """Fails by never ending, were it not."""
    assert private("好好的" * 9 + "退") is None
    assert private("好" * 400 + "退") is None


@pytest.mark.parametrize("text", ["你好", "您好！", "hi", "Hello~", "早上好", "嗨"])
def test_greetings(text: str) -> None:
    assert private(text) is Trivial.GREETING


@pytest.mark.parametrize(
    "text",
    [
        "你好，我的订单 SF123456789 到哪了",
        "在吗，想问下退款",
        "谢谢你推荐的那本书，叫什么来着",
        "退款",
        "试试",
        "退退退",
        "[退款]",
        "c++",
        "继续",
        "好了吗",
        "确认",
        "/帮助",
        "/:rose谢谢你昨天的推荐",
        "嗯" * 501,
    ],
)
def test_what_deserves_an_answer(text: str) -> None:
    assert private(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "M",
        "红",
        "退",
        "好",
        "对",
        "1",
        "嗯",
        "在",
        "。",
        "👍",
        "👍👍",
        "好的",
        "是的",
        "可以",
        "没问题",
        "？",
    ],
)
def test_whatever_may_answer_an_open_question_is_not_trivial(text: str) -> None:
    assert private(text, is_open=True) is None


@pytest.mark.parametrize(
    ("text", "kind"), [("谢谢", Trivial.COURTESY), ("在吗", Trivial.PING), ("你好", Trivial.GREETING)]
)
def test_what_answers_no_question_stays_trivial(text: str, kind: Trivial) -> None:
    assert private(text, is_open=True) is kind


@pytest.mark.parametrize("text", ["？", "在吗", "在"])
def test_a_ping_fetches_a_held_answer(text: str) -> None:
    assert private(text, is_open=True, has_held=True) is Trivial.PING


@pytest.mark.parametrize("text", ["1", "你好", "谢谢", "在吗"])
def test_an_faq_rule_for_the_very_text_goes_first(text: str) -> None:
    assert classify(text, is_open=False, is_group=False, has_rule=True) is None


@pytest.mark.parametrize("text", ["", " \u200b", "\u3000"])
def test_called_without_a_word_in_a_group(text: str) -> None:
    assert classify(text, is_open=False, is_group=True) is Trivial.BARE_MENTION


def test_private_chats_get_one_line_in_ten_minutes() -> None:
    for kind in (Trivial.COURTESY, Trivial.NOISE):
        assert line_for(kind, is_group=False, since_last=None) == "courtesy"
        assert line_for(kind, is_group=False, since_last=COURTESY_PAUSE) == "courtesy"
        assert line_for(kind, is_group=False, since_last=timedelta(minutes=9)) is None
    assert line_for(Trivial.PING, is_group=False, since_last=timedelta(0)) == "ping"
    assert line_for(Trivial.GREETING, is_group=False, since_last=timedelta(0)) == "greeting"


def test_groups_stay_quiet() -> None:
    for kind in (Trivial.COURTESY, Trivial.NOISE):
        assert line_for(kind, is_group=True, since_last=None) is None
    for kind in (Trivial.PING, Trivial.BARE_MENTION):
        assert line_for(kind, is_group=True, since_last=None) == "bare_mention"
        assert line_for(kind, is_group=True, since_last=timedelta(minutes=1)) is None
