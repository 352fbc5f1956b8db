"""Splitting documents: headings above, sentences whole, nothing lost, nothing too long."""

import pytest

from bot.conversation.errors import RejectedInput
from bot.knowledge.splitting import LONGEST, MERGE_UP_TO, decode, keyword_text, searchable_text, split


def passages(text: str, *, is_markdown: bool = True) -> list[tuple[str, str]]:
    return [(passage.heading, passage.text) for passage in split(text, is_markdown=is_markdown)]


def test_the_headings_above_a_paragraph() -> None:
    text = "# 手册\n导言。\n## 售后 ##\n### 退货\n七天内可退。\n## 发票\n电子发票。"
    assert passages(text) == [
        ("手册", "导言。"),
        ("手册 › 售后 › 退货", "七天内可退。"),
        ("手册 › 发票", "电子发票。"),
    ]


def test_underlined_headings() -> None:
    assert passages("手册\n===\n导言。\n\n售后\n---\n七天。") == [
        ("手册", "导言。"),
        ("手册 › 售后", "七天。"),
    ]


def test_a_heading_with_nothing_under_it_is_text() -> None:
    assert passages("# 门店\n## 周一休息\n## 电话 12345\n# 其他\n好。") == [
        ("门店", "周一休息\n电话 12345"),
        ("其他", "好。"),
    ]


def test_a_document_that_ends_with_a_heading_keeps_it() -> None:
    assert passages("说明。\n\n# 完") == [("", "说明。\n完")]


def test_short_paragraphs_of_one_heading_share_a_passage() -> None:
    assert passages("# 店\n一。\n\n二。\n\n三。") == [("店", "一。\n二。\n三。")]


def test_paragraphs_of_different_headings_do_not() -> None:
    assert len(passages("# 甲\n一。\n# 乙\n二。")) == 2


def test_merging_stops_at_its_limit() -> None:
    paragraph = "字" * (MERGE_UP_TO // 2) + "。"
    assert [text for _, text in passages(f"{paragraph}\n\n{paragraph}")] == [paragraph, paragraph]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    sentence = "这一句话正好有二十个字，用来试试怎么切。"
    cut = [text for _, text in passages(sentence * 50)]
    assert len(cut) > 1
    assert all(len(text) <= LONGEST and text.endswith("。") for text in cut)
    assert "".join(cut) == sentence * 50


def test_a_closing_quotation_mark_stays_with_its_sentence() -> None:
    sentence = "他说：“七天之内都可以退，不用问原因。”"
    assert all(text.endswith("。”") for _, text in passages(sentence * 40))


def test_a_sentence_without_an_end_is_cut_at_commas_then_anywhere() -> None:
    assert [len(text) for _, text in passages("字" * 900)] == [400, 400, 100]
    cut = [text for _, text in passages(("一二三四五六七八九，") * 90)]
    assert all(text.endswith("，") for text in cut)


def test_code_is_kept_as_written() -> None:
    assert passages("# 配置\n```yaml\na:\n  b: 1\n\n# 注释\n```\n完。") == [
        ("配置", "a:\n  b: 1\n\n# 注释\n完。"),
    ]


def test_a_fence_that_never_closes_takes_the_rest() -> None:
    assert passages("```\n# 不是标题\n正文") == [("", "# 不是标题\n正文")]


def test_a_long_table_repeats_its_head() -> None:
    head = "| 房型 | 价格 |\n|---|---|\n"
    rows = [f"| 第{number}种房型，带早餐和停车位 | {number}00 元 |\n" for number in range(40)]
    cut = [text for _, text in passages(head + "".join(rows))]
    assert len(cut) > 1
    assert all(text.startswith(head) and len(text) <= LONGEST for text in cut)
    assert "\n".join(text.removeprefix(head) for text in cut) + "\n" == "".join(rows)


def test_front_matter_and_rules_are_left_out() -> None:
    assert passages("---\ntitle: 手册\n---\n甲。\n\n* * *\n\n乙。") == [("", "甲。\n乙。")]


def test_lines_that_an_editor_broke_are_joined() -> None:
    wide = "这一行有三十多个汉字所以是编辑器折断的而不是写的人自己换的行" + "是"
    assert passages(f"{wide}\n吗？是的。") == [("", f"{wide}吗？是的。")]


def test_lines_that_the_writer_broke_stay() -> None:
    assert passages("电话：12345\n地址：人民路 1 号") == [("", "电话：12345\n地址：人民路 1 号")]


def test_headings_of_plain_text() -> None:
    text = (
        "第一章 售后\n\n一、退货\n\n七天内可退。\n\n二、换货\n\n十五天内可换。\n\n第二章 会员\n\n满三晚升级。"
    )
    assert passages(text, is_markdown=False) == [
        ("第一章 售后 › 一、退货", "七天内可退。"),
        ("第一章 售后 › 二、换货", "十五天内可换。"),
        ("第二章 会员", "满三晚升级。"),
    ]


def test_numbered_steps_of_plain_text_are_no_headings() -> None:
    text = "1. 打开设置\n2. 点击重启\n3. 等一分钟"
    assert passages(text, is_markdown=False) == [("", text)]


def plain(text: str) -> list[tuple[str, str]]:
    return passages(text, is_markdown=False)


def test_mixed_numbers_of_plain_text_nest() -> None:
    text = (
        "员工手册\n\n一、总则\n\n（一）适用范围\n本制度适用于全体员工。\n\n1. 例外\n\n实习生。\n\n1.1 期限\n\n三个月。\n\n"
        "（二）时间\n1. 上班\n九点。\n2. 下班\n六点。\n\n二、附则（试行）\n自发布起执行。"
    )
    assert plain(text) == [
        ("员工手册 › 一、总则 › （一）适用范围", "本制度适用于全体员工。"),
        ("员工手册 › 一、总则 › （一）适用范围 › 1. 例外", "实习生。"),
        ("员工手册 › 一、总则 › （一）适用范围 › 1. 例外 › 1.1 期限", "三个月。"),
        ("员工手册 › 一、总则 › （二）时间", "1. 上班\n九点。\n2. 下班\n六点。"),
        ("员工手册 › 二、附则（试行）", "自发布起执行。"),
    ]


def test_headings_of_plain_text_without_empty_lines() -> None:
    text = "第一章 总则\n第一条 为了规范管理。\n第二条 适用于全店。\n第二章 退换\n第三条 七天可退。"
    assert plain(text) == [
        ("第一章 总则", "第一条 为了规范管理。\n第二条 适用于全店。"),
        ("第二章 退换", "第三条 七天可退。"),
    ]


def test_numbers_with_dots_need_no_space() -> None:
    assert plain("1 概述\n\n收银。\n\n1.1安装\n\n双击。\n\n1.2 登录\n\n输密码。\n\n2 维护\n\n每月。") == [
        ("1 概述", "收银。"),
        ("1 概述 › 1.1安装", "双击。"),
        ("1 概述 › 1.2 登录", "输密码。"),
        ("2 维护", "每月。"),
    ]


@pytest.mark.parametrize("indent", ["　　", "    ", "\t"])
def test_a_line_at_the_margin_above_indented_text_is_a_heading(indent: str) -> None:
    assert plain(f"退货说明\n{indent}七天内可退。\n{indent}运费自理。\n换货说明\n{indent}十五天内可换。") == [
        ("退货说明", "七天内可退。\n运费自理。"),
        ("换货说明", "十五天内可换。"),
    ]


def test_a_manual_page() -> None:
    text = "cut(1)\n\n名称\n   cut - 截取\n\n选项\n   -b\n   只选字节\n\n   -f\n   只选域\n"
    assert plain(text) == [
        ("cut(1)：cut - 截取 › 名称", "cut - 截取"),
        ("cut(1)：cut - 截取 › 选项", "-b\n只选字节\n-f\n只选域"),
    ]


def test_only_an_opaque_title_is_completed() -> None:
    assert passages("# FAQ\n退换货说明。第二句。\n## 时限\n七天。") == [
        ("FAQ：退换货说明。", "退换货说明。第二句。"),
        ("FAQ：退换货说明。 › 时限", "七天。"),
    ]
    assert passages("# 手册\n说明。")[0][0] == "手册"
    assert passages("# FAQ\nIn English.")[0][0] == "FAQ"
    assert passages("# FAQ") == [("", "FAQ")]


@pytest.mark.parametrize("text", ["价格：\n  一楼 3.5 元", "一句话，不是标题\n  缩进", "说完了。\n  缩进"])
def test_a_sentence_above_indented_text_is_no_heading(text: str) -> None:
    assert plain(text)[0][0] == ""


@pytest.mark.parametrize("is_markdown", [True, False])
def test_ten_thousand_characters_without_a_heading_or_a_stop(is_markdown: bool) -> None:
    text = "没有标题也没有句号的一段话，" * 715
    cut = [found for _, found in passages(text, is_markdown=is_markdown)]
    assert len(text) > 10_000
    assert "".join(cut) == text
    assert all(len(each) <= LONGEST and each.endswith("，") for each in cut)


def test_line_ends_of_windows() -> None:
    raw = "# 店\r\n\r\n```\r\na\r\n```\r\n\r\n| 甲 | 乙 |\r\n|---|---|\r\n| 一 | 二 |\r\n".encode()
    assert passages(decode(raw)) == [("店", "a\n| 甲 | 乙 |\n|---|---|\n| 一 | 二 |")]


def test_a_hash_in_plain_text_is_no_heading() -> None:
    assert passages("# 甲\n乙", is_markdown=False) == [("", "# 甲\n乙")]


@pytest.mark.parametrize("text", ["", " \n\t\n", "\u3000", "#", "---\n"])
def test_nothing_to_read(text: str) -> None:
    assert passages(text) == []


def test_searched_with_headings() -> None:
    assert searchable_text("店 › 退货", "七天。") == "店 › 退货\n七天。"
    assert searchable_text("", "七天。") == "七天。"


def test_keywords_are_not_sought_in_what_completes_a_title() -> None:
    assert keyword_text("FAQ：退换货说明。 › 时限", "七天。") == "FAQ › 时限\n七天。"
    assert keyword_text("FAQ：退换货说明。", "七天。") == "FAQ\n七天。"
    assert keyword_text("店：说明 › 退货", "七天。") == "店：说明 › 退货\n七天。"
    assert keyword_text("", "FAQ：七天。") == "FAQ：七天。"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16"])
def test_encodings(encoding: str) -> None:
    assert (
        decode("第一行\r\n第二行：七天，¥299".replace("¥", "").encode(encoding))
        == "第一行\n第二行：七天，299"
    )


def test_nul_is_dropped() -> None:
    assert decode(b"a\0b") == "ab"


@pytest.mark.parametrize("raw", [b"\x89PNG\r\n\x1a\n\xff\xff\xff", b"\xff\xfe\x00", b"\xc3\x28\xff"])
def test_what_is_no_text_is_refused(raw: bytes) -> None:
    with pytest.raises(RejectedInput, match="编码"):
        decode(raw)
