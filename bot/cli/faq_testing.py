"""`jide faq test`: which rule a sentence meets, and why the others lost.

Invariant: decided by `FaqBook.match` alone: the others are ranked by taking the winners away.
"""

from dataclasses import dataclass, replace

import typer

from bot.cli.running import Refusal, say_json
from bot.rules.faq import FaqBook, FaqHit, FaqRule
from bot.rules.faq_file import FaqFile
from bot.rules.faq_yaml import CHANNELS
from bot.settings_source import read_settings

MOST_LOSERS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A rule that touches the sentence."""

    hit: FaqHit
    reason: str
    """Why it did not win; "" for the winner."""


async def test_text(text: str, channel: str, *, as_json: bool) -> None:
    if channel not in CHANNELS:
        raise Refusal(f"没有渠道“{channel}”", f"--channel 可写 {'、'.join(CHANNELS)}")
    path = read_settings().data_folder / "faq.yaml"
    if not path.is_file():
        raise Refusal(f"还没有 {path}", "启动一次机器人（jide run），会放一份例子")
    file = FaqFile(path)
    book = await file.book()
    if file.problem:
        raise Refusal(f"FAQ 读不了：{file.problem}", f"改好 {path}")
    standings = rank(book, text, channel)
    if as_json:
        say_json({"text": text, "channel": channel, "rules": [_as_json(each) for each in standings]})
        return
    if not standings or standings[0].reason:
        typer.echo(f"没有命中（共 {len(book.rules)} 条规则），会交给模型或资料")
    for each in standings:
        _show(each)


def rank(book: FaqBook, text: str, channel: str) -> list[Standing]:
    """The winner first, then the losers with their reasons, at most `MOST_LOSERS`."""
    touching = [
        rule for rule in book.rules if FaqBook([replace(rule, channels=frozenset())]).match(text, channel)
    ]
    here = [rule for rule in touching if not rule.channels or channel in rule.channels]
    standings: list[Standing] = []
    while (hit := FaqBook(here).match(text, channel)) is not None and len(standings) <= MOST_LOSERS:
        winner = standings[0].hit if standings else None
        standings.append(Standing(hit=hit, reason=_why_not(hit, winner) if winner is not None else ""))
        here = [rule for rule in here if rule is not hit.rule]
    for rule in touching:
        if rule.channels and channel not in rule.channels:
            hit = FaqBook([replace(rule, channels=frozenset())]).match(text, channel)
            if hit is not None:
                only = "、".join(sorted(rule.channels))
                standings.append(Standing(hit=hit, reason=f"只用于 {only}"))
    return standings[: MOST_LOSERS + 1]


def _why_not(hit: FaqHit, winner: FaqHit) -> str:
    """In the order `FaqBook.match` compares."""
    if winner.verbatim and not hit.verbatim:
        return f"只沾到这句话（{hit.score:.0%}），没有说全，或意思相反"
    if hit.rule.priority != winner.rule.priority:
        return f"priority 低（{hit.rule.priority} < {winner.rule.priority}）"
    if hit.rule.match is not winner.rule.match and winner.rule.match.value == "exact":
        return "赢的那条一字不差"
    if hit.score < winner.score:
        return f"说全的程度低（{hit.score:.0%} < {winner.score:.0%}）"
    return "一样好，写在后面"


def _show(standing: Standing) -> None:
    hit, rule = standing.hit, standing.hit.rule
    if not standing.reason:
        how = "原样发出" if hit.verbatim else "只作为资料交给模型"
        typer.secho(f"✓ {_named(rule)}  {hit.score:.0%}  {how}", fg=typer.colors.GREEN)
        typer.echo(f"  {hit.answer.strip()}")
    else:
        typer.echo(f"  {_named(rule)}  {hit.score:.0%}  {standing.reason}")


def _named(rule: FaqRule) -> str:
    return f"{rule.id}（第 {rule.line} 行，{rule.match.value}）"


def _as_json(standing: Standing) -> dict[str, object]:
    hit = standing.hit
    return {
        "id": hit.rule.id,
        "line": hit.rule.line,
        "match": hit.rule.match.value,
        "wins": not standing.reason,
        "verbatim": hit.verbatim,
        "score": round(hit.score, 4),
        "reason": standing.reason,
        "answer": hit.answer,
    }
