"""`jide memory extract`: what of a sentence would be remembered, and why.

Invariant: asks no model, opens no store and keeps nothing.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

import typer

from bot.cli.running import say_json
from bot.conversation.local_time import LOCAL_TIME
from bot.knowledge.catalogue_file import CatalogueFile
from bot.memory.complexity import k_of
from bot.memory.entities import Entity, extract
from bot.memory.judge import Judgement, RuleJudge, is_worth_judging
from bot.memory.references import Reference, find_reference, is_reproach
from bot.memory.time_zh import Kind, TimeSpan, find_times
from bot.settings_source import read_settings

TYPES = {
    "order_id": "单号",
    "date": "日期",
    "amount": "金额",
    "product_name": "商品",
    "issue_type": "问题",
    "emotion": "情绪",
    "contact_info": "联系方式",
}
KINDS = {Kind.DURATION: "一段长度，不在日历上", Kind.RECURRENCE: "反复的时间", Kind.SESSION: "以前的一次对话"}
REASONS = {
    "small talk": "寒暄、提问或太短，不交给任何人判断",
    "statements": "说了关于自己的事",
    "no statement": "没有说到自己的事",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """All that is read in one sentence."""

    text: str
    entities: tuple[Entity, ...]
    times: tuple[TimeSpan, ...]
    reference: Reference | None
    is_reproach: bool
    k: int
    asks_model: bool
    """The cheap filter lets it through: a house with a model would ask it once."""
    judgement: Judgement
    """By rules."""


async def extract_text(text: str, *, as_json: bool) -> None:
    catalogue = await CatalogueFile(read_settings().data_folder / "products.csv").catalogue()
    found = await read_all(text, tuple(catalogue.product_names()), datetime.now(UTC))
    if as_json:
        say_json(_document(found))
    else:
        _show(found)


async def read_all(text: str, products: tuple[str, ...], at: datetime) -> Extract:
    """`products`: names of the house's goods. `at`: when it is said."""
    return Extract(
        text=text,
        entities=extract(text, at, products),
        times=find_times(text, at),
        reference=find_reference(text),
        is_reproach=is_reproach(text),
        k=k_of(text),
        asks_model=is_worth_judging(text),
        judgement=await RuleJudge().judge(text, at, is_group=False),
    )


def _document(found: Extract) -> dict[str, object]:
    judgement = found.judgement
    return {
        "text": found.text,
        "entities": [
            {
                "type": each.type.value,
                "value": each.value,
                "normalised": each.normalised,
                "start": each.start,
                "end": each.end,
                "certainty": each.certainty,
            }
            for each in found.entities
        ],
        "times": [_time_as_json(each) for each in found.times],
        "reference": _reference_as_json(found.reference) if found.reference else None,
        "is_reproach": found.is_reproach,
        "k": found.k,
        "asks_model": found.asks_model,
        "keep": judgement.keep,
        "reason": REASONS.get(judgement.reason, judgement.reason),
        "facts": [
            {"kind": fact.kind.value, "text": fact.text, "importance": fact.importance}
            for fact in judgement.facts
        ],
    }


def _time_as_json(span: TimeSpan) -> dict[str, object]:
    window = span.window
    return {
        "text": span.text,
        "start": span.start,
        "end": span.end,
        "kind": span.kind.value,
        "window": [_local(window.start), _local(window.end)] if window else None,
        "sessions_back": span.sessions_back,
    }


def _reference_as_json(reference: Reference) -> dict[str, object]:
    return {
        "words": reference.words,
        "start": reference.start,
        "end": reference.end,
        "type": reference.type.value if reference.type else None,
        "ordinal": reference.ordinal,
        "tail": reference.tail,
        "carrier": reference.carrier,
        "attributes": list(reference.attributes),
        "hints": list(reference.hints),
        "is_earlier": reference.is_earlier,
    }


def _show(found: Extract) -> None:
    typer.echo("实体：" if found.entities else "实体：没有")
    for each in found.entities:
        kind = TYPES[each.type.value]
        typer.echo(f"  {kind} “{each.value}” → {each.normalised}（把握 {each.certainty:.0%}）")
    typer.echo("时间：" if found.times else "时间：没有")
    for span in found.times:
        typer.echo(f"  “{span.text}” → {_meaning(span)}")
    if (reference := found.reference) is not None:
        kind = TYPES[reference.type.value] if reference.type else "要看上文"
        typer.echo(f"指代：“{reference.words}”，指以前说过的{kind}")
    else:
        typer.echo("指代：没有")
    if found.is_reproach:
        typer.echo("这是在怪机器人忘了：会多查一些记忆")
    typer.echo(f"检索条数：{found.k}")
    judgement = found.judgement
    typer.echo(
        f"长期记忆：{'存' if judgement.keep else '不存'}（{REASONS.get(judgement.reason, judgement.reason)}）"
    )
    for fact in judgement.facts:
        typer.echo(f"  [{fact.kind.value}] {fact.text}（重要程度 {fact.importance:g}）")
    if found.asks_model:
        typer.echo("以上按规则判断；接了模型时，由模型再判断一次")


def _meaning(span: TimeSpan) -> str:
    return f"{_local(span.window.start)} 到 {_local(span.window.end)}" if span.window else KINDS[span.kind]


def _local(moment: datetime) -> str:
    return moment.astimezone(LOCAL_TIME).isoformat(timespec="seconds")
