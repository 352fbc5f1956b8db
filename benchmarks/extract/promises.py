"""What the bot promised, by rules, held against a list of answers.

Invariant: a promise is found where one of the two readings has the words of the other; nothing is tuned here.
"""

import json
from pathlib import Path

from benchmarks.report import Figure
from bot.conversation.text import content
from bot.memory.promises import find_promises


def figures(path: Path, misses: list[str]) -> list[Figure]:
    """Lines: an `answer` and the `promises` in it, as it words them. Raises FileNotFoundError."""
    listed = met = found = right = none = disturbed = 0
    for line in filter(str.strip, path.read_text("utf-8").splitlines()):
        row = json.loads(line)
        ours = [content(each.text) for each in find_promises(row["answer"])]
        theirs = [content(each) for each in row["promises"]]
        lacking = [each for each in theirs if not any(each in ours_too for ours_too in ours)]
        wrong = [each for each in ours if not any(_overlap(each, other) for other in theirs)]
        listed, met = listed + len(theirs), met + len(theirs) - len(lacking)
        found, right = found + len(ours), right + len(ours) - len(wrong)
        none, disturbed = none + (not theirs), disturbed + (not theirs and bool(ours))
        misses += [f"承诺 {row['answer']}: 少 {lacking} 多 {wrong}"] if lacking or wrong else []
    return [
        _share("机器人的承诺：找到的", met, listed, "条"),
        _share("机器人的承诺：找到的里对的", right, found, "条"),
        Figure(measure="没有承诺却找到", value=disturbed, unit="条", includes=f"共 {none} 条"),
    ]


def _overlap(one: str, other: str) -> bool:
    return one in other or other in one


def _share(measure: str, count: int, of: int, unit: str) -> Figure:
    value = round(count / of, 4) if of else 1.0
    return Figure(measure=measure, value=value, unit="", includes=f"{of} {unit}")
