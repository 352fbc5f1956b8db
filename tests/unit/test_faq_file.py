from pathlib import Path

import pytest

from bot.conversation.errors import ConfigurationError
from bot.conversation.watched_file import CHECK_SECONDS
from bot.rules.faq import FaqBook, Match
from bot.rules.faq_file import FaqFile
from bot.rules.faq_yaml import read_book

DEFAULT = Path(__file__).parents[2] / "bot" / "rules" / "default_faq.yaml"

GOOD = "- patterns: [营业时间]\n  answer: 九点到九点\n"
OTHER = "- patterns: [营业时间]\n  answer: 十点到十点半\n"


class Ticks:
    """A monotonic clock moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def answer(book: FaqBook, text: str = "营业时间") -> str:
    hit = book.match(text, "wechat")
    return hit.answer if hit else ""


def read(text: str) -> FaqBook:
    return read_book(text, "faq.yaml")


def test_values_stay_as_written() -> None:
    (rule,) = read(
        "- id: 007\n  match: EXACT\n  patterns: [c++, 09:00, yes, 1e5]\n"
        "  answer: 见 https://a.example/b?c=1&d={e}#f\n  priority: -3\n  channels: wechat\n"
    ).rules
    assert (rule.id, rule.match, rule.priority, rule.channels) == (
        "007",
        Match.EXACT,
        -3,
        frozenset({"wechat"}),
    )
    assert rule.patterns == ("c++", "09:00", "yes", "1e5")
    assert rule.answer == "见 https://a.example/b?c=1&d={e}#f"
    assert rule.line == 1


def test_answers_may_have_lines_and_one_pattern_needs_no_list() -> None:
    (rule,) = read("- patterns: 退货\n  answer: |\n    第一步\n    第二步\n").rules
    assert rule.answer == "第一步\n第二步"
    assert rule.match is Match.CONTAINS


@pytest.mark.parametrize("text", ["", "\n# 只有注释\n", "[]", "---\n"])
def test_an_empty_file_has_no_rules(text: str) -> None:
    assert read(text).rules == ()


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (GOOD + "- match: regex\n  patterns: ['(']\n  answer: a\n", 4, "右括号"),
        ("- match: regex\n  patterns:\n    - 好\n    - '*x*'\n  answer: a\n", 4, "可以重复"),
        ("- match: regex\n  patterns: ['\\']\n  answer: a\n", 2, "末尾"),
        ("- patterns: [*x*]\n  answer: a\n", 1, "YAML"),
        ("- patterns: [a]\n answer: b\n", 2, "YAML"),
        ("- patterns: [a]\n  answer: b\n- patterns: 'a\n", 4, "YAML"),
        ("patterns: [a]\nanswer: b\n", 1, "列表"),
        ("- 退款\n", 1, "patterns"),
        ("- patterns: [a]\n", 1, "answer"),
        ("- answer: a\n", 1, "patterns"),
        ("- patterns: []\n  answer: a\n", 1, "不空"),
        ("- patterns: [' ']\n  answer: a\n", 1, "空的"),
        ("- patterns: [a]\n  answer:\n", 2, "空的"),
        ("- patterns: [a]\n  answer: [b]\n", 2, "文字"),
        ("- patterns: [a]\n  answr: b\n", 2, "answr"),
        ("- patterns: [a]\n  answer: b\n  answer: c\n", 3, "两次"),
        ("- patterns: [a]\n  answer: b\n  match: like\n", 3, "like"),
        ("- patterns: [a]\n  answer: b\n  channels: [wx]\n", 3, "wx"),
        ("- patterns: [a]\n  answer: b\n  priority: 高\n", 3, "高"),
        ("- patterns: [a]\n  answer: b\n  threshold: 0.8\n", 3, "0.8"),
        ("- {id: x, patterns: [a], answer: b}\n- {id: x, patterns: [b], answer: b}\n", 2, "重复"),
        ("- patterns: [" + "长" * 501 + "]\n  answer: b\n", 1, "501"),
        ("!!python/object/apply:os.system [ls]\n", 1, "patterns"),
    ],
)
def test_a_bad_rule_is_refused_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(text)
    assert f"faq.yaml 第 {line} 行" in str(refused.value)
    assert reason in str(refused.value)


def test_control_characters_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="控制字符"):
        read("- patterns: ['\x01']\n  answer: a\n")


def test_the_example_is_a_good_file() -> None:
    book = read(DEFAULT.read_text("utf-8"))
    assert "/清除记忆" in answer(book, "怎么删除我的记忆？")


def test_the_commented_examples_are_good_rules_too() -> None:
    lines = DEFAULT.read_text("utf-8").splitlines()
    start = lines.index("# 下面是例子，去掉每行开头的“# ”就能用：")
    book = read("\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[start + 1 :]))
    assert [rule.id for rule in book.rules] == ["营业时间", "退款", "快递查询"]
    assert answer(book, "查快递SF123456789012")


async def test_reads_a_file_as_windows_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "我的 数据" / "常见 问题.yaml"
    path.parent.mkdir()
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    file = FaqFile(path, Ticks())
    assert answer(await file.book()) == "九点到九点"
    assert file.problem == ""


async def test_an_edit_is_seen_at_the_next_look(tmp_path: Path) -> None:
    path, ticks = tmp_path / "faq.yaml", Ticks()
    path.write_text(GOOD, "utf-8")
    file = FaqFile(path, ticks)
    assert answer(await file.book()) == "九点到九点"
    path.write_text(OTHER, "utf-8")
    ticks.now += CHECK_SECONDS / 2
    assert answer(await file.book()) == "九点到九点"
    ticks.now += CHECK_SECONDS
    assert answer(await file.book()) == "十点到十点半"


async def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    path, ticks = tmp_path / "faq.yaml", Ticks()
    path.write_text(GOOD, "utf-8")
    file = FaqFile(path, ticks)
    book = await file.book()
    ticks.now += CHECK_SECONDS
    assert await file.book() is book


@pytest.mark.parametrize("bad", [b"- patterns: [a]\n", "- patterns: [营]".encode("gbk"), b"- match: [\n"])
async def test_a_bad_file_leaves_the_old_rules(tmp_path: Path, bad: bytes) -> None:
    path, ticks = tmp_path / "faq.yaml", Ticks()
    path.write_text(GOOD, "utf-8")
    file = FaqFile(path, ticks)
    await file.book()
    path.write_bytes(bad)
    ticks.now += CHECK_SECONDS
    assert answer(await file.book()) == "九点到九点"
    assert "faq.yaml" in file.problem
    path.write_text(OTHER, "utf-8")
    ticks.now += CHECK_SECONDS
    assert answer(await file.book()) == "十点到十点半"
    assert file.problem == ""


async def test_a_problem_is_logged_once(tmp_path: Path) -> None:
    from loguru import logger

    lines: list[str] = []
    sink = logger.add(lines.append, level="ERROR", format="{message}")
    path, ticks = tmp_path / "faq.yaml", Ticks()
    path.write_text("- 1", "utf-8")
    file = FaqFile(path, ticks)
    for _ in range(3):
        await file.book()
        ticks.now += CHECK_SECONDS
    logger.remove(sink)
    assert len(lines) == 1
    assert "第 1 行" in lines[0]


async def test_a_file_that_vanishes_leaves_the_old_rules(tmp_path: Path) -> None:
    path, ticks = tmp_path / "faq.yaml", Ticks()
    path.write_text(GOOD, "utf-8")
    file = FaqFile(path, ticks)
    await file.book()
    path.unlink()
    ticks.now += CHECK_SECONDS
    assert answer(await file.book()) == "九点到九点"
    assert "faq.yaml" in file.problem


async def test_no_file_is_no_problem(tmp_path: Path) -> None:
    file = FaqFile(tmp_path / "faq.yaml", Ticks())
    assert (await file.book()).rules == ()
    assert file.problem == ""


@pytest.mark.parametrize("pattern", ["(a|b)*a(a|b){900}c", "退款"])
async def test_heavy_and_light_rules_match_alike(tmp_path: Path, pattern: str) -> None:
    path = tmp_path / "faq.yaml"
    path.write_text(f"- match: regex\n  patterns: ['{pattern}', 退款]\n  answer: 可以\n", "utf-8")
    file = FaqFile(path, Ticks())
    hit = await file.match("退款", "wechat")
    assert hit is not None and hit.verbatim
    again = await file.match("退款", "wechat", "可以")
    assert again is not None and not again.verbatim
    assert await file.match("天气", "wechat") is None
    assert (await file.book()).is_heavy == (pattern != "退款")
