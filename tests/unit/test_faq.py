import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rules.faq import LONGEST_QUESTION, FaqBook, FaqRule, Match, check_pattern


def rule(match: str, *patterns: str, answer: str = "", **more: object) -> FaqRule:
    return FaqRule(
        id=f"{match} {patterns[0]}",
        match=Match(match),
        patterns=patterns,
        answer=answer or f"答：{patterns[0]}",
        **more,  # type: ignore[arg-type]
    )


def verdict(book: FaqBook, text: str) -> str:
    hit = book.match(text, "wechat")
    if hit is None:
        return "none"
    return "answer" if hit.verbatim else "context"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("营业时间", "answer"),
        ("营业时间？", "answer"),
        ("　营业时间。", "answer"),
        ("营业时 间", "none"),
        ("你们营业时间", "none"),
    ],
)
def test_exact_compares_the_whole_message(text: str, expected: str) -> None:
    assert verdict(FaqBook([rule("exact", "营业时间")]), text) == expected


def test_exact_folds_width_and_case() -> None:
    assert verdict(FaqBook([rule("exact", "WiFi密码")]), "ＷＩＦＩ密码") == "answer"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("退款", "answer"),
        ("退款？", "answer"),
        ("我退款", "answer"),
        ("请问退款吗？谢谢", "answer"),
        ("退款了怎么还没到账", "context"),
        ("不用退款", "context"),
        ("不退款", "context"),
        ("别退款", "context"),
        ("没退款", "context"),
        ("退款没", "context"),
        ("退款不", "context"),
        ("我想问一下上周买的那件衣服可以退款吗", "context"),
        ("退换货的款式", "none"),
    ],
)
def test_contains_answers_only_what_it_covers(text: str, expected: str) -> None:
    assert verdict(FaqBook([rule("contains", "退款")]), text) == expected


def test_a_negation_inside_the_pattern_is_the_rules_own() -> None:
    assert verdict(FaqBook([rule("contains", "不能退款")]), "不能退款吗") == "answer"


def test_english_negations_count_as_words() -> None:
    book = FaqBook([rule("contains", "refund policy")])
    assert verdict(book, "a refund policy") == "answer"
    assert verdict(book, "no refund policy") == "context"
    assert verdict(book, "I noted refund policy") == "answer"


@pytest.mark.parametrize("match", ["exact", "contains", "regex", "fuzzy"])
def test_a_greeting_does_not_swallow_a_question(match: str) -> None:
    book = FaqBook([rule(match, "你好")])
    assert verdict(book, "你好") == "answer"
    assert verdict(book, "你好！") == "answer"
    assert verdict(book, "你好，我的订单 SF123456789 到哪了") == "none"


def test_literals_need_no_escaping() -> None:
    book = FaqBook([rule("contains", "c++"), rule("exact", "(", "a.b*")])
    assert verdict(book, "c++") == "answer"
    assert verdict(book, "C＋＋") == "answer"
    assert verdict(book, "ccc") == "none"
    assert verdict(book, "(") == "answer"
    assert verdict(book, "a.b*") == "answer"
    assert verdict(book, "aXbbb") == "none"


def test_a_link_in_an_answer_stays_as_it_is() -> None:
    answer = "见 https://a.example/r?x=1&y={z}#top （%s）"
    hit = FaqBook([rule("exact", "说明书", answer=answer)]).match("说明书", "wechat")
    assert hit is not None
    assert hit.answer == answer


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"^sf\d{12}$", "SF123456789012", "answer"),
        (r"^sf\d{12}$", "单号 SF123456789012", "none"),
        (r"SF\d{12}", "单号 sf123456789012 到哪了", "answer"),
        (r"(几点|什么时候).{0,6}(开门|营业)", "请问你们明天几点开始营业呀", "answer"),
        (r"(几点|什么时候).{0,6}(开门|营业)", "我不想知道几点开门", "context"),
        (r"（满减）", "有（满减）活动么", "answer"),
        (r"ABC", "ａｂｃ", "answer"),
    ],
)
def test_regex_whole_or_search_as_written(pattern: str, text: str, expected: str) -> None:
    assert verdict(FaqBook([rule("regex", pattern)]), text) == expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "右括号"),
        ("*x*", "可以重复"),
        ("\\", "末尾"),
        ("(?=a)", "不支持"),
        (r"(a)\1", "反斜杠"),
        ("[a", "右方括号"),
        (".*", "抢答"),
        ("x*", "抢答"),
    ],
)
def test_a_bad_expression_is_refused_with_its_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_pattern(Match.REGEX, pattern)
    with pytest.raises(ValueError, match=reason):
        FaqBook([rule("regex", pattern)])


@pytest.mark.parametrize(("match", "pattern"), [("exact", " \u200b"), ("contains", ""), ("fuzzy", "？！")])
def test_an_empty_pattern_is_refused(match: str, pattern: str) -> None:
    with pytest.raises(ValueError):
        check_pattern(Match(match), pattern)


def test_an_expression_that_would_backtrack_is_linear_here() -> None:
    book = FaqBook([rule("regex", "(a+)+b$")])
    assert verdict(book, "a" * LONGEST_QUESTION) == "none"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("怎么修改收货地址", "answer"),
        ("怎么修改收货的地址？", "answer"),
        ("如何修改收货地址", "none"),
        ("怎么修改收货电话", "none"),
        ("怎么不修改收货地址", "context"),
    ],
)
def test_fuzzy_takes_small_differences(text: str, expected: str) -> None:
    assert verdict(FaqBook([rule("fuzzy", "怎么修改收货地址")]), text) == expected


def test_fuzzy_never_answers_for_another_number() -> None:
    book = FaqBook([rule("fuzzy", "第3期课程怎么报名")])
    assert verdict(book, "第3期的课程怎么报名") == "answer"
    assert verdict(book, "第4期课程怎么报名") == "context"


def test_each_fuzzy_rule_has_its_own_threshold() -> None:
    book = FaqBook(
        [rule("fuzzy", "会员积分怎么兑换", threshold=60.0), rule("fuzzy", "会员卡怎么办理", threshold=95.0)]
    )
    assert verdict(book, "积分怎样兑换") == "answer"
    assert verdict(book, "会员卡怎样办理") == "none"


def test_priority_decides_among_rules_that_answer() -> None:
    book = FaqBook([rule("contains", "退款"), rule("contains", "退", "退款", answer="先看这里", priority=5)])
    hit = book.match("退款", "wechat")
    assert hit is not None
    assert hit.answer == "先看这里"


def test_a_rule_that_answers_goes_before_one_that_only_touches() -> None:
    book = FaqBook([rule("contains", "退款", priority=9), rule("exact", "退款了怎么还没到账")])
    hit = book.match("退款了怎么还没到账", "wechat")
    assert hit is not None
    assert (hit.rule.match, hit.verbatim) == (Match.EXACT, True)


def test_the_more_specific_goes_first_then_the_first_in_the_file() -> None:
    book = FaqBook(
        [
            rule("contains", "会员"),
            rule("contains", "会员退款"),
            rule("contains", "会员退款", answer="后写的"),
        ]
    )
    hit = book.match("会员退款", "wechat")
    assert hit is not None
    assert hit.answer == "答：会员退款"


def test_channels_limit_a_rule() -> None:
    book = FaqBook([rule("exact", "菜单", channels=frozenset({"onebot"}))])
    assert book.match("菜单", "wechat") is None
    assert book.match("菜单", "onebot") is not None


def test_the_same_text_is_never_sent_twice_running() -> None:
    book = FaqBook([rule("exact", "地址", answer="人民路 1 号")])
    assert [
        hit.verbatim for last in ("", "别的", "人民路 1 号\n") if (hit := book.match("地址", "wechat", last))
    ] == [
        True,
        True,
        False,
    ]


def test_a_story_is_touched_but_not_answered() -> None:
    book = FaqBook([rule("exact", "退" * LONGEST_QUESTION), rule("contains", "退款")])
    assert verdict(book, "退" * LONGEST_QUESTION) == "answer"
    assert verdict(book, "退" * LONGEST_QUESTION + "了") == "context"
    assert verdict(book, "退款" * LONGEST_QUESTION) == "context"


def test_every_kind_is_found_among_ten_thousand() -> None:
    kinds = ["exact", "contains", "regex", "fuzzy"]
    book = FaqBook([rule(kinds[number % 4], f"第{number}项业务怎么办理") for number in range(10_000)])
    for number in (8000, 8001, 8002, 8003):
        hit = book.match(f"第{number}项业务怎么办理", "wechat")
        assert hit is not None
        assert hit.answer == f"答：第{number}项业务怎么办理"


def test_a_character_that_is_many_letters_costs_no_more() -> None:
    book = FaqBook([rule("contains", "株式会社")])
    assert verdict(book, "㍿" * LONGEST_QUESTION) == "context"


def test_no_rules_match_nothing() -> None:
    assert FaqBook().match("退款", "wechat") is None
    assert FaqBook([rule("contains", "退款")]).match(" \u200b", "wechat") is None


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_any_message_can_be_matched(text: str) -> None:
    book = FaqBook([rule("exact", "a"), rule("contains", "b"), rule("regex", "c.?d"), rule("fuzzy", "eeee")])
    book.match(text, "wechat")
