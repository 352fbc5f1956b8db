"""The rows as Markdown for docs/, and as figures with their goals.

Invariant: every number is from the rows.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.report import Figure
from benchmarks.wechat.cells import Situation
from benchmarks.wechat.playing import Row
from simulators.wechat import AccountType, Mode

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "wechat-five-seconds.md"
SHOWN = 60
"""Characters of each thing seen."""
_ACCOUNTS = {AccountType.UNVERIFIED_SUBSCRIPTION: "未认证", AccountType.VERIFIED_SERVICE: "认证"}
_MODES = {Mode.PLAIN: "明文", Mode.SAFE: "AES"}
_WAYS = {"passive": "被动回复", "customer_service": "客服消息", "fault": "故障"}
_HEAD = """# WeChat's five seconds

Written by `make bench-wechat`; a row is one person before a running bot, in real time, nothing scaled. The account
is the simulator's (its customer service refuses an unverified account with 48001), the model takes the time in the
second column for four sentences, streamed. `again`: one more delivery of the same MsgId, when all was over, got the
same bytes. Times are seconds from the question.

"""


def is_good(row: Row) -> bool:
    is_restart = row.cell.situation is Situation.RESTART
    return not (row.lost or row.double or row.faults) and row.is_same_again and row.runs <= 1 + is_restart


def write(rows: Sequence[Row]) -> None:
    """The table, in the order of the cells."""
    columns = (
        *("account", "mode", "model s", "situation", "begins", "ends", "MsgId", "attempts", "first seen"),
        *("answered", "继续", "ways", "runs", "again", "lost", "double", "故障", "saw"),
    )
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    DOCUMENT.parent.mkdir(parents=True, exist_ok=True)
    DOCUMENT.write_text(_HEAD + "\n".join(lines) + "\n", "utf-8")


def _cells(row: Row) -> list[str]:
    cell = row.cell
    saw = "；".join(" ".join(each.split())[:SHOWN] for each in row.saw).replace("|", "｜")
    return [
        _ACCOUNTS[cell.account],
        _MODES[cell.mode],
        f"{cell.latency_seconds:g}",
        cell.situation.value,
        _clock(row.began_at),
        _clock(row.ended_at),
        row.msg_id,
        str(row.attempts),
        f"{row.first_seen_seconds:g}",
        f"{row.answered_seconds:g}",
        str(row.fetches),
        "、".join(_WAYS[way] for way in row.ways),
        str(row.runs),
        "same" if row.is_same_again else "**other**",
        *(str(count) if not count else f"**{count}**" for count in (row.lost, row.double, row.faults)),
        saw,
    ]


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")


def figures(rows: Sequence[Row]) -> list[Figure]:
    steady = [row for row in rows if row.cell.situation is not Situation.RESTART]
    restarted = [row for row in rows if row.cell.situation is Situation.RESTART]
    what = "真实：机器人进程、HTTP、加密、SQLite（FULL）、自带的向量模型；模拟：微信和它的接口、模型；时间没有缩放"
    return [
        _none("丢失的句子", sum(row.lost for row in rows), "句", what),
        _none("重复的句子", sum(row.double for row in rows), "句", what),
        _none("看到「故障」的人", sum(bool(row.faults) for row in rows), "人", what),
        _none("再投递一次字节不同的消息", sum(not row.is_same_again for row in rows), "条", what),
        _at_most("每条消息运行次数，最多", max((row.runs for row in steady), default=0), 1, "次", what),
        _at_most(
            "同上，中途断电的",
            max((row.runs for row in restarted), default=0),
            2,
            "次",
            f"{what}；进程死前的一次不算完",
        ),
        Figure(measure="格子", value=len(rows), unit="格", includes=what),
    ]


def _none(measure: str, value: int, unit: str, includes: str) -> Figure:
    return Figure(measure=measure, value=value, unit=unit, goal="0", holds=value == 0, includes=includes)


def _at_most(measure: str, value: int, goal: int, unit: str, includes: str) -> Figure:
    return Figure(
        measure=measure, value=value, unit=unit, goal=f"≤ {goal}", holds=value <= goal, includes=includes
    )
