"""The FAQ at its size: ten thousand rules, a hostile message, an expression made to be slow.

    python -m benchmarks.faq [--rules N]     (make bench-faq)

The peer is what a small bot does: one compiled `re` for each rule, tried one after the other. It runs in
the same process on the same messages; where it backtracks, in a child that is ended after two seconds.
Milliseconds are of the processor, except where the event loop is watched and for that child.

Exit codes: 0, 1 where a goal isn't held.

Invariant: the matching is the bot's own; no message is met twice, so that no cache of RE2's flatters.
"""

import argparse
import asyncio
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from loguru import logger
from rich.progress import track

from benchmarks.faq_shop import Shop
from benchmarks.report import Figure, publish
from bot.rules.expressions import Expressions
from bot.rules.faq import FaqBook, FaqRule, Match
from bot.rules.faq_file import FaqFile

RULES = 10_000
MESSAGES = 600
LONG = 500
"""Characters of a long message: what the FAQ looks at."""
GOAL_MS = 5.0
FUZZY_GOAL_MS = 10.0
"""Fuzzy's own limit: 10,000 patterns, questions of at most 60 characters."""
BACKTRACKING_GOAL_MS = 50.0
LOOP_GOAL_MS = 100.0
PEER_SECONDS = 2.0
BACKTRACKER = "(款+)+$"
SLOW = ("(a|b)*a(a|b){900}c", "((a|b|.){1,20}){1,15}z", "[ab]*a[ab款]{400}[cd]|[^c]*b.{200}e")
"""Their automata have a state for nearly each text: RE2's cache never helps."""


def milliseconds(match: Callable[[str], object], texts: Sequence[str], what: str) -> list[float]:
    """The processor time of each call, least first: what else runs on the machine doesn't count."""
    taken: list[float] = []
    for text in track(texts, what):
        begun = time.thread_time()
        match(text)
        taken.append((time.thread_time() - begun) * 1000)
    return sorted(taken)


def naive(rules: Sequence[FaqRule]) -> Callable[[str], FaqRule | None]:
    """The first rule whose compiled `re` is found."""
    compiled = [(_as_re(rule.match, rule.patterns[0]), rule) for rule in rules]
    return lambda text: next((rule for pattern, rule in compiled if pattern.search(text)), None)


def _as_re(match: Match, pattern: str) -> re.Pattern[str]:
    forms = {Match.EXACT: f"^{re.escape(pattern)}$", Match.CONTAINS: re.escape(pattern)}
    return re.compile(forms.get(match, pattern), re.IGNORECASE)


def at_most(value: float, goal: float) -> tuple[str, bool]:
    return f"< {goal:g}", value < goal


def ten_thousand(count: int) -> list[Figure]:
    """Exact, contains and regex rules together, on short and on long messages."""
    shop = Shop()
    rules = shop.rules(count, (Match.EXACT, Match.CONTAINS, Match.REGEX))
    begun = time.perf_counter()
    book = FaqBook(rules)
    built = time.perf_counter() - begun
    peer = naive(rules)
    figures = [
        Figure(
            measure=f"{count} 条规则备好",
            value=round(built, 2),
            unit="秒",
            includes="保存文件后一次，在线程里",
        )
    ]
    for name, length in (("一般长", 24), (f"{LONG} 字", LONG)):
        texts = shop.messages(MESSAGES, length, rules)
        ours = milliseconds(lambda text: book.match(text, "wechat"), texts, f"{name}的消息")
        theirs = milliseconds(peer, texts[:60], "对照")
        for label, at in (("中位数", 0.5), ("p99", 0.99)):
            value, other = _quantile(ours, at), _quantile(theirs, at)
            goal, holds = at_most(value, GOAL_MS)
            figures.append(
                Figure(
                    measure=f"{count} 条 exact、contains、regex，{name}的消息，{label}",
                    value=round(value, 3),
                    unit="毫秒",
                    goal=goal,
                    holds=holds,
                    peer={"逐条 re": round(other, 2)},
                    includes="真实：全部匹配与取舍；每条消息只用一次；对照遇到第一条就停",
                )
            )
    return figures


def fuzzy(count: int) -> Figure:
    shop = Shop(2)
    rules = shop.rules(count, (Match.FUZZY,))
    book = FaqBook(rules)
    taken = milliseconds(lambda text: book.match(text, "wechat"), shop.messages(MESSAGES, 24, rules), "相似")
    value = _quantile(taken, 0.99)
    goal, holds = at_most(value, FUZZY_GOAL_MS)
    return Figure(
        measure=f"{count} 条 fuzzy，24 字，p99",
        value=round(value, 3),
        unit="毫秒",
        goal=goal,
        holds=holds,
        includes="超过 60 字的问题不比相似",
    )


def wordless(count: int) -> Figure:
    """What no required word spares: expressions of character classes alone."""
    shop = Shop(4)
    patterns = [rf"[a-z]{{{number % 40 + 1}}}\d{{{number // 40 + 1}}}" for number in range(count)]
    expressions = Expressions(patterns)
    texts = [shop.random_text("abcdefgh0123456789款", 24) for _ in range(MESSAGES)]
    taken = milliseconds(lambda text: list(expressions.search(text)), texts, "没有固定文字的正则")
    return Figure(
        measure=f"{count} 条没有固定文字的正则，24 字，p99",
        value=round(_quantile(taken, 0.99), 3),
        unit="毫秒",
        includes="一个 RE2::Set；这样的正则写得多时较慢，所以在线程里",
    )


def backtracking() -> Figure:
    """`(款+)+$` on ten thousand characters that nearly match."""
    text = "款" * 10_000 + "！"
    expressions = Expressions([BACKTRACKER])
    taken = milliseconds(lambda each: list(expressions.search(each)), [text], BACKTRACKER)
    program = f"import re; re.search({BACKTRACKER!r}, '款' * 10_000 + '！')"
    begun = time.perf_counter()
    try:
        subprocess.run([sys.executable, "-c", program], timeout=PEER_SECONDS, check=True)
        includes = "对照跑完了"
    except subprocess.TimeoutExpired:
        includes = f"对照在 {PEER_SECONDS:g} 秒后被终止，没有结果"
    peer = (time.perf_counter() - begun) * 1000
    goal, holds = at_most(taken[-1], BACKTRACKING_GOAL_MS)
    return Figure(
        measure=f"{BACKTRACKER} 遇上 10,000 字",
        value=round(taken[-1], 2),
        unit="毫秒",
        goal=goal,
        holds=holds,
        peer={"re": round(peer)},
        includes=f"不截短的匹配；{includes}",
    )


async def slow_expressions() -> Figure:
    """The longest that the event loop stood still while hostile messages met slow expressions."""
    shop = Shop(3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "faq.yaml"
        path.write_text(
            "".join(f"- match: regex\n  patterns: ['{each}']\n  answer: 答\n" for each in SLOW), "utf-8"
        )
        file = FaqFile(path)
        await file.book()
        gaps: list[float] = []
        watch = asyncio.create_task(_watch(gaps))
        await asyncio.sleep(0.05)
        for _ in track(range(40), "很慢的正则"):
            await file.match(shop.random_text("ab款", LONG), "wechat")
        watch.cancel()
    worst = max(gaps) * 1000
    goal, holds = at_most(worst, LOOP_GOAL_MS)
    return Figure(
        measure=f"{len(SLOW)} 条状态数为指数的正则遇上 {LONG} 字，事件循环最长停顿",
        value=round(worst, 1),
        unit="毫秒",
        goal=goal,
        holds=holds,
        includes="RE2 在线程里、不占 GIL；每条消息只用一次",
    )


async def _watch(gaps: list[float]) -> None:
    last = time.perf_counter()
    while True:
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        gaps.append(now - last)
        last = now


def _quantile(ordered: Sequence[float], at: float) -> float:
    return statistics.median(ordered) if at == 0.5 else ordered[min(int(at * len(ordered)), len(ordered) - 1)]


def main() -> int:
    parser = argparse.ArgumentParser(description="一万条常见问题")
    parser.add_argument("--rules", type=int, default=RULES, help="规则的条数")
    options = parser.parse_args()
    logger.remove()
    figures = [
        *ten_thousand(options.rules),
        fuzzy(options.rules),
        wordless(options.rules // 10),
        backtracking(),
    ]
    return publish("faq", [*figures, asyncio.run(slow_expressions())])


if __name__ == "__main__":
    sys.exit(main())
