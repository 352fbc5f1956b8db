"""How the house is: counts and states, in order, and what does not work."""

from bot.commands import DEGRADED
from bot.metrics import Metrics
from bot.status import StatusBoard
from tests.story_fakes import HandClock


class Jobs:
    async def backlog(self) -> int:
        return 12


def board(
    clock: HandClock, troubles: list[str], metrics: Metrics | None = None, parts: dict[str, str] | None = None
) -> StatusBoard:
    async def known() -> list[str]:
        return troubles

    return StatusBoard(
        jobs=Jobs(),  # type: ignore[arg-type]
        metrics=metrics or Metrics(),
        clock=clock,
        parts=parts or {},
        troubles=known,
    )


async def test_a_report_names_time_parts_answers_and_backlog() -> None:
    clock, metrics = HandClock(), Metrics()
    status = board(clock, [], metrics, {"对话模型": "qwen3", "短期记忆": "Redis"})
    metrics.answers.labels("model").inc()
    metrics.answers.labels("faq").inc(2)
    clock.advance(hours=26, minutes=3, seconds=59)
    assert list((await status.report()).items()) == [
        ("运行", "26 小时 3 分"),
        ("对话模型", "qwen3"),
        ("短期记忆", "Redis"),
        ("已回答", "3 条（faq 2，model 1）"),
        ("待整理", "12 轮对话"),
        (DEGRADED, ""),
    ]


async def test_before_the_first_answer() -> None:
    report = await board(HandClock(), []).report()
    assert report["运行"] == "0 小时 0 分"
    assert report["已回答"] == "0 条"


async def test_troubles_are_asked_for_at_each_report() -> None:
    troubles: list[str] = []
    status = board(HandClock(), troubles)
    assert (await status.report())[DEGRADED] == ""
    troubles += ["Redis 没有回答", "FAQ 未更新：第 3 行"]
    assert (await status.report())[DEGRADED] == "Redis 没有回答；FAQ 未更新：第 3 行"
