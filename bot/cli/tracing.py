"""`jide memory why`: which memories a question brings, which it doesn't, and why.

Invariant: answers nothing and keeps nothing.
"""

from datetime import UTC, datetime

import typer

from bot.answering.span import shown_span
from bot.cli.operations import find_accounts, opened_house
from bot.cli.running import say_json
from bot.conversation.local_time import local_date
from bot.explaining import Explained, as_document
from bot.memory.trace import Exclusion, Traced

REASONS = {
    Exclusion.BEYOND_K: "排在后面，超出取的条数",
    Exclusion.OUTSIDE_WINDOW: "不是那段时间说的",
    Exclusion.OVER_BUDGET: "放不下，超出 MEMORY__RECALL_BUDGET_TOKENS",
    Exclusion.CLOSED: "已被后来的话更正，或已过期",
}
MOST_SHOWN = 20
"""Of those not taken; all are in the JSON."""


async def explain_recall(who: str, text: str, *, as_json: bool) -> None:
    async with opened_house() as house:
        account = (await find_accounts(house, who))[0]
        await house.explaining.warm()
        explained = await house.explaining.explain(account.scope(""), text, datetime.now(UTC))
    if as_json:
        say_json({"person": account.person, **as_document(explained)})
    else:
        _show(explained)


def _show(explained: Explained) -> None:
    pointed, trace = explained.pointed, explained.trace
    if pointed.query != explained.text:
        typer.echo(f"按“{pointed.query}”查找")
    if pointed.talk:
        typer.echo(f"连着刚才的话一起找：{pointed.talk}")
    if pointed.asked is not None and pointed.asked.window is not None:
        typer.echo(f"只看这段时间说的：{shown_span(pointed.asked.window)}（北京时间）")
    if trace.degraded:
        typer.echo("没有问题的向量，只按词查找")
    taken = trace.recalled
    typer.echo(f"私聊记忆 {len(trace.candidates)} 条，最多取 {pointed.k} 条，取了 {len(taken)} 条")
    left = [each for each in trace.candidates if each.excluded is not None]
    for each in (*taken, *left[:MOST_SHOWN]):
        typer.echo(_line(each))
    if len(left) > MOST_SHOWN:
        typer.echo(f"另有 {len(left) - MOST_SHOWN} 条没有取，加 --json 看全部")


def _line(traced: Traced) -> str:
    fact = traced.fact
    place = f"{traced.rank}." if traced.rank is not None else "-"
    told = f"{place} {fact.text}（{local_date(fact.said_at)}）"
    why = f"\n   没有取：{REASONS[traced.excluded]}" if traced.excluded is not None else ""
    return told + (f"\n   {_scores(traced)}" if traced.score is not None else "") + why


def _scores(traced: Traced) -> str:
    nearness = "无" if traced.dense is None else f"{traced.dense:.3f}"
    return (
        f"总分 {traced.score:.3f}；向量 {nearness}，词 {traced.lexical:.2f}，单号等原样的词 {traced.exact:g}，"
        f"答案的样子 {traced.form:.2f}，"
        f"话题 {traced.topic:.2f}，关于本人 {traced.oneself:g}，重要 {traced.fact.importance:g}，{traced.age_days:.0f} 天前"
    )
